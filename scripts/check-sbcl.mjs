// Runs the whole suite on each SBCL that people have, in a system of its own, and writes docs/platforms.md. ONLY=trixie,sid
// names some of the systems. SBCL_SOURCE is a folder with the sources of an SBCL, built or not. With --newest it runs the
// main job on the newest SBCL that was set up here, and writes nothing.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRows, writeRow } from './platforms.mjs';
import { CACHE, cloneInto, hasRoot, obstacle, preparedRoot, runIn } from './roots.mjs';

const { ONLY: only, SBCL_SOURCE: source, NODE: node = process.versions.node.split('.')[0] } = process.env;

const FOLDER = '/root/live-lisp';

/** The tests of what live-lisp is for: load, find, callers, evaluate, errors with frames, interrupt, timeout. */
const MAIN = [
  ...['smoke', 'who-calls', 'who-calls-styles', 'apropos-search', 'frames-readers'].map(
    (name) => `contracts/${name}`,
  ),
  ...['evaluation', 'interrupt', 'loading'].map((name) => `image/${name}`),
].map((name) => `tests/${name}.test.ts`);

const RESULTS = join(CACHE, 'results');
const VITEST =
  'npx --no-install vitest run --reporter=default --reporter=json --outputFile=/results/tests.json';

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
const PLATFORMS = [
  { name: 'bookworm', release: 'bookworm' },
  { name: 'bookworm-asdf', release: 'bookworm', prepare: `${INSTALL} cl-asdf` },
  { name: 'trixie', release: 'trixie' },
  { name: 'trixie-asdf', release: 'trixie', prepare: `${INSTALL} cl-asdf` },
  { name: 'sid', release: 'sid' },
  { name: 'sid-asdf', release: 'sid', prepare: `${INSTALL} cl-asdf` },
  { name: 'newest', release: 'bookworm', prepare: BUILD, source: true },
  { name: 'arm64', release: 'bookworm', prepare: EMULATED, like: 'arm64 by QEMU' },
  {
    ...{
      name: 'no-proc',
      release: 'sid',
      proc: false,
      like: 'without /proc and bubblewrap, taken for a Mac',
    },
    ...{
      prepare: `ln -s /bin/false /usr/local/bin/bwrap`,
      env: { NODE_OPTIONS: `--import=${FOLDER}/tests/platforms/darwin.mjs` },
    },
  },
];

/** Prints, a line each, the system, the machine, and the versions of SBCL, of the ASDF that loads systems, and of Node. */
const FACTS = `. /etc/os-release && echo "$PRETTY_NAME" && uname -m && sbcl --noinform --no-userinit --non-interactive \\
  --eval '(require :asdf)' --eval '(handler-bind ((warning (function muffle-warning))) (asdf:load-system :asdf))' \\
  --eval '(format t "~&~A~%~A~%" (lisp-implementation-version) (asdf:asdf-version))' 2>/dev/null | tail -n 2 && node --version`;

/** Runs COMMAND in ROOT as root, keeps what it wrote in the file NAME of the results, and returns that. MORE is as runIn
 *  has it. */
async function run(root, name, command, { mounts = {}, ...more } = {}) {
  mkdirSync(RESULTS, { recursive: true });
  const { ok, output } = await runIn(
    root,
    { node, mounts: { [RESULTS]: '/results', ...mounts }, ...more },
    command,
  );
  const log = join(RESULTS, `${name}.log`);
  writeFileSync(log, output);
  return { ok, output, log };
}

/** Does as \`run\`, and throws when the command fails. */
async function must(...args) {
  const { ok, output, log } = await run(...args);
  if (!ok) throw new Error(`${args[1]} failed, see ${log}:\n${output.split('\n').slice(-15).join('\n')}`);
  return output;
}

/** Returns the root of a platform, in which SBCL, the packages of npm and the libraries of the tests are installed. */
async function rootOf({ name, release, prepare }) {
  const setUp = async (root) => {
    cloneInto(root, FOLDER, 'root');
    await must(root, `${name}-setup`, `cd ${FOLDER} && make setup test-machine`);
  };
  const root = await preparedRoot(name, release, async (made) => {
    const mounts = source === undefined ? {} : { [source]: '/source' };
    if (prepare !== undefined) await must(made, `${name}-prepare`, prepare, { mounts });
    await setUp(made);
  });
  await setUp(root);
  return root;
}

/** Runs the demo and TESTS, all without them, on a platform. Returns what came of them. */
async function tried(platform, tests) {
  const { name, like, proc, env } = platform;
  const root = await rootOf(platform);
  const [system, machine, sbcl, asdf, version] = (await must(root, `${name}-facts`, FACTS))
    .trim()
    .split('\n');
  const demo = await run(root, `${name}-demo`, `cd ${FOLDER} && make build && node scripts/demo.mjs`, {
    proc,
    env,
  });
  const command = `cd ${FOLDER} && rm -f /results/tests.json && ${VITEST} ${tests.join(' ')}`;
  const { output, log } = await run(root, `${name}-tests`, command, { proc, env });
  const counts = JSON.parse(readFileSync(join(RESULTS, 'tests.json'), 'utf8'));
  return {
    ...{ name, system: like === undefined ? `${system}, ${machine}` : `${system}, ${like}` },
    ...{ sbcl: sbcl.replace('.debian', ''), asdf, node: version.slice(1) },
    ...{ tests: tests.length > 0 ? 'main' : 'all', demo: demo.ok },
    ...{ passed: counts.numPassedTests, failed: counts.numFailedTests, leftOut: counts.numPendingTests },
    why: /^\d+ tests left out: (.*)/m.exec(output)?.[1] ?? '',
    when: new Date().toISOString().slice(0, 10),
    log,
  };
}

function line({ name, sbcl, asdf, demo, passed, failed, leftOut }) {
  const told = `demo ${demo ? 'ends well' : 'FAILS'}, ${passed} passed, ${failed} failed, ${leftOut} left out`;
  return `${name} (SBCL ${sbcl}, ASDF ${asdf}): ${told}`;
}

async function runAll() {
  const wanted = PLATFORMS.filter(({ name }) => only === undefined || only.split(',').includes(name));
  for (const platform of wanted) {
    if (platform.source && source === undefined && !hasRoot(platform.name, platform.release)) {
      console.log(`${platform.name} is left out: SBCL_SOURCE names no folder with the sources of SBCL`);
      continue;
    }
    const { log, ...row } = await tried(platform, platform.like === undefined ? [] : MAIN);
    console.log(`${line(row)}; ${log}`);
    writeRow(row);
  }
  const bad = readRows().filter(({ failed, demo }) => failed > 0 || !demo);
  console.log(`${readRows().length - bad.length} passed, ${bad.length} failed`);
  process.exitCode = bad.length > 0 ? 1 : 0;
}

async function runNewest() {
  const newest = PLATFORMS.findLast(({ name, release, like }) => !like && hasRoot(name, release));
  if (newest === undefined) {
    console.log('make check-newest is left out: make check-sbcl has set up no SBCL here');
    return;
  }
  const result = await tried(newest, MAIN);
  const failed = result.failed + (result.demo ? 0 : 1);
  console.log(line(result));
  if (failed > 0) console.log(readFileSync(result.log, 'utf8').split('\n').slice(-60).join('\n'));
  console.log(`${result.passed + (result.demo ? 1 : 0)} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}

const newestOnly = process.argv.includes('--newest');
const why = obstacle();
if (why !== undefined) console.log(`make check-${newestOnly ? 'newest' : 'sbcl'} is left out: ${why}`);
else await (newestOnly ? runNewest() : runAll());
