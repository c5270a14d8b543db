// Renders what a change of a definition would break.

import type { EarlierAnswers } from '../../kernel/earlier-answers.ts';
import { counted, fewOf, fittingLists, fittingRows, joinSections, listText } from '../../kernel/reply.ts';
import type { PackageRole } from '../../source/package-uses.ts';
import { codeName, commonPrefix, setfName, unqualifiedName } from '../../source/qualified.ts';
import type { Role } from '../../source/roles.ts';
import { codeShape, type MergedRows, mergeAlikeRows, SHARING, sharedHome } from '../alike-rows.ts';
import type { CheckedCall, CheckedCalls } from './call-checks.ts';
import { type BrokenInstances, type ChangedFunction, usesOf } from './class-changes.ts';
import type { NamingFile } from './impact-context.ts';
import { listedAgain, wasListed } from './possible-users.ts';
import type { Removal } from './removal.ts';

interface LocatedUse {
  name?: string | undefined;
  at: string;
  text: string;
  why?: string;
}

/** The functions to compile again, and the reason. */
export interface Recompile {
  why: string;
  names: string[];
  /** Functions that call the definition and may have it compiled in. */
  perhaps?: string[];
  /** Functions with calls that the compiler macro replaced. The compiler macro itself stays. */
  replaced?: { names: string[]; perhaps: string[] };
  /** Macros that call the function during expansion, and functions compiled with these expansions. */
  expanders?: string[];
  expanded?: string[];
}

export interface Impact extends Partial<CheckedCalls> {
  name: string;
  kind?: string;
  /** True when `(setf NAME)` is defined too. */
  place: boolean;
  class?: string;
  /** Qualifiers and specializers of the removed method; undefined when the change is not the removal of a
   * method. */
  method: string | undefined;
  /** The kind of the definition, when it is neither a function nor a class. */
  nature: string;
  lambdaList?: string;
  /** True when the calls were checked against a new lambda list. */
  checked: boolean;
  /** True when the new definition is a method or compiler macro, which does not set the lambda list for
   * calls. */
  ofMethod: boolean;
  recompile: Recompile;
  /** Functions that find symbols by computed names, so may call the definition. */
  finding: LocatedUse[];
  /** Total number of functions for `finding`, which may list fewer. */
  findingCount: number;
  methods: LocatedUse[];
  accessors: ChangedFunction[];
  /** True when the new definition changes the layout of a structure. */
  otherLayout: boolean;
  made: BrokenInstances;
  /** Uses of a removed definition, besides calls. */
  removal?: Removal;
  /** The answer of who_references for a removed variable; '' for other definitions. */
  references: string;
  slots?: string[];
  superclassesGone?: string[];
  superclassesCome?: string[];
  superclassesUnknown?: string[];
  subclassCount?: number;
  subclasses?: LocatedUse[];
  instances?: number;
  testSystems?: number;
  testsMore?: number;
  tests: LocatedUse[];
  testCount: number;
  /** Tests that reached the definition in the last run with coverage; undefined when it was not measured. */
  recorded?: string[] | undefined;
  /** The texts of all definitions of the name, each with its place. */
  texts: string[];
  unloaded: NamingFile[];
  /** Test files that use the name of the definition, when no test is known to reach it. */
  testsNaming: NamingFile[];
  /** Test files that are not loaded, when no test is known to reach the definition. */
  unloadedTests: string[];
}

/** For some kinds of definitions, a sentence on uses that SBCL does not record. */
const NOT_RECORDED: Readonly<Record<string, string>> = Object.fromEntries(
  ['type', 'symbol macro'].map((nature) => [
    nature.toUpperCase(),
    `SBCL records no uses of a ${nature}. Code that was compiled with this one keeps it until it is compiled again.`,
  ]),
);

const NO_EXPANDER_USES =
  'SBCL records no uses of a setf expander. who_calls lists the forms in files that set such a place; compile these again.';

