// Decides how a place in a source file reads: file relative to the workspace, line and column from 1.

import { relative } from 'node:path';
import { setImmediate as pause } from 'node:timers/promises';
import type { Bounds } from '../files/regular.ts';
import type { Place } from '../image/wire/data.ts';
import type { Definition } from '../source/again.ts';
import { type Defined, definedAt } from '../source/definitions.ts';
import type { Features } from '../source/form.ts';
import { definedLambdaList } from '../source/lambda-list.ts';
import { canHave, symbolIn } from '../source/mentioning.ts';
import type { Names } from '../source/names.ts';
import { TopLevelForms } from '../source/position.ts';
import { bareOf } from '../source/qualified.ts';
import { allNamed, type Target, targetsNamed, type Wanted } from '../source/targets.ts';
import type { SourcePosition, SourceText } from '../source/text.ts';
import type { TopLevelForm } from '../source/top-level.ts';
import type { Used } from '../source/uses.ts';
import { type DefinitionText, excerpt, linesOf } from './definition-text.ts';
import { type Source, Sources } from './sources.ts';
import { startIn, usesNow, type Versions, whereNow } from './where-now.ts';

const CHANGED = '(the file changed since it was loaded)';

/** Says of the place of a form that what is asked for is somewhere in it. */
const INSIDE = '(within this form)';

/** Says of a place that its text does not have the use, which an expansion has made. */
export const IN_EXPANSION = '(in an expansion)';

/** Milliseconds of a long work after which all else has its turn. */
const SLICE_MS = 20;

/** A place as people name it, and the line of text there with what is to be known of it. */
export interface Site {
  at: string;
  text: string;
  /** Whether it is one of several at which the use can be. */
  doubt?: boolean;
  /** Where it is in the text of a file that is as it was loaded, when that is certain. */
  index?: number;
}

/** A text that defines a name, and what tells it from others. */
export type NamedText = Pick<DefinitionText, 'file' | 'line' | 'lastLine' | 'text'> &
  Pick<Target, 'operator' | 'method' | 'head' | 'home'> & {
    /** Whether it stands in another form. */
    nested: boolean;
  };

/** The text of a file and its top-level forms. */
export interface Forms {
  text: string;
  list: readonly TopLevelForm[];
  position: (index: number) => SourcePosition;
  /** Where the names in it stand. */
  names: Names;
  /** Returns what FORM defines, and what forms in it do. */
  defined: (form: TopLevelForm) => Defined[];
}

export class Places {
  /** The folder that file names are relative to. */
  readonly root: string;
  readonly #sources: Sources;

  /** FORBIDS returns why the file at a real path is not read, if it is not. FEATURES returns the features of the image. */
  constructor(
    root: string,
    { forbids, features = () => new Set() }: { forbids?: Bounds['forbids']; features?: () => Features } = {},
  ) {
    this.root = root;
    this.#sources = new Sources(features, forbids);
  }

  /** The features of the image, under which files are read. */
  get features(): Features {
    return this.#sources.features;
  }

  /** Returns FILE as people name it: relative to the workspace root when it is inside. */
  fileName(file: string): string {
    if (isOutside(file, this.root)) return file;
    const path = relative(this.root, file);
    return path === '' || path.startsWith('..') ? file : path;
  }

  /** Makes the other functions know FILES as they are now. What an answer of the image names is known. */
  async prepare(files: readonly string[]): Promise<void> {
    await this.#sources.prepare(files);
  }

  /** Keeps those of FILES that are in the workspace, which were just loaded, as they are now. So their forms are found
   *  again after an edit. */
  keepLoaded(files: readonly string[]): void {
    for (const file of files) if (this.fileName(file) !== file) this.#sources.keepLoaded(file);
  }

  /** Tells whether the image has all that FILE says now. */
  agrees(file: string): boolean {
    return this.#sources.agrees(file);
  }

  /** Keeps that the image has all that FILE says now: what was changed in it has just been loaded. */
  keepAgreed(file: string): void {
    this.#sources.keepAgreed(file);
  }

