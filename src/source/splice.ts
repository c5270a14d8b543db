/** Computes how a text changes when a form is inserted, replaced or removed. */

import { FormReader } from './form.ts';
import { commentsFrom } from './lexer.ts';
import type { Extent, TopLevelForms } from './top-level.ts';
import { type Span, treeOf } from './tree.ts';

export interface Splice extends Span {
  text: string;
}

/** Returns the number of line breaks, 1 or 2, to put between a form and a new form beside it. Takes it from
 *  the first of BLANKS that has line breaks; otherwise it is 2. BLANKS are the white space on both sides of
 *  the form. */
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

/** Returns the splice that inserts ADDED, a text without final line break, before the form at EXTENT of FORMS
 *  and before the comment right above the form. EOL is the line break of the text. */
export function spliceBefore(forms: TopLevelForms, extent: Extent, added: string, eol: string): Splice {
  const { text } = forms.source;
  const at = commentedStart(forms, extent);
  const indentation = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  const alone = indentation.trim() === '';
  const breaks = breaksBetween(blankBefore(text, at), blankBehind(text, extent.end));
  return { start: at, end: at, text: `${added}${eol.repeat(breaks)}${alone ? indentation : ''}` };
}

/** Returns where the comment begins that belongs to the form at EXTENT of FORMS: right above the form, or
 *  before it on its line. Returns the LEAD of EXTENT when there is no such comment. */
export function commentedStart(forms: TopLevelForms, extent: Extent): number {
  const { text } = forms.source;
  let [below, start] = [extent.lead, extent.lead];
  for (const comment of commentsFrom(text, endAbove(text, extent.lead)).reverse()) {
    const breaks = text.slice(comment.end, below).split('\n').length - 1;
    if (breaks > 1 || text.startsWith(SECTION, comment.start)) return start;
    below = comment.start;
    const lineStart = text.lastIndexOf('\n', below - 1) + 1;
    // A comment after a form on its line belongs to that form.
    if (/^\ufeff?[ \t]*$/.test(text.slice(lineStart, below))) start = below;
  }
  return start;
}

/** Begins a comment that is the title of a section. */
const SECTION = ';;;;';

/** Returns the end of the last token before INDEX of TEXT; 0 when there is none. */
function endAbove(text: string, index: number): number {
  const tree = treeOf(text);
  const number = tree.tokenAt(index);
  return number === 0 ? 0 : tree.end(number - 1);
}

/** Returns the splice that inserts ADDED after the form at EXTENT, and after a comment on its line. */
export function spliceAfter(text: string, { lead, end }: Extent, added: string, eol: string): Splice {
  const lineStart = text.lastIndexOf('\n', lead - 1) + 1;
  const indentation = /^[ \t]*/.exec(text.slice(lineStart, lead))?.[0] ?? '';
  const at = end + (/^[ \t]*;[^\r\n]*/.exec(text.slice(end))?.[0].length ?? 0);
  const breaks = eol.repeat(breaksBetween(blankBehind(text, at), blankBefore(text, lead)));
  return { start: at, end: at, text: `${breaks}${indentation}${added}${commentBreak(text, at, added, eol)}` };
}

/** Returns the splice that replaces the form at EXTENT of TEXT by ADDED. A #+ or #- before it stays. */
export function spliceOver(text: string, { start, end }: Extent, added: string, eol: string): Splice {
  return { start, end, text: added + commentBreak(text, end, added, eol) };
}

/** Returns EOL if ADDED may end in a comment, and code follows after AT of TEXT on the same line; else
 *  ''. */
function commentBreak(text: string, at: number, added: string, eol: string): string {
  const follows = /^[ \t]*[^ \t\r\n]/.test(text.slice(at));
  const lastLine = added.slice(added.lastIndexOf('\n') + 1);
  return follows && lastLine.includes(';') ? eol : '';
}

/** Returns the splice that removes the form at EXTENT from TEXT. When the form has its lines to itself, also
 *  removes the white space above or below it, usually the one with fewer line breaks. */
export function spliceOut(text: string, { lead, end }: Extent): Splice {
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
  const line = text.slice(text.lastIndexOf('\n') + 1).trim();
  return line.endsWith('|#') || (line.startsWith(';') && !line.startsWith(SECTION));
}

/** Returns TEXT with SPLICES applied. SPLICES must be sorted by start; insertions at the same index keep
 *  their order. When two splices overlap, returns the second of them instead. */
export function applySplices(text: string, splices: readonly Splice[]): string | Splice {
  let [result, at] = ['', 0];
  for (const splice of splices) {
    if (splice.start < at) return splice;
    result += text.slice(at, splice.start) + splice.text;
    at = splice.end;
  }
  return result + text.slice(at);
}

/** Returns the 1-based line of TEXT in which an incomplete form begins; undefined when there is none. */
export function unfinishedLine(text: string, features: ReadonlySet<string>): number | undefined {
  const whole = `${text}\n()`;
  const reading = new FormReader(treeOf(whole), features);
  const lineOf = (index: number) => text.slice(0, index).split('\n').length;
  for (let [at, last] = [0, 0]; ; ) {
    const form = reading.form(at);
    if (form === undefined) return lineOf(last);
    if (form.start === text.length + 1 && form.mark === '(')
      return form.lead === undefined ? undefined : lineOf(form.lead);
    if (form.end > text.length) return lineOf(form.start);
    last = form.end;
    at = form.behind;
  }
}

/** Compares the forms of a text BEFORE with those NOW, after SPLICES, which are sorted and do not overlap.
 *  CHANGED are the forms of NOW that a splice inserted or changed. NUMBERS has, for each form of NOW, its
 *  number in BEFORE, or null for a changed form. If the splices changed how another form is read, as an
 *  unclosed string would, returns only LOST: the start of such a form in BEFORE. */
export function changedForms(
  before: TopLevelForms,
  now: TopLevelForms,
  splices: readonly Splice[],
): { changed: Span[]; numbers: (number | null)[] } | { lost: number } {
  const kept = new Map<number, { number: number; end: number }>();
  // NEXT is the index of the first splice that ends after the start of the form. SHIFT is the number of
  // characters by which earlier splices move the form.
  let [next, shift] = [0, 0];
  for (const [number, { start, end, lead }] of before.allExtents().entries()) {
    for (let splice = splices[next]; splice && splice.end <= lead; splice = splices[++next])
      shift += splice.text.length - (splice.end - splice.start);
    const touched = (splices[next]?.start ?? end) < end;
    if (!touched) kept.set(start + shift, { number, end: end + shift });
  }
  const numbers: (number | null)[] = [];
  const changed: Span[] = [];
  for (const { start, end } of now.allExtents()) {
    const same = kept.get(start);
    if (same?.end === end) kept.delete(start);
    else changed.push({ start, end });
    numbers.push(same?.end === end ? same.number : null);
  }
  const [lost] = kept.values();
  return lost === undefined ? { changed, numbers } : { lost: before.allExtents()[lost.number]?.start ?? 0 };
}
