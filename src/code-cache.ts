// Loads the bundle of the program. Uses V8's code cache from an earlier start, if there is one.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { constants, Script } from 'node:vm';
import { crc32 } from 'node:zlib';
import { readIfRegular } from './files/regular.ts';
import { removeLeftovers } from './leftovers.ts';
import { isOwn, makeOwnFolder } from './ownership.ts';
import { removeIfPossible } from './paths.ts';

const CHECKSUM_OCTETS = 4;
/** Maximum number of octets of a file with a code cache. The code cache of the bundle has only a fraction of this. */
const SIZE_LIMIT = 64 * 1024 * 1024;
const CACHE_FILE = /^program-.+\.v8(?:\.(?<part>.+))?$/;

export interface LoadedBundle {
  exports: unknown;
  /** Stores V8's current code cache for the next start, unless the stored one has the same code. Never throws. */
  store: () => void;
}

/** Returns the content of FILE if only this user can have written it, because the content is executed. */
function readOwn(file: string): Buffer | undefined {
  const found = readIfRegular(file, { limit: SIZE_LIMIT });
  return found && isOwn(found.stats) ? found.octets : undefined;
}

/** Returns the code cache in FILE; undefined when it is damaged. Compares a checksum of the code, because damaged code
 * would end the process, and V8 checks only the header of the cache. */
function storedCode(file: string): Buffer | undefined {
  const storedFile = readOwn(file);
  if (storedFile === undefined || storedFile.length < CHECKSUM_OCTETS) return undefined;
  const code = storedFile.subarray(CHECKSUM_OCTETS);
  return storedFile.readUInt32LE() === crc32(code) ? code : undefined;
}

/** Stores CODE in FILE, which only this user can read. Never leaves FILE incomplete. */
function storeCode(file: string, code: Buffer): void {
  const checksum = Buffer.alloc(CHECKSUM_OCTETS);
  checksum.writeUInt32LE(crc32(code));
  const partial = `${file}.${process.pid}`;
  try {
    makeOwnFolder(dirname(file));
    writeFileSync(partial, Buffer.concat([checksum, code]), { mode: 0o600, flag: 'wx' });
    renameSync(partial, file);
  } catch {
    removeIfPossible(partial);
  }
}

/** Loads FILE, a bundle in CommonJS whose text has the digest IDENTITY. FOLDER contains a code cache for each version
 * of Node. If it has no valid one, V8 compiles the bundle. */
export function loadBundle(file: string, identity: string, folder: string): LoadedBundle {
  const cache = join(folder, `program-${identity}-${process.version}-${process.arch}.v8`);
  const cachedData = storedCode(cache);
  // All characters in the bundle are ASCII, because esbuild escapes others.
  const source = readFileSync(file, 'latin1');
  const script = new Script(`(function(exports,require,module,__filename,__dirname){${source}\n})`, {
    filename: file,
    ...(cachedData && { cachedData }),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const module: { exports: unknown } = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(file), module, file, dirname(file));
  let isStored = cachedData !== undefined && script.cachedDataRejected !== true;
  const store = () => {
    if (isStored) return;
    isStored = true;
    storeCode(cache, script.createCachedData());
    removeLeftovers(folder, CACHE_FILE, [basename(cache)]);
  };
  return { exports: module.exports, store };
}
