// Decides the tool that finds text in files.

import type { Budget } from '../../files/walk.ts';
import { boundLine, fittingRows, joinSections, listText, pageNote } from '../../kernel/reply.ts';
import { defineTool, keywordList, type Result, type ToolDefinition } from '../../kernel/tool.ts';
import { visibleName } from '../../visible.ts';
import { checkWhole, LIMIT, OFFSET, pageArguments, stringArgument } from '../arguments.ts';
import { type BufferSource, pendingSection, type TextBuffer } from './buffers.ts';
import { Searcher, searchPattern } from './search.ts';

const SEARCH_IN_BUFFER: Omit<ToolDefinition, 'handler'> = {
  name: 'search_in_buffer',
  title: 'Search text',
  description:
    'Find text, or a regular expression, in a file, in all files below a directory, or in all of the workspace. Returns LINE:COLUMN and the line of each match, with the true total. .git, node_modules and the like are left out.',
  parameters: [
    {
      name: 'pattern',
      type: 'string',
      description: 'Text to find; with regex a JavaScript regular expression',
    },
    {
      name: 'buffer',
      type: 'string',
      description: 'Path or unique base name of a file, or a directory; the whole workspace when absent',
    },
    {
      name: 'regex',
      type: 'boolean',
      description: 'Read pattern as a regular expression; ^ and $ match at lines',
    },
    { name: 'case_sensitive', type: 'boolean', description: 'Tell upper from lower case' },
    LIMIT,
    OFFSET,
  ],
  required: ['pattern'],
  categories: ['buffer'],
  shortDescription: 'Find text or a regular expression in files, with line and column',
  complexity: 'moderate',
  keywords: keywordList(`
    grep, find text in files, regex search, regular expression, search the code, ripgrep, find a string in a
    file, text search, egrep, fgrep, rg, ag, ack, find in files, full text, Ctrl+F, Ctrl+Shift+F, isearch,
    isearch-forward-regexp, incremental search, C-s, C-M-s, occur, M-x occur, M-x grep, rgrep, vim /pattern,
    string literal, where is the string produced, where does the message come from, comments, TODO FIXME, which
    files contain, which files mention, which lines contain, files that say, contains the word, pattern in a
    file, pattern match in source, search for a pattern, match against the text, at which line and column does
    it appear, appears in, occurrences of a string, line numbers of, search the workspace, search the project,
    across all files, look for a word or phrase, findstr, re.search, re.findall, re.finditer, indexOf,
    hard-coded, passwords, secrets, magic number, Select-String, grep -rn, grep -i, xargs grep, swiper, helm-ag,
    counsel-rg, projectile-grep, find the word, find the line, find where it says, find the comment, lines
    matching, line containing, all matches, count matches, case-insensitive search, search the sources, search
    for text in the source files, look through the files, text occurs, strstr, String.includes, hard-coded url,
    which files use the string, find "text" in all files, find in all files, in all files, mention of, where do
    we mention, which file contains, which file mentions, search the repository, lines with, lines that contain,
    look for the string, regex over all files, over all lisp files, count how often, how often does it occur,
    comments about, find comments, occurrences in a file, appears, the word appears, at which line, which line
    says, find the line with, literal text, plain text search, search text, text in the code, error text in the
    sources, find where a message is printed, produced, url in the code, API key, password in config, hard coded
    values, credentials, TODO comments, XXX HACK, leftover debug prints, find print statements, trailing
    whitespace, tabs, long lines, wildcard search in files, multi-file search, Find in Path, Search > File,
    Ctrl+H search, Cmd+Shift+F, M-s o, multi-occur, C-M-r, deadgrep, ctrlp, fzf, /pattern, awk, sed -n /p,
    string.find, preg_match, grepl, grep -n, does the word occur, find all TODOs, where a text stands in the
    file, in which source file is the message written, line numbers where, the text`),
};

/** Milliseconds after which no further file is searched, and entries of directories that are looked at. */
const SEARCH_MS = 10_000;
const SEARCH_ENTRIES = 100_000;

export function searchInBuffer(buffers: BufferSource) {
  return defineTool({
    ...SEARCH_IN_BUFFER,
    handler: async (args, context) => {
      const pattern = String(args['pattern']);
      const name = stringArgument(args, 'buffer');
      const regexp = searchPattern(pattern, args['regex'] === true, args['case_sensitive'] === true);
      const budget: Budget = { entries: SEARCH_ENTRIES, until: performance.now() + SEARCH_MS };
      const many = await buffers.below(name, budget);
      const one = many === undefined && name !== undefined ? await buffers.find(name) : undefined;
      const searcher = new Searcher(regexp, context.signal);
      try {
        const page = pageArguments(args, context);
        const found = await searchAll(searcher, many ?? (one ? [one] : []), page, budget);
        checkWhole(args, context, found.total);
        return searchResult(visibleName(pattern), found, one, budget.exceeded === true);
      } finally {
        await searcher.stop();
      }
    },
  });
}

interface Match {
  file: string;
  line: number;
  column: number;
  /** Where it ends: the line, and the column after its last character. */
  endLine: number;
  endColumn: number;
  /** The line, or the part of it around the match. */
  text: string;
}

