// The tool impact_of_change, which shows what a change of a definition would break.

import { CallError } from '../../errors.ts';
import type { Image } from '../../image/image.ts';
import type { ImpactData, Place, WhoCallsData } from '../../image/wire/operations.ts';
import { type ArgumentsFor, type CallContext, defineTool, type ToolDescription } from '../../kernel/tool.ts';
import { type ParsedDefinition, parseDefinition } from '../../source/definition.ts';
import type { Features } from '../../source/form.ts';
import { type LambdaList, parsedLambdaList } from '../../source/lambda-list.ts';
import { codeName, partsOfName, readableName, setfName } from '../../source/qualified.ts';
import { callOptions } from '../calling.ts';
import { askedMethod } from '../definitions/asked-method.ts';
import { askedDefinition } from '../definitions/asked-names.ts';
import type { Origins } from '../definitions/origins.ts';
import { foundValue, isLookupFailure, lookupResult, PACKAGE, packageOf } from '../lookup.ts';
import { isNot, isVariable } from '../natures.ts';
import type { Places } from '../places.ts';
import type { ReachedDefinitions } from '../tests/reached.ts';
import { type CheckedCalls, checkedCalls } from './call-checks.ts';
import { brokenInstances, changedFunctions, hasOtherLayout, hasOtherSuperclasses } from './class-changes.ts';
import { findersIn } from './finders.ts';
import { definitionTexts, testsNaming, unloadedFiles, unloadedTestFiles } from './impact-besides.ts';
import { type Impact, impactText, type Recompile } from './impact-text.ts';
import { incongruentMethods, lambdaListWithMethod } from './method-changes.ts';
import { referencesOf } from './references.ts';
import { isGlobalVariable, isNamed, removalOf } from './removal.ts';

const IMPACT_OF_CHANGE = {
  name: 'impact_of_change',
  description:
    'Show what would break if a function, macro, method, class or structure changed, before you add a required argument or remove it, or any other definition or package (leave out lambda_list and definition). For callers alone take who_calls. Tells calls that no longer fit, methods, subclasses, instances, what to compile again, and the tests affected.',
  parameters: [
    {
      name: 'name',
      type: 'string',
      description: 'Such as app::thing or (setf thing)',
    },
    PACKAGE,
    {
      name: 'lambda_list',
      type: 'string',
      description: 'The new one: (item &key currency)',
    },
    {
      name: 'definition',
      type: 'string',
      description: 'Or the whole new definition',
    },
    {
      name: 'limit',
      type: 'integer',
      minimum: 1,
      maximum: 1000,
    },
  ],
  required: ['name'],
  categories: ['introspection', 'xref'],
  shortDescription: 'Show what a change of a definition would break: calls, methods, subclasses, tests',
  complexity: 'moderate',
  keywords: [
    'blast radius',
    'refactor safely',
    'tests affected',
    'add or remove an argument',
    'impact of a change',
    'what breaks if I change this',
    'change a lambda list',
    'calls that no longer fit',
  ],
} as const satisfies ToolDescription;

/** Maximum number of rows of each kind to list by default. */
const LIMIT = 30;

/** Stands for a definition that goes away. */
const NOTHING = { slots: [], accessors: [], initargs: [] };

/** Maximum number of callers to consider; no function has so many. */
const CALLER_LIMIT = 20_000;

const METHOD_LAMBDA_LIST =
  'lambda_list is that of a function or generic function. For a method give its whole new DEFMETHOD as definition.';

export function impactOfChangeTool(origins: Origins, reached: ReachedDefinitions) {
  const { image, places } = origins;
  return defineTool({
    ...IMPACT_OF_CHANGE,
    handler: async (given, context) => {
      const asked = askedDefinition(given.name);
      const { method, missing } = await askedMethod(image, asked, given, context);
      if (missing) return { ...missing, unfound: true };
      if (method !== undefined && given.lambda_list !== undefined) throw new CallError(METHOD_LAMBDA_LIST);
      let args = { ...given, name: asked.name };
      const limit = args.limit ?? LIMIT;
      const removed = isRemoval(args);
      const operator = definitionOperator(args, places.features) ?? asked.form?.operator;
      // The uses of these are found by their names, whether the definition goes away or changes.
      const named = removed || (args.definition !== undefined && !CALLED_OR_MADE.includes(operator ?? ''));
      const ask = (name: string) => {
        const request = { name, ...packageOf(args), limit, ...(named && { removed: named }) };
        return image.call('impact', request, callOptions(context));
      };
      let reply = await ask(args.name);
      let facts = foundValue(reply);
      if (!isLookupFailure(facts) && meansPlace(facts, args.definition && operator)) {
        args = { ...args, name: codeName(setfName(facts.name)) };
        reply = await ask(args.name);
        facts = foundValue(reply);
      }
      if (isLookupFailure(facts)) return lookupResult(facts);
      const changed = await new Investigation(image, places, facts, context).run(args, operator);
      const referring =
        named && isGlobalVariable(facts) ? await references(origins, args, limit, context) : '';
      const impact = {
        ...changed,
        method: removed ? method : undefined,
        ...((named || facts.type) && { removal: removalOf(facts, places, origins.history, referring) }),
        references: referring,
        recorded: reached.testsOf(facts.name),
        // A caller that gives the whole new definition has already read the old one.
        texts: args.definition === undefined ? await definitionTexts(origins, given, context) : [],
        unloaded: named || facts.kind !== undefined ? await unloadedFiles(origins, facts) : [],
        testsNaming: facts.kind === undefined ? [] : await testsNaming(origins, facts),
        unloadedTests: unloadedTestFiles(origins, facts),
      };
      return { data: impact, text: impactText(impact, limit, args.limit, context.told) };
    },
  });
}

