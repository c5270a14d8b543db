// Decides which places the uses of a name in a function have, and how they read (S3.18).

import type { Place } from '../../image/wire/data.ts';
import { mentionsIn } from '../../source/calls.ts';
import { partsOfName } from '../../source/qualified.ts';
import type { SourceText } from '../../source/text.ts';
import type { Used } from '../../source/uses.ts';
import { groupBy } from '../grouping.ts';
import type { Places, Site } from '../places.ts';

/** What is asked about: a NAME as the image writes it, of a VARIABLE or a function. Then why uses of it are UNRECORDED, the
 *  FEATURES of the image, and all names of the packages in which the symbol is accessible. */
export interface Asked {
  name: string;
  variable?: boolean;
  unrecorded?: 'macro' | 'inline' | 'slot';
  accessibleIn?: string[];
}

/** FILE:LINE:COLUMN, the line of text there, and the specializers when it is in a method. */
export interface UserSite {
  at: string;
  text: string;
  method?: string;
}

/** Returns a function that gives the places where a user uses what is ASKED about. It takes the user's name, and what the
 *  image tells of the uses. The places are in the order of the file, each once. */
export function siteFinder(
  { name, variable = false, unrecorded, accessibleIn }: Asked,
  places: Places,
): (user: string, uses: Place[]) => UserSite[] {
  const used = usedOf({ name, variable, ...(accessibleIn && { accessibleIn }) });
  // What SETF calls is recorded each time.
  const all = unrecorded === 'inline' && !used.setf ? withFurtherCalls(used, places) : undefined;
  return (user, uses) => {
    const found = inOneForm(uses).flatMap((group) => {
      const method = group[0]?.method;
      const recorded = places.sites(group, used, { name: user, method });
      const sites = all?.(group, recorded) ?? recorded;
      // Where any of several methods can have it, each place is told once.
      return sites.map(({ doubt, index: _, ...site }) => ({ ...site, ...(method && !doubt && { method }) }));
    });
    const different = new Map(found.map((site) => [siteText(site), site]));
    return [...different].sort(([one], [other]) => bySite(one, other)).map(([, site]) => site);
  };
}

/** Returns what is asked about as texts have it. */
export function usedOf({ name, variable = false, accessibleIn }: Asked): Used {
  const { symbol, setf } = partsOfName(name);
  return {
    name: symbol,
    setf,
    variable,
    ...(accessibleIn && { packages: new Set(accessibleIn) }),
  };
}

/** Returns a function that takes uses of USED in a form, with those of their sites that are RECORDED, and gives all its sites
 *  there. SBCL makes one function of what it puts in line, and records the first call only, or the list that has it as an
 *  argument in its place. */
function withFurtherCalls(
  { name, packages = new Set() }: Used,
  places: Places,
): (uses: readonly Place[], recorded: readonly Site[]) => readonly Site[] {
  const mentions = new Map<string, number[]>();
  const inFile = (file: string, text: SourceText) => {
    const known = mentions.get(file);
    if (known !== undefined) return known;
    const all = mentionsIn(text, places.features, { name, homes: packages, setf: false });
    const calls = all.filter(({ args, how }) => args !== undefined || how === 'as a function');
    const starts = calls.map(({ start, also }) => also ?? start);
    mentions.set(file, starts);
    return starts;
  };
  return (uses, recorded) => {
    const file = uses[0]?.file;
    const text = file === undefined ? undefined : places.sourceText(file);
    const indices = recorded.flatMap(({ index }) => index ?? []);
    if (file === undefined || text === undefined || indices.length === 0) return recorded;
    const calls = inFile(file, text);
    const around = new Set(
      uses.flatMap(({ start = 0, end = 0 }) => {
        const [from, to] = [text.indexOfCharacter(start), text.indexOfCharacter(end)];
        return !calls.includes(from) && calls.some((call) => call > from && call < to) ? from : [];
      }),
    );
    const own = recorded.filter(({ index }) => index === undefined || !around.has(index));
    return [...own, ...places.beside(file, indices, calls)];
  };
}

/** Returns USES in groups, each of one top-level form and one method. */
export function inOneForm(uses: readonly Place[]): Place[][] {
  if (uses.length === 1) return [[...uses]];
  const keyOf = ({ file, offset, form, written, method }: Place) =>
    JSON.stringify([file, offset, form, written, method]);
  return [...groupBy(uses, keyOf).values()];
}

/** Returns the line that tells of a place. */
export function siteText({ at, text, method }: UserSite): string {
  return [at, text, method && `[method ${method}]`].filter(Boolean).join('  ');
}

const ORDER = new Intl.Collator('en', { numeric: true });

/** Compares two texts that begin with a file, a line and a column, as a sort does: numbers by their value. */
export function bySite(one: string, other: string): number {
  return ORDER.compare(one, other);
}
