// Builds the text of a question to a human. Text from outside cannot look like the server's own words.

import { visibleLine, visibleName, withIsolates } from './visible.ts';

/** A line of a question, or a part of a line. Only the functions of this file create one. They ensure that
 *  text from outside cannot leave its line, is quoted or marked, and has no hidden characters. */
export class QuestionLine {
  readonly text: string;

  /** Only for this file. */
  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** A value in a line of a question. A string is a name from outside. The elements of a list are joined by
 *  commas. */
type Value = QuestionLine | string | number | readonly (QuestionLine | string)[];

/** Returns a line of WORDS, the server's own words, with VALUES in between. */
export function questionLine(words: TemplateStringsArray, ...values: Value[]): QuestionLine {
  return new QuestionLine(String.raw({ raw: words }, ...values.map(valueText)));
}

function valueText(value: Value): string {
  if (value instanceof QuestionLine) return value.text;
  if (typeof value === 'string') return nameText(value);
  return typeof value === 'number' ? String(value) : value.map(valueText).join(', ');
}

/** Returns TEXT as the server's own words. The type ensures that TEXT is a constant of this program. */
export function ownWords<Text extends string>(text: string extends Text ? never : Text): QuestionLine {
  return new QuestionLine(text);
}

/** Maximum number of characters of a name. It leaves room for the server's own words. */
const NAME_LIMIT = 80;
const QUOTE_LIMIT = 500;
/** Examining a very long text is slow, so a text is first cut to its limit times this factor. */
const PRECUT_FACTOR = 4;

/** Returns NAME for use within the server's own words. Quotes it if its end could be overlooked, and leaves
 *  out the middle of a long name. */
function nameText(name: string): string {
  const shown = bounded(visibleName(bounded(name, PRECUT_FACTOR * NAME_LIMIT)), NAME_LIMIT);
  return withIsolates(/^[^\s,;?"]+$/.test(shown) ? shown : JSON.stringify(shown));
}

/** Returns TEXT from outside with hidden characters made visible. It must be the end of a line, because words
 *  after it would seem to be part of it. */
export function quoted(text: string): QuestionLine {
  return new QuestionLine(
    withIsolates(bounded(visibleLine(bounded(text, PRECUT_FACTOR * QUOTE_LIMIT)), QUOTE_LIMIT)),
  );
}

/** Returns LINE with MARK before it. LINE is from a text that the server did not write. No line of the
 *  server's own words begins with MARK. */
export function marked(mark: '+' | '-' | ' ' | '|', line: string): QuestionLine {
  // Most lines have only plain characters, and a file can have a million lines, so this test saves time.
  return new QuestionLine(mark + (/^[ -~\t]*$/.test(line) ? line : withIsolates(visibleLine(line, true))));
}

/** Returns TEXT if it has at most LIMIT characters. Otherwise returns LIMIT characters of its beginning and
 *  end. */
function bounded(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const half = limit / 2;
  // A cut can leave half of a surrogate pair.
  const [head, tail] = [text.slice(0, half), text.slice(-half)];
  return `${head.replace(/[\ud800-\udbff]$/, '')}[...]${tail.replace(/^[\udc00-\udfff]/, '')}`;
}
