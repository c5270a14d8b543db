// Finds the definition to edit. Its place comes from the text of the file. The image resolves the name to a symbol and,
// when the edit names no file, returns the file that defines this symbol.

import { CallError } from '../../errors.ts';
import type { Workspace } from '../../files/workspace.ts';
import type { DescribeData } from '../../image/wire/operations.ts';
import { nearest } from '../../kernel/nearest.ts';
import { fewOf } from '../../kernel/reply.ts';
import type { CallContext } from '../../kernel/tool.ts';
import {
  definitionsIn,
  formsNaming,
  likeliest,
  likeliestFormsNaming,
  type NamingForm,
  type SoughtDefinition,
  targetsFitting,
} from '../../source/definitions.ts';
import { spelled } from '../../source/symbol-text.ts';
import { SourceText } from '../../source/text.ts';
import { TopLevelForms } from '../../source/top-level.ts';
import { visibleName } from '../../visible.ts';
import { callOptions } from '../calling.ts';
import { foundValue, isLookupFailure } from '../lookup.ts';
import { didYouMean } from '../natures.ts';
import { isLispFile } from '../parentheses.ts';
import { silentSentence } from '../unsaved.ts';
import { METHOD_LIMIT } from './asked-method.ts';
import { type DefinitionQuery, prefixOf } from './asked-names.ts';
import type { EditedFile, EditedFiles } from './edited-files.ts';
import type { DefinitionEdit as AnyEdit } from './edits.ts';
import { lispFiles, lookupBudget, ofPackage } from './in-workspace.ts';
import type { Origins } from './origins.ts';

type Edit = Extract<AnyEdit, { query: object }>;

/** The definition to edit, and its file. */
export interface Located {
  file: EditedFile;
  target: NamingForm;
}

const LIST_LIMIT = 12;
/** Maximum number of files with unsaved changes that an error names. */
const UNSAVED_NAMES = 5;

export class Locator {
  readonly #origins: Origins;
  readonly #files: EditedFiles;
  readonly #home: string | undefined;
  readonly #context: CallContext;
  /** The image's descriptions of names; undefined for names that the image lacks. The keys are `PACKAGE NAME`. */
  readonly #described = new Map<string, DescribeData | undefined>();
  /** True when the last search did not cover all files of the workspace. */
  #incomplete = false;

  /** HOME is the package of names without a prefix; undefined when the caller gave none. */
  constructor(origins: Origins, files: EditedFiles, home: string | undefined, context: CallContext) {
    this.#origins = origins;
    this.#files = files;
    this.#home = home;
    this.#context = context;
  }

  /** Returns the definition to edit. Throws a CallError when there is none, or when there are several. */
  async find(edit: Edit): Promise<Located> {
    const { query, label } = edit;
    const known = await this.#describe(query.name.replace(/^"|"$/g, ''), this.#home);
    const { paths, outside } =
      edit.path === undefined ? await this.#pathsOf(edit, known) : { paths: [edit.path], outside: undefined };
    let found = await this.#ofSymbol(await this.#candidatesIn(paths, edit), edit, known);
    found = bestFitting(found, query);
    if (found.length > 1) found = this.#ofSameKind(found, edit);
    if (found.length > 1) found = this.#loaded(found, known);
    const [only, ...more] = found;
    if (only === undefined) {
      // Opening the file throws an error with the reason why it cannot be changed.
      if (outside !== undefined) await this.#files.open(outside);
      const none = this.#noneText(edit, paths, known);
      const unsaved = edit.path === undefined ? await unsavedText(this.#origins.workspace) : '';
      throw new CallError(`${label}: ${none}${unsaved}`);
    }
    if (more.length > 0) throw new CallError(`${label}: ${severalText(query.name, found)}`);
    return only;
  }

  async #candidatesIn(paths: readonly string[], edit: Edit): Promise<Located[]> {
    const candidates: Located[] = [];
    for (const path of paths) {
      const file = await this.#files.open(path);
      candidates.push(...this.#inFile(file, edit).map((target) => ({ file, target })));
    }
    return candidates;
  }

  /** Returns those of FORMS that the query and the line of the edit fit. FORMS are the forms of FILE. */
  #inFile(
    file: EditedFile,
    { query, line }: Pick<Edit, 'query' | 'line'>,
    forms: TopLevelForms = file.forms,
  ): NamingForm[] {
    const targets = targetsFitting(forms, targetQueryOf(query));
    if (line === undefined) return targets;
    return targets.filter(
      ({ start, end }) => file.source.lineAt(start) <= line && line <= file.source.lineAt(end - 1),
    );
  }

