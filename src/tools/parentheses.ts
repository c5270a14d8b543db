// Decides how it reads that the parentheses of a Lisp text are wrong.

import { type Imbalance, imbalanceOf } from '../source/balance.ts';

/** The ends of names of files with Lisp source, as ASDF and SBCL's users have them. */
const LISP_FILE = /\.(?:lisp|lsp|cl|asd)$/i;

/** Returns whether NAME is that of a file with Lisp source. */
export function isLispFile(name: string): boolean {
  return LISP_FILE.test(name);
}

/** Returns where the indentation of TEXT, which the reader could not read, says that a parenthesis is wrong. Returns
 *  undefined when its parentheses are right. */
export function indentationText(text: string): string | undefined {
  const imbalance = imbalanceOf(text);
  return imbalance && joined([repairText(imbalance), swallowedText(imbalance)]);
}

/** Returns what is wrong with the parentheses of TEXT, of the file NAME, or undefined when they are right. */
export function imbalanceText(name: string, text: string): string | undefined {
  const imbalance = imbalanceOf(text);
  return imbalance && joined([headText(name, imbalance), repairText(imbalance), swallowedText(imbalance)]);
}

/** Returns the same, with how the line would read that its indentation says is wrong. */
export function imbalanceWithProposal(name: string, text: string): string | undefined {
  const imbalance = imbalanceOf(text);
  const told = imbalance && joined([headText(name, imbalance), repairText(imbalance)]);
  const line = imbalance && repairedLine(text, imbalance);
  return line === undefined ? told : `${told} Repaired, that line is:\n${line}`;
}

function headText(name: string, { kind, began }: Imbalance): string {
  const what = kind === 'string' ? 'string' : 'form';
  const how = kind === 'closed' ? 'ends too early' : 'does not end';
  return `${name}: the ${what} that begins at line ${began} ${how}.`;
}

/** Returns the line of TEXT that the repair in IMBALANCE is in, as it makes it; undefined when more is wrong. */
function repairedLine(text: string, { line, repair }: Imbalance): string | undefined {
  if (repair === undefined) return undefined;
  const { index, removed, text: put } = repair;
  const repaired = text.slice(0, index) + put + text.slice(index + removed);
  return imbalanceOf(repaired) === undefined ? repaired.split(/\r?\n/)[line - 1] : undefined;
}

/** Returns what to say when a change of the file NAME from BEFORE to AFTER made its parentheses wrong. Returns undefined
 *  when it did not, or when its name is not that of Lisp source. */
export function newImbalanceText(name: string, before: string, after: string): string | undefined {
  if (!isLispFile(name) || imbalanceOf(before) !== undefined) return undefined;
  const wrong = imbalanceText(name, after);
  return wrong && `Warning: Lisp cannot read all of it any more. ${wrong}`;
}

function repairText({ line, repair }: Imbalance): string | undefined {
  if (repair === undefined) return undefined;
  const { removed, text, sign } = repair;
  const what =
    text !== '' ? `lacks "${text}"${text === '(' ? '' : ' at its end'}` : `has ${removed} "${sign}" too many`;
  return `Its indentation says that line ${line} ${what}.`;
}

function swallowedText({ swallowed }: Imbalance): string | undefined {
  return swallowed === undefined ? undefined : `The form of line ${swallowed} was taken for a part of it.`;
}

function joined(sentences: (string | undefined)[]): string {
  return sentences.filter(Boolean).join(' ');
}
