// Decides the tool that reads the evaluations of this workspace, and what eval_form tells it.

import type { Reply } from '../../image/wire/call.ts';
import { wholeText } from '../../image/wire/endings.ts';
import { fittingRows, indent, joinSections, listText, pageNote } from '../../kernel/reply.ts';
import {
  type Arguments,
  type CallContext,
  defineTool,
  keywordList,
  type Result,
  type ToolDefinition,
} from '../../kernel/tool.ts';
import type { Evaluation, ReplHistory } from '../../records/repl-history.ts';
import { checkWhole, LIMIT, OFFSET, pageArguments, stringArgument } from '../arguments.ts';

const GET_REPL_HISTORY: Omit<ToolDefinition, 'handler'> = {
  name: 'get_repl_history',
  title: 'REPL history',
  description:
    'List what eval_form evaluated in this workspace, newest first: input, values, output, error, package, time and duration. Includes evaluations by code, by servers beside this one, and from before a restart; definitions from before a restart are not in the image any more.',
  parameters: [
    { name: 'containing', type: 'string', description: 'Only evaluations with this text in their input' },
    { ...LIMIT, description: 'How many evaluations to list at most (20 when absent)' },
    { ...OFFSET, description: 'How many of the newest evaluations to leave out' },
  ],
  categories: ['execution'],
  shortDescription: 'List past evaluations of this workspace: input, values, output, errors, time',
  complexity: 'simple',
  keywords: keywordList(`
    REPL history, previous evaluations, past inputs, what did I evaluate, earlier results, command history,
    session log, transcript, previous inputs, evaluated forms, forms entered before, forms I ran, what was the
    output, printed output from before, output of an earlier form, what did it return earlier, experiments in
    this session, what did we run, evaluated code, since the start, minutes ago, earlier on, did I already,
    further back, after a restart, before the restart, transcript of the interaction, text of an old input, run
    it again, recall an input, redo, replay, up arrow, last command, bash history, ipython %history, jshell
    /list, console history, Out[1], values of * ** ***, *** + ++, scrollback, find an earlier definition, what I
    typed, lost definition, comint, how long did it take last time, yesterday, earlier session,
    slime-repl-history, M-p, Ctrl+R, readline history, doskey, irb history, list of evaluations, log of
    evaluations, history of evaluations, REPL log, session transcript, previous commands, what did I define,
    which definitions did I make, what did we do before, what have we tried, tried so far, resume work, where
    did we stop, last results, result I got earlier, get back a result, scroll up, slime-repl-previous-input,
    comint-previous-input, M-r, repeat the last command, how long did the last evaluation take, list past
    evaluations, forms evaluated in this session, which expressions did I enter, what forms were evaluated last,
    last ten inputs, last inputs, what I evaluated before, rerun what I evaluated, what did it return the first
    time, first time, log of this session, expression I typed yesterday, evaluations that mention, session
    before the restart, previously defined, previously evaluated, earlier evaluation, past results, past
    evaluations, past experiments, old inputs, old outputs, old results, what was evaluated, what was printed,
    what was returned, already tried, already evaluated, already defined earlier, things I ran, code I ran,
    things we tried, history of inputs and outputs, REPL transcript, notebook history, In[5], Out[5], _ __ ___,
    %recall, %rerun, slime-history, slime-repl-next-matching-input, C-c M-p, C-c M-r, search the history,
    history search, reverse-i-search, h command, timeline of the session, chronology, protocol of the session,
    what happened earlier, five minutes ago, an hour ago, last week, with duration, slow evaluations, what code
    did I run, code I ran today, last five expressions, what was the value before, value I got before, list the
    evaluations, which commands were given to the REPL, earlier output, did I run it already, text of a lost
    function, what have I executed, before the crash`),
};

/** Returns the tool that reads HISTORY. */
export function getReplHistory(history: ReplHistory) {
  return defineTool({ ...GET_REPL_HISTORY, handler: (args, context) => readHistory(history, args, context) });
}

function readHistory(history: ReplHistory, args: Arguments, context: CallContext): Result {
  const { limit, offset } = pageArguments(args, context, 20);
  const containing = stringArgument(args, 'containing');
  const evaluations: Evaluation[] = [];
  let total = 0;
  for (const evaluation of history.newestFirst()) {
    if (containing !== undefined && !includesText(evaluation.form, containing)) continue;
    total += 1;
    if (total > offset && evaluations.length < limit) evaluations.push(evaluation);
  }
  checkWhole(args, context, total);
  const what = containing === undefined ? '' : ` with ${JSON.stringify(containing)} in the input`;
  const rows = fittingRows(evaluations.map((each) => evaluationText(each).replace(/\n(?=.)/g, '\n  ')));
  const text = joinSections([
    `${total} ${total === 1 ? 'evaluation' : 'evaluations'} in this workspace${what}${total > 0 ? ', newest first:' : '.'}`,
    rows.length > 0 && listText(rows, offset + rows.length < total),
    rows.length === 0 && pageNote({ offset, shown: 0, total }, 'evaluations'),
  ]);
  return { data: { total, evaluations }, text };
}

function includesText(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase());
}

function evaluationText({ time, milliseconds, form, values, output, error, ...more }: Evaluation): string {
  return [
    `${time}${more.package === undefined ? '' : ` in ${more.package}`}, ${milliseconds} ms`,
    indent(form.trim(), 2),
    values !== undefined && indent(`=> ${values.replace(/\n/g, '\n   ')}`, 2),
    output !== undefined && `  Output:\n${indent(output.replace(/^\n+/, '').trimEnd(), 4)}`,
    error !== undefined && indent(error, 2),
  ]
    .filter((part) => part !== false)
    .join('\n');
}

/** Returns what a history keeps of an evaluation that gave REPLY: the first are its form, the package that was asked
 *  for, and values and error as their reader saw them. */
export function evaluationOf(
  { form, package: asked, values, error }: Partial<Evaluation> & { form: string },
  { output, data }: Reply<'evaluate'>,
  milliseconds: number,
): Omit<Evaluation, 'time'> {
  const home = data.package ?? asked;
  return {
    ...(home !== undefined && { package: home }),
    form,
    ...(values !== undefined && { values }),
    ...(output !== undefined && { output: wholeText(output) }),
    ...(error !== undefined && { error }),
    milliseconds: Math.round(milliseconds),
  };
}
