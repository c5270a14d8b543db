/** Decides what stands where in a Lisp text as it is written: lists, symbols and strings, those that #+ leaves out too. */

import { bare, nextToken, type Token } from './lexer.ts';

/** A part of a text. NAME is that of a symbol without its package, as the reader takes it; empty for all else. */
export interface Part {
  kind: 'list' | 'symbol' | 'string' | 'other';
  start: number;
  end: number;
  name: string;
  /** The elements of a list, without feature expressions. */
  items: readonly Part[];
  /** The list around it, which of its items this is, and the lambda list keyword that stands before. */
  around: Part | undefined;
  index: number;
  section: string;
  /** What stands right before it, as `'`, `#'` or `` ` ``, the outermost first. */
  marks: readonly string[];
}

/** A text as parts. CUT is where something stands from which on it could not be read: a string that does not end, say. The
 *  parts of a list that does not end are among the atoms. */
export interface Tree {
  top: Part[];
  /** The symbols of feature expressions are none of these. */
  atoms: Part[];
  /** Where comments and white space stand. */
  gaps: [start: number, end: number][];
  cut?: number;
}

/** A list nested deeper is taken for one that does not end, lest it overflow the stack. */
const MAX_DEPTH = 1000;

/** What all parts without items, and all without marks, have: a list for each would take most of the time. */
const NONE: readonly never[] = [];

/** What takes a form behind it, and is no part of its own. */
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
  /** Where it stopped before the end. */
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

/** Returns the part that TOKEN begins, behind MARKS, and in the list AROUND; undefined for what is none of its own. */
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

/** Passes over a feature expression, whose symbols are keywords. */
function skipFeature(reader: Reader): undefined | 'cut' {
  const { atoms } = reader;
  reader.atoms = [];
  const found = partAt(reader, next(reader), undefined, NONE);
  reader.atoms = atoms;
  return found === 'cut' ? 'cut' : undefined;
}
