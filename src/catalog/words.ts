// Decides by which words a search finds a built-in tool beside its definition. They are data: a line for each tool.

import WORDS from './words.json' with { type: 'json' };

const BY_TOOL: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(WORDS).map(([name, line]) => [name, line.split(' ')]),
);

/** Returns the words by which search_tools finds the tool NAME; no client is shown them. */
export function searchWords(name: string): readonly string[] {
  return BY_TOOL.get(name) ?? [];
}
