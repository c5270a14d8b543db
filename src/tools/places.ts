// Finds places in source files, and renders them as FILE:LINE:COLUMN. FILE is relative to the workspace; LINE and
// COLUMN are 1-based. A Place, from the image, is a position in the text that the image loaded; where-now.ts finds it
// in the current text. `prepare` or `prepareFor` must have read the files before the other methods are called.

import { relative } from 'node:path';
import type { ReadLimits } from '../files/regular.ts';
import type { Evaluated, Place } from '../image/wire/operations.ts';
import { boundLine } from '../kernel/reply.ts';
import { type Definition, definitionOf, isDefiner } from '../source/definition.ts';
import { definedLambdaList } from '../source/definition-details.ts';
import {
  definedAt,
  formsNaming,
  innermostDefining,
  likeliestFormsNaming,
  type NamingForm,
  namedForms,
  type OutlineEntry,
  type SoughtDefinition,
} from '../source/definitions.ts';
import type { Features } from '../source/form.ts';
import type { DefinitionName } from '../source/form-matching.ts';
import { mayContainPlainly } from '../source/mentioning.ts';
import { definitionNameOf, unqualifiedName } from '../source/qualified.ts';
import type { SourcePosition, SourceText } from '../source/text.ts';
import { type Extent, type TopLevelDefinition, TopLevelForms } from '../source/top-level.ts';
import type { Span } from '../source/tree.ts';
import type { SoughtName } from '../source/uses.ts';
import { visibleLine } from '../visible.ts';
import { namedPlaces } from './named-places.ts';
import { type ReadElsewhere, type ReadLoaded, type Source, Sources } from './sources.ts';
import { unixTimeText } from './times.ts';
import { takingTurns } from './turns.ts';
import { type Changed, placeNow, spanNow, startIn, usesNow, type Versions } from './where-now.ts';

const CHANGED: Record<Changed, string> = {
  form: '(changed since it was loaded)',
  elsewhere: '(the file has changed since it was loaded; this form has not)',
  unknown: '(the file changed since it was loaded)',
};

/** The suffix of a place when only the form is certain, and not the position in it. */
const INSIDE = '(within this form)';

/** The suffix of a place when a macro expansion contains the use, and the source text does not. */
export const IN_EXPANSION = '(in an expansion)';

/** A source place as shown in an answer. `at` is FILE:LINE:COLUMN. `text` is the line at that place, with remarks. */
export interface Site {
  at: string;
  text: string;
  /** True when the use can also be at other places. */
  doubt?: boolean;
  /** The exact index in the text of the file. Absent when the file has changed since the image loaded it, or when the
   * place is uncertain. */
  index?: number;
}

/** The source text of a definition. Line numbers are 1-based. */
interface DefinitionText {
  file: string;
  line: number;
  lastLine: number;
  text: string;
  /** The change of the definition since the image loaded its file; undefined when the file has not changed. */
  changed: Changed | undefined;
  /** True when `text` is from the version of the file that the image loaded, because the current version does not have
   * the definition. */
  old: boolean;
}

/** The source text of a definition, and the data that distinguish it from other definitions of the same name. `nested`
 * is true when the definition is inside another top-level form. */
export type NamedText = Pick<DefinitionText, 'file' | 'line' | 'lastLine' | 'text'> &
  Pick<NamingForm, 'operator' | 'method' | 'head' | 'home'> & {
    nested: boolean;
  };

/** A top-level form in the current text of its file. `same` is true when it has not changed since the image loaded it.
 * `note` is a remark when the file has changed. */
export interface FormOf {
  forms: TopLevelForms;
  form: TopLevelDefinition;
  same: boolean;
  note: string | undefined;
}

export class Places {
  readonly root: string;
  /** The name of the image, if it runs on another machine and --map maps no folder of the workspace to a folder there;
   * else undefined. */
  readonly unmapped: string | undefined;
  readonly #sources: Sources;

