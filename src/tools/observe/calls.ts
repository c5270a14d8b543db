// Records calls of functions, and renders them as a tree, with notes.

import type { ObservedCalls, ObservedFunction, Place, RecordedCall } from '../../image/wire/operations.ts';
import { fewOf, joinSections, lastFittingRows } from '../../kernel/reply.ts';
import type { Result } from '../../kernel/tool.ts';
import type { RecordedRun } from '../../records/observations.ts';
import { callMentionsIn } from '../../source/calls.ts';
import { commonPrefix, partsOfName } from '../../source/qualified.ts';
import { SourceText } from '../../source/text.ts';
import type { SoughtName } from '../../source/uses.ts';
import { askedMethod } from '../definitions/asked-method.ts';
import { askedDefinition } from '../definitions/asked-names.ts';
import { packageOf } from '../lookup.ts';
import type { Places } from '../places.ts';
import { type Observing, observeCallOptions, observedResult, observeRefusalResult } from './observing.ts';
import { typesText } from './types.ts';
import { countText, durationText } from './units.ts';

/** Number of calls that are shown by default. */
const DEFAULT_CALLS = 20;

/** Records the calls of FUNCTIONS while the observed code runs. If TYPES is true, the result has the types of their
 * arguments and values in place of the calls. */
export async function observeCalls(
  observing: Observing,
  functions: readonly string[],
  types: boolean,
): Promise<Result> {
  const { image, args, places, observations } = observing;
  const { form, seconds, where, limit = DEFAULT_CALLS } = args;
  const asked = functions.map(askedDefinition);
  for (const each of asked) {
    const { missing } = await askedMethod(image, each, args, observing.context);
    if (missing) return { ...missing, text: `${missing.text} Nothing was done.`, failed: true };
  }
  const reply = await image.call(
    'observe-calls',
    {
      functions: asked.map(({ name }) => name),
      limit,
      ...packageOf(args),
      ...(form === undefined ? { seconds: seconds ?? 0 } : { code: form }),
      ...(where !== undefined && { where }),
      ...(types && { types }),
    },
    observeCallOptions(observing),
  );
  const { value } = reply.data;
  const observed = reply.data.observed && markingUnseen(reply.data.observed, places);
  const text = observed && (types ? typesText(observed) : callsText(observed));
  if (observed && !types && observed.rows) observations.keepCalls(recordedRun(observed, observed.rows));
  const all = joinSections([text, observed && notesText(observed)]);
  return (
    observeRefusalResult(value, places) ?? observedResult(reply, places, { observation: observed, text: all })
  );
}

/** Returns OBSERVED in the form that the session's page shows. ROWS are the calls. */
function recordedRun(observed: ObservedCalls, rows: readonly RecordedCall[]): RecordedRun {
  const shown = rows.length < observed.total ? `, the last ${rows.length}` : '';
  return {
    heading: `${recordedText(observed)} in ${durationText(observed.milliseconds)}${shown}`,
    calls: rows.map((row) => ({ depth: row.depth, text: rowText(row, (name) => name).trim() })),
  };
}

/** Returns OBSERVED, in which `unseen` marks the functions whose recursive calls cannot be recorded. The image sends
 * `apart` for a function whose recursive calls would be jumps. Its source shows whether it has any. */
function markingUnseen(observed: ObservedCalls, places: Places): ObservedCalls {
  const functions = observed.functions?.map(({ apart, ...called }): ObservedFunction => {
    const isUnseen =
      called.unseen === undefined && apart !== undefined && callsItself(called.name, apart, places);
    return isUnseen ? { ...called, unseen: 'itself' } : called;
  });
  return { ...observed, ...(functions && { functions }) };
}

/** Returns true when the source of the function NAME at PLACE shows a call of itself. A mention as data or as a name
 * does not count. */
function callsItself(name: string, place: Place, places: Places): boolean {
  const source = places.text(place, { name });
  if (source === undefined) return false;
  const { symbol, home, setf } = partsOfName(name);
  const callee: SoughtName = { name: symbol, packages: new Set([home]), setf };
  return callMentionsIn(new SourceText(source.text), places.features, callee).some(
    ({ args, how }) => args !== undefined || how === 'as a function',
  );
}

function callsText(observed: ObservedCalls): string {
  const { rows = [], functions = [], total, milliseconds } = observed;
  if (total === 0) return noneText(observed);
  const called = functions.filter(({ calls }) => calls > 0);
  const home = called.length > 1 ? commonPrefix(functions.map(({ name }) => name)) : '';
  // `home` is removed only at the beginning of a name, because the name of another package can end with it: MY-APP::
  // ends with APP::.
  const short = (name: string) =>
    name.replaceAll(/[^ ()]+/g, (part) => (part.startsWith(home) ? part.slice(home.length) : part));
  const of = home && ` of ${home.slice(0, -2)}`;
  const counts =
    called.length > 1 ? `: ${called.map(({ name, calls }) => `${short(name)} ${calls}`).join(', ')}` : '';
  const more = functions.length < observed.observed ? ', ...' : '';
  const lines = lastFittingRows(rows.map((row) => rowText(row, short)));
  const shown = lines.length < total ? ` The last ${lines.length}:` : '';
  return `${recordedText(observed)}${of} in ${durationText(milliseconds)}${counts}${counts && more}.${shown}\n${lines.join('\n')}`;
}