/** True when the name in FACTS means `(setf NAME)`: NAME itself is not defined, or the new definition with
 *  OPERATOR is that of a place. */
function meansPlace(facts: ImpactData, operator: string | undefined): boolean {
  const alone = facts.kind === undefined && !isNamed(facts);
  return facts.place === true && (alone || ['DEFSETF', 'DEFINE-SETF-EXPANDER'].includes(operator ?? ''));
}

/** True when ARGS ask what breaks when the definition goes away. */
function isRemoval(args: { lambda_list?: string; definition?: string }): boolean {
  return args.definition === undefined && args.lambda_list === undefined;
}

/** The operators whose definitions are called, or make instances; who_calls knows the uses of these. */
const CALLED_OR_MADE: readonly string[] = [
  ...['DEFUN', 'DEFMACRO', 'DEFINE-MODIFY-MACRO', 'DEFGENERIC', 'DEFMETHOD', 'DEFINE-COMPILER-MACRO'],
  ...['DEFCLASS', 'DEFSTRUCT', 'DEFINE-CONDITION'],
];

/** Returns the operator of the definition in ARGS; undefined when it is absent or no definition. */
function definitionOperator({ definition }: { definition?: string }, features: Features): string | undefined {
  return definition === undefined ? undefined : parseDefinition(definition, features)?.operator;
}

/** Returns what who_references says about the variable in ARGS, with the places of the uses. */
async function references(
  { image, places }: Origins,
  { name, package: home }: { name: string; package?: string },
  limit: number,
  context: CallContext,
): Promise<string> {
  const asked = { name, ...(home !== undefined && { package: home }), sites: true, limit };
  return (await referencesOf(image, places, asked, context)).text;
}

/** Checks the calls of the function NAME in HOME against its lambda list; undefined if not known. */
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
  const checked = list && (await new Investigation(image, places, facts, context).calls(list));
  return checked && { name: facts.name, ...checked };
}

class Investigation {
  readonly #image: Image;
  readonly #places: Places;
  #facts: ImpactData;
  readonly #context: CallContext;

  constructor(image: Image, places: Places, facts: ImpactData, context: CallContext) {
    this.#image = image;
    this.#places = places;
    this.#facts = facts;
    this.#context = context;
  }

