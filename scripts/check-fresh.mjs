// Tries the project as somebody has it who just cloned it on a bare machine: `make demo` as a user with sudo and as root, and
// then a twentieth of the tests. RELEASE names the system, NODE the version of Node, SHARD the part, as 3/20.

import { execFileSync } from 'node:child_process';
import { runIn } from './enter-root.mjs';
import { bareRoot, cloneInto, inFreshRoot, obstacle, ownRelease, PROJECT, USER } from './roots.mjs';

const {
  RELEASE: release = ownRelease(),
  NODE: node = process.versions.node.split('.')[0],
  SHARD: shard = twentieth(),
} = process.env;

/** Returns a twentieth of the tests, another one for most commits. */
function twentieth() {
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: PROJECT, encoding: 'utf8' });
  return `${(Number.parseInt(commit.slice(0, 8), 16) % 20) + 1}/20`;
}

const STEPS = [
  { user: USER, folder: `/home/${USER}/live-lisp`, command: 'make demo' },
  { user: 'root', folder: '/root/live-lisp', command: 'make demo' },
  { user: 'root', folder: '/root/live-lisp', command: `make test SHARD=${shard}` },
];

/** Lines of a failed step that are shown, unless vitest's own section on what failed begins later. */
const TAIL = 60;

/** Returns the end of OUTPUT in which a reader finds what failed. */
function endOf(output) {
  const end = output.trimEnd().split('\n').slice(-TAIL);
  const failed = end.findIndex((line) => /Failed (Tests|Suites) \d/.test(line));
  return end.slice(Math.max(failed, 0)).join('\n');
}

/** Runs a step in ROOT, prints its line, and returns whether it succeeded. */
async function perform(root, { user, folder, command }) {
  const began = performance.now();
  const { ok, output } = await runIn(root, { user, folder, node }, command);
  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${release}, Node ${node}, as ${user}: ${command} (${seconds} s)`);
  const shown = ok ? /^\d+ tests left out.*/m.exec(output)?.[0] : endOf(output);
  if (shown) console.log(shown.replace(/^/gm, '     '));
  return ok;
}

async function main() {
  const results = await inFreshRoot(release, async (root) => {
    for (const [user, folder] of new Map(STEPS.map((step) => [step.user, step.folder])))
      cloneInto(root, folder, user);
    const done = [];
    for (const step of STEPS) done.push(await perform(root, step));
    return done;
  });
  const passed = results.filter(Boolean).length;
  console.log(`${passed} passed, ${results.length - passed} failed`);
  process.exitCode = passed === results.length ? 0 : 1;
}

/** Returns why the bare system cannot be made here, if it cannot. */
async function unmade() {
  try {
    await bareRoot(release);
  } catch {
    return `debootstrap makes no ${release} here; its own words are above`;
  }
}

const why = obstacle() ?? (await unmade());
if (why === undefined) await main();
else console.log(`make check-fresh is left out: ${why}`);
