// Renders the effects of a change of a class or structure on its functions, subclasses and instances.

import { counted } from '../../kernel/reply.ts';
import { commonPrefix } from '../../source/qualified.ts';
import { sharedHome } from '../alike-rows.ts';
import { type BrokenInstances, type ChangedFunction, usesOf } from './class-changes.ts';
import { callList, type LocatedUse, locatedRows, type Part, type Section } from './impact-sections.ts';

/** The effects of a change of a class or structure. */
export interface ClassImpact {
  class?: string;
  accessors: ChangedFunction[];
  /** True when the new definition changes the layout of a structure. */
  otherLayout: boolean;
  made: BrokenInstances;
  slots?: string[];
  superclassesGone?: string[];
  superclassesCome?: string[];
  superclassesUnknown?: string[];
  subclassCount?: number;
  subclasses?: LocatedUse[];
  instances?: number;
}

/** The consequences of a change of a structure's layout. */
export const OTHER_LAYOUT =
  'This changes the layout of the structure, so SBCL signals an error when the new definition is loaded: call load_file with restarts: ["CONTINUE"]. Existing instances cannot be used afterwards, and code compiled with the old layout must be compiled and loaded again.';

/** Returns lines about the superclasses that the class would lose or gain. */
export function superclassText({
  superclassesGone: gone = [],
  superclassesCome: come = [],
  superclassesUnknown: unknown = [],
}: ClassImpact): string {
  return [
    gone.length > 0 &&
      `Superclasses that would be removed: ${gone.join(', ')}. Instances of the class would lose the slots and initargs of these superclasses, and methods for these would no longer apply.`,
    come.length > 0 && `Superclasses that would be added: ${come.join(', ')}`,
    unknown.length > 0 &&
      `The image has no class ${unknown.join(', ')}, so it is not known what else would be lost or added. Define that class first, then ask again.`,
  ]
    .filter(Boolean)
    .join('\n');
}

/** Returns sections about ACCESSORS, functions that a class or structure loses or changes. If several have the same
 * package, a line above them names it. */
export function accessorSections(accessors: readonly ChangedFunction[]): Part[] {
  const used = accessors.filter((each) => !isUnused(each));
  const home = sharedHome(used.map(({ name }) => name));
  return [
    home && `Below, names without a package are in ${home.slice(0, -2)}.`,
    ...used.map((accessor) => accessorSection(accessor, home)),
    unusedText(accessors.filter(isUnused)),
  ];
}

/** Returns the section about ACCESSOR. Its names leave out the package prefix HOME. */
function accessorSection(accessor: ChangedFunction, home: string): Section | string {
  const { gone, kept, unfit, calls } = accessor;
  const name = accessor.name.slice(home.length);
  if (!gone) {
    const of = `${unfit.length} of ${counted(calls, 'call')}`;
    return { header: `Calls that no longer fit ${name}`, ...callList(unfit, home), of };
  }
  const loss = kept ? `${name} would no longer take instances of it` : `${name} would be gone`;
  const uses = callList(usesOf(accessor), home);
  return uses.rows.length > 0 ? { header: `${loss}. Its uses`, ...uses } : `${loss}; no calls are known.`;
}

function isUnused(accessor: ChangedFunction): boolean {
  return accessor.gone && !accessor.kept && usesOf(accessor).length === 0;
}

function unusedText(accessors: readonly ChangedFunction[]): string | false {
  const names = accessors.map(({ name }) => name);
  if (names.length <= 1) return names.length === 1 && `${names[0]} would be gone; no calls are known.`;
  const home = commonPrefix(names);
  const listed = names.map((name) => name.slice(home.length)).join(', ');
  return `Functions${home && ` of ${home.slice(0, -2)}`} that would be gone, without known calls: ${listed}`;
}

/** Returns the list of the subclasses of the class. */
export function subclassSection({ subclasses = [], subclassCount = 0 }: ClassImpact): Section {
  return { header: 'Subclasses', rows: locatedRows(subclasses), of: subclassCount };
}

/** Returns lines about the slots and instances of the class; false when the definition is not a class. */
export function classText({ class: kind, slots, instances }: ClassImpact): string | false {
  if (kind === undefined) return false;
  const number = instances === undefined ? 'not counted, as the heap is large' : String(instances);
  return [slots && `Direct slots: ${slots.join(', ')}`, `Instances, with those of subclasses: ${number}`]
    .filter(Boolean)
    .join('\n');
}
