// Bundles the program into dist/live-lisp.js, dist/start.js and dist/program.cjs, and the library into dist/index.js, with
// the licences of what they contain. The Lisp sources stay in lisp/, beside dist/. With --types it writes the library's
// types too, with --for-tests the programs that compare answers with their declarations, of which one has times that tests
// give.

import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';
import { BUNDLE } from './bundle.mjs';
import { noticesText } from './notices.mjs';
import { declarations } from './operations.mjs';
import { buildProgram, knowingAgent } from './program.mjs';

const forTests = process.argv.includes('--for-tests');
for (const folder of ['dist', 'dist-tests']) rmSync(folder, { recursive: true, force: true });
const [program, library] = await Promise.all([
  buildProgram(forTests ? 'tests/checked-program.ts' : 'src/program.ts', 'dist'),
  build({
    ...(await knowingAgent(BUNDLE)),
    metafile: true,
    entryPoints: ['src/index.ts'],
    outfile: 'dist/index.js',
  }),
]);
writeFileSync('dist/THIRD_PARTY_NOTICES.txt', noticesText([...program, library.metafile]));
if (forTests) {
  await buildProgram('tests/timed-program.ts', 'dist-tests');
  writeFileSync('dist-tests/declared.json', JSON.stringify(declarations()));
}
if (process.argv.includes('--types')) {
  execFileSync('npx', ['--no-install', 'tsc', '-p', 'tsconfig.types.json'], { stdio: 'inherit' });
}
