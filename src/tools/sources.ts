// Caches source files in their present version and as they were when they were loaded.

import { realpathSync, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  findLocalFolders,
  isOnLocalDisk,
  localStats,
  realPathOf,
  withFileTimeout,
} from '../files/answering.ts';
import { WHOLE_FILE_LIMIT } from '../files/lines.ts';
import { type Bounds, type RegularFile, readRegular, readRegularAsync } from '../files/regular.ts';
import { decode } from '../files/text.ts';
import type { Features } from '../source/form.ts';
import { SourceText } from '../source/text.ts';
import { TopLevelForms } from '../source/top-level.ts';

/** TOLD is a fingerprint of a file's stat data. SETTLED is true when every later write changes the
 *  fingerprint. */
interface Version {
  told: string;
  settled: boolean;
}

/** A version of a file, with its forms parsed on demand. */
export class Source {
  /** The stat data when the file was last checked. */
  version: Version;
  /** When the file was written, in seconds of Lisp's universal time. */
  readonly written: number;
  readonly text: SourceText;
  /** True when this version is known to have been loaded. */
  loaded = false;
  /** True when the image has all of this text although it was not loaded as a whole: only its changed forms
   *  were. */
  agreed = false;
  /** The features of the image at the time of the load, if known. */
  loadedUnder: Features | undefined;
  /** Returns the features of the image, under which all versions are read. */
  readonly #features: () => Features;
  #forms: TopLevelForms | undefined;
  #formsAsLoaded: TopLevelForms | undefined;

  constructor(file: string, version: Version, written: number, octets: Uint8Array, features: () => Features) {
    this.#features = features;
    const { text, bom, encoding } = decode(octets);
    this.version = version;
    this.written = written;
    // SBCL counts a byte order mark as a character.
    this.text = new SourceText((bom ? '\ufeff' : '') + text, encoding, file);
  }

