// Renders errors about unbalanced parentheses in Lisp text.

import { type Imbalance, imbalanceOf } from '../source/balance.ts';

const LISP_FILE = /\.(?:lisp|lsp|cl|asd)$/i;

/** Returns true when NAME has an extension of Lisp source files. */
export function isLispFile(name: string): boolean {
  return LISP_FILE.test(name);
}

/** Returns sentences on the place where the indentation of TEXT suggests a wrong parenthesis; undefined when
 * the parentheses are balanced. */
export function indentationText(text: string): string | undefined {
  const imbalance = imbalanceOf(text);
  return imbalance && joined([repairText(imbalance), swallowedText(imbalance)]);
}

/** Returns sentences on the unbalanced parentheses of TEXT, the content of file NAME; undefined when they are
 * balanced. */
export function imbalanceText(name: string, text: string): string | undefined {
  const imbalance = imbalanceOf(text);
  return imbalance && joined([headText(name, imbalance), repairText(imbalance), swallowedText(imbalance)]);
}

/** Does the same as imbalanceText, without the sentence on the swallowed form. Adds the repaired line when
 * one repair balances TEXT. */
export function imbalanceWithProposal(name: string, text: string): string | undefined {
  const imbalance = imbalanceOf(text);
  const problem = imbalance && joined([headText(name, imbalance), repairText(imbalance)]);
  const line = imbalance && repairedLine(text, imbalance);
  return line === undefined ? problem : `${problem} Repaired, that line is:\n${line}`;
}

function headText(name: string, { kind, began }: Imbalance): string {
  const what = kind === 'string' ? 'string' : 'form';
  const how = kind === 'closed' ? 'ends too early' : 'does not end';
  return `${name}: the ${what} that begins at line ${began} ${how}.`;
}

/** Returns the repaired line of TEXT, or undefined when the repair does not balance all of TEXT. */
function repairedLine(text: string, { line, repair }: Imbalance): string | undefined {
  if (repair === undefined) return undefined;
  const { index, removed, text: put } = repair;
  const repaired = text.slice(0, index) + put + text.slice(index + removed);
  return imbalanceOf(repaired) === undefined ? repaired.split(/\r?\n/)[line - 1] : undefined;
}

/** Returns a warning when the change from BEFORE to AFTER made the parentheses of file NAME unbalanced;
 * otherwise undefined. Only Lisp source is checked. */
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
