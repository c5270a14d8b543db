// Finds the text of a definition that an evaluation made and that no file has.

import type { Evaluated } from '../../image/wire/operations.ts';
import type { Evaluation, ReplHistory } from '../../records/repl-history.ts';
import { namesIn } from '../../source/again.ts';
import type { Features } from '../../source/form.ts';
import { TopLevelForms } from '../../source/position.ts';
import { unfinishedLine } from '../../source/splice.ts';
import { allNamed } from '../../source/targets.ts';
import { SourceText } from '../../source/text.ts';

/** At most this many evaluations are searched. */
const SEARCH_LIMIT = 1000;

/** Milliseconds by which an evaluation can seem to begin after its definition: the image counts whole seconds. */
const CLOCK_MS = 1500;

/** A definition that an evaluation made. SYMBOL is `NAME` or `SETF NAME`, without package; METHOD has a method's
 *  qualifiers and specializers. */
export interface EvaluatedDefinition {
  symbol: string;
  method?: string | undefined;
  evaluated: Evaluated;
}

/** Returns the text of DEFINITION, read under FEATURES, from the newest form in HISTORY that begins as DEFINITION says
 *  and was not begun later; undefined without one. A rebuild evaluates forms without a record in the history. */
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
    // When no text is found, the definition is in the part of a long form that the history does not keep.
    return textIn(form, beginning, definition, features);
  }
  return undefined;
}

function startTime({ time, milliseconds }: Evaluation): number {
  return Date.parse(time) - milliseconds;
}

/** Returns the text of DEFINITION in the last top-level form of FORM that begins with BEGINNING; all of that form when
 *  it has no such name. Returns undefined when no form begins so, or only its beginning was kept. */
function textIn(
  form: string,
  beginning: string,
  { symbol, method }: EvaluatedDefinition,
  features: Features,
): string | undefined {
  const forms = new TopLevelForms(new SourceText(form), features);
  const starts = forms.starts();
  const top = starts.findLast((start, number) => {
    const before = starts[number - 1];
    const text = form.slice(before === undefined ? 0 : forms.end(before), forms.end(start));
    return collapsed(text).startsWith(beginning);
  });
  if (top === undefined || unfinishedLine(form.slice(top), features) !== undefined) return undefined;
  const wanted = method && namesIn(method);
  const found = allNamed(forms, { name: symbol }).findLast(
    (target) => target.top === top && (wanted === undefined || target.method === wanted),
  );
  return found ? form.slice(found.start, found.end) : form.slice(top, forms.end(top));
}

/** Returns TEXT with each run of white space as one space, as in the beginning of a form that the image reports. */
function collapsed(text: string): string {
  return text.replace(/[ \n\t]+/g, ' ').trim();
}
