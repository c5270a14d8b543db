// The systems in which make check-sbcl runs the tests, and how each is prepared.

/** Where a clone of the project is in each. */
export const FOLDER = '/root/live-lisp';

/** The tests of what live-lisp is for: load, find, callers, evaluate, errors with frames, interrupt, timeout. */
export const MAIN = [
  ...['protocol', 'who-calls', 'apropos-search'].map((name) => `contracts/${name}`),
  ...['callers/who-calls-styles', 'jobs/frames-readers', 'jobs/interrupt'],
  ...['evaluate/evaluation', 'evaluate/loading'],
].map((name) => `tests/${name}.test.ts`);

const INSTALL = 'apt-get update -qq && apt-get install -qq -y --no-install-recommends';

/** Builds the SBCL whose sources are in /source, unless it is built, and installs it where it is found first. */
const BUILD = `cp -a /source /usr/src/sbcl && cd /usr/src/sbcl && ${INSTALL} sbcl gcc libc6-dev zlib1g-dev &&
  { [ -e output/sbcl.core ] || sh make.sh --prefix=/usr/local; } && INSTALL_ROOT=/usr/local sh install.sh`;

/** Installs Debian's SBCL for arm64 in a folder of its own, and an sbcl that has QEMU run it. */
const EMULATED = `dpkg --add-architecture arm64 && ${INSTALL} qemu-user-static && mkdir /arm64 && cd /tmp &&
  apt-get download -qq sbcl:arm64 libc6:arm64 libzstd1:arm64 && for each in *.deb; do dpkg -x $each /arm64; done &&
  printf '%s\\n' '#!/bin/sh' 'export SBCL_HOME=/arm64/usr/lib/sbcl' \
    'exec qemu-aarch64-static -L /arm64 /arm64/usr/bin/sbcl "$@"' >/usr/local/bin/sbcl && chmod +x /usr/local/bin/sbcl`;

/** From the oldest SBCL to the newest, each in a RELEASE in which root ran PREPARE. SOURCE wants SBCL_SOURCE. What only
 *  resembles another system runs the MAIN tests, in ENV and without /proc where PROC is false. */
export const PLATFORMS = [
  { name: 'bookworm', release: 'bookworm' },
  { name: 'bookworm-asdf', release: 'bookworm', prepare: `${INSTALL} cl-asdf` },
  { name: 'trixie', release: 'trixie' },
  { name: 'trixie-asdf', release: 'trixie', prepare: `${INSTALL} cl-asdf` },
  { name: 'sid', release: 'sid' },
  { name: 'sid-asdf', release: 'sid', prepare: `${INSTALL} cl-asdf` },
  { name: 'newest', release: 'bookworm', prepare: BUILD, source: true },
  { name: 'arm64', release: 'bookworm', prepare: EMULATED, like: 'arm64 by QEMU' },
  {
    name: 'no-proc',
    release: 'sid',
    proc: false,
    prepare: 'ln -s /bin/false /usr/local/bin/bwrap',
    env: { NODE_OPTIONS: `--import=${FOLDER}/tests/platforms/darwin.mjs` },
    like: 'without /proc and bubblewrap, taken for a Mac',
  },
];
