// Edits TOML as text: adds or removes whole tables with their headers, and changes nothing else. edit.ts checks the
// result of each edit, and so detects files for which this is not enough.

import { parse, stringify } from 'smol-toml';
import { isObject } from '../json.ts';
import { type Data, type Format, isEmpty, valueAtPath, withValue } from './settings.ts';

/** Returns the keys in LINE if LINE is the header of a table or of an array of tables, else undefined. */
function headerOf(line: string): string[] | undefined {
  const [, name] = /^\s*\[\[?([^[\]]+)\]\]?\s*(?:#.*)?$/.exec(line) ?? [];
  return name?.match(/"[^"]*"|'[^']*'|[^.\s]+/g)?.map((key) => key.replace(/^(["'])(.*)\1$/, '$2'));
}

/** Returns TEXT without the table at PATH and the tables inside it. Comment lines stay, because comments at the end of
 * a table may belong to the next table. */
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
      // The empty line before a table is removed with the table.
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

/** Returns those of LINES, the lines of a removed table, that stay: comments, and the empty lines around comments at
 * the end. FIRST is true when no line before the table stays. AT_END is true when no line follows the table. */
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

/** Returns VALUE with plain objects in place of objects without a prototype, which isDeepStrictEqual treats as
 * different. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isObject(value) || value instanceof Date) return value;
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
  // A table that contains only comments counts as empty too, because comments stay when the table is removed.
  isBare: (text, path) => isEmpty(valueAtPath(parse(text), path)),
};
