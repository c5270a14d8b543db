// Bundles the program into dist/live-lisp.js and the library into dist/index.js; the Lisp sources stay in lisp/,
// beside dist/. With --types it writes the library's types too, with --for-tests the program whose times tests give.

import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync } from 'node:fs';
import { build } from 'esbuild';
import { BUNDLE } from './bundle.mjs';

rmSync('dist', { recursive: true, force: true });
await Promise.all([
  build({ ...BUNDLE, entryPoints: ['src/main.ts'], outfile: 'dist/live-lisp.js' }),
  build({ ...BUNDLE, entryPoints: ['src/index.ts'], outfile: 'dist/index.js' }),
]);
chmodSync('dist/live-lisp.js', 0o755);
if (process.argv.includes('--for-tests')) {
  await build({ ...BUNDLE, entryPoints: ['tests/timed-program.ts'], outfile: 'dist-tests/live-lisp.js' });
}
if (process.argv.includes('--types')) {
  execFileSync('npx', ['--no-install', 'tsc', '-p', 'tsconfig.types.json'], { stdio: 'inherit' });
}
