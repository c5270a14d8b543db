// The tool get_repl_history, and the records that the tool eval_form adds to the history.

import type { Reply } from '../../image/wire/call.ts';
import { wholeText } from '../../image/wire/endings.ts';
import {
  beyondNote,
  boundLines,
  fittingRows,
  hasMore,
  indent,
  joinSections,
  listText,
} from '../../kernel/reply.ts';
import {
  type ArgumentsFor,
  type CallContext,
  defineTool,
  type Result,
  type ToolDescription,
} from '../../kernel/tool.ts';
import type { Evaluation, ReplHistory } from '../../records/repl-history.ts';
import { visible } from '../../visible.ts';
import { countText, newestOf } from '../newest.ts';
import { LIMIT, OFFSET } from '../paging.ts';

const GET_REPL_HISTORY = {
  name: 'get_repl_history',
  description:
    'List what was evaluated earlier in this workspace, newest first: the forms, with their values, output and errors. For all tools take get_audit_log. Also evaluations by code, other servers and before a restart.',
  parameters: [{ name: 'containing', type: 'string', description: 'Text in the forms' }, LIMIT, OFFSET],
  categories: ['execution'],
  shortDescription: 'List past evaluations of this workspace: input, values, output, errors, time',
  complexity: 'simple',
  keywords: [
    'REPL history',
    'past inputs',
    'earlier results',
    'session log',
    'previous evaluations',
    'what did I evaluate',
    'command history',
    'transcript',
  ],
} as const satisfies ToolDescription;

/** Maximum number of lines of the values, and of the output, of an evaluation in a list of several. The answer to the
 *  evaluation itself had all of them. */
const LINES_IN_LIST = 6;

/** Returns the tool get_repl_history, which reads HISTORY. */
export function getReplHistory(history: ReplHistory) {
  return defineTool({ ...GET_REPL_HISTORY, handler: (args, context) => readHistory(history, args, context) });
}

async function readHistory(
  history: ReplHistory,
  args: ArgumentsFor<typeof GET_REPL_HISTORY>,
  context: CallContext,
): Promise<Result> {
  const containing = args.containing?.toLowerCase() || undefined;
  const newest = await newestOf(args, context, {
    items: history.newestFirst(),
    matches: ({ form }) => containing === undefined || form.toLowerCase().includes(containing),
  });
  const { rows: evaluations, offset, total, atLeast } = newest;
  const what = containing === undefined ? '' : ` with ${JSON.stringify(args.containing)} in the input`;
  const rows = fittingRows(
    evaluations.map((evaluation) =>
      visible(evaluationText(evaluation, history.isOfAnother(evaluation), evaluations.length === 1)).replace(
        /\n(?=.)/g,
        '\n  ',
      ),
    ),
  );
  const page = { offset, shown: rows.length, total };
  const cut = evaluations.length > 1 && evaluations.slice(0, rows.length).some(isLong);
  const text = joinSections([
    `${countText(newest, 'evaluation')} in this workspace${what}${total > 0 ? ', newest first:' : '.'}`,
    listText(rows, hasMore(page)) || beyondNote(page, 'evaluations'),
    cut && 'Note: limit: 1 with the offset of an evaluation shows it whole.',
  ]);
  return { data: { total, ...(atLeast && { atLeast }), evaluations }, text };
}

/** Returns OUTPUT without empty lines around it. */
function inner(output: string): string {
  return output.replace(/^\n+/, '').trimEnd();
}

/** True when the values or the output of an evaluation have more than LINES_IN_LIST lines. */
function isLong({ values = '', output = '' }: Evaluation): boolean {
  return [values, inner(output)].some((text) => text.split('\n').length > LINES_IN_LIST);
}

/** Renders an evaluation. FROM_OTHER_SERVER: another server requested it. Restarts and frames of an error, and more than
 *  LINES_IN_LIST lines of values or output, are only shown if it is the ONLY one listed. */
function evaluationText(
  { time, milliseconds, form, values, output, error, ...more }: Evaluation,
  fromOtherServer: boolean,
  only: boolean,
): string {
  const bounded = (text: string) => (only ? text : boundLines(text, LINES_IN_LIST));
  return [
    `${time}${more.package === undefined ? '' : ` in ${more.package}`}, ${milliseconds} ms${fromOtherServer ? ', by another server, or an earlier one' : ''}`,
    indent(form.trim(), 2),
    values !== undefined && indent(`=> ${bounded(values).replace(/\n/g, '\n   ')}`, 2),
    output !== undefined && `  Output:\n${indent(bounded(inner(output)), 4)}`,
    error !== undefined && indent(only ? error : (error.split('\n\n', 1)[0] ?? error), 2),
  ]
    .filter((part) => part !== false)
    .join('\n');
}

/** Returns the record of an evaluation that ended with REPLY after MILLISECONDS. The first argument has the
 *  form, the requested package, and the values and the error as the answer shows them. */
export function evaluationOf(
  { form, package: requested, values, error }: Partial<Evaluation> & { form: string },
  { output, data }: Reply<'evaluate'>,
  milliseconds: number,
): Omit<Evaluation, 'time' | 'server'> {
  const home = data.package ?? requested;
  return {
    ...(home !== undefined && { package: home }),
    form,
    ...(values !== undefined && { values }),
    ...(output !== undefined && { output: wholeText(output) }),
    ...(error !== undefined && { error }),
    milliseconds: Math.round(milliseconds),
  };
}
