// Bundles the program into dist/live-lisp.js, dist/start.js and dist/program.cjs, and the library into dist/index.js; the
// Lisp sources stay in lisp/, beside dist/. With --types it writes the library's types too, with --for-tests the program whose times
// tests give.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { BUNDLE, ENTRY_BUNDLE, SCRIPT_BUNDLE } from './bundle.mjs';

/** Bundles the program of ENTRY into FOLDER: its code in program.cjs, start.js, which loads that, and live-lisp.js. */
async function buildProgram(entry, folder) {
  const program = join(folder, 'program.cjs');
  await build({ ...SCRIPT_BUNDLE, entryPoints: [entry], outfile: program });
  const identity = createHash('sha256').update(readFileSync(program)).digest('hex').slice(0, 16);
  const define = { BUNDLE_IDENTITY: JSON.stringify(identity) };
  await build({ ...ENTRY_BUNDLE, define, entryPoints: ['src/main.ts'], outdir: folder });
  chmodSync(join(folder, 'live-lisp.js'), 0o755);
}

rmSync('dist', { recursive: true, force: true });
await Promise.all([
  buildProgram('src/program.ts', 'dist'),
  build({ ...BUNDLE, entryPoints: ['src/index.ts'], outfile: 'dist/index.js' }),
]);
if (process.argv.includes('--for-tests')) await buildProgram('tests/timed-program.ts', 'dist-tests');
if (process.argv.includes('--types')) {
  execFileSync('npx', ['--no-install', 'tsc', '-p', 'tsconfig.types.json'], { stdio: 'inherit' });
}