const NOT_NAMED = 'The sources that are loaded do not name it elsewhere.';

const OTHER_LAYOUT =
  'This changes the layout of the structure, so SBCL signals an error when it is loaded: give load_file restarts: ["CONTINUE"]. Existing instances cannot be used afterwards, and code compiled with the old layout must be compiled and loaded again.';

const TEST_LIMIT = 5;

/** A list in an answer, below the line `HEADER (OF; SHARED; ...):`. OF is by default the number of uses.
 * SHARED has the properties common to all rows. */
interface Section {
  header: string;
  rows: readonly Row[];
  of?: string | number;
  shared?: readonly string[];
}

type Row = Pick<MergedRows, 'text' | 'count'>;

/** Renders IMPACT with at most LIMIT rows of each kind and TEST_LIMIT tests. Parts of earlier answers
 * (EARLIER_ANSWERS) are shortened. */
export function impactText(
  impact: Impact,
  limit: number,
  testLimit = TEST_LIMIT,
  earlierAnswers?: EarlierAnswers,
): string {
  const { recompile } = impact;
  return layOut(
    [
      headline(impact),
      ...wholeFirst([...callSections(impact), ...removalSections(impact)], limit),
      impact.references,
      findingSection(impact, earlierAnswers),
      {
        header: 'Methods that would not agree with the generic function',
        rows: locatedRows(impact.methods),
      },
      superclassText(impact),
      impact.otherLayout && OTHER_LAYOUT,
      ...accessorSections(impact.accessors.filter((each) => !isUnused(each))),
      unusedText(impact.accessors.filter(isUnused)),
      { header: 'Instances made with initargs that would be gone', ...callList(impact.made.unfit) },
      { header: 'Uses of instances that cannot be checked', ...callList(impact.made.unknown) },
      classText(impact),
      !impact.removal && subclassSection(impact),
      recompileText(recompile, limit),
      placeText(impact),
      testSection(impact, testLimit),
      recordedText(impact.recorded, testLimit),
      unloadedText(impact.unloaded, limit),
      {
        header: 'Exports and imports of its name, which stay',
        ...callList(impact.removal?.named.export ?? []),
      },
      ...impact.texts,
    ],
    limit,
  );
}

function headline({ name, kind, method, lambdaList, nature, ...impact }: Impact): string {
  if (method !== undefined) return `${name} ${method} [METHOD]`;
  return `${name} [${kind ?? impact.class ?? nature}]${kind ? ` ${lambdaList ?? 'arguments not recorded'}` : ''}`;
}

/** Returns SECTIONS as one text that fits into an answer, with at most LIMIT rows in each list. Empty lists
 * are left out. After a shortened list, a line counts the other rows. */
function layOut(sections: (Section | string | false)[], limit: number): string {
  const isList = (section: Section | string | false): section is Section => typeof section === 'object';
  const lists = sections.filter(isList);
  const textLength = sections.reduce(
    (sum, section) => sum + (typeof section === 'string' ? section.length + 2 : 0),
    0,
  );
  const shown = fittingLists(
    lists.map(({ rows }) => rows.slice(0, limit).map(({ text }) => text)),
    textLength,
  );
  const texts = new Map(lists.map((list, index) => [list, sectionText(list, shown[index] ?? [])]));
  return joinSections(sections.map((section) => (isList(section) ? texts.get(section) : section)));
}

function sectionText({ header, rows, of = countOf(rows), shared = [] }: Section, shown: string[]): string {
  if (rows.length === 0) return '';
  const more = (typeof of === 'number' ? of : countOf(rows)) - countOf(rows.slice(0, shown.length));
  return `${header} (${[of, ...shared].join('; ')}):\n${listText([...shown, ...(more > 0 ? [`... ${more} more`] : [])], false)}`;
}

function countOf(rows: readonly Row[]): number {
  return rows.reduce((sum, { count }) => sum + count, 0);
}

