// Caches source files: the current version of each and, when it differs, the version that the image loaded.

import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { findLocalFolders, isOnLocalDisk, localStats, withFileTimeout } from '../files/answering.ts';
import { WHOLE_FILE_LIMIT } from '../files/lines.ts';
import { type ReadLimits, type RegularFile, readRegular, readRegularAsync } from '../files/regular.ts';
import { decode } from '../files/text.ts';
import type { LoadedText, Operations, Place } from '../image/wire/operations.ts';
import type { Features } from '../source/form.ts';
import { SourceText } from '../source/text.ts';
import { TopLevelForms } from '../source/top-level.ts';

/** Keeps the values that were set last, so many that their sizes add up to at most a limit. */
class Cache<Value> {
  readonly #values = new Map<string, Value>();
  readonly #limit: number;
  readonly #sizeOf: (value: Value) => number;
  #size = 0;

  constructor(limit: number, sizeOf: (value: Value) => number) {
    this.#limit = limit;
    this.#sizeOf = sizeOf;
  }

  get(key: string): Value | undefined {
    return this.#values.get(key);
  }

  /** Makes VALUE the newest one. */
  set(key: string, value: Value): void {
    this.#delete(key);
    this.#values.set(key, value);
    this.#size += this.#sizeOf(value);
    for (const oldest of this.#values.keys()) {
      if (this.#size <= this.#limit) return;
      this.#delete(oldest);
    }
  }

  #delete(key: string): void {
    const value = this.#values.get(key);
    if (!this.#values.delete(key)) return;
    this.#size -= this.#sizeOf(value as Value);
  }
}

/** Identifies a version of a file. `fingerprint` is made from its stats. `settled` is true when every later write is
 * certain to change the fingerprint. */
interface Version {
  fingerprint: string;
  settled: boolean;
}

/** A version of a source file. Its forms are parsed when they are needed. */
export class Source {
  /** The version of the file on the disk when it was last compared with this text. */
  version: Version;
  /** The time when the file was last written, in seconds of Lisp's universal time. */
  readonly written: number;
  readonly text: SourceText;
  /** A hash of the octets of the file. */
  readonly digest: string;
  /** Returns the *FEATURES* with which the forms are read. */
  readonly #features: () => Features;
  #forms: TopLevelForms | undefined;
  #formsAsLoaded: TopLevelForms | undefined;

  constructor(file: string, version: Version, written: number, octets: Uint8Array, features: () => Features) {
    this.#features = features;
    const { text, bom, encoding } = decode(octets);
    this.version = version;
    this.written = written;
    this.digest = fnvHashOf(octets);
    // SBCL counts the byte order mark as a character.
    this.text = new SourceText((bom ? '\ufeff' : '') + text, encoding, file);
  }

