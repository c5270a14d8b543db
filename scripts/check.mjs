// Runs all checks besides the tests, a line each, and prints how many passed and failed.

import { spawn } from 'node:child_process';
import { PROJECT } from './session.mjs';

const BUILD = { name: 'build', command: ['node', 'scripts/build.mjs', '--types'] };

/** All need nothing but the build, and write nothing in the project, so they run side by side. */
const CHECKS = [
  { name: 'types (tsc)', command: ['node_modules/.bin/tsc', '-p', '.'] },
  {
    name: 'types of the page (tsc)',
    command: ['node_modules/.bin/tsc', '-p', 'tsconfig.page.json'],
  },
  {
    name: 'format and lint (biome)',
    command: ['node_modules/.bin/biome', 'ci', '--colors=off', '--diagnostic-level=error', '.'],
  },
  {
    name: 'generated docs and measured token costs are fresh',
    command: ['node', 'scripts/generate-docs.mjs', '--check'],
  },
  { name: 'the measured robustness is of all cases', command: ['node', 'scripts/robustness.mjs', '--check'] },
  {
    name: 'the measured clients are those of the suite',
    command: ['node', 'scripts/clients.mjs', '--check'],
  },
  { name: 'the measured callers are written', command: ['node', 'scripts/callers.mjs', '--check'] },
  { name: 'the tried platforms are written', command: ['node', 'scripts/platforms.mjs', '--check'] },
  { name: 'the packed program and library work', command: ['node', 'scripts/check-pack.mjs'] },
];

/** Lines of a failed check that are shown. */
const TAIL = 40;

/** Runs COMMAND in the project and returns whether it succeeded, and what it wrote. */
function run([program, ...args]) {
  return new Promise((resolve) => {
    // TypeScript's compiler is written in Go: a fifth of its time goes for garbage that has room.
    const env = { ...process.env, GOGC: '400' };
    const child = spawn(program, args, { cwd: PROJECT, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    child.on('error', (error) => resolve({ ok: false, output: error.message }));
    child.on('close', (code) => resolve({ ok: code === 0, output }));
  });
}

/** Runs a check, prints its line, and returns whether it passed. */
async function check({ name, command }) {
  const { ok, output } = await run(command);
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${name}`);
  if (!ok) console.log(output.trimEnd().split('\n').slice(-TAIL).join('\n').replace(/^/gm, '     '));
  return ok;
}

const results = [await check(BUILD)];
results.push(...(await Promise.all(CHECKS.map(check))));
const passed = results.filter(Boolean).length;
console.log(`${passed} passed, ${results.length - passed} failed`);
process.exitCode = passed === results.length ? 0 : 1;
