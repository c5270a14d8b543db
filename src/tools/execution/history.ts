// Decides the tool that reads the evaluations of this workspace, and what eval_form tells it.

import type { Reply } from '../../image/wire/call.ts';
import { wholeText } from '../../image/wire/endings.ts';
import { beyondNote, fittingRows, hasMore, indent, joinSections, listText } from '../../kernel/reply.ts';
import {
  type ArgumentsFor,
  type CallContext,
  defineTool,
  type Result,
  type ToolDescription,
} from '../../kernel/tool.ts';
import type { Evaluation, ReplHistory } from '../../records/repl-history.ts';
import { checkWhole, LIMIT, OFFSET, pageOf } from '../paging.ts';

const GET_REPL_HISTORY = {
  name: 'get_repl_history',
  title: 'REPL history',
  description:
    'List what eval_form evaluated in this workspace, newest first: input, values, output, error, package, time and duration. Includes evaluations by code, by servers beside this one, and from before a restart. Definitions from before a restart are not in the image any more.',
  parameters: [
    { name: 'containing', type: 'string', description: 'Only evaluations with this text in their input' },
    { ...LIMIT, description: 'How many evaluations to list at most (20 when absent)' },
    { ...OFFSET, description: 'How many of the newest evaluations to leave out' },
  ],
  categories: ['execution'],
  shortDescription: 'List past evaluations of this workspace: input, values, output, errors, time',
  complexity: 'simple',
  keywords: [
    'REPL history',
    'previous evaluations',
    'past inputs',
    'what did I evaluate',
    'earlier results',
    'command history',
    'session log',
    'transcript',
  ],
} as const satisfies ToolDescription;

/** Returns the tool that reads HISTORY. */
export function getReplHistory(history: ReplHistory) {
  return defineTool({ ...GET_REPL_HISTORY, handler: (args, context) => readHistory(history, args, context) });
}

function readHistory(
  history: ReplHistory,
  args: ArgumentsFor<typeof GET_REPL_HISTORY>,
  context: CallContext,
): Result {
  const { limit, offset } = pageOf(args, context, 20);
  const containing = args.containing || undefined;
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
  const page = { offset, shown: rows.length, total };
  const text = joinSections([
    `${total} ${total === 1 ? 'evaluation' : 'evaluations'} in this workspace${what}${total > 0 ? ', newest first:' : '.'}`,
    listText(rows, hasMore(page)) || beyondNote(page, 'evaluations'),
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

/** Returns what a history keeps of an evaluation that gave REPLY and took MILLISECONDS. The first argument is its form,
 *  the package that was asked for, and values and error as their reader saw them. */
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