  /** Returns the top-level forms. They are parsed again when the features have changed in a way that matters. */
  forms(): TopLevelForms {
    const features = this.#features();
    if (this.#forms?.holdUnder(features)) return this.#forms;
    this.#forms = new TopLevelForms(this.text, features);
    return this.#forms;
  }

  /** Returns the top-level forms as read with FEATURES, which may differ from the current features of the image. */
  formsUnder(features: Features = this.#features()): TopLevelForms {
    const forms = this.forms();
    if (forms.holdUnder(features)) return forms;
    if (!this.#formsAsLoaded?.holdUnder(features))
      this.#formsAsLoaded = new TopLevelForms(this.text, features);
    return this.#formsAsLoaded;
  }
}

/** The version of a file that the image has loaded. `features` are those at the time of the load. They are absent when
 * the current features give the same forms. */
export interface LoadedVersion {
  source: Source;
  features?: Features;
}

/** Maximum number of characters of cached files. */
const CACHE_LIMIT = 8 * 1024 * 1024;

/** Maximum number of characters of files that `prepare` has read. If there are more, the oldest files are dropped. */
const PREPARED_LIMIT = 4 * CACHE_LIMIT;

/** Two writes within this many milliseconds can have the same time stamp. */
const TICK_MS = 50;

/** Number of seconds from 1900, where Lisp's universal time begins, to 1970, where Unix time begins. */
const EPOCH = 2_208_988_800;

/** Reads files on the machine of the image, when this is another machine. `isOne` returns true when `file` is the name
 * of such a file. `read` returns the octets of the file, and the time when it was last written; undefined when it
 * cannot be read. If the argument `written` equals this time, the octets are left out. */
export interface ReadElsewhere {
  isOne(file: string): boolean;
  read(
    file: string,
    written: number | undefined,
  ): Promise<{ written: number; octets?: Uint8Array } | undefined>;
}

/** Gets the loaded texts of files from the image. Gets only those of files that have changed since they were loaded. */
export type ReadLoaded = (
  versions: Operations['loaded-texts']['args']['versions'],
) => Promise<readonly LoadedText[]>;

/** Gives the text of a file in two versions: the current one (`read`), and the one that the image has loaded
 * (`loadedVersion`). Both are synchronous, so `prepare` and then `prepareLoaded` do the slow work before.
 *
 * - `read` answers from the disk if the file is on a local one. The last answers are in #parsed, and are given again
 *   while the stats of the file stay the same.
 * - For any other file, `read` answers what `prepare` has read last (#prepared).
 * - What `read` has answered from either is in #readInTurn, and does not change until the running code has ended.
 * - `loadedVersion` answers the current version if it was loaded, else what `prepareLoaded` got (#loaded). */
export class Sources {
  /** By file; what this machine has read, also for `prepare`. */
  readonly #parsed = new Cache<Source>(CACHE_LIMIT, ({ text }) => text.text.length);
  /** By file; undefined stands for a file that could not be read. */
  readonly #prepared = new Cache<Source | undefined>(
    PREPARED_LIMIT,
    (source) => source?.text.text.length ?? 0,
  );
  /** By file. A microtask clears this map when the synchronous code that has read the files has ended. */
  readonly #readInTurn = new Map<string, Source | undefined>();
  /** By file and mark (see keyOf). */
  readonly #loaded = new Cache<LoadedVersion>(CACHE_LIMIT, ({ source }) => source.text.text.length);
  readonly #features: () => Features;
  /** The time when this server started, in seconds of universal time. */
  readonly #begun = Math.floor(Date.now() / 1000) + EPOCH;
  readonly #bounds: ReadLimits;
  readonly #elsewhere: ReadElsewhere | undefined;
  readonly #readLoaded: ReadLoaded;

  /** FEATURES returns the image's *FEATURES*, with which files are read. READ_LOADED asks the image for the texts
   * of the files that the image has loaded. FORBIDS returns the reason why a file may not be read; undefined when it
   * may. ELSEWHERE reads files on the machine of the image, if this is another machine. */
  constructor(
    features: () => Features,
    readLoaded: ReadLoaded,
    forbids?: ReadLimits['forbids'],
    elsewhere?: ReadElsewhere,
  ) {
    this.#features = features;
    this.#readLoaded = readLoaded;
    this.#elsewhere = elsewhere;
    this.#bounds = { limit: WHOLE_FILE_LIMIT, ...(forbids && { forbids }) };
  }

  /** Reads those of FILES that are on the machine of the image or on a slow file system. Only after this do the
   * synchronous methods find them. */
  async prepare(files: readonly string[]): Promise<void> {
    const names = [...new Set(files)];
    const elsewhere = names.filter((file) => this.#elsewhere?.isOne(file));
    const far = names.filter((file) => !elsewhere.includes(file) && !isOnLocalDisk(file));
    if (far.length === 0 && elsewhere.length === 0) return;
    await findLocalFolders(far);
    for (const file of elsewhere) this.#prepared.set(file, await this.#readElsewhere(file));
    for (const file of far)
      if (!isOnLocalDisk(file)) this.#prepared.set(file, await this.#readToPrepare(file));
  }

  /** For each file of PLACES that has changed since it was loaded: asks the image for the loaded version, and keeps it
   * for loadedVersion. The mark of a place is the digest of the loaded text. But if the text has #+ or #-, and the
   * features have changed since then, the image sends a mark that is the digest of no text. So it is asked for the text
   * that it has loaded, even if this is the current one. */
  async prepareLoaded(places: readonly Place[]): Promise<void> {
    const wanted = new Map<string, { file: string; mark: string; now: Source }>();
    for (const { file, mark } of places) {
      const now = file === undefined || mark === undefined ? undefined : this.read(file);
      if (file === undefined || mark === undefined || now === undefined || now.digest === mark) continue;
      const key = keyOf(file, mark);
      const kept = this.#loaded.get(key);
      if (kept === undefined) wanted.set(key, { file, mark, now });
      else this.#loaded.set(key, kept); // Now it is the newest.
    }
    if (wanted.size === 0) return;
    const versions = [...wanted.values()].map(({ file, mark, now }) => ({ file, mark, now: now.digest }));
    const found = await this.#readLoaded(versions);
    for (const [index, [key, { file, mark, now }]] of [...wanted].entries()) {
      const { text, features } = found[index] ?? {};
      // The image sends no features when it has lost the text, and no text when this is the current one.
      if (features === undefined) continue;
      const version = { fingerprint: mark, settled: true };
      const octets = text === undefined ? undefined : Buffer.from(text, 'latin1');
      const source = octets ? new Source(file, version, 0, octets, this.#features) : now;
      this.#loaded.set(key, { source, features: new Set(features) });
    }
  }

  /** Returns the current version of FILE, decoded as UTF-8 or else Latin-1; undefined when FILE cannot be read. */
  read(file: string): Source | undefined {
    // To make an answer, a file is read once for each place in it. So the result is kept until the running synchronous
    // code has ended.
    if (this.#readInTurn.size === 0) queueMicrotask(() => this.#readInTurn.clear());
    if (!this.#readInTurn.has(file)) this.#readInTurn.set(file, this.#readNow(file));
    return this.#readInTurn.get(file);
  }

  #readNow(file: string): Source | undefined {
    const stats = localStats(file);
    // The file may be slow to read, so only `prepare` reads it.
    if (stats === undefined) return this.#prepared.get(file);
    if (stats === 'none') return undefined;
    try {
      return this.#unchanged(file, stats) ?? this.#parse(file, readRegular(file, this.#bounds));
    } catch {
      return undefined;
    }
  }

  async #readElsewhere(file: string): Promise<Source | undefined> {
    const kept = this.#prepared.get(file);
    const found = await this.#elsewhere?.read(file, kept?.written);
    if (found === undefined) return undefined;
    if (found.octets === undefined) return kept;
    const version = { fingerprint: String(found.written), settled: true };
    return new Source(file, version, found.written, found.octets, this.#features);
  }

  async #readToPrepare(file: string): Promise<Source | undefined> {
    try {
      const stats = await withFileTimeout(dirname(file), () => stat(file));
      return this.#unchanged(file, stats) ?? this.#parse(file, await readRegularAsync(file, this.#bounds));
    } catch {
      return undefined;
    }
  }

  /** Returns the cached version of FILE if STATS prove that it is still the current one; else undefined. */
  #unchanged(file: string, stats: Stats): Source | undefined {
    const kept = this.#parsed.get(file);
    return kept?.version.settled && kept.version.fingerprint === versionOf(stats).fingerprint
      ? kept
      : undefined;
  }

  /** Returns the version of FILE that was just read. Keeps it in #parsed. */
  #parse(file: string, { octets, stats }: RegularFile): Source {
    const kept = this.#parsed.get(file);
    const version = versionOf(stats);
    const written = Math.floor(stats.mtimeMs / 1000) + EPOCH;
    const source = new Source(file, version, written, octets, this.#features);
    // The old object may have its forms parsed already. `written` must be equal, because loadedVersion compares it.
    if (kept?.written === written && kept.text.text === source.text.text) {
      kept.version = version;
      return kept;
    }
    this.#parsed.set(file, source);
    return source;
  }

  get features(): Features {
    return this.#features();
  }

  /** Returns the version of a file that the image has loaded, for a place in this file; undefined when it is unknown.
   * NOW is the current version. Without `mark`, which identifies the loaded text, the dates decide: NOW counts as
   * loaded unless the loaded version has another date or, if its date is unknown, NOW was written since this server
   * started. */
  loadedVersion({ file = '', mark, undated, written }: Place, now: Source): LoadedVersion | undefined {
    if (mark !== undefined)
      return mark === now.digest ? { source: now } : this.#loaded.get(keyOf(file, mark));
    const isOther = undated ? now.written >= this.#begun : written !== undefined && written !== now.written;
    return isOther ? undefined : { source: now };
  }
}

function keyOf(file: string, mark: string): string {
  return `${mark} ${file}`;
}

/** Returns the FNV-1a hash of OCTETS in base 36. The backend hashes loaded files with the same function in
 * lisp/sources/texts.lisp, so both must be changed together. */
function fnvHashOf(octets: Uint8Array): string {
  let digest = 0x811c9dc5;
  for (const octet of octets) digest = Math.imul(digest ^ octet, 0x01000193);
  return (digest >>> 0).toString(36);
}

/** Returns the version of a file from its stats. The fingerprint contains the ctime, because programs can set the mtime
 * to any value. */
function versionOf({ mtimeMs, ctimeMs, size, ino }: Stats): Version {
  return { fingerprint: `${mtimeMs} ${ctimeMs} ${size} ${ino}`, settled: Date.now() > ctimeMs + TICK_MS };
}
