/** Computes the splices that insert, replace or remove a form of a Lisp text, with comments and blanks beside it. */

import { newReader, readTopLevel } from './form.ts';
import { tokensOf } from './lexer.ts';
import type { TopLevelForms } from './position.ts';
import { lastUpTo, type SourceText } from './text.ts';

/** A replacement of the text from START to END by TEXT. */
export interface Splice {
  start: number;
  end: number;
  text: string;
}

/** The span of a form. LEAD is the start of the #+ or #- before it. */
export interface Extent {
  start: number;
  end: number;
  lead: number;
}

/** Returns how many line breaks to put between a form and a new form beside it: as many as the first of BLANKS that has
 *  any, at most 2. BLANKS are the runs of white space around the form. */
function breaksBetween(...blanks: string[]): number {
  const counts = blanks.map((blank) => blank.split('\n').length - 1);
  return Math.min(2, counts.find((count) => count > 0) ?? 2);
}

function blankBefore(text: string, index: number): string {
  return /\s*$/.exec(text.slice(0, index))?.[0] ?? '';
}

/** Returns the white space from INDEX of TEXT on, or '' when it reaches the end of TEXT. */
function blankBehind(text: string, index: number): string {
  const blank = /^\s*/.exec(text.slice(index))?.[0] ?? '';
  return index + blank.length === text.length ? '' : blank;
}

/** Returns the splice that puts ADDED, with no final line break, before EXTENT of FORMS and the comment right above. */
export function splicedBefore(forms: TopLevelForms, extent: Extent, added: string, eol: string): Splice {
  const { text } = forms.source;
  const { lead, end } = extent;
  const lineStart = text.lastIndexOf('\n', lead - 1) + 1;
  const indentation = text.slice(lineStart, lead);
  const alone = indentation.trim() === '';
  const at = alone ? commentStart(text, lineStart, endAbove(forms, extent)) + indentation.length : lead;
  const breaks = breaksBetween(blankBefore(text, at), blankBehind(text, end));
  return { start: at, end: at, text: `${added}${eol.repeat(breaks)}${alone ? indentation : ''}` };
}

/** Returns the end of the last token above EXTENT of FORMS; 0 without any. */
function endAbove(forms: TopLevelForms, { start, lead }: Extent): number {
  const { text } = forms.source;
  const starts = forms.starts();
  let end = starts[lastUpTo(starts, start) - 1] ?? 0;
  for (const token of tokensOf(text, end)) {
    if (token.start >= lead) break;
    end = token.end;
  }
  return end;
}