interface Found {
  total: number;
  matches: Match[];
  offset: number;
  files: number;
  filesWithMatches: number;
  /** The files that are no text, or too large. */
  left: string[];
  /** The files in which the pattern took too long, or too much stack. */
  tooHard: string[];
  /** The files with edits that wait for an answer. */
  edited: string[];
}

async function searchAll(
  searcher: Searcher,
  buffers: AsyncIterable<TextBuffer> | TextBuffer[],
  { offset, limit }: { offset: number; limit: number },
  budget: Budget,
): Promise<Found> {
  const counts = { total: 0, files: 0, filesWithMatches: 0 };
  const found: Found = { ...counts, matches: [], offset, left: [], tooHard: [], edited: [] };
  for await (const buffer of buffers) {
    if (buffer.pending.length > 0) found.edited.push(buffer.name);
    const excerpt = await buffer.read(1).catch((error: unknown) => {
      if (Array.isArray(buffers)) throw error;
      return 'unreadable';
    });
    if (typeof excerpt === 'string' || excerpt.total === undefined) {
      found.left.push(buffer.name);
      continue;
    }
    await searchText(searcher, buffer.name, excerpt.lines, found, limit).catch((error: unknown) => {
      if (Array.isArray(buffers) || searcher.ended) throw error;
      found.tooHard.push(buffer.name);
    });
    budget.exceeded ||= performance.now() > budget.until;
    if (budget.exceeded) break;
  }
  return found;
}

/** Adds to FOUND what SEARCHER finds in LINES of FILE, up to LIMIT matches in all. */
async function searchText(searcher: Searcher, file: string, lines: string[], found: Found, limit: number) {
  const text = lines.join('\n');
  const skip = Math.max(0, found.offset - found.total);
  const { count, found: places } = await searcher.search(text, skip, limit - found.matches.length);
  found.files += 1;
  found.filesWithMatches += count > 0 ? 1 : 0;
  found.total += count;
  for (const match of matchesIn(file, text, lines, places)) found.matches.push(match);
}

/** Returns PLACES, which are in the order of TEXT, as lines and columns. */
function matchesIn(file: string, text: string, lines: string[], places: [number, number][]): Match[] {
  const at = { index: 0, line: 1, lineStart: 0, column: 1 };
  const advance = (index: number) => {
    const passed = text.slice(at.index, index);
    const breaks = passed.split('\n').length - 1;
    if (breaks > 0) Object.assign(at, { lineStart: at.index + passed.lastIndexOf('\n') + 1, column: 1 });
    at.column += Array.from(text.slice(Math.max(at.index, at.lineStart), index)).length;
    at.line += breaks;
    at.index = index;
  };
  return places.map(([from, to]) => {
    advance(from);
    const { line, column, lineStart } = at;
    const shown = boundLine(lines[line - 1] ?? '', from - lineStart);
    advance(to);
    return { file, line, column, endLine: at.line, endColumn: at.column, text: shown };
  });
}

function searchResult(pattern: string, found: Found, one: TextBuffer | undefined, stopped: boolean): Result {
  const { total, matches, offset, files, filesWithMatches, left, tooHard, edited } = found;
  const rows = fittingRows(matches.map((match) => rowText(match, one === undefined)));
  const where = one
    ? visibleName(one.name)
    : total === 0
      ? filesText(files)
      : `${filesWithMatches} of ${filesText(files)}`;
  const head = `Found ${total} ${total === 1 ? 'match' : 'matches'} of '${pattern}' in ${where}`;
  const notes = [
    rows.length === 0 && pageNote({ offset, shown: 0, total }, 'matches'),
    stopped &&
      `Note: the search stopped before it had looked at all files; name a directory or a file as buffer.`,
    left.length > 0 && `Note: not searched, because no text or too large: ${fewNames(left)}.`,
    tooHard.length > 0 &&
      `Note: not searched, because the pattern took too long or too much stack there: ${fewNames(tooHard)}. Repetitions within repetitions, such as (a+)+, do that; use a simpler pattern.`,
    one === undefined &&
      edited.length > 0 &&
      `Note: edits of these wait for approval, and were not searched; read_buffer shows them: ${fewNames(edited)}.`,
    one?.note && `Note: ${one.note}`,
  ].filter((note) => typeof note === 'string');
  const list = rows.length > 0 ? `:\n\n${listText(rows, offset + rows.length < total)}` : '';
  return {
    data: {
      total,
      files,
      matches,
      notSearched: [...left, ...tooHard],
      pending: edited,
      complete: !stopped && tooHard.length === 0,
    },
    text: joinSections([
      [head + list, ...notes].join('\n'),
      one && pendingSection(one.pending, 'what was searched'),
    ]),
  };
}

function filesText(files: number): string {
  return `${files} ${files === 1 ? 'file' : 'files'}`;
}

function fewNames(names: string[]): string {
  const more = names.length > 5 ? ` and ${names.length - 5} more` : '';
  return names.slice(0, 5).map(visibleName).join(', ') + more;
}

function rowText({ file, line, column, endLine, endColumn, text }: Match, withFile: boolean): string {
  const end = endLine > line ? `-${endLine}:${endColumn}` : '';
  return `${withFile ? `${visibleName(file)}:` : ''}${line}:${column}${end}  ${text}`;
}
