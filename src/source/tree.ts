/** Parses a Lisp text into lists, symbols and strings, just as it is written: what #+ excludes is included. */

import { bare, nextToken, type Token } from './lexer.ts';

/** A part of a text. NAME is that of a symbol, as the reader interns it, without package; '' for anything else. */
export interface Part {
  kind: 'list' | 'symbol' | 'string' | 'other';
  start: number;
  end: number;
  name: string;
  /** The elements of a list, without feature expressions. */
  items: readonly Part[];
  /** The list that contains this part, if one does. */
  around: Part | undefined;
  /** The index of this part in the items of that list. */
  index: number;
  /** The last lambda list keyword before this part in that list, such as &KEY; '' if there is none. */
  section: string;
  /** The prefixes directly before it, as `'`, `#'` or `` ` ``, the outermost first. */
  marks: readonly string[];
}

/** A parsed text. CUT is the offset of the first unreadable part, such as an unclosed string; ATOMS include the parts
 *  of an unclosed list. */
export interface Tree {
  top: Part[];
  /** Symbols and strings, without those of feature expressions. */
  atoms: Part[];
  /** Spans of comments and white space. */
  gaps: [start: number, end: number][];
  cut?: number;
}

/** A list nested deeper counts as unclosed, lest it overflow the stack. */
const MAX_DEPTH = 1000;

/** Shared by all parts without items or marks: allocating a list for each would take most of the time. */
const NONE: readonly never[] = [];

/** Prefixes, which apply to the form behind them and are no parts themselves. */
const MARKS = new Set(["'", "#'", '`', ',', ',@', ',.', '#.', '#=']);

/** Returns the parts of TEXT. */
export function treeOf(text: string): Tree {
  const reader: Reader = { text, at: 0, depth: 0, atoms: [], gaps: [] };
  const top: Part[] = [];
  for (;;) {
    const token = next(reader);
    const found = token.kind === 'end' ? 'cut' : partAt(reader, token, undefined, NONE);
    if (found === 'cut') {
      const { atoms, gaps, stopped } = reader;
      return { top, atoms, gaps, ...(stopped !== undefined && { cut: stopped }) };
    }
    if (found !== undefined) top.push(found);
  }
}

interface Reader {
  text: string;
  at: number;
  depth: number;
  /** Offset where reading stopped before the end. */
  stopped?: number;
  atoms: Part[];
  gaps: [number, number][];
}

function next(reader: Reader): Token {
  const token = nextToken(reader.text, reader.at, false);
  if (token.start > reader.at) reader.gaps.push([reader.at, token.start]);
  if (token.kind === 'end' && token.start < reader.text.length) reader.stopped = token.start;
  reader.at = token.kind === 'end' ? reader.text.length : token.end;
  return token;
}

/** Returns the part that TOKEN begins, behind the prefixes MARKS, in the list AROUND; undefined for a #+ or #-, 'cut'
 *  where the text ends or cannot be read. */
function partAt(
  reader: Reader,
  token: Token,
  around: Part | undefined,
  marks: readonly string[],
): Part | undefined | 'cut' {
  const { kind, start, end } = token;
  if (kind === 'end') return 'cut';
  if (kind === '#+' || kind === '#-') return skipFeature(reader);
  if (MARKS.has(kind)) {
    if (marks.length > MAX_DEPTH) return stop(reader, start);
    return partAt(reader, next(reader), around, [...marks, kind]);
  }
  const part: Part = {
    kind: 'other',
    start,
    end,
    name: '',
    items: NONE,
    around,
    index: 0,
    section: '',
    marks,
  };
  if (kind === '(' || kind.endsWith('(')) return listAt(reader, part);
  if (kind !== 'atom') return part;
  if (reader.text[start] === '"') part.kind = 'string';
  else if (token.name !== '') {
    part.kind = 'symbol';
    part.name = bare(token.name);
  }
  reader.atoms.push(part);
  return part;
}

function listAt(reader: Reader, list: Part): Part | 'cut' {
  const items: Part[] = [];
  list.kind = 'list';
  list.items = items;
  if (reader.depth >= MAX_DEPTH) return stop(reader, list.start);
  reader.depth++;
  let section = '';
  for (;;) {
    const token = next(reader);
    if (token.kind === ')') {
      reader.depth--;
      list.end = token.end;
      return list;
    }
    const part = partAt(reader, token, list, NONE);
    if (part === 'cut') return 'cut';
    if (part === undefined) continue;
    part.index = items.push(part) - 1;
    part.section = section;
    if (part.name.startsWith('&')) section = part.name;
  }
}

function stop(reader: Reader, at: number): 'cut' {
  reader.stopped = at;
  return 'cut';
}

/** Skips the feature expression behind a #+ or #-. Its symbols are not recorded: they name features. */
function skipFeature(reader: Reader): undefined | 'cut' {
  const { atoms } = reader;
  reader.atoms = [];
  const found = partAt(reader, next(reader), undefined, NONE);
  reader.atoms = atoms;
  return found === 'cut' ? 'cut' : undefined;
}
