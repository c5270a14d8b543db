// Decides how a place in a source file reads: file relative to the workspace, line and column from 1.

import { readFileSync, statSync } from 'node:fs';
import { relative } from 'node:path';
import { decode } from '../files/text.ts';
import type { Place } from '../image/wire/data.ts';
import {
  offsetOfByte,
  offsetOfTopLevelForm,
  positionOfForm,
  type SourcePosition,
} from '../source/position.ts';

const CHANGED = ' (the file changed since it was loaded)';

export class Places {
  readonly #root: string;
  readonly #sources = new Sources();

  constructor(root: string) {
    this.#root = root;
  }

  /** Returns FILE as people name it: relative to the workspace root when it is inside. */
  fileName(file: string): string {
    const path = relative(this.#root, file);
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
    const position = this.#position(place, features, callee);
    if (position === undefined) {
      return { at: this.#sources.read(place.file) === undefined ? `no source (${name})` : name, text: '' };
    }
    const changed = place.changed ? CHANGED : '';
    return { at: `${name}:${position.line}:${position.column}`, text: position.text + changed };
  }

  /** Returns where the top-level form at or after OFFSET octets of FILE begins, or undefined when the file
   *  cannot be read. */
  formAt(file: string, offset: number): SourcePosition | undefined {
    const source = this.#sources.read(file);
    return source === undefined
      ? undefined
      : positionOfForm(source, offsetOfByte(source, offset), 0, new Set());
  }

  #position(place: Place, features: ReadonlySet<string>, callee?: string): SourcePosition | undefined {
    const source = place.file === undefined ? undefined : this.#sources.read(place.file);
    if (source === undefined) return undefined;
    const offset =
      place.offset === undefined
        ? place.form === undefined
          ? undefined
          : offsetOfTopLevelForm(source, place.form, features)
        : offsetOfByte(source, place.offset);
    return offset === undefined
      ? undefined
      : positionOfForm(source, offset, place.number ?? 0, features, callee);
  }
}

/** Files of which the text is kept, so that a hundred places in one file read it once. */
const KEPT_FILES = 16;

class Sources {
  readonly #kept = new Map<string, { version: string; text: string }>();

  /** Returns the text of FILE as it is now, in UTF-8 or else Latin-1, or undefined when it cannot be read. */
  read(file: string): string | undefined {
    try {
      const { mtimeMs, size } = statSync(file);
      const version = `${mtimeMs} ${size}`;
      const kept = this.#kept.get(file);
      if (kept?.version === version) return kept.text;
      const { text: rest, bom } = decode(readFileSync(file));
      // SBCL counts a byte order mark as a character.
      const text = (bom ? '\ufeff' : '') + rest;
      const [oldest] = this.#kept.keys();
      if (oldest !== undefined && this.#kept.size >= KEPT_FILES) this.#kept.delete(oldest);
      this.#kept.set(file, { version, text });
      return text;
    } catch {
      return undefined;
    }
  }
}