/** Maximum number of characters of the list of names to compile again. */
const RECOMPILE_LIMIT = 4000;

function recompileText(
  { why, names, perhaps = [], replaced, expanders = [], expanded = [] }: Recompile,
  limit: number,
): string {
  const few = (all: string[]) => fewOf(all, fittingRows(all.slice(0, limit), RECOMPILE_LIMIT).length);
  const each = (sure: string[], unsure: string[]) =>
    [
      sure.length > 0 && `(${sure.length}): ${few(sure)}`,
      unsure.length > 0 &&
        `${sure.length > 0 ? '; ' : ''}perhaps (${unsure.length}), as calls are left in them: ${few(unsure)}`,
    ]
      .filter(Boolean)
      .join('');
  const isReplaced = replaced && replaced.names.length + replaced.perhaps.length > 0;
  return [
    names.length + perhaps.length > 0 && `To compile again, as ${why} ${each(names, perhaps)}`,
    isReplaced &&
      `Its compiler macro replaced calls ${each(replaced.names, replaced.perhaps)}\nThese keep its expansion, whatever the function becomes; compile them again when the compiler macro changes.`,
    expanded.length > 0 &&
      `Macros that call it when they expand (${expanders.length}): ${few(expanders)}\nTo compile again, if their expansions change (${expanded.length}): ${few(expanded)}`,
  ]
    .filter(Boolean)
    .join('\n');
}

/** Returns a line on the setf definition of the same name, which stays when the definition is removed. */
function placeText({ name, place, removal, method }: Impact): string | false {
  if (!place || !removal || method !== undefined) return false;
  return `${codeName(setfName(name))} is another definition: impact_of_change of that tells the forms that set such a place.`;
}

const UNFIT_LIMIT = 20;

/** Returns lists of the calls that no longer fit the function, or cannot be checked; '' when all fit. */
export function unfitText({ name, calls, unfit, unknown, perhaps }: { name: string } & CheckedCalls): string {
  return layOut(
    [
      {
        header: `Calls that no longer fit ${name}`,
        ...callList(unfit),
        of: `${unfit.length} of ${calls}`,
      },
      { header: `Uses of ${name} that cannot be checked`, ...callList(unknown) },
      { header: `Possible calls that would not fit ${name}`, ...callList(perhaps) },
    ],
    UNFIT_LIMIT,
  );
}

/** Returns SECTIONS with long lists last, so that no short one is overlooked. */
function wholeFirst(sections: (Section | string | false)[], limit: number): (Section | string | false)[] {
  const isLong = (section: Section | string | false) =>
    typeof section === 'object' && section.rows.length > limit;
  return [...sections.filter((section) => !isLong(section)), ...sections.filter(isLong)];
}

function callSections(impact: Impact): (Section | string | false)[] {
  const {
    kind,
    method,
    checked,
    ofMethod,
    calls = 0,
    unchecked = [],
    unfit = [],
    unknown = [],
    perhaps = [],
  } = impact;
  if (kind === undefined) return [];
  const noLonger = {
    header: 'Calls that no longer fit',
    ...callList(unfit),
    of: `${unfit.length} of ${counted(calls, 'call')}`,
  };
  const undecided = { header: 'Uses that cannot be checked', ...callList(unknown) };
  if (ofMethod) {
    const callee = kind === 'GENERIC-FUNCTION' ? 'generic function' : 'function';
    const stays = `Calls go by the lambda list of the ${callee}, which stays: ${counted(calls, 'call')}.`;
    return checked ? [stays, noLonger, undecided] : [stays];
  }
  const uses = calls + unknown.length;
  if (uses + perhaps.length === 0)
    return [kind === 'SETF EXPANDER' ? NO_EXPANDER_USES : 'No calls are known.'];
  const possible = checked ? 'Possible calls that would not fit' : 'Possible calls';
  return [
    !checked && {
      header: method
        ? 'Calls of the generic function, which stays; their arguments decide which enter the method'
        : 'Calls that its removal would break',
      ...callList(unchecked),
    },
    checked && calls > 0 && unfit.length === 0 && `${counted(calls, 'call')} with known arguments: all fit.`,
    noLonger,
    undecided,
    {
      header:
        kind === 'SETF EXPANDER'
          ? 'Forms in files that set such a place; SBCL records no uses of a setf expander'
          : `${possible}, not in SBCL's cross references`,
      ...callList(perhaps),
    },
  ];
}

