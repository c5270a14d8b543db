// Splits a line into words as a shell does, without running one.

/** A part of a word: quoted with ' or ", or escaped, or plain. */
const PART = /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\]+)/sy;

/** Returns the words of LINE. Single quotes, double quotes and backslashes work as in a shell. Variables,
 *  pipes and patterns do not. Returns undefined when a quote has no end, or nothing follows a backslash. */
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
