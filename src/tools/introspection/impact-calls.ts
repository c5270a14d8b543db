// Finds the calls, compiled code and instances that a change of a function or class would break.

import type { Image } from '../../image/image.ts';
import type { ImpactData, WhoCallsData } from '../../image/wire/operations.ts';
import type { CallContext } from '../../kernel/tool.ts';
import type { DefinitionDetails } from '../../source/definition-details.ts';
import { type LambdaList, parsedLambdaList } from '../../source/lambda-list.ts';
import { partsOfName, readableName } from '../../source/qualified.ts';
import { callOptions } from '../calling.ts';
import { foundValue, isLookupFailure } from '../lookup.ts';
import type { Places } from '../places.ts';
import { type CheckedCalls, checkedCalls } from './call-checks.ts';
import { brokenInstances, changedFunctions, hasOtherLayout } from './class-changes.ts';
import type { Recompile } from './impact-calls-text.ts';
import type { ClassImpact } from './impact-classes-text.ts';
import { incongruentMethods, lambdaListWithMethod } from './method-changes.ts';

/** The change of a definition whose effects the caller asks for. */
export type Change =
  | { kind: 'removal' }
  | { kind: 'new lambda list'; lambdaList: LambdaList }
  | { kind: 'new definition'; definition: DefinitionDetails };

/** Maximum number of callers to request from the image; no function has so many. */
const CALLER_LIMIT = 20_000;

/** The definition, without slots, that stands for a removed class. */
const NOTHING = { slots: [], accessors: [], initargs: [] };

/** Checks the calls of a function against its current lambda list. Returns undefined when the lambda list or the calls
 * are unknown. */
export async function checkPresentCalls(
  image: Image,
  places: Places,
  { name, home }: { name: string; home: string },
  context: CallContext,
): Promise<({ name: string } & CheckedCalls) | undefined> {
  const reply = await image.call('impact', { name, package: home, limit: 1 }, callOptions(context));
  const facts = foundValue(reply);
  if (isLookupFailure(facts) || facts.kind === undefined || facts.arglist === undefined) return undefined;
  const list = parsedLambdaList(facts.arglist, undefined, facts.kind === 'MACRO');
  const callers = list && (await callersOf(image, facts.name, context));
  if (callers === undefined) return undefined;
  return { name: facts.name, ...checkedCalls(callers, elsewhereIn(facts), acceptedBy(facts, list), places) };
}

/** Returns the effects of CHANGE on the calls of the function in FACTS, and the functions to compile again. OPERATOR is
 * the operator of the new definition. */
export async function impactOnCalls(
  image: Image,
  places: Places,
  facts: ImpactData,
  operator: string | undefined,
  change: Change,
  context: CallContext,
) {
  const definition = definitionIn(change);
  const method = definition?.operator === 'DEFMETHOD' ? definition : undefined;
  // A new or removed compiler macro does not change the lambda list of the function.
  const isCompilerMacro = operator === 'DEFINE-COMPILER-MACRO' && facts.kind !== 'COMPILER MACRO';
  const list = isCompilerMacro ? undefined : lambdaListIn(change);
  const accepted = method ? lambdaListWithMethod(facts, method) : acceptedBy(facts, list);
  const ofMethod = method !== undefined || isCompilerMacro;
  const callers = facts.kind === undefined ? undefined : await callersOf(image, facts.name, context);
  return {
    checked: accepted !== undefined,
    ofMethod,
    ...(callers && checkedCalls(callers, elsewhereIn(facts), accepted, places)),
    recompile: functionsToRecompile(facts, callers, definition, operator),
    methods: incongruentMethods(facts, list, ofMethod, (place) => places.site(place)),
  };
}

function definitionIn(change: Change): DefinitionDetails | undefined {
  return change.kind === 'new definition' ? change.definition : undefined;
}

function lambdaListIn(change: Change): LambdaList | undefined {
  if (change.kind === 'new lambda list') return change.lambdaList;
  const definition = definitionIn(change);
  // The lambda list of a DEFTYPE is not for calls.
  return definition?.operator === 'DEFTYPE' ? undefined : definition?.lambdaList;
}

