// Edits JSON with comments and trailing commas, which many clients allow. Keeps the format of the text around an edit;
// the editing functions of the parser's package do not.

import { isDeepStrictEqual } from 'node:util';
import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parse,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { isObject } from '../json.ts';
import type { Data, Format } from './settings.ts';

const OPTIONS = { allowTrailingComma: true };

/** Returns TEXT in a form that the parser accepts. A space replaces the byte order mark, so that offsets do not
 * change. */
function readable(text: string): string {
  return text.replace(/^\uFEFF/, ' ');
}

function endOf({ offset, length }: Node): number {
  return offset + length;
}

/** Returns VALUE as JSON in the style of TEXT, indented for a place inside DEPTH containers. */
function written(value: unknown, text: string, depth: number): string {
  const { indent, eol } = styleOf(text);
  return JSON.stringify(value, null, indent).replaceAll('\n', eol + indent.repeat(depth));
}

function styleOf(text: string): { indent: string; eol: string } {
  const [, indent = '  '] = /^([ \t]+)\S/m.exec(text) ?? [];
  return { indent, eol: text.includes('\r\n') ? '\r\n' : '\n' };
}

/** Returns TEXT with ITEM as a further element of CONTAINER, after its last one. CONTAINER is inside DEPTH
 * containers. */
function withItem(text: string, container: Node, depth: number, item: string): string {
  const { indent, eol } = styleOf(text);
  const last = container.children?.at(-1);
  const inLine = last !== undefined && !text.slice(container.offset, endOf(container)).includes('\n');
  const before = inLine ? ' ' : eol + indent.repeat(depth + 1);
  if (last !== undefined) return `${text.slice(0, endOf(last))},${before}${item}${text.slice(endOf(last))}`;
  const end = endOf(container) - 1;
  const comments = text.slice(container.offset + 1, end).trimEnd();
  const open = text.slice(0, container.offset + 1);
  return open + comments + before + item + eol + indent.repeat(depth) + text.slice(end);
}

/** Returns TEXT with VALUE at PATH. If the old value and VALUE are objects, members of the old value that VALUE lacks
 * stay. */
function withValueAt(text: string, path: readonly string[], value: unknown): string {
  const whole = text.trim() === '' ? '{}\n' : text;
  const root = parseTree(readable(whole), [], OPTIONS);
  if (root === undefined) throw new Error('it holds nothing');
  const old = findNodeAtLocation(root, [...path]);
  if (old?.type === 'object' && isObject(value)) {
    // Each changed member is set by itself, so that comments between members stay.
    const known = getNodeValue(old) as Data;
    const changed = Object.entries(value).filter(([key, inner]) => !isDeepStrictEqual(known[key], inner));
    return changed.reduce((all, [key, inner]) => withValueAt(all, [...path, key], inner), whole);
  }
  if (old !== undefined) {
    return whole.slice(0, old.offset) + written(value, whole, path.length) + whole.slice(endOf(old));
  }
  let depth = path.length - 1;
  while (depth > 0 && findNodeAtLocation(root, path.slice(0, depth)) === undefined) depth -= 1;
  const container = findNodeAtLocation(root, path.slice(0, depth));
  if (container?.type !== 'object') throw new Error('there is no object');
  const inner = path.slice(depth + 1).reduceRight<unknown>((all, key) => ({ [key]: all }), value);
  const item = `${JSON.stringify(path[depth])}: ${written(inner, whole, depth + 1)}`;
  return withItem(whole, container, depth, item);
}

/** Returns TEXT without the value at PATH. Comments around the value stay. */
function without(text: string, path: readonly (string | number)[]): string {
  const root = parseTree(readable(text), [], OPTIONS);
  const found = root && findNodeAtLocation(root, [...path]);
  const item = found?.parent?.type === 'property' ? found.parent : found;
  const container = item?.parent;
  if (item === undefined || container === undefined) throw new Error('it is not there');
  const before = text.slice(0, item.offset).trimEnd();
  const after = text.slice(endOf(item));
  const previous = container.children?.[container.children.indexOf(item) - 1];
  if (/^\s*,/.test(after)) return before + after.replace(/^\s*,/, '');
  if (previous === undefined)
    return before + (before.length === container.offset + 1 ? after.trimStart() : after);
  const end = endOf(previous);
  return before.slice(0, end) + before.slice(end).replace(/^\s*,/, '') + after;
}

export const JSONC: Format = {
  parse(text) {
    if (text.trim() === '') return {};
    const errors: ParseError[] = [];
    const data: unknown = parse(readable(text), errors, OPTIONS);
    const [first] = errors;
    if (first !== undefined) {
      const line = text.slice(0, first.offset).split('\n').length;
      throw new Error(`${printParseErrorCode(first.error)} in line ${line}`);
    }
    if (!isObject(data)) throw new Error('it holds no object');
    return data satisfies Data;
  },
  set: withValueAt,
  add(text, path, word) {
    const root = parseTree(readable(text), [], OPTIONS);
    const list = root && findNodeAtLocation(root, [...path]);
    if (list?.type !== 'array') throw new Error('there is no list');
    return withItem(text, list, path.length, JSON.stringify(word));
  },
  remove: without,
  isBare(text, path) {
    const root = parseTree(readable(text), [], OPTIONS);
    const found = root && findNodeAtLocation(root, [...path]);
    const isContainer = found?.type === 'object' || found?.type === 'array';
    return isContainer && text.slice(found.offset + 1, endOf(found) - 1).trim() === '';
  },
};
