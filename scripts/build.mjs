// Bundles the program into dist/live-lisp.js and dist/program.cjs, and the library into dist/index.js; the Lisp sources stay
// in lisp/, beside dist/. With --types it writes the library's types too, with --for-tests the program whose times
// tests give.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { BUNDLE, ENTRY_BUNDLE, SCRIPT_BUNDLE } from './bundle.mjs';

/** Returns the digest of the agent's source, as the server has it. */
async function agentDigest() {
  const entryPoints = ['src/image/process/agent.ts'];
  const { outputFiles } = await build({ ...BUNDLE, banner: {}, entryPoints, write: false });
  const code = Buffer.from(outputFiles[0].contents).toString('base64');
  const { sourceDigest } = await import(`data:text/javascript;base64,${code}`);
  return sourceDigest('lisp');
}

/** Returns OPTIONS of esbuild with what VALUES has put into the code for names that are declared there. */
function withValues(options, values) {
  const texts = Object.entries(values).map(([name, value]) => [name, JSON.stringify(value)]);
  return { ...options, define: { ...options.define, ...Object.fromEntries(texts) } };
}

/** Bundles the program of ENTRY into FOLDER: its code in program.cjs, and live-lisp.js, which loads that. */
async function buildProgram(entry, folder) {
  const program = join(folder, 'program.cjs');
  await build({ ...withValues(SCRIPT_BUNDLE, AGENT), entryPoints: [entry], outfile: program });
  const identity = createHash('sha256').update(readFileSync(program)).digest('hex').slice(0, 16);
  const file = join(folder, 'live-lisp.js');
  const loader = withValues(ENTRY_BUNDLE, { BUNDLE_IDENTITY: identity });
  await build({ ...loader, entryPoints: ['src/main.ts'], outfile: file });
  chmodSync(file, 0o755);
  writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }\n');
}

const AGENT = { BUNDLED_AGENT: await agentDigest() };
rmSync('dist', { recursive: true, force: true });
await Promise.all([
  buildProgram('src/program.ts', 'dist'),
  build({ ...withValues(SCRIPT_BUNDLE, AGENT), entryPoints: ['src/index.ts'], outfile: 'dist/index.js' }),
]);
if (process.argv.includes('--for-tests')) await buildProgram('tests/timed-program.ts', 'dist-tests');
if (process.argv.includes('--types')) {
  execFileSync('npx', ['--no-install', 'tsc', '-p', 'tsconfig.types.json'], { stdio: 'inherit' });
}