  /** Returns the top-level forms, parsed again when the features of the image have changed. */
  forms(): TopLevelForms {
    const features = this.#features();
    if (this.#forms?.holdUnder(features)) return this.#forms;
    this.#forms = new TopLevelForms(this.text, features);
    return this.#forms;
  }

  /** Returns the top-level forms of the text, read under FEATURES, which can differ from the present features
   *  of the image. */
  formsUnder(features: Features = this.#features()): TopLevelForms {
    const forms = this.forms();
    if (forms.holdUnder(features)) return forms;
    if (!this.#formsAsLoaded?.holdUnder(features))
      this.#formsAsLoaded = new TopLevelForms(this.text, features);
    return this.#formsAsLoaded;
  }
}

/** At most this many characters of file versions are cached. */
const KEPT = 8 * 1024 * 1024;

/** At most this many characters of files read by `prepare` are kept; the oldest are dropped first. */
const ASIDE = 4 * KEPT;

/** Two writes within this many milliseconds can get the same time. */
const TICK_MS = 50;

/** Seconds from the epoch of Lisp (1900) to the epoch of Unix (1970). */
const EPOCH = 2_208_988_800;

/** Reads a file that is where the image is. `isOne` tells whether a name stands for one. `read` returns its octets and
 *  when it was written (universal time), or undefined when it cannot be read. If it still has the date WRITTEN, the
 *  octets are left out. */
export interface ReadElsewhere {
  isOne(file: string): boolean;
  read(
    file: string,
    written: number | undefined,
  ): Promise<{ written: number; octets?: Uint8Array } | undefined>;
}

/** The versions of all files read: the newest of each, and older ones. */
export class Sources {
  readonly #newest = new Map<string, Source>();
  readonly #older = new Map<string, Source>();
  readonly #features: () => Features;
  /** Files read by the synchronous code that runs now. A microtask clears the map after that code. */
  readonly #read = new Map<string, Source | undefined>();
  /** Files that `prepare` read, as they were then. */
  readonly #aside = new Map<string, { real: string; source: Source | undefined }>();
  readonly #begun = Math.floor(Date.now() / 1000) + EPOCH;
  readonly #bounds: Bounds;
  readonly #elsewhere: ReadElsewhere | undefined;

  /** FEATURES returns the features to read files under. FORBIDS returns why the file at a real path may not
   *  be read. ELSEWHERE reads files that are where the image is. */
  constructor(features: () => Features, forbids?: Bounds['forbids'], elsewhere?: ReadElsewhere) {
    this.#features = features;
    this.#elsewhere = elsewhere;
    this.#bounds = { limit: WHOLE_FILE_LIMIT, ...(forbids && { forbids }) };
  }

  /** Reads, without blocking, those of FILES that may be on a file system which does not answer. The
   *  synchronous methods know such a file only after this. */
  async prepare(files: readonly string[]): Promise<void> {
    const names = [...new Set(files)];
    const elsewhere = names.filter((file) => this.#elsewhere?.isOne(file));
    const far = names.filter((file) => !elsewhere.includes(file) && !isOnLocalDisk(file));
    if (far.length === 0 && elsewhere.length === 0) return;
    await findLocalFolders(far);
    for (const file of elsewhere) {
      const source = await this.#readElsewhere(file);
      this.#aside.delete(file);
      this.#aside.set(file, { real: file, source });
    }
    for (const file of far) {
      if (isOnLocalDisk(file)) continue;
      this.#aside.delete(file);
      this.#aside.set(file, { real: await realPathOf(file), source: await this.#readAside(file) });
    }
    let size = 0;
    for (const { source } of this.#aside.values()) size += source?.text.text.length ?? 0;
    for (const [file, { source }] of this.#aside) {
      if (size <= ASIDE) return;
      this.#aside.delete(file);
      size -= source?.text.text.length ?? 0;
    }
  }

  /** Returns FILE as it is now, decoded as UTF-8 or else Latin-1; undefined when it cannot be read. */
  read(file: string): Source | undefined {
    // An answer is rendered synchronously and reads a file for each place in it, so one reading serves all
    // places.
    if (this.#read.size === 0) queueMicrotask(() => this.#read.clear());
    if (!this.#read.has(file)) this.#read.set(file, this.#readNow(file));
    return this.#read.get(file);
  }

  #readNow(file: string): Source | undefined {
    const stats = localStats(file);
    if (stats === undefined) return this.#aside.get(file)?.source;
    if (stats === 'none') return undefined;
    try {
      return this.#unchanged(file, stats) ?? this.#take(file, readRegular(file, this.#bounds));
    } catch {
      return undefined;
    }
  }

  async #readElsewhere(file: string): Promise<Source | undefined> {
    const kept = this.#aside.get(file)?.source;
    const found = await this.#elsewhere?.read(file, kept?.written);
    if (found === undefined) return undefined;
    if (found.octets === undefined) return kept;
    const version = { told: String(found.written), settled: true };
    return new Source(file, version, found.written, found.octets, this.#features);
  }

  async #readAside(file: string): Promise<Source | undefined> {
    try {
      const stats = await withFileTimeout(dirname(file), () => stat(file));
      return this.#unchanged(file, stats) ?? this.#take(file, await readRegularAsync(file, this.#bounds));
    } catch {
      return undefined;
    }
  }

  /** Returns the cached version of FILE when STATS prove that it is current. */
  #unchanged(file: string, stats: Stats): Source | undefined {
    const kept = this.#newest.get(file);
    return kept?.version.settled && kept.version.told === versionOf(stats).told ? kept : undefined;
  }

  #take(file: string, { octets, stats }: RegularFile): Source {
    const kept = this.#newest.get(file);
    const version = versionOf(stats);
    const written = Math.floor(stats.mtimeMs / 1000) + EPOCH;
    const source = new Source(file, version, written, octets, this.#features);
    if (kept?.written === written && kept.text.text === source.text.text) {
      kept.version = version;
      return kept;
    }
    if (kept?.text.text === source.text.text) {
      source.loaded = kept.loaded;
      source.loadedUnder = kept.loadedUnder;
      source.agreed = kept.agreed;
    }
    if (kept !== undefined) this.#retire(file, kept);
    this.#newest.set(file, source);
    this.#makeRoom();
    return source;
  }

  /** The features that files are read under. */
  get features(): Features {
    return this.#features();
  }

  /** Records that the present version of FILE was just loaded. */
  keepLoaded(file: string): void {
    const real = this.#realName(file);
    const source = this.read(real);
    if (source === undefined) return;
    source.loaded = true;
    source.loadedUnder = this.features;
    this.#older.delete(keyOf(real, source.written));
  }

  /** True when the image has all of the present content of FILE. */
  agrees(file: string): boolean {
    const source = this.read(this.#realName(file));
    return source !== undefined && (source.loaded || source.agreed);
  }

  /** Records that the image has all of the present content of FILE, although it was not loaded as a whole. */
  keepAgreed(file: string): void {
    const source = this.read(this.#realName(file));
    if (source !== undefined) source.agreed = true;
  }

  /** Returns FILE as it was last loaded, or undefined when that is not known. A file that was not changed
   *  since this server started counts as loaded. */
  lastLoaded(file: string): Source | undefined {
    const now = this.read(file);
    if (now === undefined || now.loaded) return now;
    const older = [...this.#older].findLast(([key, { loaded }]) => loaded && key.endsWith(` ${file}`));
    return older?.[1] ?? (now.written < this.#begun ? now : undefined);
  }

  /** Returns FILE as loaded from the version written at WRITTEN (universal time); undefined when that version
   *  was not kept. WRITTEN is absent when the file still has the date, in whole seconds, of the version that
   *  was loaded. */
  loaded(file: string, written?: number): Source | undefined {
    const now = this.read(file);
    if (now === undefined || (written === undefined && now.loaded)) return now;
    const older = this.#older.get(keyOf(file, written ?? now.written));
    if (written === undefined) return older?.loaded ? older : now;
    return older ?? (now.written === written ? now : undefined);
  }

  /** Returns FILE as the image names it, with links resolved. */
  #realName(file: string): string {
    try {
      return isOnLocalDisk(file) ? realpathSync(file) : (this.#aside.get(file)?.real ?? file);
    } catch {
      return file;
    }
  }

  #retire(file: string, source: Source): void {
    const key = keyOf(file, source.written);
    if (source.loaded || !this.#older.get(key)?.loaded) this.#older.set(key, source);
  }

  #makeRoom(): void {
    let size = 0;
    for (const { text } of [...this.#newest.values(), ...this.#older.values()]) size += text.text.length;
    for (const kept of [this.#older, this.#newest]) {
      for (const [key, { text }] of kept) {
        if (size <= KEPT) return;
        kept.delete(key);
        size -= text.text.length;
      }
    }
  }
}

function keyOf(file: string, written: number): string {
  return `${written} ${file}`;
}

/** Returns the version that STATS describe. A program can set mtime to any value, but not ctime. */
function versionOf({ mtimeMs, ctimeMs, size, ino }: Stats): Version {
  return { told: `${mtimeMs} ${ctimeMs} ${size} ${ino}`, settled: Date.now() > ctimeMs + TICK_MS };
}
