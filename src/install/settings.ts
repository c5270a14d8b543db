// Defines the settings of a client, and the interface of the editors for the configuration formats.

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
  /** The keys that lead to the setting. */
  path: readonly string[];
} & (
  | { kind: 'entry'; entry: (launch: Launch) => Data }
  /** Permissions to run tools without asking. FILES are all files with permissions that the client reads. */
  | { kind: 'permission'; files: readonly string[]; words: readonly string[] }
);

/** An editor for one format. It leaves all other text of the file unchanged, including comments. */
export interface Format {
  /** Returns the data in TEXT. Throws an Error that says what is wrong with TEXT. */
  parse(text: string): Data;
  /** Returns TEXT with VALUE at PATH. VALUE must have all members of the old value, if both are objects. */
  set(text: string, path: readonly string[], value: Data | string[]): string;
  /** Returns TEXT with WORD as the last element of the list at PATH. */
  add(text: string, path: readonly string[], word: string): string;
  /** Returns TEXT without the value at PATH. A number in PATH is the index of a list element. */
  remove(text: string, path: readonly (string | number)[]): string;
  /** True when the value at PATH is an empty container that can be removed without losing a comment. */
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
