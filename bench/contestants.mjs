// Decides what is measured: a copy of the built program, and the floor, bundled with the same options. With a copy a
// run is about one state of the program even when it is changed meanwhile.

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { BUNDLE } from '../scripts/bundle.mjs';
import { Client } from './client.mjs';

/** @typedef {import('./client.mjs').Contestant} Contestant */

/**
 * @typedef {object} Stage
 * @property {Contestant} floor
 * @property {Contestant} ours with the user's own caches
 * @property {Contestant} warm with a cache that holds the core which a server makes after its first start
 * @property {Contestant | undefined} sandboxed the same in the sandbox, where there is bubblewrap
 * @property {Contestant | undefined} newer the same with the SBCL that NEWER_SBCL names, if that is set
 * @property {() => { contestant: Contestant, remove: () => void }} cold with a cache of its own that is empty
 * @property {string} place the folder of all this
 * @property {string} library the file of the package's library
 * @property {() => void} remove
 */

const PROJECT = join(import.meta.dirname, '..');

/**
 * Returns the contestants, ready to run in a new temporary folder.
 * @returns {Promise<Stage>}
 */
export async function setStage() {
  if (!existsSync(join(PROJECT, 'dist', 'live-lisp.js'))) {
    throw new Error('The server is not built: run node scripts/build.mjs first.');
  }
  const stage = mkdtempSync(join(tmpdir(), 'live-lisp-bench-'));
  const folder = join(stage, 'workspace');
  mkdirSync(folder);
  for (const part of ['dist', 'lisp', 'package.json']) {
    cpSync(join(PROJECT, part), join(stage, part), { recursive: true });
  }
  await bundleFloor(join(stage, 'dist', 'floor.js'));
  const ours = { script: join(stage, 'dist', 'live-lisp.js'), folder };
  const warm = withCache({ ...ours, args: ['--no-sandbox'] }, join(stage, 'cache'));
  await keepCore(ours);
  copyOwnCache(join(stage, 'cache', 'live-lisp'));
  await keepCore(warm);
  const newer = withNewerSbcl(withCache(ours, join(stage, 'newer')));
  if (newer !== undefined) await keepCore(newer);
  return {
    floor: { script: join(stage, 'dist', 'floor.js'), folder },
    ours,
    warm,
    sandboxed: hasBubblewrap() ? withCache(ours, join(stage, 'cache')) : undefined,
    newer,
    cold: () => {
      const cache = mkdtempSync(join(stage, 'cold-'));
      return { contestant: withCache(ours, cache), remove: () => removeFolder(cache) };
    },
    place: stage,
    library: join(stage, 'dist', 'index.js'),
    remove: () => removeFolder(stage),
  };
}

/**
 * Copies what a first start has kept into FOLDER, which would be made there anew from the same sources.
 * @param {string} folder
 */
function copyOwnCache(folder) {
  const own = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'live-lisp');
  const kept = existsSync(own)
    ? readdirSync(own).filter((name) => /^(?:backend|image)-.*\.(?:fasl|core)$/.test(name))
    : [];
  for (const name of kept) cpSync(join(own, name), join(folder, name));
}

/** True in an image that was started from a core with the backend in it. */
const FROM_CORE = '(not (null (symbol-value (find-symbol "**ORIGIN**" "LIVE-LISP.BACKEND"))))';
/** A core is made with a low priority, so other programs of the machine can hold that up for long. */
const CORE_LIMIT_MS = 900_000;

/**
 * Has images of CONTESTANT start from a core, which a server makes after an image has started without.
 * @param {Contestant} contestant
 */
async function keepCore(contestant) {
  const maker = new Client(contestant);
  try {
    await maker.initialize();
    const began = performance.now();
    let answer = await maker.call('eval_form', { form: FROM_CORE });
    while (answer !== 'T') {
      if (performance.now() - began > CORE_LIMIT_MS) {
        throw new Error(
          'No image starts from a core: see what live-lisp doctor says, and run the bench again.',
        );
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
      const client = new Client(contestant);
      await client.initialize();
      answer = await client.call('eval_form', { form: FROM_CORE });
      await client.close();
    }
  } finally {
    await maker.close();
  }
}

function hasBubblewrap() {
  return (
    spawnSync('bwrap', ['--unshare-user', '--disable-userns', '--ro-bind', '/', '/', 'true']).status === 0
  );
}

/**
 * @param {Contestant} contestant
 * @param {string} cache
 * @returns {Contestant}
 */
function withCache(contestant, cache) {
  const env = {
    XDG_CACHE_HOME: cache,
    XDG_STATE_HOME: join(cache, 'state'),
    LIVE_LISP_SERVING: join(cache, 'serving'),
  };
  return { ...contestant, env };
}

/**
 * @param {Contestant} contestant
 * @returns {Contestant | undefined}
 */
function withNewerSbcl({ env, ...contestant }) {
  const sbcl = process.env['NEWER_SBCL'];
  return sbcl === undefined ? undefined : { ...contestant, env: { ...env, LIVE_LISP_SBCL: sbcl } };
}

/** @param {string} folder */
function removeFolder(folder) {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** @param {string} outfile */
async function bundleFloor(outfile) {
  await build({ ...BUNDLE, entryPoints: [join(import.meta.dirname, 'floor.mjs')], outfile });
}
