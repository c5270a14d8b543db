/** Finds the FORMAT directives ~/NAME/ in a text, which call functions by name. */

import { upperCase } from './lexer.ts';

/** A directive ~/NAME/ at offset `start`. `written` is its NAME, and `at` the offset of this NAME. `home` is the
 * package in which FORMAT looks up the name. */
interface FormatCall {
  start: number;
  at: number;
  written: string;
  home: string;
}

const PARAMETER = String.raw`(?:[-+]?\d+|'.|[v#])?`;
/** The first alternative matches ~~, which prints a tilde, so that the second tilde does not begin a directive. */
const DIRECTIVE = new RegExp(`~~|(~${PARAMETER}(?:,${PARAMETER})*[:@]*/)([^\\s/"]+)/`, 'gis');

/** Returns the FORMAT directives ~/NAME/ in TEXT. */
export function formatCalls(text: string): FormatCall[] {
  return [...text.matchAll(DIRECTIVE)].flatMap(({ 1: opening, 2: written, index: start }) => {
    if (opening === undefined || written === undefined) return [];
    const [, prefix = 'COMMON-LISP-USER'] = /^([^:]+):/.exec(written) ?? [];
    return [{ start, at: start + opening.length, written, home: upperCase(prefix) }];
  });
}
