// Builds the text of a question to a human, so that text from outside cannot be mistaken for our own words.

import { visibleLine, visibleName, withIsolates } from './visible.ts';

/** A line of a question, or a part of one. Only functions of this file create one. So text from outside is confined to
 *  the line, quoted or marked, and shown with all its characters. */
export class QuestionLine {
  readonly text: string;

  /** Called in this file only. */
  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** A value in a line of a question. A string is a name from outside; the elements of a list are joined by commas. */
type Value = QuestionLine | string | number | readonly (QuestionLine | string)[];

/** Returns a line of WORDS, our own text, with VALUES in between. */
export function questionLine(words: TemplateStringsArray, ...values: Value[]): QuestionLine {
  return new QuestionLine(String.raw({ raw: words }, ...values.map(valueText)));
}

function valueText(value: Value): string {
  if (value instanceof QuestionLine) return value.text;
  if (typeof value === 'string') return nameText(value);
  return typeof value === 'number' ? String(value) : value.map(valueText).join(', ');
}

/** Returns TEXT, a constant of this program, as our own words. */
export function ownWords<Text extends string>(text: string extends Text ? never : Text): QuestionLine {
  return new QuestionLine(text);
}

/** Length limits in characters of a name, and of a quoted text. They leave room for our own words. */
const NAME_LIMIT = 80;
const QUOTE_LIMIT = 500;
/** A text is first cut to this many times its limit, so that examining a very long text takes no time. */
const PRECUT_FACTOR = 4;

/** Returns NAME for use among our words: quoted if its end could be missed, without its middle if it is long. */
function nameText(name: string): string {
  const shown = bounded(visibleName(bounded(name, PRECUT_FACTOR * NAME_LIMIT)), NAME_LIMIT);
  return withIsolates(/^[^\s,;?"]+$/.test(shown) ? shown : JSON.stringify(shown));
}

/** Returns TEXT, written by somebody else. It must end a line: words of ours after it would seem part of it. */
export function quoted(text: string): QuestionLine {
  return new QuestionLine(
    withIsolates(bounded(visibleLine(bounded(text, PRECUT_FACTOR * QUOTE_LIMIT)), QUOTE_LIMIT)),
  );
}

/** Returns LINE, of a text from outside, after MARK, which begins no line of our own. */
export function marked(mark: '+' | '-' | ' ' | '|', line: string): QuestionLine {
  // Most lines have nothing to hide, and a file can have a million.
  return new QuestionLine(mark + (/^[ -~\t]*$/.test(line) ? line : withIsolates(visibleLine(line, true))));
}

/** Returns TEXT, or its beginning and end, of LIMIT characters together. */
function bounded(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const half = limit / 2;
  // A cut can split a surrogate pair.
  const [head, tail] = [text.slice(0, half), text.slice(-half)];
  return `${head.replace(/[\ud800-\udbff]$/, '')}[...]${tail.replace(/^[\udc00-\udfff]/, '')}`;
}
