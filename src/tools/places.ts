// Decides how a place in a source file reads: file relative to the workspace, line and column from 1.

import { readFileSync, statSync } from 'node:fs';
import { relative } from 'node:path';
import { decode } from '../files/text.ts';
import type { Place } from '../image/wire/data.ts';
import { definedLambdaList } from '../source/lambda-list.ts';
import { TopLevelForms } from '../source/position.ts';
import { type SourcePosition, SourceText } from '../source/text.ts';

const CHANGED = ' (the file changed since it was loaded)';

export class Places {
  /** The folder that file names are relative to. */
  readonly root: string;
  readonly #sources = new Sources();

  constructor(root: string) {
    this.root = root;
  }

  /** Returns FILE as people name it: relative to the workspace root when it is inside. */
  fileName(file: string): string {
    const path = relative(this.root, file);
    return path === '' || path.startsWith('..') ? file : path;
  }

  /** Returns `FILE:LINE:COLUMN` for PLACE, as far as it is known. */
  locate(place: Place, features: ReadonlySet<string>): string {
    const found = this.site(place, features);
    return found === undefined ? 'no source' : found.at + (place.changed ? CHANGED : '');
  }

  /** Returns where PLACE is, a use of CALLEE when given, and the line of text there; undefined when its file
   *  is not known. A file that is not on this machine is named behind `no source`. FEATURES are the image's. */
  site(
    place: Place,
    features: ReadonlySet<string>,
    callee?: string,
  ): { at: string; text: string } | undefined {
    if (place.file === undefined) return undefined;
    const name = this.fileName(place.file);
    const source = this.#sources.read(place.file);
    if (source === undefined) return { at: `no source (${name})`, text: '' };
    const position = source.position(place, features, callee);
    if (position === undefined) return { at: name, text: '' };
    const changed = place.changed ? CHANGED : '';
    return { at: `${name}:${position.line}:${position.column}`, text: position.text + changed };
  }

  /** Returns the text of FILE, or undefined when it cannot be read. */
  text(file: string): SourceText | undefined {
    return this.#sources.read(file)?.text;
  }

  /** Returns the index in its text at which PLACE, a use of CALLEE, is; undefined when that is not known. */
  indexOf(place: Place, features: ReadonlySet<string>, callee: string): number | undefined {
    return place.file === undefined
      ? undefined
      : this.#sources.read(place.file)?.formStart(place, features, callee);
  }

  /** Returns the lambda list in the source at PLACE, where NAME, `PACKAGE::NAME`, is defined. Returns undefined when the
   *  file has changed since, or has no plain definition of NAME there. */
  lambdaList(place: Place, features: ReadonlySet<string>, name: string): string | undefined {
    if (place.file === undefined || place.changed) return undefined;
    const source = this.#sources.read(place.file);
    const start = source?.formStart(place, features);
    const defined = start === undefined ? undefined : definedLambdaList(source?.text.text ?? '', start);
    return defined && name.endsWith(`::${defined.name}`) ? defined.lambdaList : undefined;
  }

  /** Returns where the top-level form at or after OFFSET octets of FILE begins, or undefined when the file
   *  cannot be read. */
  formAt(file: string, offset: number): SourcePosition | undefined {
    const text = this.#sources.read(file)?.text;
    return text && new TopLevelForms(text, new Set()).position(text.indexOfOctet(offset), 0);
  }
}

/** A file as it was read, and what was found in it since. */
class Source {
  /** What the file was when it was read. */
  readonly version: string;
  readonly text: SourceText;
  #forms: TopLevelForms | undefined;

  constructor(version: string, octets: Uint8Array) {
    const { text, bom, encoding } = decode(octets);
    this.version = version;
    // SBCL counts a byte order mark as a character.
    this.text = new SourceText((bom ? '\ufeff' : '') + text, encoding);
  }

  /** Returns where PLACE, a use of CALLEE when given, is under FEATURES; undefined when it is not in the text. */
  position(place: Place, features: ReadonlySet<string>, callee?: string): SourcePosition | undefined {
    const start = this.formStart(place, features, callee);
    return start === undefined ? undefined : this.text.positionAt(start);
  }

  /** Returns the index of what POSITION returns the place of. */
  formStart(
    { offset, form = -1, number = 0 }: Place,
    features: ReadonlySet<string>,
    callee?: string,
  ): number | undefined {
    if (!this.#forms?.holdUnder(features)) this.#forms = new TopLevelForms(this.text, features);
    const index = offset === undefined ? this.#forms?.start(form) : this.text.indexOfOctet(offset);
    return index === undefined ? undefined : this.#forms?.formStart(index, number, callee);
  }
}

/** Files of which the text is kept, so that a hundred places in one file read it once. */
const KEPT_FILES = 16;

class Sources {
  readonly #kept = new Map<string, Source>();

  /** Returns FILE as it is now, in UTF-8 or else Latin-1, or undefined when it cannot be read. */
  read(file: string): Source | undefined {
    try {
      const stats = statSync(file, { throwIfNoEntry: false });
      if (stats === undefined) return undefined;
      const version = `${stats.mtimeMs} ${stats.size}`;
      const kept = this.#kept.get(file);
      if (kept?.version === version) return kept;
      const source = new Source(version, readFileSync(file));
      const [oldest] = this.#kept.keys();
      if (oldest !== undefined && this.#kept.size >= KEPT_FILES) this.#kept.delete(oldest);
      this.#kept.set(file, source);
      return source;
    } catch {
      return undefined;
    }
  }
}
