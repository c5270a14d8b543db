// Decides which forms may call a function of which no code of the image tells: what ran only when its file was compiled.

import { mentionsIn } from '../../source/calls.ts';
import type { Places } from '../places.ts';
import type { User } from './users.ts';

/** Forms that are told. */
const TOLD = 50;

/** What the image tells with an answer without users: the files of loaded code, and all packages that have the symbol. */
interface Unseen {
  name: string;
  files?: string[];
  accessibleIn?: string[];
  features?: string[];
}

/** Returns the top-level forms in the files of FOUND that call its name or pass it as a function, with SITES. */
export function unseenUsers(found: Unseen, places: Places, sites: boolean): User[] {
  const { name, files = [], accessibleIn = [], features = [] } = found;
  const [, setf, symbol = ''] = /^.*?::(?:\((SETF) )?(.*?)\)?$/s.exec(name) ?? [];
  const users = new Map<string, User>();
  for (const file of files) {
    const text = places.sourceText(file);
    if (text === undefined) continue;
    const homes = new Set(accessibleIn);
    for (const { start, top, args, how } of mentionsIn(
      text,
      new Set(features),
      symbol,
      homes,
      setf !== undefined,
    )) {
      if (args === undefined && how !== 'as a function') continue;
      const at = `${places.fileName(file)}:${text.positionAt(top).line}`;
      const { line, column, text: shown } = text.positionAt(start);
      const site = { at: `${places.fileName(file)}:${line}:${column}`, text: shown };
      const user = users.get(at) ?? { name: `top-level form at ${at}`, possible: true, outside: true };
      users.set(at, sites ? { ...user, sites: [...(user.sites ?? []), site] } : user);
      if (users.size >= TOLD) return [...users.values()];
    }
  }
  return [...users.values()];
}
