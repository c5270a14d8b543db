// Finds and renders unused functions of a package.

import { CallError } from '../../errors.ts';
import type { Image } from '../../image/image.ts';
import type { UnusedData, UnusedRow } from '../../image/wire/operations.ts';
import { fittingRows, hasMore, joinSections, listText, pageNote } from '../../kernel/reply.ts';
import type { CallContext, Result } from '../../kernel/tool.ts';
import { callOptions } from '../calling.ts';
import { groupBy } from '../grouping.ts';
import { lookedUp } from '../lookup.ts';
import type { Places } from '../places.ts';
import { possibleUsers } from './possible-users.ts';
import { unknownNotes } from './users.ts';

/** Returns the functions of a package that no code uses. If `within` is given, only the code of that system counts. */
export async function unusedFunctions(
  image: Image,
  places: Places,
  asked: { package: string | undefined; within?: string; offset: number; limit: number },
  context: CallContext,
): Promise<Result> {
  const { package: home, within, ...page } = asked;
  if (home === undefined)
    throw new CallError("unused: true needs parameter 'package': the package to search.");
  const args = { package: home.replace(/:+$/, ''), ...(within !== undefined && { within }) };
  const reply = await image.call('unused-functions', args, callOptions(context));
  return lookedUp(reply, ({ files, rows = [], ...found }) => {
    // SBCL does not record uses of macros in top-level forms.
    const unused = rows.filter((row) => !row.macro || !isUsedAtTop(row, { files }, places));
    const groups = groupBy(unused, headerOf);
    const ordered = HEADERS.flatMap((header) => groups.get(header) ?? []);
    const shown = ordered.slice(page.offset, page.offset + page.limit).map(({ homes: _, ...row }) => row);
    const data = { ...found, total: unused.length, rows: shown };
    const counts = new Map([...groups].map(([header, group]) => [header, group.length]));
    return { data, text: unusedText(data, { ...asked, counts }, places) };
  });
}

function isUsedAtTop(
  { name, homes = [] }: UnusedRow,
  found: Pick<UnusedData, 'files'>,
  places: Places,
): boolean {
  const macro = { ...found, name, accessibleIn: homes, natures: ['MACRO'] };
  return possibleUsers(macro, [{ name }], places, false).length > 0;
}

const HEADERS = ['Exported functions', 'Exported macros', 'Internal functions', 'Internal macros'];

function headerOf({ external, macro }: UnusedRow): string {
  return `${external ? 'Exported' : 'Internal'} ${macro ? 'macros' : 'functions'}`;
}

/** Maximum number of names to show of functions that only unused functions use. */
const WITHOUT_ENTRY_LIMIT = 30;

interface ShownUnused extends Omit<UnusedData, 'files'> {
  total: number;
}

function unusedText(
  found: ShownUnused,
  { offset, within, counts }: { offset: number; within?: string; counts: ReadonlyMap<string, number> },
  places: Places,
): string {
  const { total, functions, rows = [], withoutEntry = [] } = found;
  const whom = within === undefined ? '' : ` in ${within}`;
  const head = `Functions of ${found.package} that nothing${whom} uses (${total} of ${functions})`;
  const lines = fittingRows(rows.map((row) => rowText(row, found.package)));
  const page = { offset, shown: lines.length, total };
  const inHome = (names: readonly string[]) => {
    const texts = names.slice(0, WITHOUT_ENTRY_LIMIT).map((name) => shortName(name, found.package));
    return [...texts, ...(names.length > texts.length ? ['...'] : [])].join(', ');
  };
  return joinSections([
    lines.length === 0 ? `${head}.` : `${head}:`,
    ...[...groupBy(rows.slice(0, lines.length), headerOf)].map(([header, group], index, { length }) => {
      const texts = group.map((row) => rowText(row, found.package));
      const more = index === length - 1 && hasMore(page);
      return `${header} (${counts.get(header)}):\n${listText(texts, more)}`;
    }),
    withoutEntry.length > 0 &&
      !hasMore(page) &&
      `Used only by unused functions or by each other (${withoutEntry.length}): ${inHome(withoutEntry)}`,
    [
      lines.length > 0 &&
        'Note: names in the data of top-level forms do not count as uses; search_in_buffer finds them.',
      ...unknownNotes(found, 'users', places),
      pageNote(page, 'functions'),
    ]
      .filter(Boolean)
      .join('\n'),
  ]);
}

/** Returns NAME without its package if that is HOME. */
function shortName(name: string, home: string): string {
  return name.startsWith(`${home}::`) ? name.slice(home.length + 2) : name;
}

/** Renders a row. Its names leave out the package HOME, because the headline names it. */
function rowText({ name, self, mentioned, template, documentation }: UnusedRow, home: string): string {
  const marks = [
    ...(self ? ['calls itself'] : []),
    ...(mentioned
      ? [`named in ${template ? 'the expansion' : 'data'} of ${shortName(mentioned, home)}`]
      : []),
  ].join(', ');
  return [shortName(name, home), marks && `(${marks})`, documentation].filter(Boolean).join('  ');
}
