// Decides how the bundle of the program is loaded: with what V8 made of it at an earlier start, if that was kept.

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { constants, Script } from 'node:vm';
import { crc32 } from 'node:zlib';
import { readIfRegular } from './files/regular.ts';
import { removeLeftovers } from './leftovers.ts';
import { isOwn, makeOwnFolder } from './own.ts';

const CHECKSUM_OCTETS = 4;
/** Octets of kept code: some times what V8 makes of the bundle. */
const KEPT_LIMIT = 64 * 1024 * 1024;
const OURS = /^program-.+\.v8(?:\.(?<part>.+))?$/;

export interface LoadedBundle {
  /** What the bundle exports. */
  exports: unknown;
  /** Keeps what V8 has made of it by now for the next start, unless that is kept already. Never throws. */
  keep: () => void;
}

/** Returns what is in FILE when this user alone can have written it: it is code that will run. */
function readOwn(file: string): Buffer | undefined {
  const found = readIfRegular(file, { limit: KEPT_LIMIT });
  return found && isOwn(found.stats) ? found.octets : undefined;
}

/** Returns the code that FILE keeps, when it is whole: V8 looks at its head only, and damaged code ends the process. */
function keptCode(file: string): Buffer | undefined {
  const kept = readOwn(file);
  if (kept === undefined || kept.length < CHECKSUM_OCTETS) return undefined;
  const code = kept.subarray(CHECKSUM_OCTETS);
  return kept.readUInt32LE() === crc32(code) ? code : undefined;
}

/** Keeps CODE in FILE: a whole file, which only this user can read, or none. */
function keepCode(file: string, code: Buffer): void {
  const checksum = Buffer.alloc(CHECKSUM_OCTETS);
  checksum.writeUInt32LE(crc32(code));
  const partial = `${file}.${process.pid}`;
  try {
    makeOwnFolder(dirname(file));
    writeFileSync(partial, Buffer.concat([checksum, code]), { mode: 0o600, flag: 'wx' });
    renameSync(partial, file);
  } catch {
    removeIfThere(partial);
  }
}

function removeIfThere(file: string): void {
  try {
    rmSync(file);
  } catch {}
}

/** Loads the CommonJS bundle FILE, whose text has the digest IDENTITY. What V8 makes of it is kept in FOLDER, for this
 *  version of Node. Where it cannot be kept or read, or V8 does not take it, the bundle is compiled. */
export function loadBundle(file: string, identity: string, folder: string): LoadedBundle {
  const cache = join(folder, `program-${identity}-${process.version}-${process.arch}.v8`);
  const cachedData = keptCode(cache);
  // esbuild writes nothing but ASCII.
  const source = readFileSync(file, 'latin1');
  const script = new Script(`(function(exports,require,module,__filename,__dirname){${source}\n})`, {
    filename: file,
    ...(cachedData && { cachedData }),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const module: { exports: unknown } = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(file), module, file, dirname(file));
  let kept = cachedData !== undefined && script.cachedDataRejected !== true;
  const keep = () => {
    if (kept) return;
    kept = true;
    keepCode(cache, script.createCachedData());
    removeLeftovers(folder, OURS, [basename(cache)]);
  };
  return { exports: module.exports, keep };
}
