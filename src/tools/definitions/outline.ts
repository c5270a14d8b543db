// Renders the outline of a Lisp file.

import { lstat } from 'node:fs/promises';
import { CallError } from '../../errors.ts';
import { withFileTimeout } from '../../files/answering.ts';
import {
  beyondNote,
  boundLine,
  cutText,
  fittingRows,
  hasMore,
  listText,
  pageNote,
} from '../../kernel/reply.ts';
import type { CallContext, Result } from '../../kernel/tool.ts';
import type { OutlineEntry } from '../../source/definitions.ts';
import { visibleName } from '../../visible.ts';
import { knowFeatures } from '../lookup.ts';
import { type PageArguments, pageOf } from '../paging.ts';
import { folderOutline } from './folder-outline.ts';
import type { Origins } from './origins.ts';

/** Maximum number of characters of a name, lambda list or docstring to show. */
const TEXT_LIMIT = 100;

const cut = (text: string) => cutText(text, TEXT_LIMIT);

/** Returns the definitions in the file PATH, one in each line. If PATH is a folder, returns the outline of all its
 * files. ARGS select a page of the definitions. */
export async function outline(
  { image, workspace, places }: Pick<Origins, 'image' | 'workspace' | 'places'>,
  path: string,
  args: PageArguments,
  context: CallContext,
): Promise<Result> {
  const { real, missing } = await workspace.locate(path, 'read');
  if (missing.length > 0) throw workspace.noFile(path);
  const stats = await withFileTimeout(real, () => lstat(real)).catch(() => undefined);
  if (stats?.isDirectory()) return folderOutline({ image, workspace, places }, path, real, context);
  await places.prepare([real]);
  await knowFeatures(image, context);
  const definitions = await places.outline(real);
  if (definitions === undefined)
    throw new CallError(`${visibleName(path)} cannot be read. Name a Lisp source file or a folder.`);
  const { offset, limit } = pageOf(args, context);
  const rows = definitions.slice(offset, offset + limit);
  const lines = fittingRows(rows.map(lineText));
  const page = { offset, shown: lines.length, total: definitions.length };
  const name = visibleName(places.fileName(real));
  const list = listText(lines, hasMore(page)) || beyondNote(page, 'forms');
  const head = `${name} has ${definitions.length} ${definitions.length === 1 ? 'form that names something' : 'forms that name something'}`;
  return {
    data: { path: places.fileName(real), total: definitions.length, forms: rows },
    text: [list === false ? head : `${head}:\n\n${list}`, pageNote(page, 'forms')].filter(Boolean).join('\n'),
  };
}

function lineText({
  line,
  depth,
  operator,
  name,
  list,
  documentation,
}: OutlineEntry & { line: number }): string {
  const form = [operator, cut(name), list && cut(list)].filter(Boolean).join(' ');
  return boundLine(
    `${line}: ${'  '.repeat(depth)}(${form})${documentation ? `  ${cut(documentation)}` : ''}`,
    0,
  );
}
