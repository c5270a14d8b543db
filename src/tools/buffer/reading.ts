// Decides the tools that show lines of a file, and how they are shown: exactly, below one line about the file.

import { CallError } from '../../errors.ts';
import { type Excerpt, readLines } from '../../files/lines.ts';
import { unusualStorage } from '../../files/text.ts';
import type { Workspace } from '../../files/workspace.ts';
import { fittingRows, joinSections } from '../../kernel/reply.ts';
import {
  type Arguments,
  type CallContext,
  defineTool,
  keywordList,
  type Parameter,
  type Result,
  type ToolDefinition,
} from '../../kernel/tool.ts';
import { visibleName } from '../../visible.ts';
import { type BufferSource, pendingSection, type WorkspaceBuffers } from './buffers.ts';

const LIMIT = 2000;
const RANGE: readonly Parameter[] = [
  { name: 'start_line', type: 'integer', description: 'First line to show, from 1', minimum: 1 },
  { name: 'end_line', type: 'integer', description: 'Last line to show', minimum: 1 },
  {
    name: 'limit',
    type: 'integer',
    description: `How many lines to show at most (${LIMIT} when absent)`,
    minimum: 1,
    maximum: 20_000,
  },
];

const READ_FILE: Omit<ToolDefinition, 'handler'> = {
  name: 'read_file',
  title: 'Read file',
  description:
    'Read a text file of the workspace, of a read root or of the sources of a loaded system, or a range of its lines, exactly as it is: what it shows can be given to propose_file_edit. A first line tells the file, the lines shown, how many there are, and the size in bytes.',
  parameters: [
    {
      name: 'path',
      type: 'string',
      description: 'The file, relative to the workspace root or absolute',
    },
    ...RANGE,
  ],
  required: ['path'],
  categories: ['buffer'],
  shortDescription: 'Read a text file, or a range of its lines',
  complexity: 'simple',
  keywords: keywordList(`
    read a file, show file contents, view source code, lines of a file, cat, head and tail, print a file, open a
    source file, source text, less more, fetch a file, text of a file, read text from disk, read lines, line
    range, next lines, from line to line, code around a line, around line, first lines, last lines, top of the
    file, last 20 lines, show me the code, look at the code, see the code, display that source, source of a
    library, library source, how is it implemented, what is in the file, content of a file, type out, slurp,
    open(path).read(), fs.readFileSync, readFile, Files.readString, with-open-file, uiop:read-file-string,
    find-file, C-x C-f, vim :e, README, CHANGES, CHANGELOG, license, configuration file, text document, asd
    system definition, encoding of a file, is it binary, excerpt, sed -n, nl, wc, how many lines, size of a
    file, file tail, Get-Content, bat, page through, more lines, rest of the file, beginning of the file, end of
    the file, whole file, entire file, raw text, Path.read_text, File.read, cat -n, with line numbers,
    implementation of a library function, code of a library, log file, CSV file, JSON file, Makefile,
    Dockerfile, config.json, what does the file say, contents of the README, read the source, see lines, let me
    see the file, open the readme, read the config, display a file, text of the license, what does the line say,
    line 99, lines 5-20, lines from to, beginning of, top lines, bottom lines, last lines of, src/main, view the
    file, show the tests, text of the tests, code of a file, full text of a file, give me the file, get the
    source of a file, look into a file, look inside a file, source of a system, sources of a library, how does
    the library implement it, implementation source, browse the source, browse a library, installed library
    source, distribution source, read a document, notes, todo.txt, markdown, data file, seed file, binary file,
    UTF-8, encoding, awk NR, more, nano, xdd hexdump, readline by line, StreamReader, BufferedReader,
    File.ReadAllText, Deno.readTextFile, open the file, next page of a file, continue reading, tail -f, app.log,
    view config, read the asd, open at line, top of a file, source text of a function in a library, let me read`),
};

export function readFile(workspace: Workspace, buffers: WorkspaceBuffers) {
  return defineTool({
    ...READ_FILE,
    handler: async (args, context) => {
      const range = rangeOf(args, context);
      const path = String(args['path']);
      await buffers.confirmThere(path);
      return workspace.read(path, async (file, name) =>
        excerptResult(name, await readLines(file, range.first, context.signal), range),
      );
    },
  });
}

