// Finds forms that may call a function of which no certain caller is known, since SBCL has no record of code that
// ran only while its file was compiled. And says which functions may call it by a name that they compute.

import type { Told } from '../../kernel/told.ts';
import { callMentionsIn } from '../../source/calls.ts';
import type { Defined } from '../../source/definitions.ts';
import { unqualifiedName } from '../../source/qualified.ts';
import { moreText } from '../agreement.ts';
import type { Places } from '../places.ts';
import { usedOf } from './sites.ts';
import type { NameUser } from './users.ts';

/** The image's answer about a name without known uses: loaded files, packages that have the symbol. */
interface Unseen {
  name: string;
  files?: string[];
  accessibleIn?: string[];
  natures?: string[];
}

/** Returns the top-level forms in the files of FOUND that call the name or pass it as a function. With SITES,
 *  adds the places of these uses. Leaves out uses inside a definition or form that LISTED has. */
export function unseenUsers(
  found: Unseen,
  listed: readonly NameUser[],
  places: Places,
  sites: boolean,
): NameUser[] {
  const { name, files = [], accessibleIn = [], natures = [] } = found;
  const callee = { ...usedOf({ name, accessibleIn }), macro: natures.includes('MACRO') };
  const users = new Map<string, NameUser>();
  const names = new Set(listed.map(({ name }) => unqualifiedName(name)));
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

/** True when the index START is inside one of DEFINITIONS that has one of NAMES. */
function isWithin(definitions: readonly Defined[], start: number, names: ReadonlySet<string>): boolean {
  return definitions.some(
    (each) =>
      names.has(each.name.toUpperCase().replace(/^.*:/s, '')) && start >= each.start && start < each.end,
  );
}

/** True when TOLD says that the last answer about functions that get symbols by computed names was about the
 *  same functions NAMES, of which there are TOTAL. */
export function unseenBefore(
  names: readonly string[],
  total: number | undefined,
  told: Told | undefined,
): boolean {
  return names.length > 0 && told?.repeats('unseen callers', `${names.join(' ')} ${total}`) === true;
}

/** Returns the short sentence, without its full stop, on functions that an earlier answer named: they may
 *  have DONE something to the symbol by a computed name. */
export function unseenAgain(
  names: readonly string[],
  total: number | undefined,
  done: 'called' | 'used',
): string {
  return `may be ${done} unseen, as said before, by ${names.join(', ')}${moreText(names.length, total)}`;
}
