// Defines the tool eval_form, which evaluates forms in the image.

import type { Image } from '../../image/image.ts';
import type { Jobs } from '../../image/session/jobs.ts';
import type { Reply } from '../../image/wire/call.ts';
import type { Ending } from '../../image/wire/endings.ts';
import type { EvaluateData, PrintedValue } from '../../image/wire/operations.ts';
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
import { callOptions, limitOption, TIMEOUT, timeoutAdvice } from '../calling.ts';
import {
  DEBUG_LEVEL,
  errorOptions,
  type HeldToolCalls,
  heldResultOr,
  holdingSection,
  ON_ERROR,
  RESTARTS,
} from '../debug/hold.ts';
import {
  conditionLines,
  conditionText,
  endingText,
  NO_MANAGER,
  notLoadedText,
  outputSection,
  waitedNote,
} from '../endings.ts';
import type { OutcomePart } from '../fresh-call.ts';
import { lookupResult, PACKAGE, packageOf } from '../lookup.ts';
import { didYouMean } from '../natures.ts';
import { indentationText } from '../parentheses.ts';
import type { Places } from '../places.ts';
import { readtableSection, redefinedSection, warningSection } from '../remarks.ts';
import { choicesText } from './call-names.ts';
import { evaluationOf } from './history.ts';

