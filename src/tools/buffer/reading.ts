// Defines the tools read_file and read_buffer, which show lines of a file.

import { CallError } from '../../errors.ts';
import { type Excerpt, readLines } from '../../files/lines.ts';
import { unusualStorage } from '../../files/text.ts';
import type { Workspace } from '../../files/workspace.ts';
import type { ArgumentsOf } from '../../kernel/parameter.ts';
import { counted, fittingRows, joinSections } from '../../kernel/reply.ts';
import { type CallContext, defineTool, type Result, type ToolDescription } from '../../kernel/tool.ts';
import { visibleName } from '../../visible.ts';
import { lookedUpEach } from '../several.ts';
import { pendingSection, searchBudget, type TextBuffer, type WorkspaceBuffers } from './buffers.ts';
import { folderResult } from './reading-folder.ts';

/** The default of the parameter `limit`, except for Lisp code as the caller. */
const LIMIT = 2000;
const RANGE = [
  { name: 'start_line', type: 'integer', description: 'From 1', minimum: 1 },
  { name: 'end_line', type: 'integer', minimum: 1 },
  {
    name: 'limit',
    type: 'integer',
    minimum: 1,
    maximum: 20_000,
  },
] as const;

const READ_FILE = {
  name: 'read_file',
  description:
    'Read text files such as README.md, package.lisp, config or .asd files, whole or some lines, exactly as written. Your own file tool works too; this also reads sources of loaded systems. For a directory it returns as many of its files as fit.',
  parameters: [
    {
      name: 'path',
      type: 'string',
      description: 'File or directory',
    },
    {
      name: 'paths',
      type: 'array',
      items: { type: 'string' },
      description: 'Paths; path may be empty',
    },
    ...RANGE,
  ],
  required: ['path'],
  instead: { path: ['paths'] },
  categories: ['buffer'],
  shortDescription: 'Read a text file, or a range of its lines',
  complexity: 'simple',
  keywords: [
    'cat',
    'show file contents',
    'head and tail',
    'view source code',
    'read a file',
    'lines of a file',
    'print a file',
    'open a source file',
  ],
} as const satisfies ToolDescription;

export function readFileTool(workspace: Workspace, buffers: WorkspaceBuffers) {
  return defineTool({
    ...READ_FILE,
    handler: async (args, context) => {
      const range = rangeOf(args, context);
      const read = async (path: string) => {
        await buffers.confirmExists(path);
        const budget = searchBudget();
        // Undefined when PATH is a file.
        const files = await buffers.below(path, budget);
        if (files !== undefined) {
          const show = async (file: TextBuffer) =>
            excerptResult(file.name, await file.read(range.first, context.signal), range);
          return folderResult({ path, whole: range.whole }, files, show, budget);
        }
        return workspace.read(path, async (file, name) =>
          excerptResult(name, await readLines(file, range.first, context.signal), range),
        );
      };
      return lookedUpEach(args.path, args.paths, read, { parameter: 'paths', whole: range.whole });
    },
  });
}

const READ_BUFFER = {
  name: 'read_buffer',
  description:
    'Show a file, or some of its lines, when you know only its base name, such as main.lisp, and its proposed edit that waits for approval. With a path use read_file.',
  parameters: [{ name: 'buffer', type: 'string', description: 'Base name or path' }, ...RANGE],
  required: ['buffer'],
  categories: ['buffer'],
  shortDescription: 'Read a file by its base name, with the edit that is proposed for it',
  complexity: 'simple',
  keywords: [
    'pending edit',
    'open buffer',
    'find a file by its name',
    'unsaved changes',
    'buffer contents',
    'file by base name',
    'proposed edit',
    'current state of a buffer',
  ],
} as const satisfies ToolDescription;

export function readBufferTool(buffers: WorkspaceBuffers) {
  return defineTool({
    ...READ_BUFFER,
    handler: async (args, context) => {
      const range = rangeOf(args, context);
      const buffer = await buffers.find(args.buffer);
      const { note, lacksChangesIn } = buffer;
      const excerpt = await buffer.read(range.first, context.signal);
      const { data, text } = withNote(note, () => excerptResult(buffer.name, excerpt, range));
      return {
        data: {
          ...data,
          pending: buffer.pending,
          ...(buffer.isUnsavedText && { unsavedIn: buffer.unsavedIn }),
          ...(lacksChangesIn !== undefined && { lacksChangesIn }),
        },
        text: joinSections([text, pendingSection(buffer.pending, 'the text above'), note && `Note: ${note}`]),
      };
    },
  });
}

