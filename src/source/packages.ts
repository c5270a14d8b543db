/** Finds the package that a name in a text means, and decides whether that package has a symbol to rename. */

import { type Form, FormReader, formsWithin } from './form.ts';
import { topLevelFormsIn } from './top-level.ts';
import { treeOf } from './tree.ts';

/** A symbol to rename from `from` to `to`. `packages` are the packages in which it is accessible, `exporters` those
 * that export it, all by their names and not by nicknames. */
export interface Renaming {
  from: string;
  to: string;
  packages: ReadonlySet<string>;
  exporters: ReadonlySet<string>;
}

/** A package that a text defines and the image lacks. */
interface UnloadedPackage {
  uses: string[];
  /** Packages whose exported symbols it exports, too. */
  reexports: string[];
  exports: Set<string>;
  /** Packages to import from, each with the names of the imported symbols. */
  imports: [from: string, names: Set<string>][];
  shadows: Set<string>;
}

/** Options of a package definition that name symbols of the defined package. */
export const OWN_OPTIONS = new Set(['EXPORT', 'INTERN', 'SHADOW', 'UNEXPORT', 'UNINTERN']);
/** Options whose first name is another package. Their further names are symbols of that package. */
const IMPORT_OPTIONS = new Set(['IMPORT-FROM', 'SHADOWING-IMPORT-FROM']);
/** Options with packages whose exported symbols become accessible. DEFINE-PACKAGE of UIOP has all of them. */
const USE_OPTIONS = new Set(['USE', 'MIX', 'USE-REEXPORT', 'MIX-REEXPORT']);
/** Options of UIOP's DEFINE-PACKAGE with packages whose exported symbols are exported again. */
const REEXPORT_OPTIONS = new Set(['REEXPORT', 'USE-REEXPORT', 'MIX-REEXPORT']);

export class Packages {
  readonly #names: ReadonlyMap<string, string>;
  readonly #local = new Map<string, string>();
  readonly #unloaded = new Map<string, UnloadedPackage>();

  /** NAMES has pairs: a name or nickname of a package, and its proper name. LOCAL has triples: a package, a local
   * nickname in it, and the package with that nickname. */
  constructor(names: readonly [string, string][], local: readonly [string, string, string][]) {
    this.#names = new Map(names);
    for (const [within, nickname, actual] of local) this.#local.set(`${within}\0${nickname}`, actual);
  }

