// Decides how the program is put together: its code in program.cjs, start.js, which loads that, and live-lisp.js. The
// code knows the backend's source.

import { createHash } from 'node:crypto';
import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { BUNDLE, ENTRY_BUNDLE, SCRIPT_BUNDLE } from './bundle.mjs';

const PROJECT = join(import.meta.dirname, '..');

/**
 * Returns the digest of the backend's source, as the server has it.
 * @returns {Promise<string>}
 */
async function backendDigest() {
  const entryPoints = ['src/image/process/backend.ts'];
  const { outputFiles } = await build({
    ...BUNDLE,
    absWorkingDir: PROJECT,
    banner: {},
    entryPoints,
    write: false,
  });
  const code = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64');
  const { sourceDigest } = await import(`data:text/javascript;base64,${code}`);
  return sourceDigest(join(PROJECT, 'lisp'));
}

/**
 * Returns OPTIONS of esbuild with the strings VALUES for names that the code declares.
 * @template {{ define?: Record<string, string> }} Options
 * @param {Options} options
 * @param {Record<string, string>} values
 */
function withValues(options, values) {
  const texts = Object.entries(values).map(([name, value]) => [name, JSON.stringify(value)]);
  return { ...options, absWorkingDir: PROJECT, define: { ...options.define, ...Object.fromEntries(texts) } };
}

/**
 * Returns OPTIONS of esbuild for a bundle that knows the backend's source.
 * @template {object} Options
 * @param {Options} options
 */
export async function knowingBackend(options) {
  return withValues(options, { BUNDLED_BACKEND: await backendDigest() });
}

/**
 * Returns the names and parameters of all built-in tools as JSON.
 * @returns {Promise<string>}
 */
async function builtInSignatures() {
  const outfile = join(PROJECT, 'dist', 'assembly.cjs');
  const contents =
    "export { assemble } from './src/assembly.ts'; export { readConfig } from './src/config.ts';";
  const stdin = { contents, resolveDir: PROJECT, loader: /** @type {const} */ ('ts') };
  await build({ ...(await knowingBackend(SCRIPT_BUNDLE)), stdin, outfile });
  const { assemble, readConfig } = createRequire(import.meta.url)(outfile);
  rmSync(outfile);
  const { registry } = assemble(readConfig(['tools'], {}));
  return JSON.stringify(
    registry.tools().map(({ name, parameters, required, instead, images }) => ({
      name,
      parameters: [
        ...parameters.map(({ description: _, ...parameter }) => parameter),
        // Only the session knows whether it has several images, and refuses this parameter when it has one.
        ...(images === 'any' ? [] : [{ name: 'image', type: 'string' }]),
      ],
      required,
      instead,
    })),
  );
}

/**
 * Bundles the program of ENTRY into FOLDER.
 * @param {string} entry
 * @param {string} folder
 * @returns {Promise<import('esbuild').Metafile[]>} what esbuild put into the files
 */
export async function buildProgram(entry, folder) {
  const program = join(folder, 'program.cjs');
  const { metafile } = await build({
    ...(await knowingBackend(SCRIPT_BUNDLE)),
    metafile: true,
    entryPoints: [entry],
    outfile: resolve(program),
  });
  const identity = createHash('sha256').update(readFileSync(program)).digest('hex').slice(0, 16);
  const loader = withValues(ENTRY_BUNDLE, {
    BUNDLE_IDENTITY: identity,
    BUILT_IN_SIGNATURES: await builtInSignatures(),
  });
  const start = await build({
    ...loader,
    metafile: true,
    entryPoints: ['src/main.ts'],
    outdir: resolve(folder),
  });
  chmodSync(join(folder, 'live-lisp.js'), 0o755);
  return [metafile, start.metafile];
}
