// Defines the tool search_in_buffer, which finds text in files.

import { CallError } from '../../errors.ts';
import type { Budget } from '../../files/budget.ts';
import { boundLine, joinSections } from '../../kernel/reply.ts';
import {
  type ArgumentsFor,
  type CallContext,
  defineTool,
  type Result,
  type ToolDescription,
} from '../../kernel/tool.ts';
import { brokenCall, codeFinder, withoutProse } from '../../source/code-search.ts';
import { SourceText } from '../../source/text.ts';
import { visibleLine } from '../../visible.ts';
import { checkWhole, LIMIT, OFFSET, pageOf } from '../paging.ts';
import { isLispFile } from '../parentheses.ts';
import { takingTurns } from '../turns.ts';
import { type NamedBuffer, searchBudget, type TextBuffer, type WorkspaceBuffers } from './buffers.ts';
import { type Matches, Searcher, searchPattern } from './pattern-search.ts';
import { type Match, type SearchResults, searchResult } from './search-text.ts';

const SEARCH_IN_BUFFER = {
  name: 'search_in_buffer',
  description:
    'Find which lines of Lisp and other files contain a string or regular expression, like grep. For uses of a name use who_calls and who_references; this also finds comments, text and code that is not loaded.',
  parameters: [
    {
      name: 'pattern',
      type: 'string',
    },
    {
      name: 'buffer',
      type: 'string',
      description: 'File or directory; default: all',
    },
    {
      name: 'regex',
      type: 'boolean',
      description: 'In JavaScript syntax',
    },
    {
      name: 'code',
      type: 'boolean',
      description: 'Whole symbols or forms in Lisp code only',
    },
    LIMIT,
    OFFSET,
  ],
  required: ['pattern'],
  categories: ['buffer'],
  shortDescription: 'Find text or a regular expression in files, with line and column',
  complexity: 'moderate',
  keywords: [
    'ripgrep',
    'text search',
    'search the code',
    'regex search',
    'grep',
    'find text in files',
    'regular expression',
    'find a string in a file',
  ],
} as const satisfies ToolDescription;

/** Returns the tool that searches the files in BUFFERS. MATCH_MS is the maximum number of milliseconds for the search
 * of one text. */
export function searchInBufferTool(buffers: WorkspaceBuffers, matchMs?: number) {
  return defineTool({
    ...SEARCH_IN_BUFFER,
    handler: async (args, context) => {
      const { pattern, regex, code } = args;
      const answer = await runSearch(buffers, args, context, matchMs);
      const isFinal = context.forData || regex || code || answer.total > 0;
      if (isFinal || !isSpecial(pattern)) return answer.result();
      const asRegex = await runSearch(buffers, { ...args, regex: true }, context, matchMs).catch(
        () => answer,
      );
      if (asRegex.total === 0) return answer.result();
      const result = asRegex.result();
      const head = `No file contains the text '${visibleLine(pattern)}', so the pattern was used as a regular expression.`;
      return { ...result, text: joinSections([head, result.text]) };
    },
  });
}

function isSpecial(pattern: string): boolean {
  return /[\\^$.*+?()[\]{}|]/.test(pattern);
}

/** Searches the files in BUFFERS. Returns the number of matches, and a function that makes the answer. That function
 * records the content of the answer as known to the caller, so it must be called only for the answer that is
 * returned. */
async function runSearch(
  buffers: WorkspaceBuffers,
  args: SearchArguments,
  context: CallContext,
  matchMs: number | undefined,
): Promise<{ total: number; result: () => Result }> {
  const searcher = searcherFor(args, context, matchMs);
  const budget = searchBudget();
  const scope = await scopeOf(buffers, args, budget);
  try {
    const found = await searchAll(searcher, scope, pageOf(args, context), budget);
    checkWhole(args, context, found.total);
    const stopped = budget.exceeded === true;
    const result = () =>
      searchResult(visibleLine(args.pattern), found, scope.single, stopped, context.earlierAnswers);
    return { total: found.total, result };
  } finally {
    await searcher.stop();
  }
}

/** The files to search. */
interface Scope {
  buffers: AsyncIterable<TextBuffer> | TextBuffer[];
  /** The file, if the call names one file. An error about this file then ends the search. */
  single?: NamedBuffer;
  /** The name of an editor that did not say which unsaved texts it has. */
  silent?: string;
}

async function scopeOf(
  buffers: WorkspaceBuffers,
  { buffer = '', code }: SearchArguments,
  budget: Budget,
): Promise<Scope> {
  const folder = await buffers.belowAsEdited(buffer || undefined, budget);
  if (folder !== undefined) return code ? { ...folder, buffers: lispBuffers(folder.buffers) } : folder;
  const single = await buffers.find(buffer);
  return { buffers: [single], single };
}

/** Searches texts for one pattern. If `code` is true, it searches Lisp code only, not comments and strings. `ended` is
 * true once the call was cancelled. */
type Finder = Pick<Searcher, 'search' | 'ended' | 'stop'> & { code?: boolean };

/** Maximum number of characters of a code pattern. It is low, because each token of a text may be compared with the
 * whole pattern. */
const CODE_LIMIT = 2000;

type SearchArguments = ArgumentsFor<typeof SEARCH_IN_BUFFER>;

