// Bundles the program into dist/live-lisp.js; the Lisp sources stay in lisp/, beside dist/.

import { chmodSync, rmSync } from 'node:fs';
import { build } from 'esbuild';

rmSync('dist', { recursive: true, force: true });
await build({
  entryPoints: ['src/main.ts'],
  outfile: 'dist/live-lisp.js',
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  legalComments: 'eof',
  minifySyntax: true,
  banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
});
chmodSync('dist/live-lisp.js', 0o755);
