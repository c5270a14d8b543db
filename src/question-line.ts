// Decides how a question to a human is put into words, so that nothing from outside can be taken for words of ours.

import { apart, visibleLine, visibleName } from './visible.ts';

/** A line of a question, or a part of one. Only the functions of this file make any, so whatever stands in it from outside is
 *  on this line alone, quoted or marked, and shown with all that it has. */
export class QuestionLine {
  readonly text: string;

  /** To be called in this file only. */
  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** What can stand in a line of a question. A string is a name from outside; a list gets commas. */
type Value = QuestionLine | string | number | readonly (QuestionLine | string)[];

/** Returns the line of WORDS, which are ours, with VALUES between them. */
export function questionLine(words: TemplateStringsArray, ...values: Value[]): QuestionLine {
  return new QuestionLine(String.raw({ raw: words }, ...values.map(valueText)));
}

function valueText(value: Value): string {
  if (value instanceof QuestionLine) return value.text;
  if (typeof value === 'string') return nameText(value);
  return typeof value === 'number' ? String(value) : value.map(valueText).join(', ');
}

/** Returns TEXT, one of the constants of this program, as words of ours. */
export function ownWords<Text extends string>(text: string extends Text ? never : Text): QuestionLine {
  return new QuestionLine(text);
}

/** Characters of a name, and of what somebody says, that are shown: they leave room for our own words. */
const NAME = 80;
const SAID = 500;
/** How many times as many are looked at: what is far too long is cut before it takes time. */
const WORST = 4;

/** Returns NAME as it stands among our words: in quotes where its end could be missed, without its middle when it is long. */
function nameText(name: string): string {
  const shown = bounded(visibleName(bounded(name, WORST * NAME)), NAME);
  return apart(/^[^\s,;?"]+$/.test(shown) ? shown : JSON.stringify(shown));
}

/** Returns TEXT, which somebody said. It stands at the end of a line, where nothing of ours can be taken for a part of it. */
export function quoted(text: string): QuestionLine {
  return new QuestionLine(apart(bounded(visibleLine(bounded(text, WORST * SAID)), SAID)));
}

/** Returns LINE of a text from outside behind MARK, which begins no line of ours. */
export function marked(mark: '+' | '-' | ' ' | '|', line: string): QuestionLine {
  // Most lines have nothing to hide, and a file can have a million.
  return new QuestionLine(mark + (/^[ -~\t]*$/.test(line) ? line : apart(visibleLine(line, '\t'))));
}

/** Returns TEXT, or its beginning and its end, of LIMIT characters together. */
function bounded(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const half = limit / 2;
  // Half of a character can stand at a cut.
  const [head, tail] = [text.slice(0, half), text.slice(-half)];
  return `${head.replace(/[\ud800-\udbff]$/, '')}[...]${tail.replace(/^[\udc00-\udfff]/, '')}`;
}
