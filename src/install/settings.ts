// Decides what a setting of a client is, and how one kind of configuration is read and edited.

/** What a configuration holds. */
export type Data = { [key: string]: unknown };

/** How a server is started. */
export interface Launch {
  node: string;
  /** The path of our script, and what follows it. */
  args: string[];
}

/** One thing that install puts into a file: the entry that starts the server, or a word in a list. */
export type Setting = {
  file: string;
  format: 'jsonc' | 'toml';
  /** The keys that lead to it. */
  path: readonly string[];
} & (
  | { kind: 'entry'; entry: (launch: Launch) => Data }
  /** What a client may do without asking its user. */
  | { kind: 'permission'; words: readonly string[] }
);

/** How texts of one kind are edited: all else in them stays as it is, comments too. */
export interface Format {
  /** Returns what TEXT holds. Throws an Error that says what is wrong with it. */
  parse(text: string): Data;
  /** Returns TEXT with VALUE at PATH. */
  set(text: string, path: readonly string[], value: Data | string[]): string;
  /** Returns TEXT with WORD as the last element of the list at PATH. */
  add(text: string, path: readonly string[], word: string): string;
  /** Returns TEXT without what is at PATH; a number in it is a place in a list. */
  remove(text: string, path: readonly (string | number)[]): string;
}

/** Returns what is at PATH in DATA. */
export function at(data: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, key) => (isData(inner) ? inner[key] : undefined), data);
}

/** Returns whether VALUE is an object with keys. */
export function isData(value: unknown): value is Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns DATA with VALUE at PATH, or without anything there when VALUE is undefined. */
export function withValue(data: Data, [key = '', ...rest]: readonly string[], value: unknown): Data {
  const inner = data[key];
  const next = rest.length === 0 ? value : withValue(isData(inner) ? inner : {}, rest, value);
  const others = Object.fromEntries(Object.entries(data).filter(([name]) => name !== key));
  return next === undefined ? others : { ...others, [key]: next };
}
