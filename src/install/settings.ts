// Defines the settings in a client's configuration, and the interface of an editor for a format of configuration files.

import { isObject } from '../json.ts';

export type Data = { [key: string]: unknown };

/** The command that starts a server. */
export interface Launch {
  node: string;
  /** The path of the script of live-lisp, and its arguments. */
  args: string[];
}

/** A setting that install writes to a file: the entry that starts the server, or permissions in a list. */
export type Setting = {
  file: string;
  format: 'jsonc' | 'toml';
  /** The keys that lead to the setting in the data of the file. */
  path: readonly string[];
} & (
  | { kind: 'entry'; entry: (launch: Launch) => Data }
  /** Permissions to run tools without asking. `files` are all files in which the client looks for permissions. */
  | { kind: 'permission'; files: readonly string[]; words: readonly string[] }
);

/** An editor for one format. It does not change other text of the file, such as comments. */
export interface Format {
  /** Returns the data that `text` represents. Throws an Error when `text` is malformed. */
  parse(text: string): Data;
  /** Returns `text` with `value` at `path`. If the old value and `value` are objects, `value` must have all members of
   * the old one. */
  set(text: string, path: readonly string[], value: Data | string[]): string;
  /** Returns `text` with `word` as a new last element of the list at `path`. */
  add(text: string, path: readonly string[], word: string): string;
  /** Returns `text` without the value at `path`. A number in `path` is an index in a list. */
  remove(text: string, path: readonly (string | number)[]): string;
  /** Returns true when the value at `path` is an empty container without comments, so that it can be removed. */
  isBare(text: string, path: readonly string[]): boolean;
}

/** Returns the value at PATH in DATA; undefined when there is none. */
export function valueAtPath(data: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, key) => (isObject(inner) ? inner[key] : undefined), data);
}

/** Returns true when VALUE is an object or an array without members. */
export function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

/** Returns a copy of DATA with VALUE at PATH. If VALUE is undefined, returns a copy without the value at PATH. */
export function withValue(data: Data, [key = '', ...rest]: readonly string[], value: unknown): Data {
  const inner = data[key];
  const next = rest.length === 0 ? value : withValue(isObject(inner) ? inner : {}, rest, value);
  const others = Object.fromEntries(Object.entries(data).filter(([name]) => name !== key));
  return next === undefined ? others : { ...others, [key]: next };
}
