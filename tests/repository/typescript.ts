// Reads TypeScript and JavaScript text just far enough to tell its comments and strings.

export interface Piece {
  /** The line that it begins in. */
  line: number;
  kind: 'comment' | 'string';
  text: string;
}

/** Comments, strings, the begin of a template, regular expressions where one can stand, and brackets. */
const TOKEN =
  /(\/\/.*|\/\*[\s\S]*?\*\/)|'((?:\\.|[^'\\\n])*)'|"((?:\\.|[^"\\\n])*)"|(`)|(?<=(?:^|[(,=:[!&|?{};\n]|=>|return)[ \t]*)\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*|([{}])/g;
const IN_TEMPLATE = /\\[\s\S]|(`)|(\$\{)|[^`\\$]+|\$/g;

/** What stands for the value in the place of `${...}`: one word. */
const VALUE = 'X';

/** Reads on in TEXT from START: to the bracket that closes what was open there, or to the end. Adds what is found to
 *  PIECES and returns where it stopped. */
function readCode(text: string, start: number, pieces: Piece[]): number {
  const token = new RegExp(TOKEN);
  token.lastIndex = start;
  let depth = 0;
  let last: Piece | undefined;
  let lastEnd = 0;
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const [whole, comment, single, double, template, bracket] = match;
    if (bracket === '{') depth++;
    if (bracket === '}' && depth-- === 0) return token.lastIndex;
    const line = text.slice(0, match.index).split('\n').length;
    if (comment !== undefined) pieces.push({ line, kind: 'comment', text: comment });
    let string = single ?? double;
    if (template !== undefined) {
      const read = readTemplate(text, token.lastIndex, pieces);
      token.lastIndex = read.end;
      string = read.text;
    }
    if (string === undefined) continue;
    // Strings that are added are one text.
    if (last && /^\s*\+\s*$/.test(text.slice(lastEnd, match.index))) last.text += string;
    else {
      last = { line, kind: 'string', text: string };
      pieces.push(last);
    }
    lastEnd = match.index + (template === undefined ? whole.length : token.lastIndex - match.index);
  }
  return text.length;
}

/** Reads the template in TEXT whose first character is at START. Adds what stands in its values to PIECES. */
function readTemplate(text: string, start: number, pieces: Piece[]): { text: string; end: number } {
  const token = new RegExp(IN_TEMPLATE);
  token.lastIndex = start;
  let content = '';
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const [whole, close, value] = match;
    if (close !== undefined) return { text: content, end: token.lastIndex };
    content += value === undefined ? whole : VALUE;
    if (value !== undefined) token.lastIndex = readCode(text, token.lastIndex, pieces);
  }
  return { text: content, end: text.length };
}

/** Returns the comments and strings of TEXT. Comments of one line each that follow each other are one; so are strings
 *  that are added. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  readCode(text, 0, pieces);
  const merged: Piece[] = [];
  let lastLine = -1;
  for (const piece of pieces) {
    const before = merged.at(-1);
    const follows =
      piece.text.startsWith('//') && before?.text.startsWith('//') && piece.line === lastLine + 1;
    if (piece.kind === 'comment') lastLine = piece.line;
    if (follows && before) before.text += `\n${piece.text}`;
    else merged.push({ ...piece });
  }
  return merged;
}