const READ_BUFFER: Omit<ToolDefinition, 'handler'> = {
  name: 'read_buffer',
  title: 'Read buffer',
  description:
    'Read a buffer, or a range of its lines, as read_file does. A buffer is a workspace file, named by its path or by a base name that only one file has; an edit of it that waits for approval is shown below it.',
  parameters: [
    { name: 'buffer', type: 'string', description: 'Path or unique base name of a workspace file' },
    ...RANGE,
  ],
  required: ['buffer'],
  categories: ['buffer'],
  shortDescription: 'Read a file by its base name, with the edit that is proposed for it',
  complexity: 'simple',
  keywords: keywordList(`
    buffer contents, file by base name, unsaved changes, pending edit, proposed edit, open buffer, current state
    of a buffer, find a file by its name, editor buffer, dirty buffer, current text, text of a document, get
    text, document text, getText, active editor, Emacs buffer, buffer-string, visit a buffer, switch-to-buffer,
    C-x b, vim :e, open tab, open document, only the file name is known, not the directory, in which directory,
    wherever it is in the workspace, without the path, where is the file, locate a file, by its name only,
    outstanding change, is there a pending change, what did I suggest, what have I suggested, the suggestion,
    suggested change, which edit is proposed, on disk and the suggestion, unsaved edit, waiting for approval,
    not yet applied, not yet saved, preview of a change, staged, active document, editor content, current file,
    show the buffer, read the buffer, contents of a buffer, TextDocument, with-current-buffer, proposal, what
    did you propose, what have I proposed, file with its pending edit, awaiting my OK, before and after,
    unapproved edit, modified buffer, a file named, whose directory I do not know, buffer text, in the buffer,
    change still waiting, still waiting, edit still open, my pending change, including my pending change, I
    forgot the folder, forgot the directory, called, the file called, with its suggested change, proposed for a
    file, view unsaved modifications, unsaved modifications, edited file as it would be, text as it will be,
    contents of the edited file, current version with changes, open file by name, by name, by its base name,
    only its name, wherever it lives, somewhere in the workspace, somewhere in the project, find and open, quick
    open, Ctrl+P file, Go to File, Ctrl+Shift+N, recent file, editor tab, active tab, document.getText, vscode
    document, set-buffer, buffer-substring, C-x 4 b, ibuffer, ido-switch-buffer, M-x revert-buffer, proposal for
    the file, my suggestion, suggested so far, patch in progress, undecided edit, open proposals, see both
    versions, on disk and proposed, display a draft, draft of a file, no idea in which folder, in which folder,
    file in an unknown folder, what does the file look like with my edit, pending for a file, what is pending,
    read a file by name, current editor text`),
};

export function readBuffer(buffers: BufferSource) {
  return defineTool({
    ...READ_BUFFER,
    handler: async (args, context) => {
      const range = rangeOf(args, context);
      const buffer = await buffers.find(String(args['buffer']));
      const { data, text } = excerptResult(
        buffer.name,
        await buffer.read(range.first, context.signal),
        range,
      );
      return {
        data: { ...data, pending: buffer.pending },
        text: joinSections([
          text,
          pendingSection(buffer.pending, 'the text above'),
          buffer.note && `Note: ${buffer.note}`,
        ]),
      };
    },
  });
}

interface Range {
  first: number;
  last: number;
  limit: number;
  /** Code reads them, so they need no room in an answer. */
  whole: boolean;
}

function rangeOf(args: Arguments, { forData = false }: CallContext): Range {
  const first = Number(args['start_line'] ?? 1);
  const last = Number(args['end_line'] ?? Number.POSITIVE_INFINITY);
  if (last < first) throw new CallError(`end_line ${last} is before start_line ${first}.`);
  const limit = Number(args['limit'] ?? (forData ? Number.POSITIVE_INFINITY : LIMIT));
  return { first, last, limit, whole: forData };
}

/** Returns the answer that shows of EXCERPT, from the file NAME, what RANGE asks for and one answer can hold. */
function excerptResult(
  name: string,
  excerpt: Excerpt | string,
  { first, last, limit, whole }: Range,
): Result & { data: object } {
  const file = visibleName(name);
  if (typeof excerpt === 'string') throw new CallError(`${file} is ${excerpt}, which is not shown.`);
  const { lines, total, bytes, encoding } = excerpt;
  if (lines.length === 0 && first > 1) {
    const count = total === undefined ? `fewer than ${first}` : total;
    throw new CallError(
      `${file} has ${count} ${total === 1 ? 'line' : 'lines'}; start_line ${first} is beyond its end.`,
    );
  }
  const wanted = lines.slice(0, last - first + 1);
  const asked = wanted.slice(0, limit);
  const shown = whole ? asked : fittingRows(asked);
  const end = first + shown.length - 1;
  const next = shown.length < wanted.length || (total === undefined && end < last) ? end + 1 : undefined;
  if (whole && limit === Number.POSITIVE_INFINITY && total === undefined && end < last) {
    throw new CallError(
      `${file} is too large to read at once; lines ${first} to ${end} fit. Read it in parts with start_line and limit.`,
    );
  }
  const text = shown.join('\n');
  return {
    data: { path: name, startLine: first, endLine: end, totalLines: total ?? null, bytes, encoding, text },
    text:
      total === 0
        ? `${file} is empty (${[sizeText(bytes), ...storage(excerpt)].join(', ')}).`
        : `${[file, linesText(first, end, total), sizeText(bytes), ...storage(excerpt)].join(', ')}${next ? `; start_line ${next} reads on` : ''}\n\n${text}`,
  };
}

function linesText(first: number, end: number, total: number | undefined): string {
  const shown = first === end ? `line ${first}` : `lines ${first} to ${end}`;
  return `${shown}${total === undefined ? '' : ` of ${total}`}`;
}

function sizeText(bytes: number): string {
  return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
}

/** What is unusual about how the file is stored. */
function storage(excerpt: Excerpt): string[] {
  const { ends, ended, total } = excerpt;
  if (total !== undefined) return unusualStorage(excerpt, ends, ended);
  return [...unusualStorage(excerpt, ends, true), 'too large to count its lines'];
}
