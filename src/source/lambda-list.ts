/** Extracts the lambda list of a definition in a Lisp source file. */

import { bareName, type Form, namedBy, readForm } from './form.ts';

const DEFINERS: readonly string[] = ['DEFUN', 'DEFMACRO', 'DEFTYPE'];

/** Tokens by which the reader skips or computes a part of a form: then the text does not show what was defined. */
const CONDITIONAL: readonly string[] = ['#+', '#-', '#.', '#=', '##'];

/** Returns the name and lambda list that the form at index START of SOURCE defines. The name has no package; a setf
 *  function is `(SETF NAME)`. The lambda list is on one line, without comments. Returns undefined for other forms, and
 *  when the list has a token of CONDITIONAL. */
export function definedLambdaList(
  source: string,
  start: number,
): { name: string; lambdaList: string } | undefined {
  const form = readForm(source, start);
  const [definer, defined, list] = form?.elements ?? [];
  if (form?.start !== start || !DEFINERS.includes(bareName(definer)) || list?.mark !== '(') return undefined;
  const { symbol, setf } = namedBy(defined);
  const name = bareName(symbol);
  const lambdaList = defined?.isList && !setf ? undefined : listText(list);
  return name && lambdaList ? { name: setf ? `(SETF ${name})` : name, lambdaList } : undefined;
}

/** Returns the text of LIST; undefined when it is not closed. */
function listText({ tree, at, behind }: Form): string | undefined {
  for (let token = at; token < behind; token++) if (CONDITIONAL.includes(tree.kind(token))) return undefined;
  return tree.behind(at) === undefined ? undefined : tree.line(at, behind);
}
