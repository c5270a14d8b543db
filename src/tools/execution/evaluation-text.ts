// Renders the values and the failure of evaluated forms.

import type { Ending } from '../../image/wire/endings.ts';
import type { EvaluateData, PrintedValue } from '../../image/wire/operations.ts';
import { joinSections } from '../../kernel/reply.ts';
import { timeoutAdvice } from '../calling.ts';
import { conditionText, endingText, NO_MANAGER, notLoadedText } from '../endings.ts';
import { didYouMean } from '../natures.ts';
import { indentationText } from '../parentheses.ts';
import type { Places } from '../places.ts';

/** Returns the text of the error when the evaluation of `code` failed, else undefined. `done` is the participle in the
 * sentence about the forms before the failed one. `places` finds the source places of frames. */
export function failureText(
  ending: Ending,
  { unreadable, formNumber = 1 }: Pick<EvaluateData, 'unreadable' | 'formNumber'>,
  { code, places, done = 'evaluated' }: { code: string; places: Places; done?: 'evaluated' | 'compiled' },
): string | undefined {
  if (typeof unreadable?.text === 'string') {
    const { text, number, line, column, atLine, atColumn, withoutManager, initFile } = unreadable;
    const hint = didYouMean(unreadable.near);
    const place = `The form begins at line ${line}, column ${column}; reading stopped at line ${atLine}, column ${atColumn}.`;
    const indentation = line === atLine ? undefined : indentationText(code);
    return [
      `Error: form ${number} cannot be read: ${text}`,
      hint,
      withoutManager && NO_MANAGER,
      initFile && notLoadedText(initFile),
      `${place} ${indentation ? `${indentation} ` : ''}${doneBefore(number, done)}`,
    ]
      .filter(Boolean)
      .join('\n');
  }
  if (ending.kind === 'done') return undefined;
  if (ending.kind !== 'condition')
    return `Error: ${joinSections([endingText(ending, places), timeoutAdvice(ending)])}`;
  return conditionText(ending.condition, places, formNumber > 1 ? `form ${formNumber}` : undefined);
}

function doneBefore(number: number, done: string): string {
  if (number === 1) return `Nothing was ${done}.`;
  return number === 2 ? `Form 1 was ${done}.` : `Forms 1 to ${number - 1} were ${done}.`;
}

/** Returns ERROR, which made a form fail. If an earlier form could not be compiled, its error comes first, because it
 * is usually the cause. */
export function causeFirst(error: string | undefined, { warnings = [], formNumber = 1 }: EvaluateData) {
  const cause = warnings.find(
    ({ severity, formNumber: number = formNumber }) => severity === 'error' && number < formNumber,
  );
  if (cause === undefined || error === undefined) return error;
  const where = cause.definition === undefined ? '' : `, (${cause.definition}),`;
  return `Error: form ${cause.formNumber}${where} was compiled with an error: ${cause.text.trim()}\nThen form ${formNumber} failed: ${error.replace(/^Error: /, '')}`;
}

/** Returns true when a form could not be evaluated or read because a name does not exist. */
export function isMissing(ending: Ending, { unreadable }: Pick<EvaluateData, 'unreadable'>): boolean {
  return unreadable?.missing === true || (ending.kind === 'condition' && ending.condition.missing === true);
}

/** Returns the values of the forms, one in each line. If there are several forms, the number of a form precedes its
 * values. */
export function valuesText({ values = [] }: EvaluateData, failed: boolean): string | undefined {
  const shown = values.map((list) => list.map(valueText));
  if (shown.length === 0)
    return failed ? undefined : 'No form to evaluate: the text holds only white space or comments.';
  const [only] = shown;
  if (shown.length === 1 && only && !failed) return only.length === 0 ? '; No values' : only.join('\n');
  const lines = shown.map(
    (list, index) => `[${index + 1}] ${list.length === 0 ? '; No values' : list.join('\n    ')}`,
  );
  return failed ? `Values of the forms before the failed one:\n${lines.join('\n')}` : lines.join('\n');
}

/** Returns VALUES as text. VALUES has a list of values for each form. */
export function formValuesText(values: PrintedValue[][]): string {
  return values
    .map((list) => (list.length === 0 ? '; No values' : list.map(valueText).join('\n')))
    .join('\n');
}

function valueText(value: PrintedValue): string {
  const { text = '', circular, omitted, id } = value;
  if (omitted !== undefined) return `[... ${omitted} more ${omitted === 1 ? 'value' : 'values'} ...]`;
  const less = lessText(value);
  const remarks = [circular && 'it is circular, so it is printed with *print-circle*', less];
  const notes = remarks.filter(Boolean).map((remark) => `[... ${remark} ...]`);
  const more = less && id !== undefined ? ` inspect takes it as ${id}.` : '';
  return `${[text, ...notes].join('\n')}${more}`;
}

function lessText({ cut, characters, length, digits, shortened }: PrintedValue): string | undefined {
  if (cut) return characters === undefined ? 'cut here' : `cut here; it has ${characters} characters`;
  if (digits !== undefined) return `it has ${digits} digits`;
  const notes = [
    length !== undefined && `it has ${length} elements; *print-length* limits what is shown`,
    shortened && 'its numbers of more than 100 digits are shortened',
  ].filter(Boolean);
  return notes.length > 0 ? notes.join('; ') : undefined;
}
