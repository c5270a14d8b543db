// Decides what is kept of the source files that places are in: how they are, and how they were when they were loaded.

import { realpathSync, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { answered, isNear, lookWhere, nearStats, realPathOf } from '../files/answering.ts';
import { WHOLE } from '../files/lines.ts';
import { type Bounds, type RegularFile, readRegular, readRegularAside } from '../files/regular.ts';
import { decode } from '../files/text.ts';
import type { Features } from '../source/form.ts';
import { KeptForms } from '../source/kept-forms.ts';
import { Names } from '../source/names.ts';
import { TopLevelForms } from '../source/position.ts';
import { SourceText } from '../source/text.ts';
import { type TopLevelForm, topLevelForms } from '../source/top-level.ts';

/** What the system tells of a file, and whether another write would have told something else. */
interface Version {
  told: string;
  settled: boolean;
}

/** What the versions of files have in common: the FEATURES that they are read under, and the forms that are KEPT of them. */
interface Reading {
  features: () => Features;
  kept: KeptForms;
}

/** A version of a file, and what was found in it since. */
export class Source {
  /** What the file was when it was last looked at. */
  version: Version;
  /** The second in which it was written, as SBCL counts. */
  readonly written: number;
  readonly text: SourceText;
  /** Whether it is known that it was loaded. */
  loaded = false;
  /** Whether the image has all that it says: what it changed in a version of which that was so has been loaded. */
  agreed = false;
  /** The features of the image when it was loaded, when that is known. */
  loadedUnder: Features | undefined;
  readonly #reading: Reading;
  #forms: TopLevelForms | undefined;
  #formsAsLoaded: TopLevelForms | undefined;
  #list: readonly TopLevelForm[] | undefined;
  #names: Names | undefined;

  constructor(file: string, version: Version, written: number, octets: Uint8Array, reading: Reading) {
    this.#reading = reading;
    const { text, bom, encoding } = decode(octets);
    this.version = version;
    this.written = written;
    // SBCL counts a byte order mark as a character.
    this.text = new SourceText((bom ? '\ufeff' : '') + text, encoding, file);
  }

  /** Returns its top-level forms. */
  forms(): TopLevelForms {
    const features = this.#reading.features();
    if (this.#forms?.holdUnder(features)) return this.#forms;
    this.#list = undefined;
    this.#names = undefined;
    this.#forms = new TopLevelForms(this.text, features, this.#reading.kept);
    return this.#forms;
  }

  /** Returns its top-level forms under FEATURES, which are not always those of the image now. */
  formsUnder(features: Features = this.#reading.features()): TopLevelForms {
    const forms = this.forms();
    if (forms.holdUnder(features)) return forms;
    if (!this.#formsAsLoaded?.holdUnder(features))
      this.#formsAsLoaded = new TopLevelForms(this.text, features, this.#reading.kept);
    return this.#formsAsLoaded;
  }

  /** Returns all of them with what they name. */
  list(): readonly TopLevelForm[] {
    const forms = this.forms();
    this.#list ??= topLevelForms(forms);
    return this.#list;
  }

  /** Returns where the names in it stand. */
  names(): Names {
    const list = this.list();
    this.#names ??= new Names(this.text.text, list, this.#reading.features());
    return this.#names;
  }

  /** Forgets where the names stand. */
  forgetNames(): void {
    this.#names = undefined;
  }
}

/** Characters of all versions that are kept. */
const KEPT = 8 * 1024 * 1024;

/** Characters of the texts of which it is kept where their names stand. That takes about six times as much. */
const NAMED = 4 * 1024 * 1024;

/** Characters of the versions of files that are read aside, beyond which the oldest are read again. */
const ASIDE = 4 * KEPT;

/** Milliseconds within which two writes can have the same time. */
const TICK_MS = 50;

/** Seconds from where Lisp begins to count to where Unix does. */
const EPOCH = 2_208_988_800;

/** The versions of files that were read, the newest of each and those before it. */
export class Sources {
  readonly #newest = new Map<string, Source>();
  readonly #older = new Map<string, Source>();
  readonly #reading: Reading;
  /** What was read since the program last waited. */
  readonly #read = new Map<string, Source | undefined>();
  /** Those of which it is kept where their names stand, the last used last. */
  readonly #named = new Set<Source>();
  /** Files that were read aside, as they were then. */
  readonly #aside = new Map<string, { real: string; source: Source | undefined }>();
  readonly #begun = Math.floor(Date.now() / 1000) + EPOCH;
  readonly #bounds: Bounds;

  /** FEATURES returns those that files are read under, FORBIDS why the file at a real path is not read, if it is not. */
  constructor(features: () => Features, forbids?: Bounds['forbids']) {
    this.#reading = { features, kept: new KeptForms() };
    this.#bounds = { limit: WHOLE, ...(forbids && { forbids }) };
  }

  /** Reads those of FILES aside that can be on a file system which does not answer. Only after that does anything else here
   *  know these. */
  async prepare(files: readonly string[]): Promise<void> {
    const far = [...new Set(files)].filter((file) => !isNear(file));
    if (far.length === 0) return;
    await lookWhere(far);
    for (const file of far) {
      if (isNear(file)) continue;
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

  /** Returns FILE as it is now, in UTF-8 or else Latin-1, or undefined when it cannot be read. */
  read(file: string): Source | undefined {
    // An answer asks for a file at each of its places, and is made without a pause.
    if (this.#read.size === 0) queueMicrotask(() => this.#read.clear());
    if (!this.#read.has(file)) this.#read.set(file, this.#readNow(file));
    return this.#read.get(file);
  }

  #readNow(file: string): Source | undefined {
    const stats = nearStats(file);
    if (stats === undefined) return this.#aside.get(file)?.source;
    if (stats === 'none') return undefined;
    try {
      return this.#unchanged(file, stats) ?? this.#take(file, readRegular(file, this.#bounds));
    } catch {
      return undefined;
    }
  }

  async #readAside(file: string): Promise<Source | undefined> {
    try {
      const stats = await answered(dirname(file), () => stat(file));
      return this.#unchanged(file, stats) ?? this.#take(file, await readRegularAside(file, this.#bounds));
    } catch {
      return undefined;
    }
  }

  /** Returns the version of FILE that was read before, if STATS say that it is this one. */
  #unchanged(file: string, stats: Stats): Source | undefined {
    const kept = this.#newest.get(file);
    return kept?.version.settled && kept.version.told === versionOf(stats).told ? kept : undefined;
  }

  #take(file: string, { octets, stats }: RegularFile): Source {
    const kept = this.#newest.get(file);
    const version = versionOf(stats);
    const written = Math.floor(stats.mtimeMs / 1000) + EPOCH;
    const source = new Source(file, version, written, octets, this.#reading);
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
    return this.#reading.features();
  }

  /** Returns where the names in SOURCE stand. */
  names(source: Source): Names {
    this.#named.delete(source);
    this.#named.add(source);
    let size = 0;
    for (const { text } of this.#named) size += text.text.length;
    for (const each of this.#named) {
      if (size <= NAMED || each === source) break;
      each.forgetNames();
      this.#named.delete(each);
      size -= each.text.text.length;
    }
    return source.names();
  }

  /** Keeps FILE, which was just loaded, as it is now. */
  keepLoaded(file: string): void {
    const real = this.#realName(file);
    const source = this.read(real);
    if (source === undefined) return;
    source.loaded = true;
    source.loadedUnder = this.features;
    this.#older.delete(keyOf(real, source.written));
  }

  /** Tells whether the image has all that FILE says now. */
  agrees(file: string): boolean {
    const source = this.read(this.#realName(file));
    return source !== undefined && (source.loaded || source.agreed);
  }

  /** Keeps that the image has all that FILE says now, though it was not loaded as a whole. */
  keepAgreed(file: string): void {
    const source = this.read(this.#realName(file));
    if (source !== undefined) source.agreed = true;
  }

  /** Returns how FILE was when it was last loaded; undefined when that is not known. What is older than these sources was
   *  loaded as it is. */
  lastLoaded(file: string): Source | undefined {
    const now = this.read(file);
    if (now === undefined || now.loaded) return now;
    const older = [...this.#older].findLast(([key, { loaded }]) => loaded && key.endsWith(` ${file}`));
    return older?.[1] ?? (now.written < this.#begun ? now : undefined);
  }

  /** Returns how FILE was when its version of the second WRITTEN was loaded; undefined when that was not kept. Without
   *  WRITTEN it has not changed since, as far as whole seconds tell. */
  loaded(file: string, written?: number): Source | undefined {
    const now = this.read(file);
    if (now === undefined || (written === undefined && now.loaded)) return now;
    const older = this.#older.get(keyOf(file, written ?? now.written));
    if (written === undefined) return older?.loaded ? older : now;
    return older ?? (now.written === written ? now : undefined);
  }

  /** Returns FILE as the image names it, without links. */
  #realName(file: string): string {
    try {
      return isNear(file) ? realpathSync(file) : (this.#aside.get(file)?.real ?? file);
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

/** Returns what STATS tell. A date can be set, but not when that was done. */
function versionOf({ mtimeMs, ctimeMs, size, ino }: Stats): Version {
  return { told: `${mtimeMs} ${ctimeMs} ${size} ${ino}`, settled: Date.now() > ctimeMs + TICK_MS };
}
