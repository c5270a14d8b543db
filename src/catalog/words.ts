// Decides by which words a search finds a built-in tool beside its definition. They are data: a line for each tool.

import WORDS from './words.json' with { type: 'json' };

/** What stands between the words that clients are shown and those that only the ranking reads. */
const BAR = ' | ';

interface Line {
  readonly shown: string;
  readonly words: readonly string[];
}

const BY_TOOL: ReadonlyMap<string, Line> = new Map(
  Object.entries(WORDS).map(([name, line]) => {
    const [first = '', rest = first] = line.split(BAR);
    return [name, { shown: rest === first ? '' : first, words: line.replace(BAR, ' ').split(' ') }];
  }),
);

/** Returns the words by which a search finds the tool NAME, those that clients are shown first. */
export function searchWords(name: string): readonly string[] {
  return BY_TOOL.get(name)?.words ?? [];
}

/** Returns DESCRIPTION, that of the tool NAME, as clients see it: it ends with the words that they are shown. Clients that
 *  search by themselves read it. A tool whose contract gives its description word for word has none. */
export function withWords(name: string, description: string): string {
  const shown = BY_TOOL.get(name)?.shown ?? '';
  return shown === '' ? description : `${description}\nAlso: ${shown}.`;
}