/** Calls SHOW and returns its value. If SHOW throws, appends NOTE to the message, because another text of the file
 * might not cause this error. */
function withNote<Value>(note: string | undefined, show: () => Value): Value {
  try {
    return show();
  } catch (error) {
    throw error instanceof CallError && note !== undefined
      ? new CallError(`${error.message} ${note}`)
      : error;
  }
}

type RangeArguments = ArgumentsOf<typeof RANGE, readonly []>;

interface Range {
  first: number;
  last: number;
  limit: number;
  /** True when Lisp code in the image is the caller. The lines then need not fit into one answer. */
  whole: boolean;
}

function rangeOf(args: RangeArguments, { forData = false }: CallContext): Range {
  const first = args.start_line ?? 1;
  const last = args.end_line ?? Number.POSITIVE_INFINITY;
  if (last < first) throw new CallError(`end_line ${last} is before start_line ${first}.`);
  const limit = args.limit ?? (forData ? Number.POSITIVE_INFINITY : LIMIT);
  return { first, last, limit, whole: forData };
}

/** Returns the result with those lines of EXCERPT that the call requested. The text has as many of them as fit into one
 * answer. NAME is the name of the file. */
function excerptResult(
  name: string,
  excerpt: Excerpt | string,
  { first, last, limit, whole }: Range,
): Result & { data: object } {
  const file = visibleName(name);
  if (typeof excerpt === 'string') throw new CallError(`${file} is ${excerpt}, which is not shown.`);
  // `total` is undefined when the file is too large and was not read to its end.
  const { lines, total, bytes, encoding } = excerpt;
  if (lines.length === 0 && first > 1) {
    const count = total === undefined ? `fewer than ${first}` : total;
    throw new CallError(
      `${file} has ${count} ${total === 1 ? 'line' : 'lines'}; start_line ${first} is beyond its end.`,
    );
  }
  const inRange = lines.slice(0, last - first + 1);
  const requested = inRange.slice(0, limit);
  // Only the text for a model is limited, not the data for Lisp code.
  const textLines = fittingRows(requested);
  const dataLines = whole ? requested : textLines;
  const textEnd = first + textLines.length - 1;
  const dataEnd = first + dataLines.length - 1;
  // Lisp code that gives no limit expects all lines, so it must not get only some of them.
  if (whole && limit === Number.POSITIVE_INFINITY && total === undefined && dataEnd < last) {
    throw new CallError(
      `${file} is too large to read at once; lines ${first} to ${dataEnd} fit. Read it in parts with start_line and limit.`,
    );
  }
  const isMore = textLines.length < inRange.length || (total === undefined && textEnd < last);
  const next = isMore ? `; start_line ${textEnd + 1} reads on` : '';
  const facts = [counted(bytes, 'byte'), ...storage(excerpt)];
  return {
    data: {
      path: name,
      startLine: first,
      endLine: dataEnd,
      totalLines: total ?? null,
      bytes,
      encoding,
      text: dataLines.join('\n'),
    },
    text:
      total === 0
        ? `${file} is empty (${facts.join(', ')}).`
        : `${[file, linesText(first, textEnd, total), ...facts].join(', ')}${next}\n\n${textLines.join('\n')}`,
  };
}

function linesText(first: number, last: number, total: number | undefined): string {
  const shown = first === last ? `line ${first}` : `lines ${first} to ${last}`;
  return `${shown}${total === undefined ? '' : ` of ${total}`}`;
}

/** Returns phrases for the encoding and the line ends of EXCERPT, if these are unusual. */
function storage(excerpt: Excerpt): string[] {
  const { ends, endsWithNewline, total } = excerpt;
  if (total !== undefined) return unusualStorage(excerpt, ends, endsWithNewline);
  return [...unusualStorage(excerpt, ends, true), 'too large to count its lines'];
}
