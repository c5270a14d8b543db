// Decides how TOML is edited: whole tables with a header of their own, as text, so that all else stays as it is. What
// cannot be edited so is found by the proof of each edit, in edit.ts.

import { parse, stringify } from 'smol-toml';
import { type Data, type Format, isData, withValue } from './settings.ts';

/** Returns the keys of the table or list that LINE is the header of; undefined when it is none. */
function headerOf(line: string): string[] | undefined {
  const [, name] = /^\s*\[\[?([^[\]]+)\]\]?\s*(?:#.*)?$/.exec(line) ?? [];
  return name?.match(/"[^"]*"|'[^']*'|[^.\s]+/g)?.map((key) => key.replace(/^(["'])(.*)\1$/, '$2'));
}

/** Returns TEXT without the tables at PATH and below it. */
function withoutTable(text: string, path: readonly string[]): string {
  const kept: string[] = [];
  let inside = false;
  let last = '';
  for (const line of text.split('\n')) {
    const header = headerOf(line);
    if (header !== undefined) {
      const wasInside = inside;
      inside = path.every((key, index) => header[index] === key);
      // The empty line before a table goes with it.
      if (inside && !wasInside && kept.at(-1) === '') kept.pop();
      if (wasInside && !inside && last === '' && kept.length > 0) kept.push('');
    }
    if (!inside) kept.push(line);
    last = line;
  }
  return kept.join('\n').replace(/(?<=\S)$/, '\n');
}

/** Returns VALUE with plain objects in place of those without a prototype, which equal no others. */
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
};
