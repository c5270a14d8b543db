// Bundles the program into dist/live-lisp.js, dist/start.js and dist/program.cjs, the library into dist/index.js, and the
// page into dist/page, with the licences of what they contain. The Lisp sources stay in lisp/, beside dist/. With --types it writes the library's
// types too, with --for-tests the programs that compare answers with their declarations, of which one has times that tests
// give.

import { execFileSync } from 'node:child_process';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';
import { BUNDLE, PAGE_BUNDLE } from './bundle.mjs';
import { noticesText } from './notices.mjs';
import { declarations } from './operations.mjs';
import { buildProgram, knowingBackend } from './program.mjs';

const forTests = process.argv.includes('--for-tests');
for (const folder of ['dist', 'dist-tests']) rmSync(folder, { recursive: true, force: true });
const [program, library, page] = await Promise.all([
  buildProgram(forTests ? 'tests/checked-program.ts' : 'src/program.ts', 'dist'),
  build({
    ...(await knowingBackend(BUNDLE)),
    metafile: true,
    entryPoints: ['src/index.ts'],
    outfile: 'dist/index.js',
  }),
  build({ ...PAGE_BUNDLE, metafile: true, entryPoints: ['page/page.ts'], outfile: 'dist/page/page.js' }),
]);
for (const file of ['index.html', 'page.css']) cpSync(`page/${file}`, `dist/page/${file}`);
writeFileSync('dist/THIRD_PARTY_NOTICES.txt', noticesText([...program, library.metafile, page.metafile]));
if (forTests) {
  await buildProgram('tests/timed-program.ts', 'dist-tests');
  writeFileSync('dist-tests/declared.json', JSON.stringify(declarations()));
}
if (process.argv.includes('--types')) {
  execFileSync('npx', ['--no-install', 'tsc', '-p', 'tsconfig.types.json'], { stdio: 'inherit' });
}
