// Finds the text of a definition that was made by an evaluation and not by a file.

import type { Evaluated } from '../../image/wire/operations.ts';
import type { Evaluation, ReplHistory } from '../../records/repl-history.ts';
import { methodKey } from '../../source/definition.ts';
import { formsNaming } from '../../source/definitions.ts';
import type { Features } from '../../source/form.ts';
import { unfinishedLine } from '../../source/splice.ts';
import { SourceText } from '../../source/text.ts';
import { TopLevelForms } from '../../source/top-level.ts';

const SEARCH_LIMIT = 1000;

/** Maximum number of milliseconds by which a definition can seem older than the start of its evaluation, because the
 * image records times in whole seconds. */
const CLOCK_MS = 1500;

/** A definition that an evaluation made. `symbol` is `NAME` or `SETF NAME`, without package. `method` has the
 * qualifiers and specializers of a method. */
export interface EvaluatedDefinition {
  symbol: string;
  method?: string | undefined;
  evaluated: Evaluated;
}

/** Returns the text of DEFINITION; undefined when it is not found. The image records the beginning of the form that
 * made a definition. The text comes from the newest evaluation in HISTORY that contains this beginning, and that
 * started before the definition was made. HISTORY does not have the forms that a rebuild of the image evaluated. */
export function evaluatedText(
  history: ReplHistory,
  definition: EvaluatedDefinition,
  features: Features,
): string | undefined {
  const { by, time } = definition.evaluated;
  if (by === undefined) return undefined;
  const beginning = collapsed(by.replace(/\.\.\.$/, ''));
  let searched = 0;
  for (const evaluation of history.newestFirst()) {
    if (searched++ >= SEARCH_LIMIT) return undefined;
    const { form } = evaluation;
    if (startTime(evaluation) > time * 1000 + CLOCK_MS || !collapsed(form).includes(beginning)) continue;
    // If this returns undefined, the definition is in a part of a long form that the history did not keep.
    return textIn(form, beginning, definition, features);
  }
  return undefined;
}

function startTime({ time, milliseconds }: Evaluation): number {
  return Date.parse(time) - milliseconds;
}

/** Finds, in the text FORM of an evaluation, the last top-level form that begins with BEGINNING. Returns the text of
 * the definition in it, or the whole top-level form when it does not contain the definition. Returns undefined when no
 * form begins with BEGINNING, or when the history kept only a part of the form. */
function textIn(
  form: string,
  beginning: string,
  { symbol, method }: EvaluatedDefinition,
  features: Features,
): string | undefined {
  const forms = new TopLevelForms(new SourceText(form), features);
  const top = forms.allExtents().findLast(({ end }, number) => {
    const text = form.slice(number === 0 ? 0 : forms.nthExtent(number - 1)?.end, end);
    return collapsed(text).startsWith(beginning);
  });
  if (top === undefined || unfinishedLine(form.slice(top.start), features) !== undefined) return undefined;
  const wanted = method && methodKey(method);
  const found = formsNaming(forms, { name: symbol }).findLast(
    (target) => target.top === top.start && (wanted === undefined || target.method === wanted),
  );
  const { start, end } = found ?? top;
  return form.slice(start, end);
}

/** Returns TEXT with one space for each run of white space. The image reports the beginnings of forms in this way. */
function collapsed(text: string): string {
  return text.replace(/[ \n\t]+/g, ' ').trim();
}