  /** ROOT is the root folder of the workspace. `forbids` returns the reason why a file may not be read, else undefined.
   * `features` returns the *FEATURES* of the image. `elsewhere` reads files on the machine of the image. `readLoaded`
   * gets from the image the texts that it has loaded. */
  constructor(
    root: string,
    {
      readLoaded = async () => [],
      forbids,
      features = () => new Set(),
      elsewhere,
      unmapped,
    }: {
      readLoaded?: ReadLoaded;
      forbids?: ReadLimits['forbids'];
      features?: () => Features;
      elsewhere?: ReadElsewhere | undefined;
      unmapped?: string | undefined;
    } = {},
  ) {
    this.root = root;
    this.unmapped = unmapped;
    this.#sources = new Sources(features, readLoaded, forbids, elsewhere);
  }

  get features(): Features {
    return this.#sources.features;
  }

  /** Returns the name of FILE for answers: relative to the workspace root if FILE is below it, and with codes in place
   * of hidden characters. */
  fileName(file: string): string {
    return visibleLine(this.#below(file) ?? file);
  }

  isOwn(file: string): boolean {
    return this.#below(file) !== undefined;
  }

  #below(file: string): string | undefined {
    if (isOutside(file, this.root)) return undefined;
    const path = relative(this.root, file);
    return path === '' || path.startsWith('..') ? undefined : path;
  }

  /** Reads FILES before the synchronous methods of this object need them. */
  async prepare(files: readonly string[]): Promise<void> {
    await this.#sources.prepare(files);
  }

  /** Reads all files that REPLY, an answer of the image, names. If a file may have changed since the image loaded it,
   * also gets the loaded version. */
  async prepareFor(reply: object): Promise<void> {
    const named: Place[] = namedPlaces(reply);
    await this.prepare(named.flatMap(({ file = [] }) => file));
    await this.#sources.prepareLoaded(named);
  }

