// Finds forms that may call a function for which no callers are known, because SBCL does not record code that ran only
// while its file was compiled. Also renders functions that may call it by a computed name.

import type { EarlierAnswers } from '../../kernel/earlier-answers.ts';
import { callMentionsIn } from '../../source/calls.ts';
import type { Definition } from '../../source/definition.ts';
import { definitionNameOf } from '../../source/qualified.ts';
import type { Span } from '../../source/tree.ts';
import { moreText } from '../agreement.ts';
import type { Places } from '../places.ts';
import { usedOf } from './sites.ts';
import type { NameUser } from './users.ts';

/** A name without known uses. `files` are the loaded files, `accessibleIn` the packages that have the symbol. */
interface WithoutKnownUses {
  name: string;
  files?: string[];
  accessibleIn?: string[];
  natures?: string[];
}

/** Returns the top-level forms in the files of FOUND that call the name in FOUND or pass it as a function. Leaves out
 * uses inside the definitions LISTED. If SITES is true, adds to each form the places of the uses. */
export function possibleUsers(
  found: WithoutKnownUses,
  listed: readonly NameUser[],
  places: Places,
  sites: boolean,
): NameUser[] {
  const { name, files = [], accessibleIn = [], natures = [] } = found;
  const callee = { ...usedOf({ name, accessibleIn }), macro: natures.includes('MACRO') };
  const users = new Map<string, NameUser>();
  const names = new Set(listed.map(({ name }) => definitionNameOf(name)));
  for (const file of files) {
    const text = places.sourceText(file);
    if (text === undefined) continue;
    for (const { start, top, args, how } of callMentionsIn(text, places.features, callee)) {
      if (args === undefined && how !== 'as a function') continue;
      const at = `${places.fileName(file)}:${text.positionAt(top).line}`;
      const name = `top-level form at ${at}`;
      if (names.has(name) || isWithin(places.definitionsIn(file, top), start, names)) continue;
      const { line, column, text: shown } = text.positionAt(start);
      const site = { at: `${places.fileName(file)}:${line}:${column}`, text: shown };
      const user = users.get(at) ?? { name, possible: true, outside: true };
      users.set(at, sites ? { ...user, sites: [...(user.sites ?? []), site] } : user);
    }
  }
  return [...users.values()];
}

function isWithin(
  definitions: readonly (Definition & Span)[],
  start: number,
  names: ReadonlySet<string>,
): boolean {
  return definitions.some((each) => names.has(each.name) && start >= each.start && start < each.end);
}

/** Returns true when an earlier answer to the same client (EARLIER_ANSWERS) had the same NAMES and TOTAL. NAMES are
 * functions that find symbols by computed names, so that they may call the sought function without a cross
 * reference. */
export function wasListed(
  names: readonly string[],
  total: number | undefined,
  earlierAnswers: EarlierAnswers | undefined,
): boolean {
  return (
    names.length > 0 && earlierAnswers?.repeats('unseen callers', `${names.join(' ')} ${total}`) === true
  );
}

/** Returns a clause about functions that may use a name although SBCL has recorded no use. The subject of the clause is
 * this name. An earlier answer listed the same functions, so the clause is short. NAMES are the first of these
 * functions, and TOTAL is the number of all of them. DONE is the verb of the clause. */
export function listedAgain(
  names: readonly string[],
  total: number | undefined,
  done: 'called' | 'used',
): string {
  return `may be ${done} (as noted earlier) through a computed symbol by ${names.join(', ')}${moreText(names.length, total)}`;
}
