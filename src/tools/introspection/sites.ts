// Finds and renders the places where code uses a name.

import type { Place } from '../../image/wire/operations.ts';
import { callMentionsIn } from '../../source/calls.ts';
import { partsOfName } from '../../source/qualified.ts';
import type { SourceText } from '../../source/text.ts';
import type { SoughtName } from '../../source/uses.ts';
import { groupBy } from '../grouping.ts';
import type { Places, Site } from '../places.ts';

/** The sought name, as the image prints it. `variable` is true for a variable, false for a function. `unrecorded` is
 * the reason why SBCL does not record all uses; undefined when it does. `accessibleIn` are the packages that have the
 * symbol. */
export interface AskedName {
  name: string;
  variable?: boolean;
  unrecorded?: 'macro' | 'inline' | 'slot';
  accessibleIn?: readonly string[];
}

/** The place of a use as FILE:LINE:COLUMN, with its line. `method` has the specializers of the method around the use;
 * undefined when there is no method. */
export interface UserSite {
  at: string;
  text: string;
  method?: string;
}

/** Returns a function that converts the recorded uses in a definition to their sites, without duplicates and
 * in file order. */
export function siteFinder(
  { name, variable = false, unrecorded, accessibleIn }: AskedName,
  places: Places,
): (user: string, uses: Place[]) => UserSite[] {
  const sought = usedOf({ name, variable, accessibleIn });
  // SBCL records all calls of a setf function.
  const all = unrecorded === 'inline' && !sought.setf ? withFurtherCalls(sought, places) : undefined;
  return (user, uses) => {
    const found = groupByForm(uses).flatMap((group) => {
      const method = group[0]?.method;
      const recorded = places.sites(group, sought, { name: user, method });
      const sites = all?.(group, recorded) ?? recorded;
      // If a site may belong to several methods, no method is shown for it.
      return sites.map(({ doubt, index: _, ...site }) => ({ ...site, ...(method && !doubt && { method }) }));
    });
    const different = new Map(found.map((site) => [siteText(site), site]));
    return [...different].sort(([one], [other]) => compareSites(one, other)).map(([, site]) => site);
  };
}

/** Returns the name in the form that searches in source text take. */
export function usedOf({ name, variable = false, accessibleIn }: AskedName): SoughtName {
  const { symbol, setf } = partsOfName(name);
  return { name: symbol, setf, variable, packages: accessibleIn && new Set(accessibleIn) };
}

/** If a function is inlined, SBCL records only its first call in each form. Returns a function that completes a list of
 * recorded sites: its parameters are the uses from one form and their sites, and it returns the sites of all calls in
 * this form. */
function withFurtherCalls(
  { name, packages = new Set() }: SoughtName,
  places: Places,
): (uses: readonly Place[], recorded: readonly Site[]) => readonly Site[] {
  const mentions = new Map<string, number[]>();
  const inFile = (file: string, text: SourceText) => {
    const known = mentions.get(file);
    if (known !== undefined) return known;
    const all = callMentionsIn(text, places.features, { name, packages });
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
    return [...own, ...places.sitesInSameForms(file, indices, calls)];
  };
}

/** Groups USES by top-level form and method. */
export function groupByForm(uses: readonly Place[]): Place[][] {
  if (uses.length === 1) return [[...uses]];
  const keyOf = ({ file, offset, form, written, method }: Place) =>
    JSON.stringify([file, offset, form, written, method]);
  return [...groupBy(uses, keyOf).values()];
}

/** Returns the line for a site: place, text and method. */
export function siteText({ at, text, method }: UserSite): string {
  return [at, text, method && `[method ${method}]`].filter(Boolean).join('  ');
}

const ORDER = new Intl.Collator('en', { numeric: true });

/** Compares two texts that begin with FILE:LINE:COLUMN, for sorting. Numbers are compared by value. */
export function compareSites(one: string, other: string): number {
  return ORDER.compare(one, other);
}
