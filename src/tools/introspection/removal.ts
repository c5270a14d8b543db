// Finds the uses of a removed definition that is not a function: a class, type, symbol macro, method combination,
// package or system.

import type { ImpactData } from '../../image/wire/operations.ts';
import { boundLine } from '../../kernel/reply.ts';
import type { ReplHistory } from '../../records/repl-history.ts';
import { definitionOf, isDefiner } from '../../source/definition.ts';
import type { Features } from '../../source/form.ts';
import { type PackageRole, packageNamedIn } from '../../source/package-uses.ts';
import { qualified, unqualifiedName } from '../../source/qualified.ts';
import { computedIn, namedIn, type Role } from '../../source/roles.ts';
import { SourceText } from '../../source/text.ts';
import { type TopLevelDefinition, TopLevelForms } from '../../source/top-level.ts';
import type { SoughtName } from '../../source/uses.ts';
import { groupBy } from '../grouping.ts';
import { isVariable } from '../natures.ts';
import type { Places } from '../places.ts';
import type { CheckedCall } from './call-checks.ts';
import { usedOf } from './sites.ts';

/** The places that contain the name of a definition. The key is the role of the name there, such as superclass. */
export type Named<Of extends string = Role> = Partial<Record<Of, CheckedCall[]>>;

/** The effects of removing a definition, except those on the code that calls it. */
export interface Removal {
  named: Named;
  /** For a package: the places that contain its name. */
  ofPackage?: Named<PackageRole>;
  ofSystem?: boolean;
  /** The packages that use the package, or the dependents of the system. */
  usedBy?: string[];
  symbolCount?: number;
  /** Code that computes at run time of which class it makes an instance. It may be the removed class. */
  computed: CheckedCall[];
  /** Generic functions that use the method combination. */
  combined?: string[];
  symbolMacro?: string;
  /** The methods of a removed generic function, which are removed too. */
  methods: { name?: string; at: string; text: string }[];
  /** True when the name has a definition that is not a function. */
  isNamed: boolean;
}

/** Returns true when the name is a variable, but not a symbol macro. */
export function isGlobalVariable({ natures = [], symbolMacro }: ImpactData): boolean {
  return isVariable(natures) && symbolMacro === undefined;
}

/** Returns true when the name has a definition that is not a function. */
export function isNamed(facts: ImpactData): boolean {
  if (isGlobalVariable(facts)) return true;
  const { class: ofClass, type, symbolMacro, typedStructure, combination } = facts;
  return [ofClass, type, symbolMacro, typedStructure, combination].some(
    (each) => each !== undefined && each !== false,
  );
}

/** Returns a function that finds the places in a text that contain the name of the definition. HOMES are the packages
 * that contain the symbol. Leaves out exports. */
export function namesFinder(facts: ImpactData, homes: readonly string[]) {
  const packages = new Set(facts.homes);
  const sought = usedOf({ name: facts.name, accessibleIn: homes, variable: isGlobalVariable(facts) });
  return (text: SourceText, features: Features): { start: number }[] =>
    facts.package
      ? packageNamedIn(text, features, packages)
      : namedIn(text, features, sought).filter(({ role }) => role !== 'export');
}

/** A place that contains the name of a definition. `role` is the role of the name there, such as superclass. `form`
 * identifies the top-level form around the place; '' when no form in a file is known. */
interface Found<Of extends string> {
  role: Of;
  form: string;
  row: CheckedCall;
}

/** Returns the effects of the removal of the definition in FACTS. Leaves out the places that are in REFERENCES, another
 * text in the same answer. */
export function removalOf(facts: ImpactData, places: Places, history: ReplHistory, references = ''): Removal {
  const { combined, symbolMacro, usedBy, symbolCount, methods = [] } = facts;
  if (facts.system) return { named: {}, ofSystem: true, usedBy, computed: [], methods: [], isNamed: false };
  if (facts.package) {
    const names = new Set(facts.homes);
    const found = foundInFiles(facts, places, (text) => packageNamedIn(text, places.features, names));
    return {
      named: {},
      ofPackage: byRole(found),
      usedBy,
      symbolCount,
      computed: [],
      methods: [],
      isNamed: false,
    };
  }
  const variable = isGlobalVariable(facts);
  const sought = usedOf({ name: facts.name, accessibleIn: facts.homes, variable });
  const nameOf = methodNamer(facts);
  const inFiles = foundInFiles(facts, places, (text) => namedIn(text, places.features, sought), nameOf);
  const isNamedToo = isNamed(facts);
  const found = isNamedToo
    ? withOthers(
        inFiles.filter(({ row }) => !references.includes(lineOf(row.at))),
        specializedElsewhere(facts, inFiles, places),
        evaluated(sought, inFiles, history, { places, nameOf }),
      )
    : inFiles.filter(({ role }) => role === 'export');
  const located = methods.map(({ place }) => ({
    ...(place.description && { name: place.description }),
    ...places.site(place),
  }));
  const computed = ['CLASS', 'CONDITION CLASS'].includes(facts.class ?? '')
    ? foundInFiles(facts, places, (text) => computedIn(text, places.features)).map(({ row }) => row)
    : [];
  return { named: byRole(found), computed, methods: located, isNamed: isNamedToo, combined, symbolMacro };
}

/** Returns AT, which is `file:line:column`, without the column. */
function lineOf(at: string): string {
  return at.replace(/\d+$/, '');
}

/** Returns all places in FILES, METHODS and EVALUATED, without those that stand for the same method. METHODS come from
 * the image. */
