// Decides what is kept of the source files that places are in: how they are, and how they were when they were loaded.

import { realpathSync, type Stats, statSync } from 'node:fs';
import { WHOLE } from '../files/lines.ts';
import { type Bounds, readRegular } from '../files/regular.ts';
import { decode } from '../files/text.ts';
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
  readonly #kept: KeptForms;
  #forms: TopLevelForms | undefined;
  #list: readonly TopLevelForm[] | undefined;
  #names: Names | undefined;

  constructor(version: Version, written: number, octets: Uint8Array, kept: KeptForms) {
    this.#kept = kept;
    const { text, bom, encoding } = decode(octets);
    this.version = version;
    this.written = written;
    // SBCL counts a byte order mark as a character.
    this.text = new SourceText((bom ? '\ufeff' : '') + text, encoding);
  }

  /** Returns its top-level forms under FEATURES. */
  forms(features: ReadonlySet<string>): TopLevelForms {
    if (this.#forms?.holdUnder(features)) return this.#forms;
    this.#list = undefined;
    this.#names = undefined;
    this.#forms = new TopLevelForms(this.text, features, this.#kept);
    return this.#forms;
  }

  /** Returns all of them with what they name. */
  list(features: ReadonlySet<string>): readonly TopLevelForm[] {
    const forms = this.forms(features);
    this.#list ??= topLevelForms(forms);
    return this.#list;
  }

  /** Returns where the names in it stand under FEATURES. */
  names(features: ReadonlySet<string>): Names {
    const list = this.list(features);
    this.#names ??= new Names(this.text.text, list, features);
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

/** Milliseconds within which two writes can have the same time. */
const TICK_MS = 50;

/** Seconds from where Lisp begins to count to where Unix does. */
const EPOCH = 2_208_988_800;

/** The versions of files that were read, the newest of each and those before it. */
export class Sources {
  readonly #newest = new Map<string, Source>();
  readonly #older = new Map<string, Source>();
  readonly #kept = new KeptForms();
  /** What was read since the program last waited. */
  readonly #read = new Map<string, Source | undefined>();
  /** Those of which it is kept where their names stand, the last used last. */
  readonly #named = new Set<Source>();
  readonly #begun = Math.floor(Date.now() / 1000) + EPOCH;
  readonly #bounds: Bounds;

  /** FORBIDS returns why the file at a real path is not read, if it is not. */
  constructor(forbids?: Bounds['forbids']) {
    this.#bounds = { limit: WHOLE, ...(forbids && { forbids }) };
  }

  /** Returns FILE as it is now, in UTF-8 or else Latin-1, or undefined when it cannot be read. */
  read(file: string): Source | undefined {
    // An answer asks for a file at each of its places, and is made without a pause.
    if (this.#read.size === 0) queueMicrotask(() => this.#read.clear());
    if (!this.#read.has(file)) this.#read.set(file, this.#readNow(file));
    return this.#read.get(file);
  }

  #readNow(file: string): Source | undefined {
    try {
      const kept = this.#newest.get(file);
      if (kept?.version.settled && kept.version.told === versionOf(statSync(file)).told) return kept;
      const { octets, stats } = readRegular(file, this.#bounds);
      const version = versionOf(stats);
      const written = Math.floor(stats.mtimeMs / 1000) + EPOCH;
      const source = new Source(version, written, octets, this.#kept);
      if (kept?.written === written && kept.text.text === source.text.text) {
        kept.version = version;
        return kept;
      }
      if (kept?.text.text === source.text.text) {
        source.loaded = kept.loaded;
        source.agreed = kept.agreed;
      }
      if (kept !== undefined) this.#retire(file, kept);
      this.#newest.set(file, source);
      this.#makeRoom();
      return source;
    } catch {
      return undefined;
    }
  }

  /** Returns where the names in SOURCE stand under FEATURES. */
  names(source: Source, features: ReadonlySet<string>): Names {
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
    return source.names(features);
  }

  /** Keeps FILE, which was just loaded, as it is now. */
  keepLoaded(file: string): void {
    const source = this.read(realName(file));
    if (source === undefined) return;
    source.loaded = true;
    this.#older.delete(keyOf(realName(file), source.written));
  }

  /** Tells whether the image has all that FILE says now. */
  agrees(file: string): boolean {
    const source = this.read(realName(file));
    return source !== undefined && (source.loaded || source.agreed);
  }

  /** Keeps that the image has all that FILE says now, though it was not loaded as a whole. */
  keepAgreed(file: string): void {
    const source = this.read(realName(file));
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

/** Returns FILE as the image names it, without links. */
export function realName(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

function keyOf(file: string, written: number): string {
  return `${written} ${file}`;
}

/** Returns what STATS tell. A date can be set, but not when that was done. */
function versionOf({ mtimeMs, ctimeMs, size, ino }: Stats): Version {
  return { told: `${mtimeMs} ${ctimeMs} ${size} ${ino}`, settled: Date.now() > ctimeMs + TICK_MS };
}