function searcherFor(args: SearchArguments, { signal }: CallContext, matchMs: number | undefined): Finder {
  const { pattern, regex = false, code = false } = args;
  const codePlaces = code && !regex ? codeFinderFor(pattern) : undefined;
  // If codePlaces searches, this one starts no thread. It is made because searchPattern checks the pattern, and for
  // `ended`.
  const searcher = new Searcher(searchPattern(pattern, regex), signal, matchMs);
  if (!code) return searcher;
  return {
    search: codePlaces
      ? (text, skip, limit) => codeMatches(codePlaces(text), skip, limit)
      : (text, skip, limit) => searcher.search(withoutProse(text), skip, limit),
    get ended() {
      return searcher.ended;
    },
    stop: () => searcher.stop(),
    code: true,
  };
}

type CodeFinder = NonNullable<ReturnType<typeof codeFinder>>;

/** Returns those matches at PLACES that come after the first SKIP ones, at most LIMIT, and the number of all. */
async function codeMatches(places: ReturnType<CodeFinder>, skip: number, limit: number): Promise<Matches> {
  const turn = takingTurns();
  const matches: Matches = { count: 0, found: [] };
  for (const place of places) {
    // PLACES yields undefined now and then.
    if (place === undefined) await turn();
    else {
      if (matches.count >= skip && matches.found.length < limit) matches.found.push(place);
      matches.count += 1;
    }
  }
  return matches;
}

function codeFinderFor(pattern: string): CodeFinder {
  if (pattern.length > CODE_LIMIT) {
    throw new CallError(
      `With code: true, the pattern can have at most ${CODE_LIMIT} characters. Give the beginning of the form.`,
    );
  }
  const find = codeFinder(pattern);
  if (find !== undefined) return find;
  throw new CallError(
    'With code: true, the pattern must be Lisp: a symbol, or the beginning of a form, such as "(setf (car". Leave out code: true to find any text.',
  );
}

async function* lispBuffers(buffers: AsyncIterable<TextBuffer>): AsyncGenerator<TextBuffer> {
  for await (const buffer of buffers) if (isLispFile(buffer.name)) yield buffer;
}

async function searchAll(
  searcher: Finder,
  { buffers, single, silent }: Scope,
  { offset, limit }: { offset: number; limit: number },
  budget: Budget,
): Promise<SearchResults> {
  const counts = { total: 0, files: 0, filesWithMatches: 0 };
  const lists = { matches: [], unreadable: [], tooHard: [], pending: [], unsaved: [] };
  const found: SearchResults = { ...counts, ...lists, offset, silent };
  for await (const buffer of buffers) {
    budget.exceeded ||= searcher.ended || budget.remainingMs() < 0;
    if (budget.exceeded) break;
    if (buffer.pending.length > 0) found.pending.push(buffer.name);
    if (buffer.unsavedIn !== undefined) found.unsaved.push(buffer);
    const excerpt = await buffer.read(1).catch((error: unknown) => {
      if (single !== undefined) throw error;
      return 'unreadable';
    });
    // A string means that the file is not text. Without a total, the file was too large to be read completely.
    if (typeof excerpt === 'string' || excerpt.total === undefined) {
      found.unreadable.push(buffer.name);
      continue;
    }
    const text = { file: buffer.name, lines: excerpt.lines, text: excerpt.lines.join('\n') };
    await searchText(searcher, text, found, limit).catch((error: unknown) => {
      if (single !== undefined || searcher.ended) throw error;
      found.tooHard.push(buffer.name);
    });
  }
  return found;
}

/** The text of `file`, whole and in lines. */
interface SearchedText {
  file: string;
  lines: string[];
  text: string;
}

/** Searches SEARCHED, and adds the number of its matches to the total of FOUND. Also appends the matches to FOUND,
 * until it has LIMIT matches. But of the whole search, the first `offset` matches are only counted. */
async function searchText(searcher: Finder, searched: SearchedText, found: SearchResults, limit: number) {
  const skip = Math.max(0, found.offset - found.total);
  const room = limit - found.matches.length;
  const { count, found: places } = await searcher.search(searched.text, skip, room);
  found.files += 1;
  found.filesWithMatches += count > 0 ? 1 : 0;
  found.total += count;
  for (const match of matchesIn(searched, places, searcher.code)) found.matches.push(match);
}

/** Returns the matches for PLACES, which are index ranges. The text of a match is its line or, if WHOLE_CALLS is true
 * and the match is in a call of several lines, the whole call. */
function matchesIn(
  { file, lines, text }: SearchedText,
  places: [number, number][],
  wholeCalls = false,
): Match[] {
  if (places.length === 0) return [];
  const source = new SourceText(text);
  return places.map(([from, to]) => {
    const [{ line, column }, end] = [source.positionAt(from), source.positionAt(to)];
    const lineStart = text.slice(0, from).lastIndexOf('\n') + 1;
    const firstLine = lines[line - 1] ?? '';
    const call = wholeCalls ? brokenCall(text, from) : undefined;
    const shown = boundLine(
      call ? text.slice(lineStart, call.from) + call.call : firstLine,
      from - lineStart,
    );
    return { file, line, column, endLine: end.line, endColumn: end.column, text: shown };
  });
}
