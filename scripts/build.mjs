// Bundles the program into dist/live-lisp.js, dist/start.js and dist/program.cjs, and the library into dist/index.js; the
// Lisp sources stay in lisp/, beside dist/. With --types it writes the library's types too, with --for-tests the program whose times
// tests give.

import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { build } from 'esbuild';
import { BUNDLE } from './bundle.mjs';
import { buildProgram, knowingAgent } from './program.mjs';

rmSync('dist', { recursive: true, force: true });
await Promise.all([
  buildProgram('src/program.ts', 'dist'),
  build({ ...(await knowingAgent(BUNDLE)), entryPoints: ['src/index.ts'], outfile: 'dist/index.js' }),
]);
if (process.argv.includes('--for-tests')) await buildProgram('tests/timed-program.ts', 'dist-tests');
if (process.argv.includes('--types')) {
  execFileSync('npx', ['--no-install', 'tsc', '-p', 'tsconfig.types.json'], { stdio: 'inherit' });
}