  /** Returns as `paths` the files of the workspace that may contain the definition: those that the image names or, if
   * there are none, those that a search finds. If neither has the definition, returns files that define the name in
   * another way, for an error message. `outside` is a file outside the workspace that has the definition. */
  async #pathsOf({ query }: Edit, known: DescribeData | undefined) {
    const { places, workspace } = this.#origins;
    const things = known?.things ?? [];
    const sources = things.flatMap((thing) => [...(thing.sources ?? []), ...(thing.methods ?? [])]);
    const files = [...new Set(sources.flatMap(({ file }) => file ?? []))];
    const wanted = targetQueryOf(query);
    const defining = files.filter((file) => places.defines(file, wanted));
    const inside: string[] = [];
    for (const file of defining) if (await workspace.contains(file)) inside.push(file);
    const outside = defining.find((file) => !inside.includes(file));
    if (inside.length > 0) return { paths: inside, outside };
    const found: string[] = [];
    // When no file has the definition, the error lists the other definitions of the name in these files.
    const sameName = new Set<string>(files.filter((file) => places.defines(file, { name: query.symbol })));
    const budget = lookupBudget();
    for await (const path of lispFiles(workspace, places, budget)) {
      if (places.defines(path, wanted)) found.push(path);
      else if (places.defines(path, { name: query.symbol })) sameName.add(path);
    }
    this.#incomplete = budget.exceeded === true;
    return { paths: found.length > 0 || outside !== undefined ? found : [...sameName], outside };
  }

  /** Returns those of FOUND that define the symbol of the edit. KNOWN is the image's description of this symbol;
   * undefined when the image lacks it. */
  async #ofSymbol(found: Located[], { query }: Edit, known: DescribeData | undefined): Promise<Located[]> {
    const home = prefixOf(query) ?? this.#home;
    const isDefined = known !== undefined && (known.things ?? []).length > 0;
    if (home === undefined && !isDefined) return found;
    const inPackage = ofPackage(found, home, ({ target }) => target.home);
    const same: Located[] = [];
    for (const candidate of found) {
      const { written } = candidate.target;
      // A string, such as the name of a system, has no package.
      const isString = written.startsWith('"');
      const other = isString ? undefined : await this.#describe(written, candidate.target.home);
      // When the image lacks the symbol of the edit or that of the candidate, the package of the name decides, if any.
      const isSame =
        known !== undefined && other !== undefined
          ? known.symbol === other.symbol
          : home === undefined || inPackage.includes(candidate);
      if (isString || isSame) same.push(candidate);
    }
    // A name without a package means the symbol of the current package when a file defines that symbol. Otherwise it
    // means any symbol of this name.
    return same.length === 0 && home === undefined ? found : same;
  }

  /** Returns those of FOUND that have the same operator as the new text of the edit and, for a method, the same
   * qualifiers and specializers. Returns all of FOUND when none has, and when the edit replaces nothing. */
  #ofSameKind(found: Located[], { query, change }: Edit & { query: DefinitionQuery }): Located[] {
    if (change.kind !== 'replace') return found;
    const forms = new TopLevelForms(new SourceText(change.text), this.#origins.places.features);
    const [defined] = likeliestFormsNaming(forms, { name: query.symbol });
    const same = found.filter(
      ({ target }) => target.operator === defined?.operator && target.method === defined.method,
    );
    return same.length > 0 ? same : found;
  }

  /** Returns only the definition of FOUND that the image has loaded. Returns all of FOUND when the image has loaded
   * none or several of them, or when the file of the loaded one contains others of FOUND. */
  #loaded(found: Located[], known: DescribeData | undefined): Located[] {
    const { places } = this.#origins;
    const sources = (known?.things ?? []).flatMap(({ sources = [] }) => sources);
    const starts = sources.flatMap((place) => {
      const at = places.text(place, { name: known?.symbol ?? '' });
      // `old`: only the text that the image loaded has the definition, not the current file.
      return at === undefined || at.old ? [] : [`${at.file} ${at.line}`];
    });
    const loaded = found.filter(({ file, target }) =>
      starts.includes(`${places.fileName(file.real)} ${file.source.lineAt(target.start)}`),
    );
    const [only, ...more] = loaded;
    const isAloneInFile = found.filter(({ file }) => file === only?.file).length === 1;
    return only !== undefined && more.length === 0 && isAloneInFile ? loaded : found;
  }

  async #describe(name: string, home: string | undefined): Promise<DescribeData | undefined> {
    const key = `${home} ${name}`;
    if (!this.#described.has(key)) {
      const args = { name, ...(home && { package: home }), offset: 0, limit: METHOD_LIMIT };
      const found = foundValue(await this.#origins.image.call('describe', args, callOptions(this.#context)));
      this.#described.set(key, isLookupFailure(found) ? undefined : found);
    }
    return this.#described.get(key);
  }

  /** Returns an error message when the definition comes from a form that defines another name than that of the query,
   * as when (define-shape circle) defines MAKE-CIRCLE; else undefined. */
  #makerOf({ name, symbol }: DefinitionQuery, known: DescribeData | undefined): string | undefined {
    const { places } = this.#origins;
    const definition = { name: known?.symbol ?? '' };
    // A nature such as SETF FUNCTION, and a symbol SETF NAME.
    const isSetf = (text: string) => /^SETF\b/.test(text);
    const made = (known?.things ?? [])
      .filter(({ nature }) => isSetf(nature) === isSetf(symbol))
      .flatMap(({ sources = [], methods = [] }) => [...sources, ...methods]);
    for (const place of made) {
      const at = place.file === undefined ? undefined : places.text(place, definition);
      if (at === undefined || at.old || places.defines(place.file ?? '', { name: symbol })) continue;
      return `${name} is defined by the form at ${visibleName(at.file)}:${at.line}, which has another name. Edit that form.`;
    }
    return undefined;
  }

  #noneText(edit: Edit, paths: readonly string[], known: DescribeData | undefined): string {
    const { query, path, line } = edit;
    const wanted = `${query.name}${line === undefined ? '' : ` at line ${line}`}`;
    const searched = paths.flatMap((searchedPath) => this.#files.named(searchedPath) ?? []);
    return (
      this.#makerOf(query, known) ??
      this.#excludedText(edit, searched) ??
      this.#othersText(edit, wanted, searched) ??
      this.#otherPackageText(edit, wanted, paths, searched) ??
      (path === undefined ? this.#notFoundText(query) : this.#notInFileText(query, wanted, path))
    );
  }

  /** Returns an error message when #+ or #- excludes the definition in one of the files SEARCHED; else undefined. */
  #excludedText(edit: Edit, searched: readonly EditedFile[]): string | undefined {
    const { query } = edit;
    for (const file of searched) {
      const included = formsNaming(file.forms, { name: query.symbol }).map(({ start }) => start);
      const forms = new TopLevelForms(file.source, new OtherFeatures(this.#origins.places.features));
      const target = this.#inFile(file, edit, forms).find(({ start }) => !included.includes(start));
      if (target === undefined) continue;
      const place = `${visibleName(file.present.name)}:${file.source.lineAt(target.start)}`;
      return `#+ or #- excludes the definition of ${query.name} at ${place} in this image. To change it, give 'path', 'old' and 'new' without 'definition'.`;
    }
    return undefined;
  }

  /** Returns an error message when the files SEARCHED define the name in other ways, for example by other methods; else
   * undefined. */
  #othersText(edit: Edit, wanted: string, searched: readonly EditedFile[]): string | undefined {
    const { query } = edit;
    // A file with a fitting form defines the name in another package: see #otherPackageText.
    const files = searched.filter((file) => this.#inFile(file, edit).length === 0);
    const definitionsOf = (sought: SoughtDefinition) =>
      files.flatMap((file) => likeliestFormsNaming(file.forms, sought).map((target) => ({ file, target })));
    const sameOperator = query.operator
      ? definitionsOf({ name: query.symbol, operator: query.operator })
      : [];
    const others = sameOperator.length > 0 ? sameOperator : definitionsOf({ name: query.symbol });
    return others.length > 0
      ? `there is no such definition of ${wanted}. Existing ones:\n${rowsText(others)}\n${detailRequest(others)}`
      : undefined;
  }

  #otherPackageText(
    edit: Edit,
    wanted: string,
    paths: readonly string[],
    searched: readonly EditedFile[],
  ): string | undefined {
    const same = searched.flatMap((file) => this.#inFile(file, edit));
    if (same.length === 0) return undefined;
    const where = paths.map((path) => visibleName(this.#origins.places.fileName(path))).join(', ');
    const names = new Set(same.map(({ home = 'cl-user', written }) => visibleName(qualified(written, home))));
    return `${where} defines ${wanted} only in another package. Give the name with its package: ${[...names].join(' or ')}.`;
  }

  #notFoundText({ name }: DefinitionQuery): string {
    const none = this.#incomplete
      ? 'none of the searched files (the workspace has more)'
      : 'no Lisp file of the workspace';
    return `${none} defines ${name}. Give 'path' or, to add ${name}, a neighbouring definition and op: "before" or "after".`;
  }

  #notInFileText({ symbol }: DefinitionQuery, wanted: string, path: string): string {
    const file = this.#files.named(path);
    const names = file ? definitionsIn(file.forms).map(({ name }) => name.toLowerCase()) : [];
    const hint = didYouMean(nearest(symbol, [...new Set(names)]));
    return `${visibleName(path)} does not define ${wanted}. ${hint || 'read_definition with path lists what it defines.'}`;
  }
}

/** The set of all features except KNOWN. A reader with this set includes forms that #+ and #- exclude for a reader with
 * KNOWN. */
class OtherFeatures extends Set<string> {
  readonly #known: ReadonlySet<string>;

  constructor(known: ReadonlySet<string>) {
    super();
    this.#known = known;
  }

  override has(name: string): boolean {
    return !this.#known.has(name);
  }
}

/** Returns sentences about Lisp files of WORKSPACE with unsaved changes, which are not searched, and about an editor
 * that did not answer; '' when there is neither. */
async function unsavedText(workspace: Workspace): Promise<string> {
  const found = await Promise.all(workspace.realRoots.map((root) => workspace.unsavedBelow(root, 'names')));
  const files = found.flatMap(({ files }) => files.filter(({ file }) => isLispFile(file)));
  // A root can be inside another one.
  const all = [...new Set(files.map(({ file }) => visibleName(workspace.name(file))))];
  const names = fewOf(all, UNSAVED_NAMES);
  const unsearched = `Unsaved changes of ${names} were not searched: if the definition may be there, ask the user to save.`;
  const silence = found.flatMap((unsaved) => silentSentence(unsaved) ?? []).slice(0, 1);
  return [...(files.length > 0 ? [unsearched] : []), ...silence].map((sentence) => ` ${sentence}`).join('');
}

/** Returns the most likely of FOUND for QUERY. If some of them begin exactly as the form in QUERY, returns only
 * these. */
function bestFitting(found: readonly Located[], query: DefinitionQuery): Located[] {
  const targets = found.map(({ target }) => target);
  const likely = new Set(likeliest(targets, targetQueryOf(query)));
  const best = found.filter(({ target }) => likely.has(target));
  const exact = best.filter(({ target }) => target.head === query.head);
  return exact.length > 0 ? exact : best;
}

function qualified(written: string, home: string): string {
  return written.includes(':') ? written : `${spelled(home, 'a')}::${written}`;
}

function targetQueryOf({ symbol, operator, methods }: DefinitionQuery): SoughtDefinition {
  return { name: symbol, ...(operator && { operator }), ...(methods && { methods }) };
}

function severalText(name: string, found: readonly Located[]): string {
  return `${name} matches ${found.length} definitions:\n${rowsText(found)}\n${detailRequest(found)}`;
}

/** Returns a sentence that asks for the beginning of the form, the package, the path or the line. It asks for the first
 * of these four that is different in each of FOUND. */
function detailRequest(found: readonly Located[]): string {
  const heads = new Set(found.map(({ target }) => target.head));
  if (heads.size === found.length) return "Give one of these as 'definition', or its line as 'line'.";
  const names = new Set(found.map(({ target }) => qualified(target.written, target.home)));
  if (names.size === found.length)
    return `Give the name with its package: ${visibleName([...names].join(' or '))}.`;
  const files = new Set(found.map(({ file }) => file));
  if (files.size === found.length) return "Give 'path', too.";
  return files.size === 1 ? "Give 'line', too." : "Give 'path' and 'line', too.";
}

function rowsText(found: readonly Located[]): string {
  const homes = new Set(found.map(({ target }) => target.home));
  const rows = found.map(({ file, target }) => {
    const place = `${visibleName(file.present.name)}:${file.source.lineAt(target.start)}`;
    const home = homes.size > 1 ? `  in package ${visibleName(spelled(target.home, 'a'))}` : '';
    return `  ${place}  ${target.head}${home}`;
  });
  return [...rows.slice(0, LIST_LIMIT), ...(rows.length > LIST_LIMIT ? ['  ...'] : [])].join('\n');
}
