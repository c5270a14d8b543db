// Finds the uses of functions and instances that break when a class or structure gets a new definition.

import type { ClassFunction, ImpactData } from '../../image/wire/operations.ts';
import type { DefinitionDetails } from '../../source/definition-details.ts';
import { type InstanceUse, instanceUsesIn } from '../../source/instances.ts';
import { type LambdaList, parsedLambdaList } from '../../source/lambda-list.ts';
import { unqualifiedName } from '../../source/qualified.ts';
import type { Places } from '../places.ts';
import type { CheckedCall, CheckedCalls } from './call-checks.ts';
import { holderAt } from './outside.ts';

/** A function that a new definition removes (`gone` is true) or changes, with its calls. `kept` is true when a removed
 * function stays for other classes. */
export interface ChangedFunction extends CheckedCalls {
  name: string;
  gone: boolean;
  kept?: boolean;
}

/** A lambda list that no call fits, because each has too few arguments. */
const ACCEPTS_NOTHING: LambdaList = {
  required: Number.POSITIVE_INFINITY,
  optional: 0,
  rest: true,
  otherKeys: true,
};

/** Returns all uses of a removed function. */
export function usesOf({ unfit, unknown, perhaps }: CheckedCalls): CheckedCall[] {
  return [...unfit.map(({ why, ...row }) => row), ...unknown, ...perhaps.map(({ why, ...row }) => row)];
}

/** Returns the functions of a class or structure that DEFINITION removes or changes, with their calls. CHECK checks the
 * calls of a function against a lambda list. */
export async function changedFunctions(
  { accessors = [], typedStructure = [], slots = [] }: ImpactData,
  definition: Pick<DefinitionDetails, 'slots' | 'accessors' | 'constructors'> | undefined,
  check: (name: string, list: LambdaList | undefined) => Promise<CheckedCalls | undefined>,
): Promise<ChangedFunction[]> {
  if (definition?.slots === undefined) return [];
  const functions: ClassFunction[] = [...accessors, ...typedStructure.map((name) => ({ name }))];
  const { accessors: remaining = [], constructors } = definition;
  const goneSlots = namesMissing(slots, definition.slots);
  const found: ChangedFunction[] = [];
  for (const { name, kept, slot, below, arglist } of functions) {
    const bare = unqualifiedName(name);
    // `slot` and `below` are set for functions of structures that include this one. Such an accessor goes when its slot
    // goes. Such a constructor stays, but without the keywords of the slots that go.
    const staysAccessor = slot === undefined ? remaining.includes(bare) : !goneSlots.includes(slot);
    if (staysAccessor) continue;
    const gone = !below && !constructors?.has(bare);
    const list = below ? withoutKeys(arglist, goneSlots) : constructors?.get(bare);
    const checked = await check(name, gone ? ACCEPTS_NOTHING : list);
    if (checked === undefined || (!gone && checked.unfit.length === 0)) continue;
    // Setf functions, and accessors of structures that include this one, are listed only if they are used. The rows
    // for the other accessors of the same slots imply their removal.
    const isImplied = slot !== undefined || bare.startsWith('(SETF ');
    if (isImplied && usesOf(checked).length === 0) continue;
    found.push({ name, gone, ...(kept && { kept }), ...checked });
  }
  return found;
}

function withoutKeys(arglist: string | undefined, gone: readonly string[]): LambdaList | undefined {
  const list = arglist === undefined ? undefined : parsedLambdaList(arglist);
  return list?.keys && { ...list, keys: namesMissing(list.keys, gone) };
}

/** Returns true when the new definition has other superclasses than the class in the image. */
export function hasOtherSuperclasses(
  { superclasses: old = [] }: ImpactData,
  { superclasses: now }: DefinitionDetails,
): boolean {
  const sorted = (names: readonly string[]) =>
    names
      .map((name) => name.toUpperCase().replace(/^.*:/, ''))
      .sort()
      .join(' ');
  return now !== undefined && sorted(old) !== sorted(now);
}

