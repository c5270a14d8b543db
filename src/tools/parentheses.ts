// Renders the faults of Lisp text whose parentheses do not balance.

import { type Imbalance, imbalanceOf } from '../source/balance.ts';

const LISP_FILE = /\.(?:lisp|lsp|cl|asd)$/i;

/** Returns true when NAME has one of the extensions of Lisp source files. */
export function isLispFile(name: string): boolean {
  return LISP_FILE.test(name);
}

/** Returns sentences that say where the indentation of TEXT suggests a wrong parenthesis; undefined when the
 * parentheses are balanced. */
export function indentationText(text: string): string | undefined {
  const imbalance = imbalanceOf(text);
  return imbalance && joined([repairText(imbalance), swallowedText(imbalance)]);
}

/** Returns sentences about the unbalanced parentheses in TEXT, the content of the file NAME; undefined when they are
 * balanced. */
export function imbalanceText(name: string, text: string): string | undefined {
  const imbalance = imbalanceOf(text);
  return imbalance && joined([headText(name, imbalance), repairText(imbalance), swallowedText(imbalance)]);
}

/** Like imbalanceText, but without the sentence about a form that became part of another. If the suggested repair
 * balances TEXT, shows the repaired line. */
export function imbalanceWithProposal(name: string, text: string): string | undefined {
  const imbalance = imbalanceOf(text);
  const problem = imbalance && joined([headText(name, imbalance), repairText(imbalance)]);
  const line = imbalance && repairedLine(text, imbalance);
  return line === undefined ? problem : `${problem} Repaired, that line is:\n${line}`;
}

function headText(name: string, { kind, began }: Imbalance): string {
  const what = kind === 'string' || kind === 'comment' ? kind : 'form';
  const how = kind === 'closed' ? 'ends too early' : 'does not end';
  return `${name}: the ${what} that begins at line ${began} ${how}.`;
}

/** Returns the line of TEXT after the suggested repair; undefined when the repair does not balance all of TEXT. */
function repairedLine(text: string, { line, repair }: Imbalance): string | undefined {
  if (repair === undefined) return undefined;
  const { index, removed, text: inserted } = repair;
  const repaired = text.slice(0, index) + inserted + text.slice(index + removed);
  return imbalanceOf(repaired) === undefined ? repaired.split(/\r?\n/)[line - 1] : undefined;
}

/** Returns a warning when the parentheses in the file NAME were balanced in BEFORE and are not in AFTER; else
 * undefined. Checks only Lisp source files. */
export function newImbalanceText(name: string, before: string, after: string): string | undefined {
  if (!isLispFile(name) || imbalanceOf(before) !== undefined) return undefined;
  const wrong = imbalanceText(name, after);
  return wrong && `Warning: Lisp can no longer read the whole file. ${wrong}`;
}

function repairText({ line, repair }: Imbalance): string | undefined {
  if (repair === undefined) return undefined;
  const { removed, text, sign } = repair;
  const what =
    text !== '' ? `lacks "${text}"${text === '(' ? '' : ' at its end'}` : `has ${removed} "${sign}" too many`;
  return `Its indentation says that line ${line} ${what}.`;
}

function swallowedText({ swallowed }: Imbalance): string | undefined {
  return swallowed === undefined ? undefined : `The form at line ${swallowed} was read as part of that form.`;
}

function joined(sentences: (string | undefined)[]): string {
  return sentences.filter(Boolean).join(' ');
}
