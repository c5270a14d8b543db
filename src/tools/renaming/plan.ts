// Plans a rename: finds the edits of each file, and the occurrences that are not renamed.

import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CallError } from '../../errors.ts';
import { realPathOf, withFileTimeout } from '../../files/answering.ts';
import { budgetOf } from '../../files/budget.ts';
import { binaryKind, decode, encode, type FileText } from '../../files/text.ts';
import { filesBelow } from '../../files/walk.ts';
import type { Workspace } from '../../files/workspace.ts';
import { type FileState, presentFile } from '../../files/write.ts';
import type { RenameFacts } from '../../image/wire/operations.ts';
import { type Form, readForm } from '../../source/form.ts';
import type { KeywordTakers } from '../../source/keywords.ts';
import { mayContainPlainly } from '../../source/mentioning.ts';
import { Packages, type Renaming } from '../../source/packages.ts';
import { inCaseOfProse, proseMentions } from '../../source/prose.ts';
import { unqualifiedName } from '../../source/qualified.ts';
import { addTakersIn, type RenameEdit, type Scan, scanFor, type Task } from '../../source/renaming.ts';
import { applySplices } from '../../source/splice.ts';
import { SourceText } from '../../source/text.ts';
import { type Extent, TopLevelForms } from '../../source/top-level.ts';
import { visibleName } from '../../visible.ts';
import { isLispFile } from '../parentheses.ts';
import type { Places } from '../places.ts';
import { takingTurns } from '../turns.ts';
import type { DerivedNames } from './derived.ts';

/** The edits of the file `real`, a real path. `lines` has the line number of each of `edits`. */
export interface FileChange {
  real: string;
  present: FileState;
  before: FileText;
  after: FileText;
  edits: RenameEdit[];
  lines: number[];
}

/** An occurrence of the name that is not renamed, and the reason. */
export interface KeptPlace {
  at: string;
  why: Scan['kept'][number]['why'];
}

/** The edits of a rename, and the occurrences that it does not change. Places are strings `FILE:LINE`. */
export interface RenamePlan {
  wanted: RenameScope;
  changes: FileChange[];
  kept: KeptPlace[];
  /** Places of occurrences in code of files that cannot be written. */
  outside: string[];
  /** Places at which the reader stopped, so that the rest of the file was not searched. */
  unreadFrom: string[];
  /** Lisp files of the workspace that are too large or cannot be read. */
  unread: string[];
  /** Places at which the new name occurs already, as a symbol without a definition. After the rename they refer to the
   * renamed symbol. */
  merged: string[];
  /** True when the workspace has too many files, so that not all were searched. */
  unfinished: boolean;
  /** A digest of `changes`. The human's approval counts only for a plan with the same digest. */
  fingerprint: string;
}

export interface RenameDependencies {
  workspace: Workspace;
  places: Places;
}

/** The things that are renamed in addition to the symbol: `keywords` of the same name, and words in comments and
 * strings (`prose`). */
export interface RenameScope {
  keywords: boolean;
  prose: boolean;
}

/** Maximum number of directory entries that are read when files are searched. */
const ENTRY_LIMIT = 50_000;
/** Maximum number of milliseconds of the search for files. */
const TIME_LIMIT_MS = 10_000;
/** Limits, in octets, for files that are not Lisp source: for one file, and for all together. */
const OTHER_FILE_LIMIT = 1024 * 1024;
const OTHER_FILES_LIMIT = 64 * 1024 * 1024;

/** Returns the top-level forms that define the symbol, parsed. */
export function definingForms(facts: RenameFacts, dependencies: RenameDependencies): Form[] {
  return formsNow(facts, dependencies).flatMap(({ file, form }) => {
    const text = dependencies.places.sourceText(file)?.text ?? '';
    return readForm(text, form.start) ?? [];
  });
}

/** Returns the top-level forms in the current files that define the symbol. Leaves out forms that are no longer
 * found. */
function formsNow(
  { name, places = [] }: RenameFacts,
  dependencies: RenameDependencies,
): { file: string; form: Extent }[] {
  return places.flatMap((place) => {
    const form = dependencies.places.definingForm(place, name);
    return form === undefined || place.file === undefined ? [] : [{ file: place.file, form }];
  });
}

/** Returns the plan for renaming the symbol of FACTS and the names in DERIVED. Throws a CallError when the rename is
 * impossible. */