function isUnused(accessor: ChangedFunction): boolean {
  return accessor.gone && !accessor.kept && usesOf(accessor).length === 0;
}

function unusedText(accessors: readonly ChangedFunction[]): string | false {
  const names = accessors.map(({ name }) => name);
  if (names.length <= 1)
    return names.length === 1 && `${names[0]} would be gone; nobody is known to call it.`;
  const home = commonPrefix(names);
  const listed = names.map((name) => name.slice(home.length)).join(', ');
  return `Functions${home && ` of ${home.slice(0, -2)}`} that would be gone, and that nobody is known to call: ${listed}`;
}

/** Returns the section on code that finds symbols by computed names, or only a line when an earlier answer
 * (EARLIER_ANSWERS) has the same section. */
function findingSection(
  { kind, finding, findingCount }: Impact,
  earlierAnswers: EarlierAnswers | undefined,
): Section | string {
  const names = finding.flatMap(({ name }) => name ?? []);
  return wasListed(names, findingCount, earlierAnswers)
    ? `It ${listedAgain(names, findingCount, kind ? 'called' : 'used')}.`
    : {
        header: `Code that gets symbols by INTERN, FIND-SYMBOL or the reader, so may ${kind ? 'call' : 'use'} it unseen`,
        rows: locatedRows(finding),
        of: findingCount,
      };
}

/** Returns a section on each of ACCESSORS. The package of several is said once, above the first. */
function accessorSections(accessors: readonly ChangedFunction[]): (Section | string)[] {
  const home = sharedHome(accessors.map(({ name }) => name));
  const sections = accessors.map((accessor) => accessorSection(accessor, home));
  return home ? [`Below, names without a package are in ${home.slice(0, -2)}.`, ...sections] : sections;
}

/** Returns the section on ACCESSOR. HOME is left out in front of its names. */
function accessorSection(accessor: ChangedFunction, home: string): Section | string {
  const { gone, kept, unfit, calls } = accessor;
  const name = accessor.name.slice(home.length);
  if (!gone) {
    const of = `${unfit.length} of ${counted(calls, 'call')}`;
    return { header: `Calls that no longer fit ${name}`, ...callList(unfit, home), of };
  }
  const loss = kept ? `${name} would no longer take instances of it` : `${name} would be gone`;
  const uses = callList(usesOf(accessor), home);
  return uses.rows.length > 0
    ? { header: `${loss}. Its uses`, ...uses }
    : `${loss}; nobody is known to call it.`;
}

function subclassSection({ subclasses = [], subclassCount = 0 }: Impact): Section {
  return { header: 'Subclasses', rows: locatedRows(subclasses), of: subclassCount };
}

/** For each role of a name in code, the header of its list. The roles that break first come first. */
const ROLES: Readonly<Record<Exclude<Role, 'export'>, string>> = {
  superclass: 'Other definitions that inherit from it',
  specializer: 'Methods that specialize on it',
  combination: 'Generic functions and methods that have it as method combination',
  instance: 'Code that makes it, signals it or finds its class',
  handler: 'Handlers for it',
  type: 'Code that names it as a type',
  code: 'Other code that names it',
  data: 'Data that names it',
};

