// Edits TOML as text: whole tables with a header of their own, so that all else stays as it is. The proof of each edit,
// in edit.ts, detects what cannot be edited like this.

import { parse, stringify } from 'smol-toml';
import { at, type Data, type Format, isData, isEmpty, withValue } from './settings.ts';

/** Returns the keys in LINE if it is the header of a table or of a list of tables; undefined otherwise. */
function headerOf(line: string): string[] | undefined {
  const [, name] = /^\s*\[\[?([^[\]]+)\]\]?\s*(?:#.*)?$/.exec(line) ?? [];
  return name?.match(/"[^"]*"|'[^']*'|[^.\s]+/g)?.map((key) => key.replace(/^(["'])(.*)\1$/, '$2'));
}

/** Returns TEXT without the tables at PATH and below. Comment lines in them stay: those at the end belong to the next
 *  table. */
function withoutTable(text: string, path: readonly string[]): string {
  const kept: string[] = [];
  let inside: string[] | undefined;
  const leave = (atEnd: boolean) => {
    if (inside !== undefined) kept.push(...remarksOf(inside, kept.length === 0, atEnd));
    inside = undefined;
  };
  for (const line of text.split('\n')) {
    const header = headerOf(line);
    const ours = header !== undefined && path.every((key, index) => header[index] === key);
    if (ours && inside === undefined) {
      // The empty line before a table goes with it.
      if (kept.at(-1) === '') kept.pop();
      inside = [];
    }
    if (header !== undefined && !ours) leave(false);
    if (inside === undefined) kept.push(line);
    else inside.push(line);
  }
  leave(true);
  return kept.join('\n').replace(/(?<=\S)$/, '\n');
}

/** Returns the lines to keep of LINES, a removed table: comments, and the empty lines around comments at its end.
 *  FIRST: no kept line precedes the table. AT_END: no line follows it. */
function remarksOf(lines: readonly string[], first: boolean, atEnd: boolean): string[] {
  const isRemark = (line: string) => /^\s*#/.test(line);
  const end = lines.findLastIndex((line) => line.trim() !== '' && !isRemark(line)) + 1;
  const within = lines.slice(0, end).filter(isRemark);
  const behind = lines.slice(end);
  if (behind.some(isRemark))
    return [...within, ...(first ? behind.slice(behind.findIndex(isRemark)) : behind)];
  const gap = !atEnd && !first && behind.length > 0 ? [''] : [];
  return [...within, ...gap];
}

/** Returns VALUE with plain objects in place of those without a prototype, which never equal plain ones deeply. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isData(value) || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}

export const TOML: Format = {
  parse: (text) => plain(parse(text)) as Data,
  set(text, path, value) {
    const rest = withoutTable(text, path);
    const gap = rest.trim() === '' ? '' : '\n';
    return `${gap === '' ? '' : rest}${gap}${stringify(withValue({}, path, value))}`.replace(/\n*$/, '\n');
  },
  add: () => {
    throw new Error('lists in TOML are not edited');
  },
  remove: (text, path) => withoutTable(text, path.map(String)),
  // A removed table leaves its comments.
  isBare: (text, path) => isEmpty(at(parse(text), path)),
};
