// The tool impact_of_change, which shows the effects of a change of a definition.

import { CallError } from '../../errors.ts';
import type { Image } from '../../image/image.ts';
import type { ImpactData, Place } from '../../image/wire/operations.ts';
import { type ArgumentsFor, type CallContext, defineTool, type ToolDescription } from '../../kernel/tool.ts';
import { definesPlace } from '../../source/definition.ts';
import { type DefinitionDetails, definitionDetails } from '../../source/definition-details.ts';
import { type Features, readForm } from '../../source/form.ts';
import { parsedLambdaList } from '../../source/lambda-list.ts';
import { codeName, partsOfName, setfName } from '../../source/qualified.ts';
import { callOptions } from '../calling.ts';
import { askedMethod } from '../definitions/asked-method.ts';
import { askedDefinition } from '../definitions/asked-names.ts';
import type { Origins } from '../definitions/origins.ts';
import { foundValue, isLookupFailure, lookupResult, PACKAGE, packageOf } from '../lookup.ts';
import { isNot, isVariable } from '../natures.ts';
import type { Places } from '../places.ts';
import type { ReachedDefinitions } from '../tests/reached.ts';
import { hasOtherSuperclasses } from './class-changes.ts';
import { findersIn } from './finders.ts';
import { type Change, impactOnCalls, impactOnClass } from './impact-calls.ts';
import { definitionTexts, testsNaming, unloadedFiles, unloadedTestFiles } from './impact-context.ts';
import { type Impact, impactText } from './impact-text.ts';
import { referencesOf } from './references.ts';
import { isGlobalVariable, isNamed, removalOf } from './removal.ts';