/** Returns the number of recorded calls, and also that of all calls if it is higher. */
function recordedText({ functions = [], total, calls }: ObservedCalls): string {
  const isSelection = total < calls || functions.some(({ every }) => every);
  return isSelection
    ? `${total.toLocaleString('en-US')} of ${countText(calls, 'call')}`
    : countText(total, 'call');
}

function noneText({ functions = [], observed, calls }: ObservedCalls): string {
  const names = functions.slice(0, 5).map(({ name }) => name);
  if (calls > 0) return `None of ${countText(calls, 'call')} passed the filter where.`;
  return `No call of ${names.join(', ')}${observed > names.length ? ', ...' : ''} was recorded.`;
}

function rowText(row: RecordedCall, short: (name: string) => string): string {
  const { depth, call, caller, thread, methods = [], milliseconds } = row;
  const notes = [
    milliseconds !== undefined && durationText(milliseconds),
    caller !== undefined && `by ${short(caller)}`,
    methods.length > 0 && `methods ${methods.join(' ')}`,
    thread !== undefined && `in ${thread}`,
  ].filter(Boolean);
  const [, name = '', rest = ''] = /^(\((?:\(SETF )?[^ ()]+)(.*)$/s.exec(call) ?? [];
  const shortCall = name === '' ? call : `${short(name)}${rest}`;
  return `${'  '.repeat(depth + 1)}${shortCall} ${endText(row)}${notes.length > 0 ? `  ${notes.join(', ')}` : ''}`;
}

function endText({ values, running, passed, condition }: RecordedCall): string {
  if (values !== undefined) return `=> ${values.length === 0 ? 'no values' : values.join(', ')}`;
  if (running) return 'has not ended';
  if (passed) return 'ended unseen';
  return condition === undefined ? 'left by a throw' : `left after ${condition.type}: ${condition.text}`;
}

/** Maximum number of names that a note gives. */
const NAME_LIMIT = 5;

/** Maximum number of methods that are recorded of one call: *ENTERED-LIMIT* in lisp/observe/recording.lisp. */
const METHOD_LIMIT = 100;

/** If recording made the code slower by more than this factor, the answer says so. */
const NOTED_SLOWDOWN = 1.2;

/** Returns notes about calls that were not recorded, about calls that were not kept, and about the time that recording
 * took; '' when there are none. */
function notesText(observed: ObservedCalls): string {
  const { functions = [], rows = [], shrunk, slower = 1, total, kept, milliseconds } = observed;
  const notes = [
    ...functions.map(sampledNote),
    ...functions.map(failedNote),
    ...Object.entries(UNSEEN_NOTES).map(([reason, note]) =>
      noteOn(
        functions.filter(({ unseen }) => unseen === reason),
        note,
      ),
    ),
    noteOn(
      functions.filter(({ gone }) => gone),
      (names) => `${names}: not a function any more.`,
    ),
    rows.some(({ methods = [] }) => methods.at(-1) === '...') &&
      `A list of methods that ends in ... may be incomplete: the call entered more than ${METHOD_LIMIT} methods, or another call of the function was not recorded.`,
    shrunk && `Only ${kept} of ${total} calls were kept, because their arguments and values filled the heap.`,
    slower >= NOTED_SLOWDOWN &&
      milliseconds >= 1 &&
      `Recording made this about ${slower.toFixed(1)} times as slow.`,
  ].filter(Boolean);
  return notes.map((note) => `Note: ${note}`).join('\n');
}

function sampledNote({ name, every }: ObservedFunction): string | false {
  return every !== undefined && `${name} was called so often that only 1 in ${every} calls was recorded.`;
}

function failedNote({ name, failed, failure }: ObservedFunction): string | false {
  return (
    failed !== undefined &&
    `The where form signalled ${failure} for ${countText(failed, 'call')} of ${name}; these were not recorded.`
  );
}

/** Returns a note about functions. `names` is a text with their names. */
type Note = (names: string) => string;

/** Maps each reason why calls of functions cannot be recorded to a function that returns a note about them. */
const UNSEEN_NOTES: Readonly<Record<NonNullable<ObservedFunction['unseen']>, Note>> = {
  inline: (names) => `Inlined calls of ${names} are not recorded.`,
  'compiler-macro': (names) => `Calls of ${names} that a compiler macro replaced are not recorded.`,
  block: (names) => `Calls of ${names} from the same block compilation (:block-compile) are not recorded.`,
  itself: (names) =>
    `Recursive calls of ${names} are not recorded: SBCL compiled them as jumps, as it does when speed or space is above debug.`,
};

function noteOn(functions: readonly ObservedFunction[], note: Note): string | false {
  const names = functions.map(({ name }) => name);
  return names.length > 0 && note(fewOf(names, NAME_LIMIT));
}
