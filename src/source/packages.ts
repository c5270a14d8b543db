/** Decides which package a text means: by the packages of the image, and by the definitions of those that it has not. */

import { SPREADING } from './current-package.ts';
import type { Part, Tree } from './tree.ts';

/** A symbol that gets the name TO. PACKAGES are the proper names of those in which it is, EXPORTERS of those that export
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
  /** Packages that it takes symbols from, each with their names. */
  imports: [from: string, names: Set<string>][];
  shadows: Set<string>;
}

/** What the options of a package definition do with the symbols that they name. */
const OWN_OPTIONS = new Set(['EXPORT', 'INTERN', 'SHADOW', 'UNEXPORT', 'UNINTERN']);
const IMPORT_OPTIONS = new Set(['IMPORT-FROM', 'SHADOWING-IMPORT-FROM']);

/** The packages that texts mean. */
export class Packages {
  readonly #names: ReadonlyMap<string, string>;
  readonly #local = new Map<string, string>();
  readonly #planned = new Map<string, Planned>();

  /** NAMES are pairs of any name of a package and its proper one; LOCAL are a package, a nickname in it, and what that
   *  means. */
  constructor(names: readonly [string, string][], local: readonly [string, string, string][]) {
    this.#names = new Map(names);
    for (const [within, nickname, actual] of local) this.#local.set(`${within}\0${nickname}`, actual);
  }

  /** Returns the proper name of the package that NAME means in the package WITHIN; NAME when none is known. */
  proper(name: string, within?: string): string {
    const home = within === undefined ? undefined : (this.#names.get(within) ?? within);
    return this.#local.get(`${home}\0${name}`) ?? this.#names.get(name) ?? name;
  }

  /** Whether NAME means a package that is known. */
  knows(name: string): boolean {
    return this.#names.has(name) || this.#planned.has(name);
  }

  /** Notes the packages that TREE of TEXT defines and the image has not. */
  note(tree: Tree, text: string): void {
    for (const form of tree.top.flatMap(spread)) {
      const name = isPackageDefinition(form) ? designated(form.items[1], text) : undefined;
      if (name === undefined || this.#names.has(name)) continue;
      const planned: Planned = { uses: [], imports: [], shadows: new Set() };
      for (const option of form.items.slice(2)) readOption(option, text, planned);
      this.#planned.set(name, planned);
    }
  }

  /** Whether the symbol of RENAMING is in the package NAME, as it is called in the package WITHIN; undefined when that is not
   *  known. */
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

  /** Returns whether PART, in an option of a package definition in TEXT, names the symbol of RENAMING. Returns undefined when
   *  it stands in no such option, and 'deeper' when it stands in a list within one. */
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

/** Returns the top-level forms that FORM, which is one, consists of. */
function spread(form: Part): Part[] {
  return SPREADING.includes(form.items[0]?.name ?? '') ? form.items.flatMap(spread) : [form];
}

/** Returns the list around PART of TEXT. What stands behind a dot is of the list around that: (:export a . #1=(b)). */
function listAround({ around }: Part, text: string): Part | undefined {
  return around !== undefined && isRest(around, text) ? listAround(around, text) : around;
}

/** Whether LIST of TEXT stands behind a dot, and is no form that the reader evaluates. */
function isRest(list: Part, text: string): boolean {
  if (list.kind !== 'list' || list.marks.includes('#.')) return false;
  const items = list.around?.items ?? [];
  const before = items[list.index - 1];
  return before?.kind === 'other' && text.slice(before.start, before.end) === '.';
}

/** Whether LIST is within a package definition. */
function isInDefinition(list: Part): boolean {
  return list.around !== undefined && (isPackageDefinition(list.around) || isInDefinition(list.around));
}

/** Whether FORM defines a package: as DEFPACKAGE does, or a macro that is called like that. */
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

/** Returns the name that PART of TEXT stands for as a designator: of a string, or of a symbol in whatever package. */
export function designated(part: Part | undefined, text: string): string | undefined {
  if (part?.kind === 'symbol') return part.name;
  if (part?.kind !== 'string') return undefined;
  return text.slice(part.start + 1, part.end - 1).replace(/\\(.)/gs, '$1');
}
