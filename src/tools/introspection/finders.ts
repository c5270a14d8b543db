// Finds functions that get symbols by name. SBCL does not record the callers of INTERN and similar functions.

import { callMentionsIn } from '../../source/calls.ts';
import { qualified } from '../../source/qualified.ts';
import type { Places, Site } from '../places.ts';
import { compareSites } from './sites.ts';

/** The functions of Common Lisp that find a symbol by its name. */
const FINDERS: readonly string[] = [
  'INTERN',
  'FIND-SYMBOL',
  'READ',
  'READ-PRESERVING-WHITESPACE',
  'READ-FROM-STRING',
  'READ-DELIMITED-LIST',
];

/** Returns the functions in FILES that call one of FINDERS or pass it as a function, each with its place. Only
 * functions in the packages HOMES count. Leaves out macros, because the image has the code of their expansions. */
export function findersIn(
  files: readonly string[],
  homes: readonly string[],
  places: Places,
): { name: string; at: string; text: string }[] {
  const found = new Map<string, Pick<Site, 'at' | 'text'>>();
  for (const file of files) {
    const text = places.sourceText(file);
    if (text === undefined) continue;
    for (const name of FINDERS) {
      for (const { top, args, how } of callMentionsIn(text, places.features, { name })) {
        const definition =
          args !== undefined || how === 'as a function' ? places.forms(file)?.definitionAt(top) : undefined;
        if (!definition?.name || !['DEFUN', 'DEFMETHOD', 'DEFGENERIC'].includes(definition.operator))
          continue;
        const [user, home] = [qualified(definition.name, definition.home), definition.home];
        if (homes.includes(home) && !found.has(user)) found.set(user, places.siteAt(file, top));
      }
    }
  }
  const rows = [...found].map(([name, { at, text }]) => ({ name, at, text }));
  return rows.sort((one, other) => compareSites(one.name, other.name));
}
