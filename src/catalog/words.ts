// Decides by which words a search finds a tool beside its definition, and which words tell little. All are data.

import COMMON from './common-words.json' with { type: 'json' };
import WORDS from './words.json' with { type: 'json' };

/** Words that say nothing about a tool: grammar, and what every request says. */
export const STOP_WORDS: ReadonlySet<string> = new Set(COMMON.stop);

/** Words of requests about anything. Beside words that no tool has, they do not make a request one about Lisp. */
export const COMMON_WORDS: readonly string[] = COMMON.common;

const BY_TOOL: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(WORDS));

/** Returns the words by which a search finds the tool NAME, besides the keywords of its definition. */
export function searchWords(name: string): readonly string[] {
  return BY_TOOL.get(name) ?? [];
}
