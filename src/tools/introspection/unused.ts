// Decides how the functions of a package read that nobody uses.

import { CallError } from '../../errors.ts';
import type { Image } from '../../image/image.ts';
import type { UnusedData } from '../../image/wire/introspection.ts';
import { fittingRows, hasMore, joinSections, listText, pageNote } from '../../kernel/reply.ts';
import type { CallContext, Result } from '../../kernel/tool.ts';
import { callOptions } from '../calling.ts';
import { lookedUp } from '../lookup.ts';
import { unknownNotes } from './unknown-users.ts';

/** Returns which functions of the package that ASKED names nobody uses, or nobody within a system. */
export async function unusedFunctions(
  image: Image,
  asked: { package: string | undefined; within?: string; offset: number; limit: number },
  context: CallContext,
): Promise<Result> {
  if (asked.package === undefined)
    throw new CallError('unused needs a package: give the one whose functions are asked about.');
  const name = asked.package.replace(/:+$/, '');
  const reply = await image.call('unused-functions', { ...asked, package: name }, callOptions(context));
  return lookedUp(reply, (found) => ({ data: found, text: unusedText(found, asked) }));
}

function unusedText(found: UnusedData, { offset, within }: { offset: number; within?: string }): string {
  const { total, functions, rows = [] } = found;
  const whom = within === undefined ? '' : ` in ${within}`;
  const head = `Functions of ${found.package} that nobody${whom} uses (${total} of ${functions})`;
  const lines = fittingRows(rows.map((row) => [row.name, ...remarks(row)].join('  ')));
  const page = { offset, shown: lines.length, total };
  return joinSections([
    lines.length === 0 ? `${head}.` : `${head}:`,
    lines.length > 0 && listText(lines, hasMore(page)),
    [
      lines.length > 0 &&
        'Note: names in the data of top-level forms do not count; search_in_buffer finds them.',
      rows.some(({ macro }) => macro) &&
        'Note: SBCL does not record where top-level forms use a macro; who_calls of its name finds such forms.',
      ...unknownNotes(found, 'users'),
      pageNote(page, 'functions'),
    ]
      .filter(Boolean)
      .join('\n'),
  ]);
}

function remarks({ macro, self, mentioned, external }: NonNullable<UnusedData['rows']>[number]): string[] {
  return [
    external && 'external',
    macro && 'macro',
    self && 'calls itself',
    mentioned && 'data has its name',
  ].filter((remark) => typeof remark === 'string');
}
