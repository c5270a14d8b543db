/** Tells which package a name in a text means, and whether it contains a symbol to rename. Knows the packages of the
 *  image, and those that texts define. */

import { SPREADING } from './current-package.ts';
import type { Part, Tree } from './tree.ts';

/** A symbol to rename. PACKAGES are the proper names of the packages that contain it, EXPORTERS of those that export
 *  it. */
export interface Renaming {
  from: string;
  to: string;
  packages: ReadonlySet<string>;
  exporters: ReadonlySet<string>;
}

/** A package as a text defines it. */
interface Planned {
  uses: string[];
  /** Packages that it imports from, each with the names of the imported symbols. */
  imports: [from: string, names: Set<string>][];
  shadows: Set<string>;
}

/** Options of a package definition whose names are symbols of that package. */
const OWN_OPTIONS = new Set(['EXPORT', 'INTERN', 'SHADOW', 'UNEXPORT', 'UNINTERN']);
/** Options whose names are symbols of another package, which comes first. */
const IMPORT_OPTIONS = new Set(['IMPORT-FROM', 'SHADOWING-IMPORT-FROM']);

export class Packages {
  readonly #names: ReadonlyMap<string, string>;
  readonly #local = new Map<string, string>();
  readonly #planned = new Map<string, Planned>();

  /** NAMES pairs each name or nickname of a package with its proper name. LOCAL has triples: a package, a local
   *  nickname in it, and the package that the nickname means. */
  constructor(names: readonly [string, string][], local: readonly [string, string, string][]) {
    this.#names = new Map(names);
    for (const [within, nickname, actual] of local) this.#local.set(`${within}\0${nickname}`, actual);
  }

  /** Returns the proper name of the package that NAME means when WITHIN is the current package, whose local nicknames
   *  then count; NAME itself when it is unknown. */
  proper(name: string, within?: string): string {
    const home = within === undefined ? undefined : (this.#names.get(within) ?? within);
    return this.#local.get(`${home}\0${name}`) ?? this.#names.get(name) ?? name;
  }

  /** True when NAME is a known package. */
  knows(name: string): boolean {
    return this.#names.has(name) || this.#planned.has(name);
  }

  /** Records the packages that TREE, the parsed TEXT, defines and that the image does not have. */
  note(tree: Tree, text: string): void {
    for (const form of tree.top.flatMap(spread)) {
      const name = isPackageDefinition(form) ? designated(form.items[1], text) : undefined;
      if (name === undefined || this.#names.has(name)) continue;
      const planned: Planned = { uses: [], imports: [], shadows: new Set() };
      for (const option of form.items.slice(2)) readOption(option, text, planned);
      this.#planned.set(name, planned);
    }
  }

  /** Returns whether the package NAME contains the symbol of RENAMING; undefined when the package is not known. WITHIN
   *  is as in `proper`. */
  has(renaming: Renaming, name: string, within?: string): boolean | undefined {
    const proper = this.proper(name, within);
    if (renaming.packages.has(proper)) return true;
    const planned = this.#planned.get(proper);
    if (planned === undefined) return this.#names.has(proper) || this.#names.has(name) ? false : undefined;
    if (planned.shadows.has(renaming.from)) return false;
    return (
      planned.imports.some(
        ([from, names]) => names.has(renaming.from) && renaming.packages.has(this.proper(from)),
      ) || planned.uses.some((used) => renaming.exporters.has(this.proper(used)))
    );
  }

  /** Returns whether PART, in an option of a package definition in TEXT, names the symbol of RENAMING. Returns
   *  undefined when PART is in no such option, and 'deeper' when it is in a list nested in one. */
  inDefinition(part: Part, renaming: Renaming, text: string): boolean | 'deeper' | undefined {
    const option = listAround(part, text);
    const form = option?.around;
    if (option === undefined || form === undefined) return undefined;
    if (!isPackageDefinition(form)) return isInDefinition(form) ? 'deeper' : undefined;
    const key = option.items[0]?.name ?? '';
    const [, first] = option.items;
    if (IMPORT_OPTIONS.has(key) && part === first) return false;
    const named = IMPORT_OPTIONS.has(key) ? first : OWN_OPTIONS.has(key) ? form.items[1] : undefined;
    const home = named && designated(named, text);
    return home !== undefined && part !== option.items[0] && this.has(renaming, home) === true;
  }
}

/** Returns FORM, a top-level form; for a PROGN and the like the top-level forms in it. */
function spread(form: Part): Part[] {
  return SPREADING.includes(form.items[0]?.name ?? '') ? form.items.flatMap(spread) : [form];
}

/** Returns the list around PART of TEXT. A list behind a dot belongs to the list around it: (:export a . #1=(b)). */
function listAround({ around }: Part, text: string): Part | undefined {
  return around !== undefined && isRest(around, text) ? listAround(around, text) : around;
}

/** True when LIST of TEXT stands behind a dot, and is no `#.` form. */
function isRest(list: Part, text: string): boolean {
  if (list.kind !== 'list' || list.marks.includes('#.')) return false;
  const items = list.around?.items ?? [];
  const before = items[list.index - 1];
  return before?.kind === 'other' && text.slice(before.start, before.end) === '.';
}

/** True when a package definition contains LIST. */
function isInDefinition(list: Part): boolean {
  return list.around !== undefined && (isPackageDefinition(list.around) || isInDefinition(list.around));
}

/** True when FORM is a DEFPACKAGE, or its operator has a similar name, such as DEFINE-PACKAGE of UIOP. */
function isPackageDefinition(form: Part): boolean {
  return form.kind === 'list' && /^DEF(?:INE-)?PACKAGE/.test(form.items[0]?.name ?? '');
}

function readOption(option: Part, text: string, planned: Planned): void {
  const [key, ...parts] = option.items.flatMap((part) => (isRest(part, text) ? part.items : part));
  const names = parts.flatMap((part) => designated(part, text) ?? []);
  const [first, ...more] = names;
  const name = key?.name ?? '';
  if (name === 'USE') planned.uses.push(...names);
  if (name === 'SHADOW') for (const each of names) planned.shadows.add(each);
  if (IMPORT_OPTIONS.has(name) && first !== undefined) planned.imports.push([first, new Set(more)]);
}

/** Returns the name that PART of TEXT designates: that of a string, or of a symbol in any package. Else undefined. */
export function designated(part: Part | undefined, text: string): string | undefined {
  if (part?.kind === 'symbol') return part.name;
  if (part?.kind !== 'string') return undefined;
  return text.slice(part.start + 1, part.end - 1).replace(/\\(.)/gs, '$1');
}
