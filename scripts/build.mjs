// Bundles the program into dist/live-lisp.js; the Lisp sources stay in lisp/, beside dist/.

import { chmodSync, rmSync } from 'node:fs';
import { build } from 'esbuild';
import { BUNDLE } from './bundle.mjs';

rmSync('dist', { recursive: true, force: true });
await build({ ...BUNDLE, entryPoints: ['src/main.ts'], outfile: 'dist/live-lisp.js' });
chmodSync('dist/live-lisp.js', 0o755);