const IMPACT_OF_CHANGE = {
  name: 'impact_of_change',
  description:
    'Show what would break if you change a function, macro, method, class or structure, such as add a required argument, or if you remove a definition or package (leave out lambda_list and definition). For callers alone use who_calls. Lists calls that no longer fit, methods, subclasses, instances, what to recompile, and the tests affected.',
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

const LIMIT = 30;

const METHOD_LAMBDA_LIST =
  "Parameter 'lambda_list' is for functions and generic functions. For a method, give its whole new DEFMETHOD in parameter 'definition'.";

/** Operators that define functions or classes, whose uses SBCL records. The uses of other definitions are searched for
 * by name. */
const FUNCTION_OR_CLASS_OPERATORS: readonly string[] = [
  ...['DEFUN', 'DEFMACRO', 'DEFINE-MODIFY-MACRO', 'DEFGENERIC', 'DEFMETHOD', 'DEFINE-COMPILER-MACRO'],
  ...['DEFCLASS', 'DEFSTRUCT', 'DEFINE-CONDITION'],
];

/** The arguments of a call, with the name in the form that the image expects. */
interface Request extends ArgumentsFor<typeof IMPACT_OF_CHANGE> {
  /** The operator of the form in the argument `definition`. If there is no such operator, the operator of the form in
   * the argument `name`; undefined when `name` is only a name. */
  operator: string | undefined;
}

export function impactOfChangeTool(origins: Origins, reached: ReachedDefinitions) {
  const { image, places } = origins;
  return defineTool({
    ...IMPACT_OF_CHANGE,
    handler: async (args, context) => {
      const asked = askedDefinition(args.name);
      const { method, missing } = await askedMethod(image, asked, args, context);
      if (missing) return { ...missing, unfound: true };
      if (method !== undefined && args.lambda_list !== undefined) throw new CallError(METHOD_LAMBDA_LIST);
      const operator = newOperator(args, places.features) ?? asked.form?.operator;
      const found = await lookUp(image, { ...args, name: asked.name, operator }, context);
      if (isLookupFailure(found.facts)) return lookupResult(found.facts);
      const { request, facts } = found;
      checkHasUses(facts, request);
      const change = proposedChange(facts, request, places.features);
      const affected = await affectedFacts(image, facts, request, change, context);
      const foundByName = isFoundByName(request);
      const limit = args.limit ?? LIMIT;
      const references =
        foundByName && isGlobalVariable(facts) ? await referencesText(origins, request, limit, context) : '';
      const searched =
        foundByName || facts.kind !== undefined ? await unloadedFiles(origins, facts) : undefined;
      const impact: Impact = {
        ...descriptionOf(affected, places),
        ...(await impactOnCalls(image, places, affected, request.operator, change, context)),
        ...(await impactOnClass(image, places, affected, change, context)),
        method: change.kind === 'removal' ? method : undefined,
        ...((foundByName || facts.type) && {
          removal: removalOf(facts, places, origins.history, references),
        }),
        references,
        recorded: reached.testsOf(facts.name),
        // A caller that gives the whole new definition has read the old one.
        texts: args.definition === undefined ? await definitionTexts(origins, args, context) : [],
        unloaded: searched?.unloaded ?? [],
        ...(searched?.complete === false && { unloadedMore: true }),
        testsNaming: facts.kind === undefined ? [] : await testsNaming(origins, facts),
        unloadedTests: unloadedTestFiles(origins, facts),
      };
      return { data: impact, text: impactText(impact, limit, args.limit, context.earlierAnswers) };
    },
  });
}

function newOperator({ definition }: { definition?: string }, features: Features): string | undefined {
  return definition === undefined
    ? undefined
    : definitionDetails(readForm(definition, 0, features))?.operator;
}

/** Asks the image about the name in REQUEST. Returns the answer as `facts`, and the request. When the name means
 * `(setf NAME)` (see meansPlace), the answer and the returned request are about `(setf NAME)`. */
async function lookUp(image: Image, request: Request, context: CallContext) {
  const factsOf = async (name: string) => {
    // With `removed`, the image also looks for uses by name. So it is also sent for a new DEFVAR, for example.
    const removed = isFoundByName(request);
    const limit = request.limit ?? LIMIT;
    const asked = { name, ...packageOf(request), limit, ...(removed && { removed }) };
    return foundValue(await image.call('impact', asked, callOptions(context)));
  };
  const facts = await factsOf(request.name);
  if (isLookupFailure(facts) || !meansPlace(facts, request)) return { request, facts };
  const name = codeName(setfName(facts.name));
  return { request: { ...request, name }, facts: await factsOf(name) };
}

/** Returns true when the uses of the definition are searched for by name: for a removal, and for a definition that
 * makes neither a function nor a class. */
function isFoundByName(request: Request): boolean {
  const isOther = !FUNCTION_OR_CLASS_OPERATORS.includes(request.operator ?? '');
  return isRemoval(request) || (request.definition !== undefined && isOther);
}

function isRemoval({ lambda_list: list, definition }: Request): boolean {
  return list === undefined && definition === undefined;
}

/** Returns true when the request is about `(setf NAME)` and not about NAME. This is so when `(setf NAME)` is defined,
 * and either NAME is not, or the new definition in the request is a DEFSETF or DEFINE-SETF-EXPANDER. */
function meansPlace(facts: ImpactData, { definition, operator = '' }: Request): boolean {
  const isNameUndefined = facts.kind === undefined && !isNamed(facts);
  const isNewPlace = definition !== undefined && definesPlace(operator);
  return facts.place === true && (isNameUndefined || isNewPlace);
}

function hasOtherUses(facts: ImpactData): boolean {
  return isNamed(facts) || facts.package === true || facts.system === true;
}

function checkHasUses(facts: ImpactData, request: Request): void {
  const { kind, natures = [], name, class: ofClass, type, slotOf = [] } = facts;
  if (kind !== undefined || ofClass !== undefined || type) return;
  // Only a function has a lambda list, so a caller that gives one means a function.
  if (request.lambda_list === undefined && hasOtherUses(facts)) return;
  const instead =
    slotOf.length > 0
      ? `It is a slot of ${slotOf.join(', ')}. Give that class as 'name', and the form of the class without the slot as 'definition'.`
      : isVariable(natures)
        ? 'who_references lists the functions that read, set or bind it.'
        : 'It is not a class either, so its dependents are unknown; search_in_buffer finds its name.';
  throw new CallError(`${isNot(name, natures, 'function')} ${instead}`);
}

function proposedChange(facts: ImpactData, request: Request, features: Features): Change {
  const { lambda_list: listText, definition: text } = request;
  if (text !== undefined) {
    if (listText !== undefined) throw new CallError("Give 'lambda_list' or 'definition', not both.");
    return { kind: 'new definition', definition: readDefinition(facts, text, features) };
  }
  if (listText === undefined) return { kind: 'removal' };
  const lambdaList = parsedLambdaList(listText, features, facts.kind === 'MACRO');
  if (lambdaList !== undefined) return { kind: 'new lambda list', lambdaList };
  throw new CallError(
    `The lambda_list ${listText} cannot be read. Give a list such as (item &optional count &key currency), or () for no parameters.`,
  );
}

function readDefinition(facts: ImpactData, text: string, features: Features): DefinitionDetails {
  const found = definitionDetails(readForm(text, 0, features));
  if (found === undefined) {
    throw new CallError(
      "The definition cannot be read. Give one whole form, such as (defun name (arguments) ...), or give 'lambda_list'.",
    );
  }
  const { symbol: name, setf } = partsOfName(facts.name);
  if (found.name !== name || found.setf !== setf) {
    throw new CallError(
      `The given definition defines ${found.setf ? `(SETF ${found.name})` : found.name}, not ${facts.name}. A new name breaks all uses of the old one: who_calls lists them.`,
    );
  }
  return found;
}

/** Returns those of FACTS that are about the definition that CHANGE replaces. For a class that gets other superclasses,
 * asks the image for new facts, which include what the class loses. Throws a CallError when the name has no definition
 * of this kind. */
async function affectedFacts(
  image: Image,
  facts: ImpactData,
  request: Request,
  change: Change,
  context: CallContext,
): Promise<ImpactData> {
  if (change.kind !== 'new definition') return facts;
  const { operator, setf, superclasses } = change.definition;
  if (facts.class !== undefined && hasOtherSuperclasses(facts, change.definition)) {
    const limit = request.limit ?? LIMIT;
    const asked = { name: request.name, ...packageOf(request), limit, redefined: true, superclasses };
    const found = foundValue(await image.call('impact', asked, callOptions(context)));
    return isLookupFailure(found) ? facts : found;
  }
  const isOfFunctionOrClass = FUNCTION_OR_CLASS_OPERATORS.includes(operator) || setf;
  if (isOfFunctionOrClass || facts.kind === undefined) return facts;
  if (!hasOtherUses(facts) && !facts.type)
    throw new CallError(`There is no ${operator} of ${facts.name} yet, so nothing uses it.`);
  // A DEFTYPE or DEFVAR does not change a function of the same name.
  const { kind: _, ...others } = facts;
  return others;
}

function descriptionOf(facts: ImpactData, places: Places) {
  const { name, kind, class: ofClass, arglist, place } = facts;
  const { slots, subclassCount, subclasses = [], instances } = facts;
  const { superclassesGone, superclassesCome, superclassesUnknown } = facts;
  const { tests = [], testCount = 0, testSystems, testsMore } = facts;
  const locate = (place: Place) => ({
    ...(place.description && { name: place.description }),
    ...places.site(place),
  });
  return {
    name,
    kind,
    place: place === true,
    class: ofClass,
    nature: otherNature(facts),
    lambdaList: arglist,
    ...findersOf(facts, places, locate),
    slots,
    superclassesGone,
    superclassesCome,
    superclassesUnknown,
    ...(subclassCount !== undefined && { subclassCount, subclasses: subclasses.map(locate) }),
    instances,
    tests: tests.map((place) => places.site(place)),
    testCount,
    testSystems,
    testsMore,
  };
}

function otherNature({ type, natures = [], ...facts }: ImpactData): string {
  if (facts.package) return 'PACKAGE';
  if (facts.system) return 'SYSTEM';
  if (facts.typedStructure) return 'TYPED STRUCTURE';
  if (facts.symbolMacro !== undefined) return 'SYMBOL MACRO';
  if (facts.combination) return 'METHOD COMBINATION';
  return type ? 'TYPE' : (natures[0] ?? '');
}

function findersOf(
  { finding = [], findingCount = 0, findingUnrecorded, files = [], homes = [] }: ImpactData,
  places: Places,
  locate: (place: Place) => Impact['finding'][number],
): Pick<Impact, 'finding' | 'findingCount'> {
  if (!findingUnrecorded) return { finding: finding.map(locate), findingCount };
  const found = findersIn(files, homes, places);
  return { finding: found, findingCount: found.length };
}

async function referencesText(
  { image, places }: Origins,
  { name, package: home }: Request,
  limit: number,
  context: CallContext,
): Promise<string> {
  const asked = { name, ...(home !== undefined && { package: home }), sites: true, limit };
  return (await referencesOf(image, places, asked, context)).text;
}
