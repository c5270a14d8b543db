// Reads further search words of the built-in tools from words.json, which has one line for each tool.

import WORDS from './words.json' with { type: 'json' };

const BY_TOOL: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(WORDS).map(([name, line]) => [name, line.split(' ')]),
);

/** Returns the further words by which search_tools finds the tool NAME. Clients do not see them. */
export function searchWords(name: string): readonly string[] {
  return BY_TOOL.get(name) ?? [];
}
