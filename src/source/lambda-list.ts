/** Extracts the lambda list of a definition in a Lisp source file. */

import { bare, nextToken } from './lexer.ts';

const DEFINERS: readonly string[] = ['DEFUN', 'DEFMACRO', 'DEFTYPE'];

/** Tokens by which the reader skips or computes a part of a form: then the text does not show what was defined. */
const CONDITIONAL: readonly string[] = ['#+', '#-', '#.', '#=', '##', 'end'];

/** Returns the name and lambda list that the form at index START of SOURCE defines. The name has no package; a setf
 *  function is `(SETF NAME)`. The lambda list is on one line, without comments. Returns undefined for other forms, and
 *  when the list has a token of CONDITIONAL. */
export function definedLambdaList(
  source: string,
  start: number,
): { name: string; lambdaList: string } | undefined {
  const open = nextToken(source, start, false);
  const definer = nextToken(source, open.end, false);
  if (open.kind !== '(' || !DEFINERS.includes(definer.name)) return undefined;
  const defined = definedName(source, definer.end);
  const lambdaList = defined && listText(source, defined.end);
  return defined && lambdaList !== undefined ? { name: defined.name, lambdaList } : undefined;
}

/** Returns the function name at or after index FROM, and where it ends. */
function definedName(source: string, from: number): { name: string; end: number } | undefined {
  const first = nextToken(source, from, false);
  if (first.kind === 'atom') return { name: bare(first.name), end: first.end };
  const setf = nextToken(source, first.end, false);
  const place = nextToken(source, setf.end, false);
  const close = nextToken(source, place.end, false);
  const isSetf = first.kind === '(' && setf.name === 'SETF' && place.kind === 'atom' && close.kind === ')';
  return isSetf ? { name: `(SETF ${bare(place.name)})`, end: close.end } : undefined;
}

/** Returns the list at or after index FROM, its parts separated by one space; undefined when there is none. */
function listText(source: string, from: number): string | undefined {
  let text = '';
  let depth = 0;
  for (let at = from; ; ) {
    const token = nextToken(source, at, false);
    if (CONDITIONAL.includes(token.kind) || (depth === 0 && token.kind !== '(')) return undefined;
    if (text !== '' && token.start > at) text += ' ';
    text += source.slice(token.start, token.end);
    at = token.end;
    if (token.kind === '(' || token.kind === '#(') depth++;
    if (token.kind === ')') depth--;
    if (depth === 0) return text.replace(/ \)/g, ')').replace(/\( /g, '(');
  }
}