/** Returns true when DEFINITION changes the slots of a structure, their order, or its :INCLUDE. */
export function hasOtherLayout(
  { slots = [], include = '' }: ImpactData,
  definition: DefinitionDetails | undefined,
): boolean {
  if (definition?.operator !== 'DEFSTRUCT') return false;
  return (
    slots.join(' ') !== definition.slots?.join(' ') || unqualifiedName(include) !== (definition.include ?? '')
  );
}

/** Returns the names in OLD that NOW lacks. */
function namesMissing(old: readonly string[], now: readonly string[]): string[] {
  return old.filter((name) => !now.includes(name));
}

/** Code that creates instances: `unfit` would break, `unknown` cannot be checked. */
export interface BrokenInstances {
  unfit: CheckedCall[];
  unknown: CheckedCall[];
}

/** Returns the code in loaded files that would break because DEFINITION lacks initargs or slots of the class. */
export function brokenInstances(
  { name: className, initargs = [], slots = [], inheritedSlots = [], files = [] }: ImpactData,
  definition: Pick<DefinitionDetails, 'slots' | 'initargs' | 'defaults'> | undefined,
  places: Places,
): BrokenInstances {
  const broken: BrokenInstances = { unfit: [], unknown: [] };
  if (definition?.slots === undefined) return broken;
  const classes = initargs.map((entry) => ({
    ...entry,
    gone: namesMissing(entry.initargs, definition.initargs ?? []),
  }));
  for (const { name, gone, defaults = [], place } of classes) {
    const newDefaults = name === className ? (definition.defaults ?? []) : defaults;
    for (const key of gone.filter((initarg) => newDefaults.includes(initarg))) {
      const why = `:${key} is a default initarg of it`;
      broken.unfit.push({ caller: name, ...places.site(place), why });
    }
  }
  const search = {
    classes: classes.map(({ name, homes }) => ({ name: unqualifiedName(name), packages: new Set(homes) })),
    initargs: [...new Set(classes.flatMap(({ gone }) => gone))],
    slots: namesMissing([...slots, ...inheritedSlots], definition.slots),
  };
  if (search.initargs.length + search.slots.length === 0) return broken;
  const goneOf = (use: InstanceUse) =>
    classes.find(({ name }) => unqualifiedName(name) === use.name)?.gone ?? search.initargs;
  for (const file of files) {
    const source = places.sourceText(file);
    for (const use of source ? instanceUsesIn(source, places.features, search) : [])
      classifyUse(broken, use, goneOf(use), {
        ...callerAt(file, use.start, places),
        ...places.siteAt(file, use.start),
      });
  }
  return broken;
}

/** Returns the name of the definition around INDEX as `caller`; {} when INDEX is in its first line or when there is
 * none. */
function callerAt(file: string, index: number, places: Places): Pick<CheckedCall, 'caller'> {
  const forms = places.forms(file);
  const top = forms?.extentAround(index);
  if (forms === undefined || top === undefined || !forms.source.text.slice(top.start, index).includes('\n'))
    return {};
  const caller = holderAt(forms, top.start, index, {});
  return caller === undefined ? {} : { caller };
}

/** Adds ROW to `unfit` when the use certainly gives an initarg in GONE. Adds it to `unknown` when the use may give one,
 * or names a slot. */
function classifyUse(
  { unfit, unknown }: BrokenInstances,
  { keys, how, slot, name }: InstanceUse,
  gone: readonly string[],
  row: CheckedCall,
): void {
  const goneKey = keys.find((key) => gone.includes(key));
  if (slot !== undefined) unknown.push({ ...row, why: `names a slot ${slot}` });
  else if (goneKey !== undefined && how === undefined)
    unfit.push({ ...row, why: `:${goneKey} is no initarg of ${name} any more` });
  else if (goneKey !== undefined || how === 'its arguments are computed')
    unknown.push({ ...row, ...(how !== undefined && { why: how }) });
}
