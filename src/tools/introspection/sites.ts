// Finds and renders the places where a function uses a name (S3.18).

import type { Place } from '../../image/wire/operations.ts';
import { callMentionsIn } from '../../source/calls.ts';
import { partsOfName } from '../../source/qualified.ts';
import type { SourceText } from '../../source/text.ts';
import type { SoughtName } from '../../source/uses.ts';
import { groupBy } from '../grouping.ts';
import type { Places, Site } from '../places.ts';

/** The name whose uses are sought, as the image writes it. It is that of a VARIABLE or a function. UNRECORDED
 *  says why SBCL does not record all uses. accessibleIn names the packages that have the symbol. */
export interface AskedName {
  name: string;
  variable?: boolean;
  unrecorded?: 'macro' | 'inline' | 'slot';
  accessibleIn?: readonly string[];
}

/** The place of a use, as FILE:LINE:COLUMN, and its line of text. METHOD has the specializers of the
 *  method that contains the use, if a method does. */
export interface UserSite {
  at: string;
  text: string;
  method?: string;
}

/** Returns a function that takes the name of a definition and the places in it that are recorded as uses, and
 *  returns the sites of these uses. Each site occurs once, in the order of the file. */
export function siteFinder(
  { name, variable = false, unrecorded, accessibleIn }: AskedName,
  places: Places,
): (user: string, uses: Place[]) => UserSite[] {
  const sought = usedOf({ name, variable, accessibleIn });
  // For a setf function, SBCL records all calls.
  const all = unrecorded === 'inline' && !sought.setf ? withFurtherCalls(sought, places) : undefined;
  return (user, uses) => {
    const found = groupByForm(uses).flatMap((group) => {
      const method = group[0]?.method;
      const recorded = places.sites(group, sought, { name: user, method });
      const sites = all?.(group, recorded) ?? recorded;
      // A site that may belong to several methods is listed once, without a method.
      return sites.map(({ doubt, index: _, ...site }) => ({ ...site, ...(method && !doubt && { method }) }));
    });
    const different = new Map(found.map((site) => [siteText(site), site]));
    return [...different].sort(([one], [other]) => compareSites(one, other)).map(([, site]) => site);
  };
}

/** Returns the name as source text has it: the bare name of the symbol, whether a setf function or a variable
 *  is meant, and the packages in which the symbol is accessible. */
export function usedOf({ name, variable = false, accessibleIn }: AskedName): SoughtName {
  const { symbol, setf } = partsOfName(name);
  return { name: symbol, setf, variable, packages: accessibleIn && new Set(accessibleIn) };
}

/** Returns a function that takes the uses of USED in a form and their RECORDED sites, and returns all sites
 *  in the form. For a call that is inlined, SBCL creates one function for several calls and records only the
 *  first call, or the list in which that call is an argument. */
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
    return [...own, ...places.beside(file, indices, calls)];
  };
}

/** Groups USES by their top-level form and method. */
export function groupByForm(uses: readonly Place[]): Place[][] {
  if (uses.length === 1) return [[...uses]];
  const keyOf = ({ file, offset, form, written, method }: Place) =>
    JSON.stringify([file, offset, form, written, method]);
  return [...groupBy(uses, keyOf).values()];
}

/** Returns a line that shows a site. */
export function siteText({ at, text, method }: UserSite): string {
  return [at, text, method && `[method ${method}]`].filter(Boolean).join('  ');
}

const ORDER = new Intl.Collator('en', { numeric: true });

/** Compares two texts that begin with FILE:LINE:COLUMN, for sorting. Numbers are compared by value. */
export function compareSites(one: string, other: string): number {
  return ORDER.compare(one, other);
}