const PACKAGE_ROLES: Readonly<Record<PackageRole, string>> = {
  definition: 'Definitions of packages that use it or import from it',
  name: 'Code and data that name it',
  current: 'IN-PACKAGE forms; the forms behind them are read in it',
  prefix: 'Symbols written with its name',
};

function removalSections(impact: Impact): (Section | string | false)[] {
  const { removal } = impact;
  if (removal === undefined) return [];
  const { named, ofPackage, usedBy = [], symbolCount = 0, combined = [] } = removal;
  const { computed, methods, symbolMacro } = removal;
  if (removal.ofSystem)
    return [
      usedBy.length > 0
        ? `Systems that depend on it (${usedBy.length}): ${usedBy.join(', ')}`
        : 'No system that ASDF has registered depends on it.',
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
    NOT_RECORDED[impact.nature] ?? false,
    symbolMacro !== undefined && `It expands into ${symbolMacro}.`,
    removal.isNamed && !isKnown && !impact.references && NOT_NAMED,
    subclassSection(impact),
    others.length > 0 && `Other generic functions that have it as method combination: ${fewOf(others, 100)}`,
    ...Object.entries(ROLES).map(([role, header]) => ({
      header,
      ...callList((role === 'superclass' ? inherit : named[role as Role]) ?? []),
    })),
    {
      header: 'Code that makes instances of a class that it computes, so perhaps of this one',
      ...callList(computed),
    },
    impact.method !== undefined &&
      !AUXILIARY.test(impact.method) &&
      'A call to which no other primary method applies would signal an error.',
    {
      header:
        impact.method === undefined
          ? 'Methods of it, which go with it; loading their forms makes it again'
          : 'Methods that stay',
      rows: locatedRows(methods.filter(({ name }) => name !== impact.method)),
    },
  ];
}

const AUXILIARY = /^:(?:BEFORE|AFTER|AROUND) /;

function superclassText({
  superclassesGone: gone = [],
  superclassesCome: come = [],
  superclassesUnknown: unknown = [],
}: Impact): string {
  return [
    gone.length > 0 &&
      `Superclasses that would be removed: ${gone.join(', ')}. Its instances lose the slots and initargs of those, and methods for those no longer take its instances.`,
    come.length > 0 && `Superclasses that would be added: ${come.join(', ')}`,
    unknown.length > 0 &&
      `The image has no class ${unknown.join(', ')}, so it is not known what else would be lost or added. Define that class first, then ask again.`,
  ]
    .filter(Boolean)
    .join('\n');
}

function classText({ class: kind, slots, instances }: Impact): string | false {
  if (kind === undefined) return false;
  const number = instances === undefined ? 'not counted, as the heap is large' : String(instances);
  return [slots && `Direct slots: ${slots.join(', ')}`, `Instances, with those of subclasses: ${number}`]
    .filter(Boolean)
    .join('\n');
}

function testSection(impact: Impact, limit: number): string | false {
  const { kind, testSystems = 0, tests, testCount, testsMore } = impact;
  const unloaded = impact.unloaded.filter(({ unloadedTests }) => unloadedTests);
  const unchecked =
    unloaded.length > 0 && `Tests that name it, not loaded, so not checked: ${filesText(unloaded, limit)}`;
  if (kind === undefined) return unchecked;
  if (testSystems === 0) return 'Tests: no loaded system is known to ASDF as the test of another.';
  const more = testsMore
    ? `\nNote: more than ${testsMore} functions and forms reach it, and no further ones were followed, so tests can be missing here; who_calls with within lists its callers in one system.`
    : '';
  if (testCount === 0 && impact.testsNaming.length + unloaded.length > 0) {
    const lines = [
      impact.testsNaming.length > 0 && `Tests that name it: ${filesText(impact.testsNaming, limit)}`,
      unchecked,
    ];
    return `${lines.filter(Boolean).join('\n')}${more}`;
  }
  if (testCount === 0) {
    const { unloadedTests } = impact;
    const subject = impact.unloaded.length + unloadedTests.length > 0 ? 'No test that is loaded' : 'No test';
    return `${subject} is known to reach it.${unloadedTestsText(unloadedTests, limit)}${more}`;
  }
  const lines = listText(tests.slice(0, limit).map(locatedText), false);
  const remaining = testCount - Math.min(limit, tests.length);
  return `Tests that reach it (${testCount}):\n${lines}${remaining > 0 ? `\n  ... ${remaining} more; limit shows them` : ''}${more}`;
}

