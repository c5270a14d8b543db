/** Finds the FORMAT directives ~/NAME/ in a text, which call functions by name. */

import { upperCase } from './lexer.ts';

/** A directive ~/NAME/ that begins at index START. WRITTEN is NAME as written, beginning at index AT. HOME is
 *  the package in which FORMAT looks the name up. */
interface FormatCall {
  start: number;
  at: number;
  written: string;
  home: string;
}

const PARAMETER = String.raw`(?:[-+]?\d+|'.|[v#])?`;
/** The first alternative matches ~~, which prints a tilde: its second tilde begins no directive. */
const DIRECTIVE = new RegExp(`~~|(~${PARAMETER}(?:,${PARAMETER})*[:@]*/)([^\\s/"]+)/`, 'gis');

/** Returns the calls by FORMAT directives in TEXT. */
export function formatCalls(text: string): FormatCall[] {
  return [...text.matchAll(DIRECTIVE)].flatMap(({ 1: opening, 2: written, index: start }) => {
    if (opening === undefined || written === undefined) return [];
    const [, prefix = 'COMMON-LISP-USER'] = /^([^:]+):/.exec(written) ?? [];
    return [{ start, at: start + opening.length, written, home: upperCase(prefix) }];
  });
}