  /** Returns PLACE, in DEFINITION, as FILE:LINE:COLUMN, with a remark when the file has changed. If PLACE has no file,
   * returns a text about the evaluation that made the definition, or `no source`. */
  locate(place: Place, definition: DefinitionName): string {
    if (place.file === undefined) return this.#withoutFile(place);
    const versions = this.#versions(place);
    if (versions === undefined) return noSource(this.fileName(place.file)).at;
    const { start, now, changed, inside } = placeNow(versions, place, definition);
    const text = [this.#at(place.file, now, start), changed && CHANGED[changed], inside && INSIDE];
    return text.filter(Boolean).join(' ');
  }

  /** Returns the sites of USES, places in DEFINITION at which the name SOUGHT is used. If a use can be at several
   * places, it has several sites. */
  sites(uses: readonly Place[], sought: SoughtName, definition: DefinitionName): Site[] {
    const [place] = uses;
    if (place?.file === undefined) return [noSource()];
    const { file } = place;
    const versions = this.#versions(place);
    if (versions === undefined) return [noSource(this.fileName(file))];
    const { start, now, changed, spots } = usesNow(versions, uses, sought, definition);
    const note = changed && CHANGED[changed];
    if (start === undefined) return [this.#site(file, now, undefined, note)];
    return spots.flatMap(({ starts, sure, inside }) => {
      if (starts.length === 0) return [this.#site(file, now, start, inside ? INSIDE : IN_EXPANSION, note)];
      const doubt = !sure && `(one of ${starts.length} candidates)`;
      return starts.map((each) => ({
        ...this.#site(file, now, each, doubt, note),
        ...(doubt ? { doubt: true } : !changed && { index: each }),
      }));
    });
  }

  /** Finds uses of the name SOUGHT in the current text of a file. USES are their places in the text that the image has
   * loaded, all in the top-level form that contains DEFINITION. In the result, `start` is the index of this form in the
   * current text, and `spots` has the positions of the uses. Returns undefined when the file cannot be read. */
  spots(uses: readonly Place[], sought: SoughtName, definition: DefinitionName) {
    const versions = uses[0] && this.#versions(uses[0]);
    return versions && usesNow(versions, uses, sought, definition);
  }

  /** INDICES and OTHERS are indexes in FILE. Returns a site for each of OTHERS that is in the same definition as one of
   * INDICES. Skips those that are themselves in INDICES. */
  sitesInSameForms(file: string, indices: readonly number[], others: readonly number[]): Site[] {
    const now = this.#sources.read(file);
    if (now === undefined) return [];
    const forms = now.forms();
    const definitions = new Set(indices.map((index) => innermost(forms, index)));
    return others
      .filter((other) => !indices.includes(other))
      .filter((other) => definitions.has(innermost(forms, other)))
      .map((other) => this.#site(file, now, other));
  }

  #withoutFile({ evaluated, maker }: Place): string {
    if (evaluated !== undefined) return evaluationText(evaluated);
    return maker === undefined ? noSource().at : `no source (made by code of ${this.fileName(maker)})`;
  }

  /** Returns the site of PLACE. If PLACE has no file, the site is a text about the evaluation that made the definition,
   * or `no source`. */
  site(place: Place): Site {
    const versions = this.#versions(place);
    if (place.file === undefined) return { at: this.#withoutFile(place), text: '' };
    if (versions === undefined) return noSource(this.fileName(place.file));
    // The name '' means, here and below, that the definition is unknown.
    const { start, now, changed, inside } = placeNow(versions, place, { name: '' });
    return this.#site(place.file, now, start, changed && CHANGED[changed], inside && INSIDE);
  }

  /** Returns the range of the list at PLACE in the current text of its file; undefined when it is uncertain. For
   * an atom, BEFORE is given: returns the range of the form that comes after BEFORE other forms from the start of PLACE
   * (see PartPlace). */
  span(place: Place, before?: number): Span | undefined {
    const versions = this.#versions(place);
    return versions && spanNow(versions, place, before);
  }

  /** Returns the site of the character at INDEX in the current text of FILE. If its line is long, the site has only the
   * part of the line around INDEX. */
  siteAt(file: string, index: number): Site {
    const name = this.fileName(file);
    const position = this.sourceText(file)?.positionAt(index);
    if (position === undefined) return { at: name, text: '' };
    const { line, column, text } = position;
    return { at: `${name}:${line}:${column}`, text: boundLine(text, column) };
  }

  /** Returns the numbered line of PLACE, marked with `>`, and COUNT lines before it and after it. If the top-level form
   * of PLACE has at most WHOLE lines, returns all lines of this form. Returns undefined when PLACE is not found. */
  around(place: Place, count: number, whole = 0): string | undefined {
    const versions = this.#versions(place);
    if (versions === undefined) return undefined;
    const { start, now } = placeNow(versions, place, { name: '' });
    if (start === undefined) return undefined;
    const { line } = now.text.positionAt(start);
    const form = now.forms().extentAround(start);
    const lines = now.text.text.split('\n');
    const { line: formLine, lastLine } = linesOf(now, form ?? { start, end: start });
    const isWhole = lastLine - formLine < whole;
    const first = isWhole ? formLine : Math.max(1, line - count);
    const shown = lines.slice(first - 1, isWhole ? lastLine : line + count);
    return shown
      .map((text, index) => `${first + index === line ? '>' : ' '} ${first + index}  ${text}`)
      .join('\n');
  }

  /** Returns the place, FILE:LINE:COLUMN, of top-level form NUMBER (0-based) in the current text of FILE. */
  formNow(file: string, number: number): string {
    const source = this.#sources.read(file);
    return source === undefined
      ? noSource(this.fileName(file)).at
      : this.#at(file, source, source.forms().nthExtent(number)?.start);
  }

  /** Returns the top-level form at PLACE, which defines NAME, in the current text of its file; undefined when it is not
   * found. */
  definingForm(place: Place, name: string): Extent | undefined {
    const versions = this.#versions(place);
    const start = versions && placeNow(versions, topOf(place), { name }).start;
    const forms = versions?.now.forms();
    return forms?.allExtents().find((form) => form.start === start);
  }

  /** Returns the top-level form that contains PLACE, in the current text of its file; undefined when it is not
   * found. */
  formOf(place: Place): FormOf | undefined {
    const versions = this.#versions(place);
    const found = versions && placeNow(versions, topOf(place), { name: '' });
    if (found?.start === undefined) return undefined;
    const forms = found.now.forms();
    const note = found.changed && CHANGED[found.changed];
    return { forms, form: forms.definitionAt(found.start), same: found.same, note };
  }

  sourceText(file: string): SourceText | undefined {
    return this.#sources.read(file)?.text;
  }

  /** Returns the source text of DEFINITION, which is at PLACE. If the current file does not have DEFINITION, returns
   * the text that the image loaded, if it is known. Returns undefined when there is no text. */
  text(place: Place, definition: DefinitionName): DefinitionText | undefined {
    const versions = this.#versions(place);
    if (place.file === undefined || versions === undefined) return undefined;
    const { start, now, changed } = placeNow(versions, topOf(place), definition);
    const loaded = start === undefined ? versions.loaded : undefined;
    const source = loaded ?? now;
    const at = start ?? (loaded && startIn(loaded, place, versions.features));
    const name = this.fileName(place.file);
    return at === undefined
      ? undefined
      : {
          file: name,
          ...excerpt(source, at, definition),
          changed,
          old: loaded !== undefined,
        };
  }

  /** Returns the definitions of SYMBOL, `NAME` or `SETF NAME` without a package, in FILE. They include methods. A form
   * inside another one counts only when its operator begins with DEF. */
  definitionsOf(file: string, symbol: string): NamedText[] {
    const source = this.#sources.read(file);
    // Most files do not contain the name. A text search is faster than parsing their forms.
    if (source === undefined || !mayContainPlainly(source.text.text, [symbol.replace(/^SETF /, '')]))
      return [];
    return formsNaming(source.forms(), { name: symbol })
      .filter(({ start, top, operator }) => start === top || isDefiner(operator))
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

  /** Returns true when a form in FILE defines WANTED. The form can be inside another form. */
  defines(file: string, wanted: SoughtDefinition): boolean {
    const source = this.#sources.read(file);
    return source !== undefined && likeliestFormsNaming(source.forms(), wanted).length > 0;
  }

  /** Returns the definitions in FILE, with the numbers of their lines; undefined when FILE cannot be read. */
  async outline(file: string): Promise<(OutlineEntry & { line: number; lastLine: number })[] | undefined> {
    const source = this.#sources.read(file);
    if (source === undefined) return undefined;
    const forms = source.forms();
    const lineAt = (index: number) => source.text.positionAt(index).line;
    const outline: (OutlineEntry & { line: number; lastLine: number })[] = [];
    const turn = takingTurns();
    await forms.readAhead(turn);
    for (const { start } of forms.allExtents()) {
      for (const defined of definedAt(forms, start)) {
        outline.push({ ...defined, line: lineAt(defined.start), lastLine: lineAt(defined.end) });
        await turn();
      }
      await turn();
    }
    return outline;
  }

  /** Returns the lambda list of NAME (`PACKAGE::NAME`) as it is written at PLACE in the text that the image loaded.
   * Returns undefined when this text is unknown, or does not have an ordinary definition of NAME at PLACE. */
  lambdaList(place: Place, name: string): string | undefined {
    const versions = this.#versions(place);
    const loaded = versions?.loaded;
    if (loaded === undefined) return undefined;
    // As if the loaded text were the current one.
    const { start, inside } = placeNow({ ...versions, now: loaded, loaded }, place, { name });
    const defined = start === undefined || inside ? undefined : definedLambdaList(loaded.text.text, start);
    return defined?.name === unqualifiedName(name) ? defined.lambdaList : undefined;
  }

  /** Returns the start of the top-level form that begins at the octet OFFSET of FILE or is the first one after it;
   * undefined when there is none. */
  formAt(file: string, offset: number): SourcePosition | undefined {
    const text = this.#sources.read(file)?.text;
    const start = text && new TopLevelForms(text, new Set()).formFrom(text.indexOfOctet(offset))?.start;
    return start === undefined ? undefined : text?.positionAt(start);
  }

  forms(file: string): TopLevelForms | undefined {
    return this.#sources.read(file)?.forms();
  }

  /** Returns the definitions in the form at the index START of FILE, including those in forms inside it. */
  definitionsIn(file: string, start: number): (Definition & Span)[] {
    const top = this.forms(file)?.formFrom(start);
    return [...(top ? namedForms(top) : [])].flatMap(({ form }) => {
      const definition = definitionOf(form);
      return definition ? { ...definition, start: form.start, end: form.end } : [];
    });
  }

  /** Returns the current version of the file of PLACE and, if it is known, the version that the image loaded. Returns
   * undefined when the file cannot be read. */
  #versions(place: Place): Versions | undefined {
    const now = place.file === undefined ? undefined : this.#sources.read(place.file);
    if (now === undefined) return undefined;
    const { source, features } = this.#sources.loadedVersion(place, now) ?? {};
    const changesLoaded = place.latest === now.digest;
    // If both have the same text, they must be the same object (see Versions).
    return { now, loaded: source?.text.text === now.text.text ? now : source, features, changesLoaded };
  }

  #at(file: string, { text }: Source, start: number | undefined): string {
    const position = start === undefined ? undefined : text.positionAt(start);
    return this.fileName(file) + (position ? `:${position.line}:${position.column}` : '');
  }

  #site(
    file: string,
    now: Source,
    start: number | undefined,
    ...notes: (string | false | undefined)[]
  ): Site {
    const line = start === undefined ? '' : now.text.positionAt(start).text;
    return { at: this.#at(file, now, start), text: [line, ...notes].filter(Boolean).join(' ') };
  }
}

/** Returns the start of the innermost definition around INDEX; else that of its top-level form. */
function innermost(forms: TopLevelForms, index: number): number | undefined {
  const top = forms.extentAround(index);
  if (top === undefined) return undefined;
  const around = [...definedAt(forms, top.start)].filter(({ start, end }) => start <= index && index < end);
  return Math.max(top.start, ...around.map(({ start }) => start));
}

function topOf({ start: _, end: _end, inside: _inside, ...top }: Place): Place {
  return top;
}

/** Returns true when FILE is certainly not below ROOT. This test is fast. It saves most calls of `relative`, which are
 * the slowest step of finding a place. It leaves paths with `/.` or `//` in them to `relative`. */
function isOutside(file: string, root: string): boolean {
  return file.startsWith('/') && !file.startsWith(root) && !/\/\.|\/\//.test(file);
}

/** Returns a text with the time of an evaluation, and the beginning of the form that was evaluated. */
export function evaluationText({ time, by }: Evaluated): string {
  return `evaluated ${unixTimeText(time)}${by === undefined ? '' : ` by ${by}`}`;
}

function noSource(name?: string): Site {
  return { at: name === undefined ? 'no source' : `no source (${name})`, text: '' };
}

/** Returns the text of a definition in SOURCE, and the numbers of its first and last line. The definition is the
 * innermost form that defines NAME inside the top-level form at the index AT. If there is none, returns all text from
 * AT to the end of the file. */
function excerpt(source: Source, at: number, { name }: DefinitionName) {
  const end = source.text.text.length;
  return linesOf(source, innermostDefining(source.forms(), at, definitionNameOf(name)) ?? { start: at, end });
}

function linesOf({ text }: Source, { start, end }: { start: number; end: number }) {
  return {
    line: text.positionAt(start).line,
    lastLine: text.positionAt(Math.max(start, end - 1)).line,
    text: text.text.slice(start, end),
  };
}
