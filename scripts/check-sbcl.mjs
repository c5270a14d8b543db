// Runs the whole suite on each SBCL that people have, in a system of its own, and writes docs/platforms.md. ONLY=trixie,sid
// names some of the systems, and TESTS=main runs the main tests only. SBCL_SOURCE is a folder with the sources of an SBCL, built or not. With --newest it runs the
// main job on the newest SBCL that was set up here, and writes nothing.

import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runIn } from './enter-root.mjs';
import { writeRow } from './platforms.mjs';
import { CACHE, cloneInto, hasRoot, obstacle, preparedRoot } from './roots.mjs';
import { FOLDER, MAIN, PLATFORMS } from './sbcl-platforms.mjs';

const {
  ONLY: only,
  TESTS: kind,
  SBCL_SOURCE: source,
  NODE: node = process.versions.node.split('.')[0],
} = process.env;

const RESULTS = join(CACHE, 'results');
const VITEST = 'npx --no-install vitest run --reporter=default --reporter=json';

/** Prints, a line each, the system, the machine, and the versions of SBCL, of the ASDF that loads systems, and of Node. */
const FACTS = `. /etc/os-release && echo "$PRETTY_NAME" && uname -m && sbcl --noinform --no-userinit --non-interactive \\
  --eval '(require :asdf)' --eval '(handler-bind ((warning (function muffle-warning))) (asdf:load-system :asdf))' \\
  --eval '(format t "~&~A~%~A~%" (lisp-implementation-version) (asdf:asdf-version))' 2>/dev/null | tail -n 2 && node --version`;

/** Runs COMMAND in ROOT as root, keeps what it wrote in the file NAME of the results, and returns that. MORE is as runIn
 *  has it. */
async function run(root, name, command, { mounts = {}, ...more } = {}) {
  mkdirSync(RESULTS, { recursive: true });
  const log = join(RESULTS, `${name}.log`);
  const all = { node, mounts: { [RESULTS]: '/results', ...mounts }, log, ...more };
  return { log, ...(await runIn(root, all, command)) };
}

/** Does as `run`, and throws when the command fails. */
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
  const demo = await run(root, `${name}-demo`, `cd ${FOLDER} && make demo`, {
    proc,
    env,
  });
  const command = `cd ${FOLDER} && rm -f /results/${name}.json && ${VITEST} --outputFile=/results/${name}.json ${tests.join(' ')}`;
  const { output, log } = await run(root, `${name}-tests`, command, { proc, env });
  const counts = JSON.parse(readFileSync(join(RESULTS, `${name}.json`), 'utf8'));
  return {
    ...{ name, system: like === undefined ? `${system}, ${machine}` : `${system}, ${like}` },
    ...{ sbcl: sbcl.replace('.debian', ''), asdf, node: version.slice(1) },
    ...{ tests: tests.length > 0 ? 'the main ones' : 'all', demo: demo.ok },
    ...{ passed: counts.numPassedTests, failed: counts.numFailedTests, leftOut: counts.numPendingTests },
    why: /^\d+ tests left out: (.*)/m.exec(output)?.[1] ?? '',
    when: new Date().toISOString().slice(0, 10),
    log,
  };
}

function line({ name, sbcl, asdf, demo, passed, failed, leftOut }) {
  const reported = `demo ${demo ? 'ends well' : 'FAILS'}, ${passed} passed, ${failed} failed, ${leftOut} left out`;
  return `${name} (SBCL ${sbcl}, ASDF ${asdf}): ${reported}`;
}

/** Tries a platform, and keeps what came of it. Returns whether all was well. */
async function check(platform) {
  try {
    const { log, ...row } = await tried(platform, platform.like === undefined && kind !== 'main' ? [] : MAIN);
    console.log(`${line(row)}; ${log}`);
    writeRow(row);
    return row.demo && row.failed === 0;
  } catch (error) {
    console.log(`${platform.name}: ${error.message}`);
    return false;
  }
}

async function runAll() {
  const wanted = PLATFORMS.filter(({ name }) => only === undefined || only.split(',').includes(name));
  const results = [];
  for (const platform of wanted) {
    if (platform.source && source === undefined && !hasRoot(platform.name, platform.release))
      console.log(`${platform.name} is left out: SBCL_SOURCE names no folder with the sources of SBCL`);
    else results.push(await check(platform));
  }
  const passed = results.filter(Boolean).length;
  console.log(`${passed} passed, ${results.length - passed} failed`);
  process.exitCode = passed === results.length ? 0 : 1;
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
