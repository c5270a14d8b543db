// Defines the tool eval_form, which evaluates forms in the image.

import type { Image } from '../../image/image.ts';
import type { Jobs } from '../../image/session/jobs.ts';
import type { Reply } from '../../image/wire/call.ts';
import type { EvaluateData } from '../../image/wire/operations.ts';
import type { Arguments } from '../../kernel/parameter.ts';
import { joinSections } from '../../kernel/reply.ts';
import {
  type ArgumentsFor,
  type CallContext,
  defineTool,
  type Result,
  type ToolDescription,
} from '../../kernel/tool.ts';
import type { ReplHistory } from '../../records/repl-history.ts';
import { callOptions, limitOption, TIMEOUT } from '../calling.ts';
import { holdingSection } from '../debug/held-text.ts';
import {
  DEBUG_LEVEL,
  errorOptions,
  type HeldToolCalls,
  heldResultOr,
  ON_ERROR,
  RESTARTS,
} from '../debug/hold.ts';
import { conditionLines, outputSection, waitedNote } from '../endings.ts';
import type { OutcomePart } from '../fresh-call.ts';
import { lookupResult, PACKAGE, packageOf } from '../lookup.ts';
import type { Places } from '../places.ts';
import { readtableSection, redefinedSection, warningSection } from '../remarks.ts';
import { choicesText } from './call-names.ts';
import { causeFirst, failureText, formValuesText, isMissing, valuesText } from './evaluation-text.ts';
import { evaluationOf } from './history.ts';

const MAIN_THREAD = {
  name: 'main_thread',
  type: 'boolean',
  description: 'For GUI code',
} as const;

const PARAMETERS = [
  { name: 'form', type: 'string' },
  PACKAGE,
  ON_ERROR,
  RESTARTS,
  DEBUG_LEVEL,
  MAIN_THREAD,
  TIMEOUT,
] as const;

const EVAL_FORM = {
  name: 'eval_form',
  description:
    "Evaluate Lisp forms in the running image, as in a REPL: run code, try an expression, set a variable, call or define a function. To check code use compile_form, for a file load_file. Returns printed values, output and warnings, or the condition, restarts and frames. Definitions, *package* and * ** *** persist between calls; (live-lisp:forget 'f) removes f.",
  parameters: PARAMETERS,
  required: ['form'],
  limitMs: Number.POSITIVE_INFINITY,
  safetyLevel: 'cautious',
  categories: ['execution'],
  shortDescription: 'Evaluate Lisp forms in the running image: values, output, warnings, conditions',
  complexity: 'simple',
  keywords: [
    'evaluate',
    'execute code',
    'REPL',
    'run an expression',
    'call a function',
    'define a function',
    'test a function',
    'backtrace and restarts',
  ],
  alwaysLoad: true,
} as const satisfies ToolDescription;

/** Returns the tool eval_form for IMAGE. HISTORY records the evaluations. PLACES finds the source places of frames.
 * HOLDS contains the calls that wait at an error. */
export function evalFormTool(
  image: Image,
  history: ReplHistory,
  { places, holds }: { places: Places; holds: HeldToolCalls },
) {
  return defineTool({
    ...EVAL_FORM,
    handler: async (args, context) => {
      const code = args.form;
      const start = performance.now();
      const request = requestOf(args, holds);
      const reply = await image.call('evaluate', request, { ...callOptions(context), ...limitOption(args) });
      // `value` is no value of a form. It says that the package in the request is missing.
      if (reply.data.value !== undefined) return { ...lookupResult(reply.data.value), failed: true };
      if (reply.data.mainThread !== undefined)
        return { data: {}, text: occupiedText(reply.data.mainThread, image.jobs), failed: true };
      const milliseconds = performance.now() - start;
      return heldResultOr(reply, { name: 'evaluate', args: request, holds, places }, (finalReply) =>
        evaluationResult(finalReply, { code, places, packageName: args.package }, (shown) => {
          history.add(evaluationOf({ form: code, ...packageOf(args), ...shown }, finalReply, milliseconds));
          // There is at most one note: it says that the history cannot be written.
          const [note] = history.takeNotes();
          return note;
        }),
      );
    },
  });
}

