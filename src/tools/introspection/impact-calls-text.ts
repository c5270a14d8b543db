// Renders the effects of a change on the calls of a function and on code into which the function is compiled.

import type { EarlierAnswers } from '../../kernel/earlier-answers.ts';
import { counted, fewOf, fittingRows } from '../../kernel/reply.ts';
import type { CheckedCalls } from './call-checks.ts';
import {
  callList,
  type LocatedUse,
  layOut,
  locatedRows,
  type Part,
  type Section,
} from './impact-sections.ts';
import { listedAgain, wasListed } from './possible-users.ts';

/** The effects of a change on the code that calls the definition. The data of the answer has these members too, so
 * their names stay. */
export interface CallImpact extends Partial<CheckedCalls> {
  name: string;
  /** Kind of the function, such as MACRO or SETF EXPANDER; undefined when the name is no function. */
  kind?: string;
  /** Qualifiers and specializers of the removed method; undefined unless the change removes a method. */
  method: string | undefined;
  lambdaList?: string;
  /** True when the calls were checked against a new lambda list. */
  checked: boolean;
  /** True when the new definition is a method or a compiler macro, so that the function keeps its lambda list. */
  ofMethod: boolean;
  recompile: Recompile;
  /** Functions that find symbols by computed names, and so may call the definition. */
  finding: LocatedUse[];
  /** Number of all functions that could be in `finding`, which may list fewer. */
  findingCount: number;
  /** Methods that are not congruent with the new lambda list. */
  methods: LocatedUse[];
}

/** The functions to compile again, and the reason. */
export interface Recompile {
  /** A clause that follows "because"; '' when `names` and `perhaps` are empty. */
  why: string;
  names: string[];
  /** Functions that call the definition and may have it compiled in. */
  perhaps?: string[];
  /** Functions with calls that the compiler macro of the definition replaced (`names`), or may have replaced
   * (`perhaps`). */
  replaced?: { names: string[]; perhaps: string[] };
  /** Macros that call the function during expansion, and functions compiled with these expansions. */
  expanders?: string[];
  expanded?: string[];
}

const NO_EXPANDER_USES =
  'SBCL records no uses of a setf expander. who_calls lists the forms in files that set such a place; compile these again.';

/** Returns the parts of an answer about the calls of a function; [] when IMPACT is not about a function. */
export function callSections(impact: CallImpact): Part[] {
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
    const stays = `The lambda list of the ${callee} does not change, and calls must fit it (${counted(calls, 'call')}).`;
    return checked ? [stays, noLonger, undecided] : [stays];
  }
  if (calls + unknown.length + perhaps.length === 0)
    return [kind === 'SETF EXPANDER' ? NO_EXPANDER_USES : 'No calls are known.'];
  const possible = checked ? 'Possible calls that would not fit' : 'Possible calls';
  return [
    !checked && {
      header: method
        ? 'Calls of the generic function, which stays; each call runs the method only if its arguments fit'
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

/** Returns the section about code that finds symbols by computed names. Returns only a line when an earlier answer
 * to the same client (EARLIER_ANSWERS) had this section already. */
export function findingSection(
  { kind, finding, findingCount }: CallImpact,
  earlierAnswers: EarlierAnswers | undefined,
): Section | string {
  const names = finding.flatMap(({ name }) => name ?? []);
  return wasListed(names, findingCount, earlierAnswers)
    ? `It ${listedAgain(names, findingCount, kind ? 'called' : 'used')}.`
    : {
        header: `Code that may ${kind ? 'call' : 'use'} it through a symbol from INTERN, FIND-SYMBOL or the reader`,
        rows: locatedRows(finding),
        of: findingCount,
      };
}

/** Maximum number of characters of the list of names to compile again. */
const RECOMPILE_LIMIT = 4000;

/** Returns lines about the functions to compile again, with at most LIMIT names in each list. */
export function recompileText(
  { why, names, perhaps = [], replaced, expanders = [], expanded = [] }: Recompile,
  limit: number,
): string {
  const few = (all: string[]) => fewOf(all, fittingRows(all.slice(0, limit), RECOMPILE_LIMIT).length);
  const countsAndNames = (sure: string[], unsure: string[]) =>
    [
      sure.length > 0 && `(${sure.length}): ${few(sure)}`,
      unsure.length > 0 &&
        `${sure.length > 0 ? '; ' : ''}perhaps (${unsure.length}), because they still contain calls: ${few(unsure)}`,
    ]
      .filter(Boolean)
      .join('');
  const hasReplaced = replaced && replaced.names.length + replaced.perhaps.length > 0;
  return [
    names.length + perhaps.length > 0 &&
      `Compile these again, because ${why} ${countsAndNames(names, perhaps)}`,
    hasReplaced &&
      `Callers where the compiler macro replaced the call ${countsAndNames(replaced.names, replaced.perhaps)}\nThey keep the expansion when the function changes; compile them again when the compiler macro changes.`,
    expanded.length > 0 &&
      `Macros that call it during expansion (${expanders.length}): ${few(expanders)}\nCompile these again if their expansions change (${expanded.length}): ${few(expanded)}`,
  ]
    .filter(Boolean)
    .join('\n');
}

const UNFIT_LIMIT = 20;

/** Returns lists of the calls that no longer fit the function, or cannot be checked; '' when all fit. For the answer
 * about a change that is already loaded; the other functions of this file are for impact_of_change. */
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