function recordedText(names: string[] | undefined, limit: number): string | false {
  if (names === undefined) return false;
  if (names.length === 0) return 'No test reached it in the last run with coverage.';
  return `Tests that reached it in a run with coverage (${names.length}): ${fewOf(names, limit)}. run_tests with touching runs these.`;
}

/** Returns a line with at most LIMIT files that are not loaded and name the definition. Test files are left
 * out. */
function unloadedText(naming: readonly NamingFile[], limit: number): string | false {
  const files = naming.filter(({ unloadedTests }) => !unloadedTests);
  if (files.length === 0) return false;
  return `Files that name it, not loaded, so not checked: ${filesText(files, limit)}`;
}

function unloadedTestsText(files: readonly string[], limit: number): string {
  if (files.length === 0) return '';
  const more = files.length > limit ? ` and ${files.length - limit} more` : '';
  return ` These test files are not loaded, and their tests may reach it: ${files.slice(0, limit).join(', ')}${more}. Load them first (load_system), and ask again.`;
}

function filesText(files: readonly NamingFile[], limit: number): string {
  const entries = files
    .slice(0, limit)
    .map(({ file, lines }) => `${file}:${lines.slice(0, LINE_LIMIT).join(',')}`);
  const more = files.length > limit ? ` and ${files.length - limit} more files` : '';
  return entries.join('  ') + more;
}

const LINE_LIMIT = 10;

/** Maximum number of calls to list after a call of the same shape. */
const ALIKE_LIMIT = 50;

/** Returns the rows for CALLS, and what they share: the package of the names, and the reason. STATED_HOME is a
 * `PACKAGE::` that was said before, and is left out in front of names. */
function callList(calls: readonly CheckedCall[], statedHome = ''): Pick<Section, 'rows' | 'shared'> {
  const home = statedHome || sharedHome(calls.flatMap(({ caller }) => caller || []));
  const [why, ...otherReasons] = new Set(calls.map((call) => call.why));
  const reason = otherReasons.length === 0 && calls.length >= SHARING ? why : undefined;
  const short = calls.map(({ caller, why: own, ...call }) => ({
    ...call,
    ...(caller !== undefined && { caller: caller.startsWith(home) ? caller.slice(home.length) : caller }),
    ...(reason === undefined && own !== undefined && { why: own }),
  }));
  const shared = [home && !statedHome && `names in ${home.slice(0, -2)}`, reason && `each: ${reason}`];
  return { rows: callRows(short), shared: shared.flatMap((each) => each || []) };
}

/** Returns the rows for CALLS. Calls with the same shape and reason are merged. */
function callRows(calls: readonly CheckedCall[]): Row[] {
  const shaped = calls.map((call) => ({
    text: locatedText({ ...call, name: call.caller }),
    shape:
      call.text === ''
        ? undefined
        : `${codeShape(call.text, call.caller === undefined ? [] : [unqualifiedName(call.caller)])} [${call.why}]`,
    brief: { name: call.caller, at: call.at },
  }));
  return mergeAlikeRows(shaped, '    ', ALIKE_LIMIT);
}

function locatedRows(uses: readonly LocatedUse[]): Row[] {
  return uses.map((use) => ({ text: locatedText(use), count: 1 }));
}

function locatedText({ name, at, text, why }: LocatedUse): string {
  return [name, at, text, why && `[${why}]`].filter(Boolean).join('  ');
}