export async function planRename(
  facts: RenameFacts,
  derived: DerivedNames,
  wanted: RenameScope,
  dependencies: RenameDependencies,
): Promise<RenamePlan> {
  return new Planning(facts, derived, wanted, dependencies).plan();
}

/** Makes one plan. The methods that `plan` calls add the edits and occurrences of a file to #plan. */
class Planning {
  readonly #facts: RenameFacts;
  readonly #dependencies: RenameDependencies;
  /** The first is that of the symbol itself, the others are those of derived names. */
  readonly #renamings: Renaming[];
  readonly #packages: Packages;
  /** Maps a name to the definitions that accept it as a keyword, such as constructors of a structure with a slot of
   * this name. The only name in it is that of the symbol itself. #noteKeywords adds definitions. */
  readonly #takers = new Map<string, KeywordTakers>();
  /** The real paths of the files that the image has loaded. */
  readonly #loaded = new Set<string>();
  readonly #plan: RenamePlan;

  constructor(
    facts: RenameFacts,
    derived: DerivedNames,
    wanted: RenameScope,
    dependencies: RenameDependencies,
  ) {
    this.#facts = facts;
    this.#dependencies = dependencies;
    this.#plan = {
      wanted,
      changes: [],
      kept: [],
      outside: [],
      unreadFrom: [],
      unread: [],
      merged: [],
      unfinished: false,
      fingerprint: '',
    };
    this.#packages = new Packages(facts.packageNames ?? [], facts.localNicknames ?? []);
    this.#renamings = facts.renamings.map(({ from, to, packages = [], exporters = [] }) => ({
      from,
      to,
      packages: new Set(packages),
      exporters: new Set(exporters),
    }));
    this.#takers.set(unqualifiedName(facts.name), derived.takers);
  }

  /** Reads the files three times, because each pass needs the results of the previous pass for all files. The first
   * finds packages, the second finds definitions that accept the name as a keyword, and the third finds the edits. */
  async plan(): Promise<RenamePlan> {
    const files = await this.#files();
    const mentioning: string[] = [];
    const turn = takingTurns();
    for (const file of files) {
      await turn();
      await this.#dependencies.places.prepare([file]);
      const text = this.#textOf(file);
      if (text === undefined) continue;
      this.#notePackages(file, text);
      if (this.#mentions(text)) mentioning.push(file);
    }
    if (this.#plan.wanted.keywords) await this.#noteKeywords(mentioning);
    for (const file of mentioning) {
      await turn();
      await this.#scan(file);
    }
    await this.#checkDefinitions();
    const hash = createHash('sha256');
    for (const { real, present, after } of this.#plan.changes)
      hash.update(JSON.stringify([real, present.fingerprint, after.text]));
    this.#plan.fingerprint = hash.digest('hex');
    return this.#plan;
  }

  /** Returns the real paths of the files that the image has loaded, and of the files of the workspace that are not too
   * large. Adds the former to #loaded. */
  async #files(): Promise<string[]> {
    const { workspace } = this.#dependencies;
    const budget = budgetOf(ENTRY_LIMIT, TIME_LIMIT_MS);
    for (const file of this.#facts.files ?? []) this.#loaded.add(await realPathOf(file));
    const found = new Set(this.#loaded);
    let left = OTHER_FILES_LIMIT;
    for await (const path of filesBelow(workspace, workspace.rootFolders(), budget)) {
      // The limits do not apply to Lisp files, so these count as 0.
      const size = isLispFile(path) ? 0 : await sizeOf(path);
      if (size > OTHER_FILE_LIMIT) continue;
      left -= size;
      if (size === 0 || left >= 0) found.add(path);
    }
    this.#plan.unfinished = budget.exceeded === true || left < 0;
    return [...found].sort();
  }

  /** Returns the text of FILE; undefined when FILE is binary or cannot be read. Records a Lisp file of the workspace
   * that cannot be read. */
  #textOf(file: string): string | undefined {
    const { places } = this.#dependencies;
    const text = places.sourceText(file)?.text;
    if (text === undefined && isLispFile(file) && places.isOwn(file))
      this.#plan.unread.push(places.fileName(file));
    return isLispFile(file) || !text?.includes('\0') ? text : undefined;
  }

  /** Returns the text of FILE without a byte order mark. The indexes of edits refer to this text. */
  #decodedText(file: string): string {
    return this.#dependencies.places.sourceText(file)?.text.replace(/^\ufeff/, '') ?? '';
  }

  /** Records the packages that FILE, with the text TEXT, defines. Skips files that the image has loaded, because the
   * image has reported their packages. */
  #notePackages(file: string, text: string): void {
    if (isLispFile(file) && !this.#loaded.has(file) && /\bdef(?:ine-)?package\b/i.test(text))
      this.#packages.note(text);
  }

  #mentions(text: string): boolean {
    return mayContainPlainly(
      text,
      this.#renamings.map(({ from }) => from),
    );
  }

  /** Records the definitions in FILES that accept the name of the renamed symbol as a keyword, and the subclasses of
   * recorded classes. */
  async #noteKeywords(files: readonly string[]): Promise<void> {
    const [first] = this.#renamings;
    if (first === undefined) return;
    const turn = takingTurns();
    for (const file of files.filter(isLispFile)) {
      await turn();
      const text = this.#decodedText(file);
      addTakersIn(text, first, this.#task(file, text, this.#renamings));
    }
    // Subclasses inherit initargs. Each entry of `heirs` has a class and its subclasses.
    const classes = this.#takers.get(first.from)?.classes ?? new Set();
    for (const [name = '', ...subclasses] of this.#facts.heirs ?? [])
      if (classes.has(name)) for (const each of subclasses) classes.add(each);
  }

  /** Adds the occurrences in FILE to the plan: as edits, as occurrences that are not renamed, or as occurrences in a
   * file that cannot be written. */
  async #scan(file: string): Promise<void> {
    const { places, workspace } = this.#dependencies;
    const name = places.fileName(file);
    const text = this.#decodedText(file);
    const scan = this.#scanned(file, text);
    const lineOf = lineFinder(text);
    const writable = await workspace.locate(file, 'write').then(
      () => true,
      () => false,
    );
    if (!writable) {
      const code = scan.edits.filter(({ how }) => how !== 'prose');
      this.#plan.outside.push(...code.map(({ start }) => `${name}:${lineOf(start)}`));
      return;
    }
    this.#plan.kept.push(...scan.kept.map(({ start, why }) => ({ at: `${name}:${lineOf(start)}`, why })));
    if (scan.unreadableAt !== undefined) this.#plan.unreadFrom.push(`${name}:${lineOf(scan.unreadableAt)}`);
    if (isLispFile(file))
      this.#plan.merged.push(...new Set(this.#merged(text).map((at) => `${name}:${lineOf(at)}`)));
    if (scan.edits.length > 0) this.#plan.changes.push(await this.#change(file));
  }

  #scanned(file: string, text: string): Scan {
    if (!isLispFile(file)) return proseScan(text, this.#renamings, this.#plan.wanted.prose);
    return scanFor(text, this.#task(file, text, this.#renamings));
  }

  #task(file: string, text: string, renamings: Renaming[]): Task {
    const forms = new TopLevelForms(new SourceText(text, 'UTF-8', file), this.#dependencies.places.features);
    return {
      renamings,
      packages: this.#packages,
      packageAt: (index) => forms.homeAt(index),
      takers: this.#takers,
      keywords: this.#plan.wanted.keywords,
      prose: this.#plan.wanted.prose,
    };
  }

  /** Returns the places of the new name in TEXT, when a symbol of that name exists but has no definition (`unnamed`).
   * After the rename, these places refer to the renamed symbol. */
  #merged(text: string): number[] {
    const [fact] = this.#facts.renamings;
    const [renaming] = this.#renamings;
    if (!fact?.unnamed || renaming === undefined || !mayContainPlainly(text, [fact.to])) return [];
    const ofNewName = { ...renaming, from: fact.to };
    return scanFor(text, this.#task('', text, [ofNewName])).edits.map(({ start }) => start);
  }

  async #change(file: string): Promise<FileChange> {
    const present = await presentFile(this.#dependencies.workspace, file);
    const { bytes } = present;
    if (bytes === undefined || binaryKind(bytes) !== undefined)
      throw new CallError(
        `${visibleName(present.name)} contains the name, but cannot be changed, because it is too large or not text. Nothing was renamed.`,
      );
    const before = decode(bytes);
    // The file may have changed since #scan read it, so the edits are found again in its present text.
    const { edits } = this.#scanned(file, before.text);
    // Edits do not overlap, so `applySplices` returns a string.
    const after = { ...before, text: applySplices(before.text, edits) as string };
    encode(after, visibleName(present.name)); // Throws if the file's encoding lacks a character of the name.
    const lineOf = lineFinder(before.text);
    return { real: file, present, before, after, edits, lines: edits.map(({ start }) => lineOf(start)) };
  }

  /** Throws a CallError when a definition of the symbol has changed in its file since the image loaded it, for example
   * by another agent. The image's facts then do not match the file. */
  #checkAgrees(): void {
    const { name, places = [] } = this.#facts;
    for (const place of places) {
      const text = this.#dependencies.places.text(place, { name });
      if (text?.old || text?.changed === 'form')
        throw new CallError(
          `The definition of ${name} in ${text.file} changed after this image loaded it, so nothing was renamed. Call load_file for ${text.file}, then repeat this call if ${name} is still there.`,
        );
    }
  }

  /** Throws a CallError for a definition whose name is made by a macro, or whose file cannot be written. Also throws
   * one when the plan changes no file. If a definition has changed since its load, this is the likely cause, so
   * #checkAgrees is called before another cause is given. */
  async #checkDefinitions(): Promise<void> {
    const { name } = this.#facts;
    const { places } = this.#dependencies;
    for (const { file, form } of formsNow(this.#facts, this.#dependencies)) {
      if (await this.#renamesIn(file, form)) continue;
      this.#checkAgrees();
      const fileName = places.fileName(file);
      const at = `${fileName}:${places.sourceText(file)?.positionAt(form.start).line}`;
      if (this.#plan.outside.some((place) => place.startsWith(`${fileName}:`)))
        throw new CallError(
          `${name} is defined at ${at}, which is not in the workspace, so it cannot be renamed. The user can add a root with --root DIR.`,
        );
      throw new CallError(
        `${name} does not occur in its definition at ${at}: a macro generates the name. Rename what the macro generates it from, such as the structure or the slot.`,
      );
    }
    if (this.#plan.changes.length > 0) return;
    this.#checkAgrees();
    if (!this.#facts.natures?.length)
      throw new CallError(
        `${name} is undefined and occurs in no file, so there is nothing to rename. Another call may have renamed it; apropos_search finds names by substring.`,
      );
    throw new CallError(
      `${name} occurs in no writable file, so there is nothing to rename. Define it under the new name with eval_form.`,
    );
  }

  /** Returns true when the plan has an edit of the symbol in FORM of FILE. Edits of comments and strings do not
   * count. */
  async #renamesIn(file: string, form: Extent): Promise<boolean> {
    const real = await realPathOf(file);
    const edits = this.#plan.changes.find((each) => each.real === real)?.edits ?? [];
    // The indexes of FORM count a byte order mark, but the indexes of edits do not.
    const mark = this.#dependencies.places.sourceText(file)?.text.startsWith('\ufeff') ? 1 : 0;
    const symbol = unqualifiedName(this.#facts.name);
    return edits.some(
      ({ start, from, how }) =>
        from === symbol && how !== 'prose' && start + mark >= form.start && start + mark < form.end,
    );
  }
}

/** Returns the edits for RENAMINGS in TEXT, which is not Lisp. If CHANGE is false, returns the places as occurrences
 * that are not renamed. */
function proseScan(text: string, renamings: readonly Renaming[], change: boolean): Scan {
  const scan: Scan = { edits: [], kept: [] };
  for (const { from, to } of renamings) {
    for (const { start, end } of proseMentions(text, from)) {
      const replacement = inCaseOfProse(to, text.slice(start, end));
      if (change) scan.edits.push({ start, end, text: replacement, from, how: 'prose' });
      else scan.kept.push({ start, why: 'prose' });
    }
  }
  scan.edits.sort((one, other) => one.start - other.start);
  return scan;
}

function lineFinder(text: string): (index: number) => number {
  const source = new SourceText(text);
  return (index) => source.positionAt(index).line;
}

/** Returns the size of FILE in octets; 0 when it cannot be found out. */
async function sizeOf(file: string): Promise<number> {
  const { size } = await withFileTimeout(dirname(file), () => stat(file)).catch(() => ({ size: 0 }));
  return size;
}
