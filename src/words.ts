// Splits a line into words as a shell does. Runs no shell.

/** Matches a part of a word: in single or double quotes, after a backslash, or plain. */
const PART = /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\]+)/sy;

/** Returns the words of LINE. Single quotes, double quotes and backslashes have the same meaning as in a shell;
 * variables, pipes and patterns have none. Returns undefined when a quote is not closed, or when nothing follows a
 * backslash. */
export function shellWords(line: string): string[] | undefined {
  const words: string[] = [];
  let at = 0;
  while (at < line.length) {
    const spaces = /^\s*/.exec(line.slice(at))?.[0].length ?? 0;
    at += spaces;
    if (at >= line.length) break;
    let word = '';
    for (;;) {
      PART.lastIndex = at;
      const part = PART.exec(line);
      if (part === null) break;
      const [text, single, double, escaped, plain] = part;
      word += single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? plain;
      at += text.length;
    }
    if (at < line.length && !/\s/.test(line.charAt(at))) return undefined;
    words.push(word);
  }
  return words;
}