/** Returns the lambda list that calls must fit when the lambda list of the definition is LIST; undefined when LIST is
 * undefined. For a generic function with &key, the result includes the keywords of all methods. */
function acceptedBy(facts: ImpactData, list: LambdaList | undefined): LambdaList | undefined {
  if (list?.keys === undefined || facts.kind !== 'GENERIC-FUNCTION') return list;
  const lists = (facts.methods ?? []).map(({ arglist }) => parsedLambdaList(arglist));
  return {
    ...list,
    keys: [...list.keys, ...lists.flatMap((method) => method?.keys ?? [])],
    otherKeys: list.otherKeys || lists.some((method) => method?.otherKeys === true),
  };
}

async function callersOf(
  image: Image,
  name: string,
  context: CallContext,
): Promise<WhoCallsData | undefined> {
  // Bars around the name make the reader read exactly this symbol.
  const { home, ...callee } = partsOfName(name);
  const reply = await image.call(
    'who-calls',
    { name: readableName(callee), package: home, sites: true, offset: 0, limit: CALLER_LIMIT },
    callOptions(context),
  );
  const found = foundValue(reply);
  return isLookupFailure(found) ? undefined : found;
}

/** Returns the places in which calls are searched, besides those that the image records (see Elsewhere). */
function elsewhereIn({ files = [], naming = [] }: ImpactData) {
  return { files, naming };
}

/** Returns the functions into which the old definition is compiled, and the reason why they must be compiled again. The
 * reason is '' when they need not be. */
function functionsToRecompile(
  facts: ImpactData,
  callers: WhoCallsData | undefined,
  definition: DefinitionDetails | undefined,
  operator: string | undefined,
): Recompile {
  const { kind, inline, compilerMacro, structureUsers = [] } = facts;
  const { holders = [], perhapsHolders = [], expanders = [], expanded = [] } = facts;
  if (hasOtherLayout(facts, definition))
    return { why: 'the structure has another layout', names: structureUsers };
  if (definition?.operator === 'DEFMACRO' && kind !== 'MACRO') {
    const rows = callers?.rows?.filter(({ possible }) => !possible) ?? [];
    return { why: 'it becomes a macro', names: rows.flatMap(({ name }) => name ?? []) };
  }
  const compiledIn = { names: holders, perhaps: perhapsHolders };
  const expansions = { expanders, expanded };
  if (kind === 'MACRO') return { why: 'it is a macro', ...compiledIn, ...expansions };
  if (inline) return { why: 'it is inline', ...compiledIn, ...expansions };
  // Without a compiler macro, only a constant has holders; for other names the lists are empty.
  if (!compilerMacro) return { why: 'its value is compiled into them', ...compiledIn, ...expansions };
  const changesCompilerMacro = kind === 'COMPILER MACRO' || operator === 'DEFINE-COMPILER-MACRO';
  return changesCompilerMacro
    ? { why: 'its compiler macro changes', ...compiledIn, ...expansions }
    : { why: '', names: [], replaced: compiledIn, ...expansions };
}

/** Returns the effects of CHANGE on the functions and instances of the class in FACTS. */
export async function impactOnClass(
  image: Image,
  places: Places,
  facts: ImpactData,
  change: Change,
  context: CallContext,
): Promise<Pick<ClassImpact, 'accessors' | 'otherLayout' | 'made'>> {
  const removed = change.kind === 'removal';
  const definition = definitionIn(change);
  const after = removed ? NOTHING : definition;
  // `naming` in FACTS is about the class itself, not about its accessors.
  const elsewhere = { ...elsewhereIn(facts), naming: [] };
  const check = async (accessor: string, list: LambdaList | undefined) => {
    const callers = await callersOf(image, accessor, context);
    return callers && checkedCalls(callers, elsewhere, list, places);
  };
  return {
    accessors: await changedFunctions(facts, after, check),
    otherLayout: hasOtherLayout(facts, definition),
    // Without initargs, only uses of slots are found. Removal lists the code that makes instances of a removed class.
    made: brokenInstances(removed ? { ...facts, initargs: [] } : facts, after, places),
  };
}
