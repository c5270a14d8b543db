// Defines the settings of a client, and the interface of the editors for configuration formats.

import { isObject } from '../json.ts';

export type Data = { [key: string]: unknown };

/** The command that starts a server. */
export interface Launch {
  node: string;
  /** The path of our script, then its arguments. */
  args: string[];
}

/** A setting that install puts into a file: the entry that starts the server, or permissions in a list. */
export type Setting = {
  file: string;
  format: 'jsonc' | 'toml';
  /** The keys on the way to the setting in the file's data. */
  path: readonly string[];
} & (
  | { kind: 'entry'; entry: (launch: Launch) => Data }
  /** Permissions to run tools without asking. `files` are all files with permissions that the client
   *  reads. */
  | { kind: 'permission'; files: readonly string[]; words: readonly string[] }
);

/** An editor for one format. It leaves all other text of the file unchanged, including comments. */
export interface Format {
  /** Returns the data in `text`. Throws an Error about a mistake in `text`. */
  parse(text: string): Data;
  /** Returns `text` with `value` at `path`. If both are objects, `value` must have all members of the old
   *  value. */
  set(text: string, path: readonly string[], value: Data | string[]): string;
  /** Returns `text` with `word` as the last element of the list at `path`. */
  add(text: string, path: readonly string[], word: string): string;
  /** Returns `text` without the value at `path`. A number in `path` is the index of a list element. */
  remove(text: string, path: readonly (string | number)[]): string;
  /** True when the value at `path` is an empty container that can be removed without losing a comment. */
  isBare(text: string, path: readonly string[]): boolean;
}

/** Returns the value at PATH in DATA, or undefined. */
export function valueAtPath(data: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, key) => (isObject(inner) ? inner[key] : undefined), data);
}

/** True when VALUE is an object or a list without members. */
export function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

/** Returns a copy of DATA with VALUE at PATH, or without PATH when VALUE is undefined. */
export function withValue(data: Data, [key = '', ...rest]: readonly string[], value: unknown): Data {
  const inner = data[key];
  const next = rest.length === 0 ? value : withValue(isObject(inner) ? inner : {}, rest, value);
  const others = Object.fromEntries(Object.entries(data).filter(([name]) => name !== key));
  return next === undefined ? others : { ...others, [key]: next };
}
