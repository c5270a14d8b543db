// Builds the text of a question to a human. Text that the server did not write cannot look like the server's own words.

import { visibleLine, visibleName, withIsolates } from './visible.ts';

/** A line of a question, or a part of a line. Only functions in this file create such objects. They ensure that text
 * from other sources stays within its line, is quoted or marked, and has no hidden characters. */
export class QuestionLine {
  readonly text: string;

  /** Call this constructor only in this file. */
  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** A value in a line of a question. A string is a name that the server did not choose. The elements of an array are
 * joined by commas. */
type Value = QuestionLine | string | number | readonly (QuestionLine | string)[];

/** Returns a line that consists of WORDS, the server's own words, and VALUES between them. */
export function questionLine(words: TemplateStringsArray, ...values: Value[]): QuestionLine {
  return new QuestionLine(String.raw({ raw: words }, ...values.map(valueText)));
}

function valueText(value: Value): string {
  if (value instanceof QuestionLine) return value.text;
  if (typeof value === 'string') return nameText(value);
  return typeof value === 'number' ? String(value) : value.map(valueText).join(', ');
}

/** Returns TEXT as the server's own words. Its type ensures that TEXT is a constant in the program. */
export function ownWords<Text extends string>(text: string extends Text ? never : Text): QuestionLine {
  return new QuestionLine(text);
}

/** Maximum number of characters of a name. The server's own words need the rest of the line. */
const NAME_LIMIT = 80;
const QUOTE_LIMIT = 500;
/** Long texts are slow to examine. So a text is first cut to its limit times this factor. */
const PRECUT_FACTOR = 4;

/** Returns NAME in a form that can stand within the server's own words. If the end of NAME could be overlooked, NAME is
 * quoted. The middle of a long name is left out. */
function nameText(name: string): string {
  const shown = bounded(visibleName(bounded(name, PRECUT_FACTOR * NAME_LIMIT)), NAME_LIMIT);
  return withIsolates(/^[^\s,;?"]+$/.test(shown) ? shown : JSON.stringify(shown));
}

/** Returns TEXT, which the server did not write, shortened, and with codes in place of hidden characters. The result
 * must be at the end of a line, because words after it would look like part of it. */
export function quoted(text: string): QuestionLine {
  return new QuestionLine(
    withIsolates(bounded(visibleLine(bounded(text, PRECUT_FACTOR * QUOTE_LIMIT)), QUOTE_LIMIT)),
  );
}

/** Returns LINE, which is from a text that the server did not write, with MARK before it. No line of the server's own
 * words begins with such a mark. */
export function marked(mark: '+' | '-' | ' ' | '|', line: string): QuestionLine {
  // Most lines have only plain characters, and a file can have a million lines. So this test saves time.
  return new QuestionLine(mark + (/^[ -~\t]*$/.test(line) ? line : withIsolates(visibleLine(line, true))));
}

/** Returns TEXT. If it has more than LIMIT characters, replaces its middle by [...]. */
function bounded(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const half = limit / 2;
  // A cut can leave one half of a surrogate pair.
  const [head, tail] = [text.slice(0, half), text.slice(-half)];
  return `${head.replace(/[\ud800-\udbff]$/, '')}[...]${tail.replace(/^[\udc00-\udfff]/, '')}`;
}
