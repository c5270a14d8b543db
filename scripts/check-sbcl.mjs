// Runs the whole suite on each SBCL that people have, in a system of its own, and writes docs/platforms.md. ONLY=trixie,sid
// names some of the systems. SBCL_SOURCE is a folder with the sources of an SBCL, built or not. With --newest it runs the
// main job on the newest SBCL that was set up here, and writes nothing.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRows, writeRow } from './platforms.mjs';
import { CACHE, cloneInto, hasRoot, obstacle, preparedRoot, runIn } from './roots.mjs';

const { ONLY: only, SBCL_SOURCE: source, NODE: node = process.versions.node.split('.')[0] } = process.env;

/** From the oldest SBCL to the newest. PACKAGES are installed besides; BUILT wants SBCL_SOURCE. */
const PLATFORMS = [
  { name: 'bookworm', release: 'bookworm' },
  { name: 'bookworm-asdf', release: 'bookworm', packages: 'cl-asdf' },
  { name: 'trixie', release: 'trixie' },
  { name: 'trixie-asdf', release: 'trixie', packages: 'cl-asdf' },
  { name: 'sid', release: 'sid' },
  { name: 'sid-asdf', release: 'sid', packages: 'cl-asdf' },
  { name: 'newest', release: 'bookworm', built: true },
];

/** The tests of what live-lisp is for: load, find, callers, evaluate, errors with frames, interrupt, timeout. */
const MAIN = [
  ...['smoke', 'who-calls', 'who-calls-styles', 'apropos-search', 'frames-readers'].map(
    (name) => `contracts/${name}`,
  ),
  ...['evaluation', 'interrupt', 'loading'].map((name) => `image/${name}`),
].map((name) => `tests/${name}.test.ts`);

const FOLDER = '/root/live-lisp';
const RESULTS = join(CACHE, 'results');
const VITEST =
  'npx --no-install vitest run --reporter=default --reporter=json --outputFile=/results/tests.json';

/** Builds the SBCL whose sources are in /source, unless it is built, and installs it where it is found first. */
const BUILD = `cp -a /source /usr/src/sbcl && cd /usr/src/sbcl && apt-get update -qq &&
  apt-get install -qq -y --no-install-recommends sbcl gcc libc6-dev zlib1g-dev &&
  { [ -e output/sbcl.core ] || sh make.sh --prefix=/usr/local; } && INSTALL_ROOT=/usr/local sh install.sh`;

/** Prints, a line each, the system, the machine, and the versions of SBCL, of the ASDF that loads systems, and of Node. */
const FACTS = `. /etc/os-release && echo "$PRETTY_NAME" && uname -m && sbcl --noinform --no-userinit --non-interactive \\
  --eval '(require :asdf)' --eval '(handler-bind ((warning (function muffle-warning))) (asdf:load-system :asdf))' \\
  --eval '(format t "~&~A~%~A~%" (lisp-implementation-version) (asdf:asdf-version))' 2>/dev/null | tail -n 2 && node --version`;

/** Runs COMMAND in ROOT as root, keeps what it wrote in the file NAME of the results, and returns that. */
async function run(root, name, command, mounts = {}) {
  mkdirSync(RESULTS, { recursive: true });
  const { ok, output } = await runIn(root, { node, mounts: { [RESULTS]: '/results', ...mounts } }, command);
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
function rootOf({ name, release, packages, built }) {
  return preparedRoot(name, release, async (root) => {
    if (built) await must(root, `${name}-build`, BUILD, { [source]: '/source' });
    cloneInto(root, FOLDER, 'root');
    if (packages)
      await must(root, `${name}-packages`, `apt-get update -qq && apt-get install -qq -y ${packages}`);
    await must(root, `${name}-setup`, `cd ${FOLDER} && make setup test-machine`);
  });
}

/** Runs the demo and TESTS, all without them, on a platform. Returns what came of them. */
async function tried(platform, tests = []) {
  const { name } = platform;
  const root = await rootOf(platform);
  cloneInto(root, FOLDER, 'root');
  await must(root, `${name}-setup`, `cd ${FOLDER} && make setup test-machine`);
  const [system, machine, sbcl, asdf, version] = (await must(root, `${name}-facts`, FACTS))
    .trim()
    .split('\n');
  const demo = await run(root, `${name}-demo`, `cd ${FOLDER} && make demo`);
  const { output, log } = await run(root, `${name}-tests`, `cd ${FOLDER} && ${VITEST} ${tests.join(' ')}`);
  const counts = JSON.parse(readFileSync(join(RESULTS, 'tests.json'), 'utf8'));
  return {
    ...{
      name,
      system,
      machine,
      sbcl: sbcl.replace('.debian', ''),
      asdf,
      node: version.slice(1),
      demo: demo.ok,
    },
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
    if (platform.built && source === undefined && !hasRoot(platform.name, platform.release)) {
      console.log(`${platform.name} is left out: SBCL_SOURCE names no folder with the sources of SBCL`);
      continue;
    }
    const { log, ...row } = await tried(platform);
    console.log(`${line(row)}; ${log}`);
    writeRow(row);
  }
  const bad = readRows().filter(({ failed, demo }) => failed > 0 || !demo);
  console.log(`${readRows().length - bad.length} passed, ${bad.length} failed`);
  process.exitCode = bad.length > 0 ? 1 : 0;
}

async function runNewest() {
  const newest = PLATFORMS.findLast(({ name, release, packages }) => !packages && hasRoot(name, release));
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