  async run(
    args: ArgumentsFor<typeof IMPACT_OF_CHANGE>,
    operator: string | undefined,
  ): Promise<
    Omit<Impact, 'method' | 'texts' | 'unloaded' | 'testsNaming' | 'unloadedTests' | 'removal' | 'references'>
  > {
    const { kind, natures = [], name, class: ofClass, type, slotOf = [] } = this.#facts;
    const removed = isRemoval(args);
    const isKnown =
      args.lambda_list === undefined && (isNamed(this.#facts) || this.#facts.package || this.#facts.system);
    if (kind === undefined && ofClass === undefined && !type && !isKnown) {
      const instead =
        slotOf.length > 0
          ? `It is a slot of ${slotOf.join(', ')}: give the name of the class, and as definition the class without the slot.`
          : isVariable(natures)
            ? 'who_references lists the functions that read, set or bind it.'
            : 'It is no class either, so what depends on it is not known; search_in_buffer finds its name.';
      throw new CallError(`${isNot(name, natures, 'function')} ${instead}`);
    }
    const definition = this.#definition(args);
    if (definition !== undefined && ofClass !== undefined && hasOtherSuperclasses(this.#facts, definition))
      this.#facts = await this.#redefined(args, definition);
    if (
      definition &&
      !CALLED_OR_MADE.includes(definition.operator) &&
      kind !== undefined &&
      !definition.setf
    ) {
      if (!isKnown && !type)
        throw new CallError(`${name} has no definition by ${definition.operator}, so nothing uses one yet.`);
      // A DEFTYPE or DEFVAR does not change the function of the same name.
      const { kind: _, ...facts } = this.#facts;
      return new Investigation(this.#image, this.#places, facts, this.#context).run(args, operator);
    }
    const expands = operator === 'DEFINE-COMPILER-MACRO' && kind !== 'COMPILER MACRO';
    const list =
      definition?.operator === 'DEFTYPE' || expands ? undefined : this.#lambdaList(args, definition);
    const ofMethod = definition?.operator === 'DEFMETHOD' || expands;
    const callers = kind === undefined ? undefined : await this.#callers(name);
    const accepted =
      definition?.operator === 'DEFMETHOD'
        ? lambdaListWithMethod(this.#facts, definition, this.#places.features, args.definition)
        : this.#acceptedLambdaList(list);
    const checked = callers && this.#checked(name, callers, accepted);
    return {
      ...this.#commonFacts(),
      checked: accepted !== undefined,
      ofMethod,
      ...checked,
      recompile: this.#recompile(callers, definition, operator),
      methods: incongruentMethods(this.#facts, list, ofMethod, (place) => this.#places.site(place)),
      accessors: await changedFunctions(this.#facts, removed ? NOTHING : definition, (accessor, list) =>
        this.#checkedCalls(accessor, list),
      ),
      otherLayout: hasOtherLayout(this.#facts, definition),
      made: removed
        ? brokenInstances({ ...this.#facts, initargs: [] }, NOTHING, this.#places)
        : brokenInstances(this.#facts, definition, this.#places),
    };
  }

  /** Returns the facts, with what the class loses when it gets the superclasses in DEFINITION. */
  async #redefined(
    args: ArgumentsFor<typeof IMPACT_OF_CHANGE>,
    { superclasses }: ParsedDefinition,
  ): Promise<ImpactData> {
    const request = {
      name: args.name,
      ...packageOf(args),
      limit: args.limit ?? LIMIT,
      redefined: true,
      superclasses,
    };
    const found = foundValue(await this.#image.call('impact', request, callOptions(this.#context)));
    return isLookupFailure(found) ? this.#facts : found;
  }

  /** Checks the known calls of the function against LIST; undefined when the image does not know it. */
  async calls(list: LambdaList): Promise<CheckedCalls | undefined> {
    return this.#checkedCalls(this.#facts.name, this.#acceptedLambdaList(list));
  }

  async #checkedCalls(name: string, list: LambdaList | undefined): Promise<CheckedCalls | undefined> {
    const callers = await this.#callers(name);
    return callers && this.#checked(name, callers, list);
  }

  #commonFacts() {
    const { name, kind, class: ofClass, arglist } = this.#facts;
    const { slots, subclassCount, subclasses = [], instances } = this.#facts;
    const { superclassesGone, superclassesCome, superclassesUnknown } = this.#facts;
    const { tests = [], testCount = 0, testSystems, testsMore } = this.#facts;
    const locate = (place: Place) => ({
      ...(place.description && { name: place.description }),
      ...this.#places.site(place),
    });
    return {
      name,
      kind,
      place: this.#facts.place === true,
      class: ofClass,
      nature: otherNature(this.#facts),
      lambdaList: arglist,
      ...this.#finders(locate),
      slots,
      superclassesGone,
      superclassesCome,
      superclassesUnknown,
      ...(subclassCount !== undefined && { subclassCount, subclasses: subclasses.map(locate) }),
      instances,
      tests: tests.map((place) => this.#places.site(place)),
      testCount,
      testSystems,
      testsMore,
    };
  }

  /** Returns the functions that get symbols by their names, with their places by LOCATE, and their number. */
  #finders(locate: (place: Place) => Impact['finding'][number]): Pick<Impact, 'finding' | 'findingCount'> {
    const { finding = [], findingCount = 0, findingUnrecorded, files = [], homes = [] } = this.#facts;
    if (!findingUnrecorded) return { finding: finding.map(locate), findingCount };
    const found = findersIn(files, homes, this.#places);
    return { finding: found, findingCount: found.length };
  }

  /** Parses the argument `definition`. Throws a CallError when it cannot be read or defines another name. */
  #definition({
    definition,
    lambda_list: list,
  }: ArgumentsFor<typeof IMPACT_OF_CHANGE>): ParsedDefinition | undefined {
    if (definition === undefined) return undefined;
    if (list !== undefined) throw new CallError('Give lambda_list or definition, not both.');
    const found = parseDefinition(definition, this.#places.features);
    if (found === undefined) {
      throw new CallError(
        'The definition cannot be read. Give one whole form, such as (defun name (arguments) ...), or give lambda_list.',
      );
    }
    const { symbol: name, setf } = partsOfName(this.#facts.name);
    if (found.name !== name || found.setf !== setf) {
      throw new CallError(
        `The definition is of ${found.setf ? `(SETF ${found.name})` : found.name}, and name is ${this.#facts.name}. Under another name all its uses break: who_calls lists them.`,
      );
    }
    return found;
  }

  #lambdaList(args: ArgumentsFor<typeof IMPACT_OF_CHANGE>, definition: ParsedDefinition | undefined) {
    if (args.lambda_list === undefined) return definition?.lambdaList;
    const list = parsedLambdaList(args.lambda_list, this.#places.features, this.#facts.kind === 'MACRO');
    if (list === undefined) {
      throw new CallError(
        `The lambda_list ${args.lambda_list} cannot be read. Give a list such as (item &optional count &key currency), or () for none.`,
      );
    }
    return list;
  }

  /** Returns the lambda list that calls must fit when the definition has LIST. For a generic function with
   *  &key, it includes the keywords of all methods. */
  #acceptedLambdaList(list: LambdaList | undefined): LambdaList | undefined {
    if (list?.keys === undefined || this.#facts.kind !== 'GENERIC-FUNCTION') return list;
    const lists = (this.#facts.methods ?? []).map(({ arglist }) => parsedLambdaList(arglist));
    return {
      ...list,
      keys: [...list.keys, ...lists.flatMap((method) => method?.keys ?? [])],
      otherKeys: list.otherKeys || lists.some((method) => method?.otherKeys === true),
    };
  }

  async #callers(name: string): Promise<WhoCallsData | undefined> {
    // The name is written in bars, so that the reader reads exactly this symbol.
    const { home, ...callee } = partsOfName(name);
    const reply = await this.#image.call(
      'who-calls',
      { name: readableName(callee), package: home, sites: true, offset: 0, limit: CALLER_LIMIT },
      callOptions(this.#context),
    );
    const found = foundValue(reply);
    return isLookupFailure(found) ? undefined : found;
  }

  #checked(name: string, callers: WhoCallsData, list: LambdaList | undefined): CheckedCalls {
    const { files = [], naming = [] } = this.#facts;
    // `naming` is known only for the function itself, not for the accessors of a class.
    const elsewhere = { files, naming: name === this.#facts.name ? naming : [] };
    return checkedCalls(callers, elsewhere, list, this.#places);
  }

  /** Returns the functions to compile again, since the old definition is compiled into them, and why. */
  #recompile(
    callers: WhoCallsData | undefined,
    definition: ParsedDefinition | undefined,
    operator: string | undefined,
  ): Recompile {
    const { kind, inline, compilerMacro, structureUsers = [] } = this.#facts;
    const { holders = [], perhapsHolders = [], expanders = [], expanded = [] } = this.#facts;
    if (hasOtherLayout(this.#facts, definition))
      return { why: 'the structure has another layout', names: structureUsers };
    if (definition?.operator === 'DEFMACRO' && kind !== 'MACRO') {
      const rows = callers?.rows?.filter(({ possible }) => !possible) ?? [];
      return { why: 'it becomes a macro', names: rows.flatMap(({ name }) => name ?? []) };
    }
    const macro = { names: holders, perhaps: perhapsHolders, expanders, expanded };
    if (kind === 'MACRO') return { why: 'it is a macro', ...macro };
    if (inline) return { why: 'it is inline', ...macro };
    if (compilerMacro && kind !== 'COMPILER MACRO' && operator !== 'DEFINE-COMPILER-MACRO')
      return {
        why: '',
        names: [],
        replaced: { names: holders, perhaps: perhapsHolders },
        expanders,
        expanded,
      };
    return {
      why: compilerMacro ? 'its compiler macro changes' : 'its value is compiled into them',
      ...macro,
    };
  }
}

/** Returns what the name in FACTS stands for, if it names no function and no class. */
function otherNature({ type, natures = [], ...facts }: ImpactData): string {
  if (facts.package) return 'PACKAGE';
  if (facts.system) return 'SYSTEM';
  if (facts.typedStructure) return 'TYPED STRUCTURE';
  if (facts.symbolMacro !== undefined) return 'SYMBOL MACRO';
  if (facts.combination) return 'METHOD COMBINATION';
  return type ? 'TYPE' : (natures[0] ?? '');
}