  /** Returns the proper name of the package that is called NAME in the package WITHIN; NAME when there is no such
   * package. */
  proper(name: string, within?: string): string {
    const home = within === undefined ? undefined : (this.#names.get(within) ?? within);
    return this.#local.get(`${home}\0${name}`) ?? this.#names.get(name) ?? name;
  }

  /** Returns true when NAME is a name or nickname of a package in the image, or the name of a package that a text given
   * to `note` defines. */
  knows(name: string): boolean {
    return this.#names.has(name) || this.#unloaded.has(name);
  }

  /** Records the packages that TEXT defines and that the image lacks. */
  note(text: string): void {
    for (const { name, form } of packagesDefined(text)) {
      if (this.#names.has(name)) continue;
      const unloaded: UnloadedPackage = {
        uses: [],
        reexports: [],
        exports: new Set(),
        imports: [],
        shadows: new Set(),
      };
      for (const option of form.elements.slice(2)) readOption(option, unloaded);
      this.#unloaded.set(name, unloaded);
    }
  }

  /** Returns true when the package called NAME contains the symbol that RENAMING renames; undefined if this is unknown.
   * WITHIN is the package of the code that contains NAME, because NAME can be a local nickname there. */
  has(renaming: Renaming, name: string, within?: string): boolean | undefined {
    const proper = this.proper(name, within);
    if (renaming.packages.has(proper)) return true;
    const unloaded = this.#unloaded.get(proper);
    if (unloaded === undefined) return this.#names.has(proper) || this.#names.has(name) ? false : undefined;
    return this.#takes(unloaded, renaming, new Set([proper]));
  }

  /** Returns true when UNLOADED imports or inherits the symbol of RENAMING. SEEN has the names of the unloaded packages
   * that are examined already, because packages can use each other in a circle. */
  #takes({ uses, imports, shadows }: UnloadedPackage, renaming: Renaming, seen: Set<string>): boolean {
    if (shadows.has(renaming.from)) return false;
    return (
      imports.some(([from, names]) => {
        const home = this.proper(from);
        if (!names.has(renaming.from)) return false;
        const unloaded = this.#unseen(home, seen);
        return renaming.packages.has(home) || (unloaded && this.#takes(unloaded, renaming, seen));
      }) || uses.some((used) => this.#exports(used, renaming, seen))
    );
  }

  #exports(name: string, renaming: Renaming, seen: Set<string>): boolean {
    const proper = this.proper(name);
    if (renaming.exporters.has(proper)) return true;
    const unloaded = this.#unseen(proper, seen);
    if (unloaded === undefined) return false;
    return unloaded.exports.has(renaming.from)
      ? this.#takes(unloaded, renaming, seen)
      : unloaded.reexports.some((other) => this.#exports(other, renaming, seen));
  }

  #unseen(name: string, seen: Set<string>): UnloadedPackage | undefined {
    if (seen.has(name)) return undefined;
    seen.add(name);
    return this.#unloaded.get(name);
  }

  /** Returns the role of PART in an option of a package definition. 'symbol': PART names the symbol of RENAMING.
   * 'deeper': PART is in a list within the option. 'other': PART is anything else. Returns undefined when PART is not
   * in an option. */
  roleInDefinition(part: Form, renaming: Renaming): 'symbol' | 'other' | 'deeper' | undefined {
    if (!isInDefinition(part)) return undefined;
    const option = listAround(part);
    const definition = option?.parent;
    if (option === undefined || definition === undefined) return undefined;
    if (!isPackageDefinition(definition)) return isInDefinition(definition) ? 'deeper' : undefined;
    const home = homeOfOption(option);
    if (part === option.elements[0] || part === home) return 'other';
    const name = home?.designatedString;
    return name !== undefined && this.has(renaming, name) === true ? 'symbol' : 'other';
  }
}

/** Returns the list around a form; undefined for a top-level form. A list after a dot counts as a part of the list that
 * contains the dot. */
function listAround({ parent }: Form): Form | undefined {
  let list = parent;
  while (list !== undefined && isRest(list)) list = list.parent;
  return list;
}

/** Returns true when LIST follows a dot and is not computed by `#.`. Only a FormReader without features, as in this
 * file, reads a dot as an element. */
function isRest(list: Form): boolean {
  if (!list.isList || list.prefixes.includes('#.')) return false;
  return list.parent?.elements[list.index - 1]?.notation === '.';
}

/** The cache of `isInDefinition`. Maps a list that is no package definition to true when it is inside of one. */
const insideDefinition = new WeakMap<Form, boolean>();

/** Returns true when a list around the form is a package definition. */
function isInDefinition({ parent }: Form): boolean {
  const passed: Form[] = [];
  let list = parent;
  for (; list !== undefined && !insideDefinition.has(list) && !isPackageDefinition(list); list = list.parent)
    passed.push(list);
  // A list that is not in the cache is the package definition at which the loop ended.
  const inside = list !== undefined && (insideDefinition.get(list) ?? true);
  for (const each of passed) insideDefinition.set(each, inside);
  return inside;
}

/** The start of the operator of a package definition. Not anchored, since `mayDefinePackage` looks for it anywhere. */
const DEFINING = /DEF(?:INE-)?PACKAGE/i;

/** Returns true when FORM is a DEFPACKAGE, or its operator has a similar name, such as DEFINE-PACKAGE of UIOP. */
export function isPackageDefinition(form: Form): boolean {
  return form.first?.symbolName.search(DEFINING) === 0;
}

/** Returns the form that names the package of the symbols in OPTION, an option of a package definition. Returns
 * undefined when OPTION contains no symbols, or is not in a package definition. */
export function homeOfOption({ first, parent, elements }: Form): Form | undefined {
  if (parent === undefined || !isPackageDefinition(parent)) return undefined;
  const key = first?.symbolName ?? '';
  if (IMPORT_OPTIONS.has(key)) return elements[1];
  return OWN_OPTIONS.has(key) ? parent.elements[1] : undefined;
}

function* packagesDefined(text: string): Generator<{ name: string; form: Form }, void> {
  if (!mayDefinePackage(text)) return;
  for (const top of new FormReader(treeOf(text)).forms())
    for (const form of topLevelFormsIn(top)) {
      const name = isPackageDefinition(form) ? form.elements[1]?.designatedString : undefined;
      if (name !== undefined) yield { name, form };
    }
}

/** Returns the names of the packages that TEXT defines with one of the names HOMES in their options, for example as a
 * used package. */
export function packagesUsing(text: string, homes: readonly string[]): string[] {
  const named = (option: Form) =>
    [...formsWithin(option)].some(({ designatedString = '' }) => homes.includes(designatedString));
  return [...packagesDefined(text)].flatMap(({ name, form }) =>
    form.elements.slice(2).some(named) ? name : [],
  );
}

/** Returns true when TEXT may contain a package definition. */
export function mayDefinePackage(text: string): boolean {
  return DEFINING.test(text);
}

function readOption(option: Form, unloaded: UnloadedPackage): void {
  const [key, ...parts] = option.elements.flatMap((part) => (isRest(part) ? part.elements : part));
  const names = parts.flatMap((part) => part.designatedString ?? []);
  const [first, ...more] = names;
  const name = key?.symbolName ?? '';
  if (USE_OPTIONS.has(name)) unloaded.uses.push(...names);
  if (REEXPORT_OPTIONS.has(name)) unloaded.reexports.push(...names);
  if (name === 'EXPORT') for (const each of names) unloaded.exports.add(each);
  if (name === 'SHADOW') for (const each of names) unloaded.shadows.add(each);
  if (IMPORT_OPTIONS.has(name) && first !== undefined) unloaded.imports.push([first, new Set(more)]);
}
