// Renders the effects of the removal of a definition, besides those on its calls.

import { fewOf } from '../../kernel/reply.ts';
import type { PackageRole } from '../../source/package-uses.ts';
import { codeName, setfName } from '../../source/qualified.ts';
import type { Role } from '../../source/roles.ts';
import type { CallImpact } from './impact-calls-text.ts';
import { type ClassImpact, subclassSection } from './impact-classes-text.ts';
import { callList, locatedRows, type Part } from './impact-sections.ts';
import type { Removal } from './removal.ts';

/** The effects of removing a definition, besides those on its calls. */
export interface RemovalImpact {
  /** True when `(setf NAME)` also has a definition. */
  place: boolean;
  /** The kind of the definition, when it is neither a function nor a class. */
  nature: string;
  /** Uses of a removed definition, besides calls. */
  removal?: Removal;
  /** The answer of who_references for a removed variable; '' for other definitions. */
  references: string;
}

/** The kinds of definitions whose uses SBCL does not record. */
const NOT_RECORDED: readonly string[] = ['TYPE', 'SYMBOL MACRO'];

const NOT_NAMED = 'Nothing else in the loaded sources names it.';

/** For each role of a name in code, the header of its list. The roles that break first come first. */
const ROLES: Readonly<Record<Exclude<Role, 'export'>, string>> = {
  superclass: 'Other definitions that inherit from it',
  specializer: 'Methods that specialize on it',
  combination: 'Generic functions and methods with this method combination',
  instance: 'Code that instantiates it, signals it or finds the class',
  handler: 'Handlers for it',
  type: 'Code that names it as a type',
  code: 'Other code that names it',
  data: 'Data that names it',
};

const PACKAGE_ROLES: Readonly<Record<PackageRole, string>> = {
  definition: 'Package definitions that use it or import from it',
  name: 'Code and data that name it',
  current: 'IN-PACKAGE forms for it (the forms after them are read in it)',
  prefix: 'Symbols written with its name',
};

/** Matches a method that runs in addition to the primary method, so that calls do not need it. */
const AUXILIARY = /^:(?:BEFORE|AFTER|AROUND) /;

/** Returns the parts of an answer about the removal of a definition, besides its calls; [] for another change. */
export function removalSections(impact: RemovalImpact & ClassImpact & Pick<CallImpact, 'method'>): Part[] {
  const { removal } = impact;
  if (removal === undefined) return [];
  const { named, ofPackage, usedBy = [], symbolCount = 0, combined = [] } = removal;
  const { computed, methods, symbolMacro } = removal;
  if (removal.ofSystem)
    return [
      usedBy.length > 0
        ? `Systems that depend on it (${usedBy.length}): ${usedBy.join(', ')}`
        : 'No system registered with ASDF depends on it.',
    ];
  if (ofPackage !== undefined)
    return [
      usedBy.length > 0 && `Packages that use it (${usedBy.length}): ${usedBy.join(', ')}`,
      `Symbols of its own: ${symbolCount}`,
      ...Object.entries(PACKAGE_ROLES).map(([role, header]) => ({
        header,
        ...callList(ofPackage[role as PackageRole] ?? []),
      })),
    ];
  const subclasses = new Set(impact.subclasses?.map(({ name }) => name));
  const inherit = named.superclass?.filter(({ caller }) => !subclasses.has(caller)) ?? [];
  const written = new Set(named.combination?.map(({ caller }) => caller));
  const others = combined.filter((each) => !written.has(each));
  const isKnown = [...Object.values(named), impact.subclasses ?? [], combined].some(
    ({ length }) => length > 0,
  );
  return [
    NOT_RECORDED.includes(impact.nature) &&
      `SBCL records no uses of a ${impact.nature.toLowerCase()}. Compiled code keeps the old definition until it is compiled again.`,
    symbolMacro !== undefined && `It expands into ${symbolMacro}.`,
    removal.isNamed && !isKnown && !impact.references && NOT_NAMED,
    subclassSection(impact),
    others.length > 0 && `Other generic functions with this method combination: ${fewOf(others, 100)}`,
    ...Object.entries(ROLES).map(([role, header]) => ({
      header,
      ...callList((role === 'superclass' ? inherit : named[role as Role]) ?? []),
    })),
    {
      header: 'Code that instantiates a class chosen at run time, perhaps this one',
      ...callList(computed),
    },
    impact.method !== undefined &&
      !AUXILIARY.test(impact.method) &&
      'Calls without another applicable primary method would signal an error.',
    {
      header:
        impact.method === undefined
          ? 'Its methods, removed too (loading one would define the generic function again)'
          : 'Methods that stay',
      rows: locatedRows(methods.filter(({ name }) => name !== impact.method)),
    },
  ];
}

/** Returns a line about the setf definition of the same name, which stays when the definition is removed; false when
 * there is none. */
export function placeText({
  name,
  place,
  removal,
  method,
}: RemovalImpact & Pick<CallImpact, 'name' | 'method'>): string | false {
  if (!place || !removal || method !== undefined) return false;
  return `${codeName(setfName(name))} is a separate definition; impact_of_change of that name lists its uses.`;
}
