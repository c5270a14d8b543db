// Decides by which words a search finds a built-in tool beside its definition. They are data: a line for each tool.

import WORDS from './words.json' with { type: 'json' };

const BY_TOOL: ReadonlyMap<string, string> = new Map(Object.entries(WORDS));

/** Characters of the sentence that a description ends with, and words in it: all descriptions together stay small. */
const SENTENCE_ROOM = 190;
const MOST_SHOWN = 22;

/** Tools whose contracts give their descriptions word for word. */
const VERBATIM = ['search_tools', 'apropos_search', 'who_calls'];

/** Returns the words by which a search finds the tool NAME, the most telling first. */
export function searchWords(name: string): readonly string[] {
  return BY_TOOL.get(name)?.split(' ') ?? [];
}

/** Returns DESCRIPTION, that of the tool NAME, as clients see it: it ends with the first of the words. Clients that search
 *  by themselves read it. */
export function withWords(name: string, description: string): string {
  const list = searchWords(name);
  if (list.length === 0 || VERBATIM.includes(name)) return description;
  let sentence = 'Also:';
  for (const word of list.slice(0, MOST_SHOWN)) {
    if (sentence.length + word.length + 2 > SENTENCE_ROOM) break;
    sentence += ` ${word}`;
  }
  return `${description}\n${sentence}.`;
}
