// Defines the tool get_repl_history, and makes the records of evaluations that eval_form adds to the history.

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
import { withoutValue } from '../endings.ts';
import { dateOf, newestOf, recordTimeText, shared, totalText } from '../newest.ts';
import { LIMIT, OFFSET } from '../paging.ts';

const GET_REPL_HISTORY = {
  name: 'get_repl_history',
  description:
    'List what was evaluated earlier in this workspace, newest first: forms, values, output and errors; also those by code, by other servers and before a restart. For calls of all tools use get_audit_log.',
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

/** Maximum number of lines that a list shows of the values, and of the output, of an evaluation. The answer to the
 * evaluation itself had all lines. */
const LINES_IN_LIST = 6;

/** Returns the tool get_repl_history, which reads HISTORY. */
export function getReplHistoryTool(history: ReplHistory) {
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
  const serverText = (evaluation: Evaluation) =>
    history.isOfAnother(evaluation) ? ', by another server, or an earlier one' : '';
  const what = containing === undefined ? '' : ` with ${JSON.stringify(args.containing)} in the input`;
  const stated = {
    date: shared(evaluations, dateOf),
    package: shared(evaluations, (evaluation) => evaluation.package),
    by: shared(evaluations, serverText),
  };
  const listed = evaluations.map((evaluation) => {
    const parts = partsOf(evaluation, evaluations.length === 1);
    const head = headText(evaluation, serverText(evaluation), stated);
    return { text: rowText(evaluation, parts, head), cut: parts.cut };
  });
  const rows = fittingRows(listed.map(({ text }) => text));
  const page = { offset, shown: rows.length, total };
  const text = joinSections([
    `${totalText(newest, 'evaluation')} in this workspace${what}${total > 0 ? `, newest first${statedText(stated)}:` : '.'}`,
    listText(rows, hasMore(page)) || beyondNote(page, 'evaluations'),
    listed.slice(0, rows.length).some(({ cut }) => cut) &&
      'Note: to see one evaluation in full, give its offset and limit: 1.',
  ]);
  return { data: { total, ...(atLeast && { atLeast }), evaluations }, text };
}

function withoutOuterNewlines(output: string): string {
  return output.replace(/^\n+/, '').trimEnd();
}

/** The properties that all listed evaluations have in common. The header shows them. */
interface Stated {
  date: string | undefined;
  package: string | undefined;
  /** The words for the header that say which server requested the evaluations: '' for this server, ', by another
   * server, or an earlier one' for others; undefined when this differs between the evaluations. */
  by: string | undefined;
}

function statedText({ date, package: home, by = '' }: Stated): string {
  return `${date === undefined ? '' : `, of ${date}`}${home === undefined ? '' : `, in ${home}`}${by}`;
}

/** Returns the first line for EVALUATION: its time, package and duration, and BY, the words that say which server
 * requested it (see Stated). Leaves out the properties in STATED, because the header of the list shows them. */
function headText(evaluation: Evaluation, by: string, stated: Stated): string {
  const { time, milliseconds, package: home } = evaluation;
  const where = home === undefined || home === stated.package ? '' : ` in ${home}`;
  return `${recordTimeText(time, stated.date)}${where}, ${milliseconds} ms${by === stated.by ? '' : by}`;
}

/** The parts of an evaluation that are shown. `cut` is true when a part is not complete. */
interface Parts {
  values: string | undefined;
  output: string | undefined;
  error: string | undefined;
  cut: boolean;
}

/** Returns the parts of an evaluation. In a list of several, leaves out the restarts and frames of an error, and
 * further lines of the values and the output. ONLY is true when the list has one evaluation. */
function partsOf({ values, output, error }: Evaluation, only: boolean): Parts {
  const whole = { values, output: output && withoutValue(withoutOuterNewlines(output), values), error };
  if (only) return { ...whole, cut: false };
  const shown = {
    values: values && boundLines(values, LINES_IN_LIST),
    output: whole.output && boundLines(whole.output, LINES_IN_LIST),
    error: error?.split('\n\n', 1)[0],
  };
  const cut = (['values', 'output', 'error'] as const).some((part) => shown[part] !== whole[part]);
  return { ...shown, cut };
}

function rowText({ form }: Evaluation, { values, output, error }: Parts, head: string): string {
  const text = [
    head,
    indent(form.trim(), 2),
    values !== undefined && indent(`=> ${values.replace(/\n/g, '\n   ')}`, 2),
    output !== undefined && `  Output:\n${indent(output, 4)}`,
    error !== undefined && indent(error, 2),
  ].filter((part) => part !== false);
  return visible(text.join('\n')).replace(/\n(?=.)/g, '\n  ');
}

/** Returns the record of an evaluation that took MILLISECONDS. `values` and `error` are texts from the answer. */
export function evaluationOf(
  { form, package: requested, values, error }: Partial<Evaluation> & { form: string },
  { output, data }: Reply<'evaluate'>,
  milliseconds: number,
): Parameters<ReplHistory['add']>[0] {
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