const MAIN_THREAD = {
  name: 'main_thread',
  type: 'boolean',
  description: 'As GUI code needs',
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
    "Evaluate Lisp forms in the running image, as in a REPL: run code, try an expression, set a variable, call or define a function. To check code take compile_form, for a file load_file. Returns printed values, output and warnings, or the condition with restarts and frames. Definitions, *package* and * ** *** last between calls; (live-lisp:forget 'f) undoes one.",
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
      if (reply.data.value !== undefined) return { ...lookupResult(reply.data.value), failed: true };
      if (reply.data.mainThread !== undefined)
        return { data: {}, text: occupiedText(reply.data.mainThread, image.jobs), failed: true };
      const milliseconds = performance.now() - start;
      return heldResultOr(reply, { name: 'evaluate', args: request, holds, places }, (finalReply) =>
        evaluationResult(finalReply, { code, places, packageName: args.package }, (shown) => {
          history.add(evaluationOf({ form: code, ...packageOf(args), ...shown }, finalReply, milliseconds));
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
    return `Error: the main thread holds error ${-job}, so nothing was evaluated. Go on from it with debug, or end it (error: ${-job}, end: true), then call again.`;
  const running = jobs.list().filter(({ phase }) => phase.kind === 'running' && phase.id === job);
  const which = running.length === 0 ? '' : `: ${choicesText(running)}`;
  return `Error: the main thread runs another call${which}. Nothing was evaluated; call again when that has ended, or end it with interrupt.`;
}

/** Returns the result of an evaluation. RECORD records its values or its error, and returns a note when this fails. */
function evaluationResult(
  { ending, output, data, waitedMs }: Reply<'evaluate'>,
  { code, places, packageName }: { code: string; places: Places; packageName: string | undefined },
  record: (outcome: { values?: string; error?: string }) => string | undefined,
): Result {
  const failed = ending.kind !== 'done' || data.unreadable !== undefined;
  const error = causeFirst(failureText(ending, data, { code, places }), data);
  const values = valuesText(data, failed);
  const text = joinSections([
    error,
    holdingSection(data),
    values,
    outputSection(output, undefined, failed ? undefined : values),
    warningSection(data, places),
    redefinedSection(data),
    readtableSection(data),
    record({ ...(values !== undefined && { values }), ...(error !== undefined && { error }) }),
  ]);
  const unfound = isMissing(ending, data);
  const notes = [waitedNote(waitedMs).note, unfound && !packageName && currentPackageNote(data)];
  const note = joinSections(notes);
  return {
    data: { values: data.values ?? [], ending, output },
    text,
    failed,
    unfound,
    ...(note !== '' && { note }),
  };
}

/** Returns ERROR, which made a form fail. If an earlier form could not be compiled, its error comes first, because it
 * is usually the cause. */
function causeFirst(error: string | undefined, { warnings = [], formNumber = 1 }: EvaluateData) {
  const cause = warnings.find(
    ({ severity, formNumber: number = formNumber }) => severity === 'error' && number < formNumber,
  );
  if (cause === undefined || error === undefined) return error;
  const where = cause.definition === undefined ? '' : `, (${cause.definition}),`;
  return `Error: form ${cause.formNumber}${where} was compiled with an error: ${cause.text.trim()}\nThen form ${formNumber} failed: ${error.replace(/^Error: /, '')}`;
}

/** Returns a note with the current package, which another caller may have set. Returns false when it is CL-USER. */
function currentPackageNote({ package: home = 'COMMON-LISP-USER' }: EvaluateData): string | false {
  if (home === 'COMMON-LISP-USER') return false;
  return `Note: the current package is ${home}, where names without a package are read. All callers of this image share it, such as the sub-agents of a client; the argument package sets another for one call.`;
}

/** Returns true when a form could not be evaluated or read because a name does not exist. */
export function isMissing(ending: Ending, { unreadable }: Pick<EvaluateData, 'unreadable'>): boolean {
  return unreadable?.missing === true || (ending.kind === 'condition' && ending.condition.missing === true);
}

/** Returns the text of the error when the evaluation of `code` failed, else undefined. `done` is a participle for the
 * forms before the one that failed. `places` finds the source places of frames. */
export function failureText(
  ending: Ending,
  { unreadable, formNumber = 1 }: Pick<EvaluateData, 'unreadable' | 'formNumber'>,
  { code, places, done = 'evaluated' }: { code: string; places: Places; done?: 'evaluated' | 'compiled' },
): string | undefined {
  if (typeof unreadable?.text === 'string') {
    const { text, number, line, column, atLine, atColumn, withoutManager, initFile } = unreadable;
    const hint = didYouMean(unreadable.near);
    const place = `It begins at line ${line}, column ${column}; reading stopped at line ${atLine}, column ${atColumn}.`;
    const indentation = line === atLine ? undefined : indentationText(code);
    return [
      `Error: form ${number} cannot be read: ${text}`,
      hint,
      withoutManager && NO_MANAGER,
      initFile && notLoadedText(initFile),
      `${place} ${indentation ? `${indentation} ` : ''}${doneBefore(number, done)}`,
    ]
      .filter(Boolean)
      .join('\n');
  }
  if (ending.kind === 'done') return undefined;
  if (ending.kind !== 'condition')
    return `Error: ${joinSections([endingText(ending, places), timeoutAdvice(ending)])}`;
  return conditionText(ending.condition, places, formNumber > 1 ? `form ${formNumber}` : undefined);
}

function valueText(value: PrintedValue): string {
  const { text = '', circular, omitted, id } = value;
  if (omitted !== undefined) return `[... ${omitted} more ${omitted === 1 ? 'value' : 'values'} ...]`;
  const less = lessText(value);
  const remarks = [circular && 'it is circular, so it is printed with *print-circle*', less];
  const notes = remarks.filter(Boolean).map((remark) => `[... ${remark} ...]`);
  const more = less && id !== undefined ? ` inspect takes it as ${id}.` : '';
  return `${[text, ...notes].join('\n')}${more}`;
}

function lessText({ cut, characters, length, digits, shortened }: PrintedValue): string | undefined {
  if (cut) return characters === undefined ? 'cut here' : `cut here; it has ${characters} characters`;
  if (digits !== undefined) return `it has ${digits} digits`;
  const notes = [
    length !== undefined && `it has ${length} elements; *print-length* limits what is shown`,
    shortened && 'its numbers of more than 100 digits are shortened',
  ].filter(Boolean);
  return notes.length > 0 ? notes.join('; ') : undefined;
}

function doneBefore(number: number, done: string): string {
  if (number === 1) return `Nothing was ${done}.`;
  return number === 2 ? `Form 1 was ${done}.` : `Forms 1 to ${number - 1} were ${done}.`;
}

/** Returns VALUES as text. VALUES has a list of values for each form. */
export function formValuesText(values: PrintedValue[][]): string {
  return values
    .map((list) => (list.length === 0 ? '; No values' : list.map(valueText).join('\n')))
    .join('\n');
}

/** Returns the values of the forms, one in each line. If there are several forms, the number of a form precedes its
 * values. */
function valuesText({ values = [] }: EvaluateData, failed: boolean): string | undefined {
  const shown = values.map((list) => list.map(valueText));
  if (shown.length === 0)
    return failed ? undefined : 'No form to evaluate: the text holds only white space or comments.';
  const [only] = shown;
  if (shown.length === 1 && only && !failed) return only.length === 0 ? '; No values' : only.join('\n');
  const lines = shown.map(
    (list, index) => `[${index + 1}] ${list.length === 0 ? '; No values' : list.join('\n    ')}`,
  );
  return failed ? `Values of the forms before the failed one:\n${lines.join('\n')}` : lines.join('\n');
}