function requestOf(args: ArgumentsFor<typeof EVAL_FORM>, holds: HeldToolCalls) {
  const inMain = args.main_thread && { mainThread: true };
  return { code: args.form, ...packageOf(args), ...errorOptions(args, holds), ...inMain };
}

/** Evaluates the form in ARGS, arguments of eval_form, in IMAGE. Returns the parts of the outcome by name, so that they
 * can be compared with those from another image. Leaves out the frames of an error. */
export async function evaluatedParts(
  { image, places, holds }: { image: Image; places: Places; holds: HeldToolCalls },
  args: Arguments,
  context: CallContext,
): Promise<OutcomePart[]> {
  const given = args as ArgumentsFor<typeof EVAL_FORM>;
  const options = { ...callOptions(context), ...limitOption(given) };
  const { ending, output, data } = await image.call('evaluate', requestOf(given, holds), options);
  const failure = data.value
    ? lookupResult(data.value).text
    : ending.kind === 'condition'
      ? conditionLines(ending.condition).join('\n')
      : failureText(ending, data, { code: given.form, places });
  return [
    { name: 'Condition', text: failure },
    {
      name: 'Values',
      text: valuesText(data, failure !== undefined),
      forms: data.values?.map((list) => formValuesText([list])),
    },
    { name: 'Output', text: outputSection(output) },
    { name: 'Warnings', text: warningSection(data, places) },
  ];
}

/** Returns the text when the main thread could not run a call because it is busy. A positive `job` is the number of the
 * request that runs in the thread. A negative `job` is the number, negated, of the error at which the thread waits.
 * Without `job`, the user of the image uses the thread. */
export function occupiedText({ job }: { job?: number }, jobs: Jobs): string {
  if (job === undefined)
    return 'Error: the main thread belongs to whoever runs this image, so nothing was evaluated. To have it call FUNCTION, evaluate (sb-thread:interrupt-thread (sb-thread:main-thread) FUNCTION).';
  if (job < 0)
    return `Error: the main thread is stopped at error ${-job}, so nothing was evaluated. Continue from that error with debug, or end it (debug with error: ${-job}, end: true), then call again.`;
  const running = jobs.list().filter(({ phase }) => phase.kind === 'running' && phase.id === job);
  const which = running.length === 0 ? '' : `: ${choicesText(running)}`;
  return `Error: the main thread runs another call${which}. Nothing was evaluated. Wait for that call, or end it with interrupt; then call again.`;
}

const UNPRINTED =
  'The form ran to its end; only printing its value failed. inspect * shows its first value without its print method.';

/** Returns the result of an evaluation. RECORD records its values or its error, and returns a note when this fails. */
function evaluationResult(
  { ending, output, data, waitedMs }: Reply<'evaluate'>,
  { code, places, packageName }: { code: string; places: Places; packageName: string | undefined },
  record: (outcome: { values?: string; error?: string }) => string | undefined,
): Result {
  const failed = ending.kind !== 'done' || data.unreadable !== undefined;
  const error = causeFirst(failureText(ending, data, { code, places }), data);
  const values = valuesText(data, failed);
  const recordNote = record({
    ...(values !== undefined && { values }),
    ...(error !== undefined && { error }),
  });
  const text = joinSections([
    error,
    data.unprinted && UNPRINTED,
    holdingSection(data),
    values,
    outputSection(output, undefined, failed ? undefined : values),
    warningSection(data, places),
    redefinedSection(data),
    readtableSection(data),
    recordNote,
  ]);
  const unfound = isMissing(ending, data);
  const note = joinSections([waitedNote(waitedMs).note, unfound && !packageName && currentPackageNote(data)]);
  return {
    data: { values: data.values ?? [], ending, output },
    text,
    failed,
    unfound,
    ...(note !== '' && { note }),
  };
}

/** Returns a note with the current package, which another caller may have set. Returns false when it is CL-USER. */
function currentPackageNote({ package: home = 'COMMON-LISP-USER' }: EvaluateData): string | false {
  if (home === 'COMMON-LISP-USER') return false;
  return `Note: names without a package are read in the current package, ${home}. All callers of this image share that package, including sub-agents of a client; parameter 'package' sets another for one call.`;
}
