// Decides how the functions of a package read that nobody uses.

import { CallError } from '../../errors.ts';
import type { Image } from '../../image/image.ts';
import type { UnusedData, UnusedRow } from '../../image/wire/introspection.ts';
import { fittingRows, hasMore, joinSections, listText, pageNote } from '../../kernel/reply.ts';
import type { CallContext, Result } from '../../kernel/tool.ts';
import { callOptions } from '../calling.ts';
import { lookedUp } from '../lookup.ts';
import type { Places } from '../places.ts';
import { unknownNotes } from './unknown-users.ts';
import { unseenUsers } from './unseen.ts';

/** Returns which functions of the package that ASKED names nobody uses, or nobody within a system. */
export async function unusedFunctions(
  image: Image,
  places: Places,
  asked: { package: string | undefined; within?: string; offset: number; limit: number },
  context: CallContext,
): Promise<Result> {
  const { package: home, within, ...page } = asked;
  if (home === undefined)
    throw new CallError('unused needs a package: give the one whose functions are asked about.');
  const args = { package: home.replace(/:+$/, ''), ...(within !== undefined && { within }) };
  const reply = await image.call('unused-functions', args, callOptions(context));
  return lookedUp(reply, ({ files, features, rows = [], ...found }) => {
    // SBCL does not record where top-level forms use a macro.
    const unused = rows.filter((row) => !row.macro || !isUsedAtTop(row, { files, features }, places));
    const shown = unused.slice(page.offset, page.offset + page.limit).map(({ homes: _, ...row }) => row);
    const data = { ...found, total: unused.length, rows: shown };
    const exported = unused.filter(({ external }) => external).length;
    return { data, text: unusedText(data, { ...asked, exported }) };
  });
}

/** Tells whether a form in the files of FOUND uses the macro ROW. */
function isUsedAtTop(
  { name, homes = [] }: UnusedRow,
  found: Pick<UnusedData, 'files' | 'features'>,
  places: Places,
): boolean {
  const macro = { ...found, name, accessibleIn: homes, natures: ['MACRO'] };
  return unseenUsers(macro, [{ name }], places, false).length > 0;
}

interface Told extends Omit<UnusedData, 'files' | 'features'> {
  total: number;
}

function unusedText(
  found: Told,
  { offset, within, exported }: { offset: number; within?: string; exported: number },
): string {
  const { total, functions, rows = [] } = found;
  const whom = within === undefined ? '' : ` in ${within}`;
  const among = exported > 0 ? `, ${exported} exported` : '';
  const head = `Functions of ${found.package} that nobody${whom} uses (${total} of ${functions}${among})`;
  const lines = fittingRows(rows.map((row) => rowText(row, found.package)));
  const page = { offset, shown: lines.length, total };
  return joinSections([
    lines.length === 0 ? `${head}.` : `${head}:`,
    lines.length > 0 && listText(lines, hasMore(page)),
    [
      lines.length > 0 &&
        'Note: names in the data of top-level forms do not count; search_in_buffer finds them.',
      ...unknownNotes(found, 'users'),
      pageNote(page, 'functions'),
    ]
      .filter(Boolean)
      .join('\n'),
  ]);
}

/** Returns how a row reads: the name without the package HOME, which the head names. */
function rowText(row: UnusedRow, home: string): string {
  const { name, external, macro, self, mentioned, documentation } = row;
  return [
    name.startsWith(`${home}::`) ? name.slice(home.length + 2) : name,
    external && 'external',
    macro && 'macro',
    self && 'calls itself',
    mentioned && 'data has its name',
    documentation && JSON.stringify(documentation),
  ]
    .filter(Boolean)
    .join('  ');
}