/** A comment line about the form below. A line with four semicolons is a title; one with |# can end a block comment. */
const COMMENT_LINE = /^[ \t]*;(?!;;;)(?!.*\|#)/;

/** Returns the start of the comment lines that end at LINE_START of TEXT. It is at least FLOOR: above that, lines of a
 *  string can look like comments. */
function commentStart(text: string, lineStart: number, floor: number): number {
  let start = lineStart;
  for (let at = lineStart; at > 0; ) {
    at = text.lastIndexOf('\n', at - 2) + 1;
    if (at < floor || !COMMENT_LINE.test(text.slice(at, start))) return start;
    start = at;
  }
  return start;
}

/** Returns the splice that inserts ADDED, without a final line break, behind EXTENT and a comment in its last line. */
export function splicedAfter(text: string, { lead, end }: Extent, added: string, eol: string): Splice {
  const lineStart = text.lastIndexOf('\n', lead - 1) + 1;
  const indentation = /^[ \t]*/.exec(text.slice(lineStart, lead))?.[0] ?? '';
  const at = end + (/^[ \t]*;[^\r\n]*/.exec(text.slice(end))?.[0].length ?? 0);
  const breaks = eol.repeat(breaksBetween(blankBehind(text, at), blankBefore(text, lead)));
  return { start: at, end: at, text: `${breaks}${indentation}${added}${commentBreak(text, at, added, eol)}` };
}

/** Returns the splice that replaces EXTENT of TEXT by ADDED. */
export function splicedOver(text: string, { start, end }: Extent, added: string, eol: string): Splice {
  return { start, end, text: added + commentBreak(text, end, added, eol) };
}

/** Returns the line break needed behind ADDED at index AT of TEXT, lest a comment at its end swallow what follows. */
function commentBreak(text: string, at: number, added: string, eol: string): string {
  const follows = /^[ \t]*[^ \t\r\n]/.test(text.slice(at));
  const lastLine = added.slice(added.lastIndexOf('\n') + 1);
  return follows && lastLine.includes(';') ? eol : '';
}

/** Returns the splice that removes EXTENT from TEXT, and the line breaks on the side that has fewer. */
export function splicedOut(text: string, { lead, end }: Extent): Splice {
  const before = blankBefore(text, lead);
  const behind = /^\s*/.exec(text.slice(end))?.[0] ?? '';
  const [above, below] = [before, behind].map((blank) => blank.split('\n').length - 1) as [number, number];
  const alone = { start: lead, end, text: '' };
  const withAbove = { ...alone, start: lead - before.length };
  const withBelow = { ...alone, end: end + behind.length };
  if (end + behind.length === text.length) return before.length === lead ? alone : withAbove;
  if (before.length === lead) return withBelow;
  // The last form of a list is removed with the white space above, so that its line goes too.
  if (below === 0) return above > 0 && text[end + behind.length] === ')' ? withAbove : alone;
  if (above === 0) return alone;
  const headed = above === 1 && endsInComment(text.slice(0, lead - before.length));
  return below < above && !headed ? withBelow : withAbove;
}

/** True when the last line of TEXT is a comment that belongs to the form below it. */
function endsInComment(text: string): boolean {
  return COMMENT_LINE.test(text.slice(text.lastIndexOf('\n') + 1));
}

/** Returns TEXT with SPLICES applied, which are sorted by start; splices at one place follow each other. When two
 *  overlap, returns the later one. */
export function spliced(text: string, splices: readonly Splice[]): string | Splice {
  let [result, at] = ['', 0];
  for (const splice of splices) {
    if (splice.start < at) return splice;
    result += text.slice(at, splice.start) + splice.text;
    at = splice.end;
  }
  return result + text.slice(at);
}

/** Returns the 1-based line of TEXT where an unfinished form begins; undefined when TEXT is whole forms. */
export function unfinishedLine(text: string, features: ReadonlySet<string>): number | undefined {
  const whole = `${text}\n()`;
  const reader = newReader(whole, 0, features);
  const lineOf = (index: number) => text.slice(0, index).split('\n').length;
  for (let last = 0; ; ) {
    const form = readTopLevel(reader);
    if (form === undefined) return lineOf(last);
    if (form.start === text.length + 1 && reader.at === whole.length)
      return form.lead === undefined ? undefined : lineOf(form.lead);
    if (reader.at > text.length) return lineOf(form.start);
    last = reader.at;
  }
}

/** A top-level form that a splice inserted or changed. */
export interface Changed {
  start: number;
  end: number;
}

/** Returns the top-level forms of NOW that SPLICES, applied to BEFORE, inserted or changed. SPLICES are sorted and do
 *  not overlap. NUMBERS has the number in BEFORE of each form of NOW, null for those. Returns instead, as LOST, the
 *  start of a form of BEFORE that no splice touches but that NOW reads otherwise, if there is one. */
export function changedForms(
  before: TopLevelForms,
  now: TopLevelForms,
  splices: readonly Splice[],
): { changed: Changed[]; numbers: (number | null)[] } | { lost: number } {
  const kept = new Map<number, { number: number; end: number }>();
  // NEXT is the first splice that ends after the form's start, SHIFT by how much the splices before it move the form.
  let [next, shift] = [0, 0];
  for (const [number, start] of before.starts().entries()) {
    const end = before.end(start);
    const lead = before.lead(start);
    for (let splice = splices[next]; splice && splice.end <= lead; splice = splices[++next])
      shift += splice.text.length - (splice.end - splice.start);
    const touched = (splices[next]?.start ?? end) < end;
    if (!touched) kept.set(start + shift, { number, end: end + shift });
  }
  const numbers: (number | null)[] = [];
  const changed: Changed[] = [];
  for (const start of now.starts()) {
    const end = now.end(start);
    const same = kept.get(start);
    if (same?.end === end) kept.delete(start);
    else changed.push({ start, end });
    numbers.push(same?.end === end ? same.number : null);
  }
  const [lost] = kept.values();
  return lost === undefined ? { changed, numbers } : { lost: before.start(lost.number) ?? 0 };
}

/** Returns the 1-based line of the character at INDEX of SOURCE. */
export function lineAt(source: SourceText, index: number): number {
  return source.positionAt(index).line;
}
