// Defines call options, refusals and results that all modes of the tool observe have in common.

import type { Image } from '../../image/image.ts';
import type { Ending } from '../../image/wire/endings.ts';
import type {
  LookupFailure,
  ObserveRefusal,
  Output,
  PrintedValue,
  Remarks,
} from '../../image/wire/operations.ts';
import { joinSections } from '../../kernel/reply.ts';
import type { CallContext, Result } from '../../kernel/tool.ts';
import type { Observations } from '../../records/observations.ts';
import { callOptions, limitOption } from '../calling.ts';
import { outputSection } from '../endings.ts';
import { failureText, formValuesText } from '../execution/evaluation-text.ts';
import { isLookupFailure, lookupResult } from '../lookup.ts';
import { isNot } from '../natures.ts';
import type { Places } from '../places.ts';
import { warningSection } from '../remarks.ts';

/** A call of the tool observe, with the objects that it uses. */
export interface Observing {
  readonly image: Image;
  readonly places: Places;
  readonly observations: Observations;
  readonly context: CallContext;
  readonly args: {
    readonly form?: string;
    readonly seconds?: number;
    readonly functions?: readonly string[];
    readonly mode?: string;
    readonly where?: string;
    readonly against?: string;
    readonly limit?: number;
    readonly package?: string;
    readonly timeout?: number;
  };
}

/** Milliseconds that a call may take in addition to the time of the observation. */
const OVERHEAD_MS = 60_000;

/** Returns the call options. If the call gives no timeout and the observation is long, the time limit exceeds the
 * duration of the observation. */
export function observeCallOptions({ args, context }: Observing) {
  const { seconds = 0 } = args;
  return {
    ...callOptions(context),
    ...(seconds * 1000 > OVERHEAD_MS / 2 && { limitMs: seconds * 1000 + OVERHEAD_MS }),
    ...limitOption(args),
  };
}

/** Returns the result for VALUE, the reason why nothing was observed. Returns undefined when VALUE is undefined. */
export function observeRefusalResult(
  value: LookupFailure | ObserveRefusal | undefined,
  places: Places,
): Result | undefined {
  if (value === undefined) return undefined;
  if (isLookupFailure(value)) return { ...lookupResult(value), failed: true };
  const text = unreadableText(value, places) ?? `${refusalText(value)} Nothing was done.`;
  return { data: value, text, failed: true };
}

function unreadableText({ unreadable, in: code = '' }: ObserveRefusal, places: Places): string | undefined {
  if (unreadable === undefined) return undefined;
  const text = failureText({ kind: 'done' }, { unreadable }, { code, places });
  // If a package does not exist, the program that is to be observed is often not loaded yet.
  const load = /^Package .* does not exist/.test(unreadable.text ?? '')
    ? ' If a system defines it, call load_system first.'
    : '';
  return `${text}${load}`;
}

function refusalText(value: ObserveRefusal): string {
  const { noFunction, natures = [], packageFunctions, where, why, name, parameters = [] } = value;
  if (noFunction !== undefined) {
    const expands = natures.some((nature) => nature === 'MACRO' || nature === 'SPECIAL OPERATOR');
    const instead = expands
      ? 'Observe functions that its expansion calls.'
      : 'Local functions cannot be observed; observe the function that contains them.';
    return `${isNot(noFunction, natures, 'function')} ${instead}`;
  }
  if (value.builtIn !== undefined)
    return `${value.builtIn} is a function of SBCL; only generic functions of SBCL can be observed. Observe functions of the program that call it.`;
  if (packageFunctions === 0) return `The package ${value.in} has no functions of its own.`;
  if (packageFunctions !== undefined)
    return `Package ${value.in} has ${packageFunctions} functions, but at most ${value.limit} can be observed at once; name the ones to observe.`;
  if (where !== undefined)
    return `The where form does not compile for ${name}: ${why}. The parameters of ${name} are (${parameters.join(' ')}).`;
  if (value.largeHeap)
    return 'The heap is too large to count the objects in it: 512 MB or more are in use. Use mode alloc instead.';
  if (value.busy) return 'Another profile is being taken; call again when it has ended.';
  return "This SBCL lacks its contrib sb-sprof, so it has no profiler. Parameters 'functions' and 'against' work without it.";
}

/** The members that the replies of all observing operations have. */
export interface ObserveReply {
  ending: Ending;
  output?: Output;
  data: Remarks & { values?: PrintedValue[][] };
}

/** Returns the result of an observation. `observation` has the observations as data, `text` has them as text. */
export function observedResult(
  { ending, output, data }: ObserveReply,
  places: Places,
  { observation, text }: { observation: object | undefined; text: string | undefined },
): Result {
  const { values = [] } = data;
  const value = formValuesText(values);
  return {
    data: { ...observation, values, ending, ...(output && { output }) },
    text: joinSections([
      failureText(ending, {}, { code: '', places }),
      text,
      values.length > 0 && `Value: ${value}`,
      outputSection(output, undefined, value),
      warningSection(data, places),
    ]),
    failed: ending.kind !== 'done',
  };
}