function withOthers(
  files: readonly Found<Role>[],
  methods: readonly Found<Role>[],
  evaluated: readonly Found<Role>[],
): Found<Role>[] {
  // A macro form that makes a method also contains the name of the class, so only the method is listed. An evaluated
  // method has no place, so its duplicate is found by name.
  const makers = new Set(methods.map(({ form }) => form));
  const made = new Set(evaluated.flatMap(({ role, row }) => (role === 'specializer' ? row.caller : [])));
  return [
    ...files.filter(({ role, form }) => role !== 'code' || !makers.has(form)),
    ...methods.filter(({ form, row }) => form !== '' || !made.has(row.caller)),
    ...evaluated,
  ];
}

function byRole<Of extends string>(found: readonly Found<Of>[]): Named<Of> {
  return Object.fromEntries(
    [...groupBy(found, ({ role }) => role)].map(([role, rows]) => [role, rows.map(({ row }) => row)]),
  ) as Named<Of>;
}

/** Returns a function that converts the name of a method in a file to its name in the image. These differ when the
 * package of the file inherits the name from another package. */
function methodNamer({ specialized = [] }: ImpactData): (name: string) => string {
  const inImage = new Set(specialized.map(({ name }) => name));
  const alike = groupBy([...inImage], unqualifiedName);
  return (name) => {
    const [only, ...others] = alike.get(unqualifiedName(name)) ?? [];
    return inImage.has(name) || only === undefined || others.length > 0 ? name : only;
  };
}

/** Returns the places that FIND finds in the loaded files, each with the name of the definition around it. Of a method,
 * the name is converted by NAME_OF (see methodNamer). */
function foundInFiles<Of extends string>(
  { files = [], name }: ImpactData,
  places: Places,
  find: (text: SourceText) => { start: number; top: number; role: Of }[],
  nameOf?: (name: string) => string,
): Found<Of>[] {
  // The image returns the files unsorted.
  return [...files].sort().flatMap((file) => {
    const text = places.sourceText(file);
    return (text ? find(text) : []).map(({ start, top, role }) => {
      const caller = definedIn(places.forms(file)?.definitionAt(top), nameOf);
      const row = { ...(caller && caller !== name && { caller }), ...places.siteAt(file, start) };
      return { role, form: `${file} ${top}`, row };
    });
  });
}

/** Returns the name that FORM defines, as `PACKAGE::NAME`; undefined when FORM defines nothing or a package. NAME_OF
 * converts the name of a method (see methodNamer). */
function definedIn(
  form: TopLevelDefinition | undefined,
  nameOf = (name: string) => name,
): string | undefined {
  if (!form?.name || !isDefiner(form.operator) || form.operator.endsWith('PACKAGE')) return undefined;
  const name = qualified(form.name, form.home);
  return form.operator === 'DEFMETHOD' ? nameOf(name) : name;
}

const CLASS_DEFINERS: readonly string[] = ['DEFCLASS', 'DEFSTRUCT', 'DEFINE-CONDITION'];

/** Returns the methods for the class that are not in FOUND, because a macro or an evaluation made them. */
function specializedElsewhere(
  { specialized = [] }: ImpactData,
  found: readonly Found<Role>[],
  places: Places,
): Found<Role>[] {
  const known = new Set(found.flatMap(({ role, form }) => (role === 'specializer' ? form : [])));
  return specialized.flatMap(({ name: caller, place }) => {
    const around = places.formOf(place)?.form;
    const form = around ? `${place.file} ${around.start}` : '';
    // A method that the definition of the class makes is removed with the class.
    if (around && (known.has(form) || CLASS_DEFINERS.includes(around.operator))) return [];
    return { role: 'specializer', form, row: { caller, ...places.site(place) } };
  });
}

const SEARCH_LIMIT = 1000;

/** Returns the places of SOUGHT in definitions that were evaluated. If a definition was evaluated several times, only
 * the last one counts. Leaves out definitions whose names are in FOUND, because a file defines them. */
function evaluated(
  sought: SoughtName,
  found: readonly Found<Role>[],
  history: ReplHistory,
  { places, nameOf }: { places: Places; nameOf: (name: string) => string },
): Found<Role>[] {
  const known = new Set(found.map(({ row }) => row.caller));
  const seen = new Set<string>();
  const rows: Found<Role>[] = [];
  let searched = 0;
  for (const { form, time, package: current, error } of history.newestFirst()) {
    if (searched++ >= SEARCH_LIMIT) break;
    if (error !== undefined) continue;
    const text = new SourceText(form);
    const forms = new TopLevelForms(text, places.features);
    const uses = groupBy(namedIn(text, places.features, { ...sought, current }), ({ top }) => top);
    for (const { start, end } of forms.allExtents()) {
      const top = forms.definitionAt(start);
      // Without an IN-PACKAGE before it, a form is read in the package that was current at the evaluation.
      const home = forms.packageAt(start) ?? current ?? top.home;
      const caller = definedIn({ ...top, home }, nameOf);
      if (caller === undefined) continue;
      const whole = forms.formFrom(start);
      const key = JSON.stringify([top.operator, caller, whole && definitionOf(whole)?.method]);
      if (seen.has(key) || known.has(caller)) continue;
      seen.add(key);
      for (const { start: at, role } of uses.get(start) ?? [])
        rows.push({
          role,
          form: '',
          row: { caller, at: `evaluated ${time}`, text: lineIn(text, { start, end }, at) },
        });
    }
  }
  return rows;
}

function lineIn(text: SourceText, { start, end }: { start: number; end: number }, at: number): string {
  const lineStart = text.text.lastIndexOf('\n', at - 1) + 1;
  const newline = text.text.indexOf('\n', at);
  const lineEnd = newline === -1 ? text.text.length : newline;
  return boundLine(text.text.slice(Math.max(start, lineStart), Math.min(end, lineEnd)).trim(), 1);
}
