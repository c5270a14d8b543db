/** Decides where the directives of FORMAT in a text call functions by their names. */

import { upperCase } from './lexer.ts';

/** A directive ~/NAME/ that begins at START; the name stands at index AT as it is WRITTEN, and is looked up in the package
 *  HOME. */
export interface FormatCall {
  start: number;
  at: number;
  written: string;
  home: string;
}

const PARAMETER = String.raw`(?:[-+]?\d+|'.|[v#])?`;
/** The first alternative takes a directive that prints a tilde. */
const DIRECTIVE = new RegExp(`~~|(~${PARAMETER}(?:,${PARAMETER})*[:@]*/)([^\\s/"]+)/`, 'gis');

/** Returns the calls by FORMAT directives in TEXT. */
export function formatCalls(text: string): FormatCall[] {
  return [...text.matchAll(DIRECTIVE)].flatMap(({ 1: opening, 2: written, index: start }) => {
    if (opening === undefined || written === undefined) return [];
    const [, prefix = 'COMMON-LISP-USER'] = /^([^:]+):/.exec(written) ?? [];
    return [{ start, at: start + opening.length, written, home: upperCase(prefix) }];
  });
}