  /** Returns `FILE:LINE:COLUMN` for PLACE, where DEFINITION is, as far as it is known. */
  locate(place: Place, definition: Definition): string {
    if (place.file === undefined) return 'no source';
    const versions = this.#versions(place);
    if (versions === undefined) return noSource(this.fileName(place.file)).at;
    const { start, now, changed, inside } = whereNow(versions, place, definition);
    const text = [this.#at(place.file, now, start), changed && CHANGED, inside && INSIDE];
    return text.filter(Boolean).join(' ');
  }

  /** Returns where the uses of USED are that USES tells, all in the definition DEFINITION of one file. A use that can be at
   *  several places is told at each. */
  sites(uses: readonly Place[], used: Used, definition: Definition): Site[] {
    const [place] = uses;
    if (place?.file === undefined) return [{ at: 'no source', text: '' }];
    const { file } = place;
    const versions = this.#versions(place);
    if (versions === undefined) return [noSource(this.fileName(file))];
    const { start, now, changed, spots } = usesNow(versions, uses, used, definition);
    const note = changed && CHANGED;
    if (start === undefined) return [this.#site(file, now, undefined, note)];
    return spots.flatMap(({ starts, sure, inside }) => {
      if (starts.length === 0) return [this.#site(file, now, start, inside ? INSIDE : IN_EXPANSION, note)];
      const doubt = !sure && `(one of ${starts.length})`;
      return starts.map((each) => ({
        ...this.#site(file, now, each, doubt, note),
        ...(doubt ? { doubt: true } : !changed && { index: each }),
      }));
    });
  }

  /** Returns where the uses of USED are in its file that USES tells, as `sites` does, and where their form begins. It is the
   *  SAME form when it was not edited since it was loaded. Returns undefined without a text. */
  spots(uses: readonly Place[], used: Used, definition: Definition) {
    const versions = uses[0] && this.#versions(uses[0]);
    return versions && usesNow(versions, uses, used, definition);
  }

  /** Returns those of OTHERS, indices of FILE, that stand in the same definitions as INDICES, and are none of those. */
  beside(file: string, indices: readonly number[], others: readonly number[]): Site[] {
    const now = this.#sources.read(file);
    if (now === undefined) return [];
    const forms = now.forms();
    const definitions = new Set(indices.map((index) => innermost(forms, now.list(), index)));
    return others
      .filter((other) => !indices.includes(other))
      .filter((other) => definitions.has(innermost(forms, now.list(), other)))
      .map((other) => this.#site(file, now, other));
  }

  /** Returns PLACE as people name it, with the line of text there; undefined without a file. */
  site(place: Place): Site | undefined {
    const versions = this.#versions(place);
    if (place.file === undefined) return undefined;
    if (versions === undefined) return noSource(this.fileName(place.file));
    const { start, now, changed, inside } = whereNow(versions, place, { name: '' });
    return this.#site(place.file, now, start, changed && CHANGED, inside && INSIDE);
  }

  /** Returns the lines around PLACE, COUNT before and after, with the one of PLACE marked; undefined when it is not found. */
  around(place: Place, count: number): string | undefined {
    const versions = this.#versions(place);
    if (versions === undefined) return undefined;
    const { start, now } = whereNow(versions, place, { name: '' });
    if (start === undefined) return undefined;
    const { line } = now.text.positionAt(start);
    const lines = now.text.text.split('\n');
    const first = Math.max(1, line - count);
    const shown = lines.slice(first - 1, line + count);
    return shown
      .map((text, index) => `${first + index === line ? '>' : ' '} ${first + index}  ${text}`)
      .join('\n');
  }

  /** Returns `FILE:LINE:COLUMN` for the top-level form with NUMBER that FILE has now. */
  formNow(file: string, number: number): string {
    const source = this.#sources.read(file);
    return source === undefined
      ? noSource(this.fileName(file)).at
      : this.#at(file, source, source.forms().start(number));
  }

  /** Returns the top-level form of PLACE, in which NAME is defined, as its file has it now. Returns undefined when that is not
   *  certain. */
  definingForm(place: Place, name: string): TopLevelForm | undefined {
    const versions = this.#versions(place);
    const start = versions && whereNow(versions, topOf(place), { name }).start;
    return versions?.now.list().find((form) => form.start === start);
  }

  /** Returns the text of FILE, or undefined when it cannot be read. */
  sourceText(file: string): SourceText | undefined {
    return this.#sources.read(file)?.text;
  }

  /** Returns the text of DEFINITION, which is at PLACE, with AROUND lines of what stands around it. When it is not found
   *  in a file that has changed, that is the text as it was loaded, if known. Returns undefined
   *  when there is no text. */
  text(place: Place, definition: Definition, around: number): DefinitionText | undefined {
    const versions = this.#versions(place);
    if (place.file === undefined || versions === undefined) return undefined;
    const { start, now, changed } = whereNow(versions, topOf(place), definition);
    const loaded = start === undefined ? versions.loaded : undefined;
    const source = loaded ?? now;
    const at = start ?? (loaded && startIn(loaded, place));
    const name = this.fileName(place.file);
    return at === undefined
      ? undefined
      : {
          file: name,
          ...excerpt(source, at, definition, around),
          changed,
          old: loaded !== undefined,
        };
  }

  /** Returns the texts in FILE that define SYMBOL, a name as texts have it, its methods too. A form in another
   *  counts only when its operator says that it defines. */
  definitionsOf(file: string, symbol: string): NamedText[] {
    const source = this.#sources.read(file);
    // Most files do not have the name, and to read their forms costs more than to look.
    if (source === undefined || !canHave(source.text.text, [symbolIn(symbol)])) return [];
    return allNamed(source.forms(), { name: symbol })
      .filter(({ start, top, operator }) => start === top || operator.startsWith('DEF'))
      .map((found) => ({
        ...linesOf(source, found),
        file: this.fileName(file),
        operator: found.operator,
        method: found.method,
        head: found.head,
        home: found.home,
        nested: found.start !== found.top,
      }));
  }

  /** Tells whether a form of FILE, or one within it, defines what is WANTED. */
  defines(file: string, wanted: Wanted): boolean {
    const source = this.#sources.read(file);
    return source !== undefined && targetsNamed(source.forms(), wanted).length > 0;
  }

  /** Returns what the forms of FILE define, each with its line; undefined when it cannot be read. */
  async outline(file: string): Promise<(Defined & { line: number; lastLine: number })[] | undefined> {
    const source = this.#sources.read(file);
    if (source === undefined) return undefined;
    const forms = source.forms();
    const lineAt = (index: number) => source.text.positionAt(index).line;
    const outline: (Defined & { line: number; lastLine: number })[] = [];
    let until = performance.now() + SLICE_MS;
    for (let number = 0, start = forms.start(0); start !== undefined; start = forms.start(++number)) {
      for (const defined of definedAt(forms, start))
        outline.push({ ...defined, line: lineAt(defined.start), lastLine: lineAt(defined.end) });
      if (performance.now() < until) continue;
      await pause();
      until = performance.now() + SLICE_MS;
    }
    return outline;
  }

  /** Returns the lambda list in the source at PLACE, where NAME, `PACKAGE::NAME`, is defined. Returns undefined when it is
   *  not known how the file was loaded, or it had no plain definition of NAME there. */
  lambdaList(place: Place, name: string): string | undefined {
    const loaded = this.#versions(place)?.loaded;
    if (loaded === undefined) return undefined;
    const { start, inside } = whereNow({ now: loaded, loaded }, place, { name });
    const defined = start === undefined || inside ? undefined : definedLambdaList(loaded.text.text, start);
    return defined?.name === bareOf(name) ? defined.lambdaList : undefined;
  }

  /** Returns where the top-level form at or after OFFSET octets of FILE begins, or undefined when the file
   *  cannot be read. */
  formAt(file: string, offset: number): SourcePosition | undefined {
    const text = this.#sources.read(file)?.text;
    const start = text && new TopLevelForms(text, new Set()).formStart(text.indexOfOctet(offset));
    return start === undefined ? undefined : text?.positionAt(start);
  }

  /** Returns the top-level forms of FILE, or undefined when it cannot be read. */
  forms(file: string): Forms | undefined {
    const source = this.#sources.read(file);
    if (source === undefined) return undefined;
    return {
      text: source.text.text,
      list: source.list(),
      position: (index) => source.text.positionAt(index),
      names: this.#sources.names(source),
      defined: (form) => definedAt(source.forms(), form.start),
    };
  }

  /** Returns the file of PLACE as it is and, when that is known, as it was loaded; undefined when it cannot be read. */
  #versions({ file, undated, written }: Place): Versions | undefined {
    const now = file === undefined ? undefined : this.#sources.read(file);
    if (file === undefined || now === undefined) return undefined;
    const loaded = undated ? this.#sources.lastLoaded(file) : this.#sources.loaded(file, written);
    return { now, loaded: loaded?.text.text === now.text.text ? now : loaded };
  }

  #at(file: string, { text }: Source, start: number | undefined): string {
    const position = start === undefined ? undefined : text.positionAt(start);
    return this.fileName(file) + (position ? `:${position.line}:${position.column}` : '');
  }

  #site(file: string, now: Source, start: number | undefined, ...notes: (string | false)[]): Site {
    const line = start === undefined ? '' : now.text.positionAt(start).text;
    return { at: this.#at(file, now, start), text: [line, ...notes].filter(Boolean).join(' ') };
  }
}

/** Returns where the innermost definition in FORMS, of which LIST tells the top-level ones, begins that has INDEX. */
function innermost(forms: TopLevelForms, list: readonly TopLevelForm[], index: number): number | undefined {
  const top = list.findLast(({ start }) => start <= index);
  const around = top && definedAt(forms, top.start).filter(({ start, end }) => start <= index && index < end);
  return around?.map(({ start }) => start).reduce((one, other) => Math.max(one, other), top?.start ?? 0);
}

/** Returns the place of the top-level form of PLACE. */
function topOf({ start: _, end: _end, inside: _inside, ...top }: Place): Place {
  return top;
}

/** Tells whether FILE is surely not in the folder ROOT: `relative` takes longer than all else of a place. */
function isOutside(file: string, root: string): boolean {
  return file.startsWith('/') && !file.startsWith(root) && !/\/\.|\/\//.test(file);
}

function noSource(name: string): Site {
  return { at: `no source (${name})`, text: '' };
}
