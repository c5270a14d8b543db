// Renders the users of a name, that is, the functions, top-level forms and other definitions that use it: a
// row for each, with the places of the uses. Selects a page of these rows.

import type { Caller } from '../../image/wire/operations.ts';
import { partsOfName, unqualifiedName } from '../../source/qualified.ts';
import { codeShape, fitting, mergeAlikeRows } from '../alike-rows.ts';
import { groupBy } from '../grouping.ts';
import type { Places } from '../places.ts';
import { outsideUser } from './outside.ts';
import { siteFinder, siteText, type UserSite } from './sites.ts';

/** The image's answer on the users of a name: a page of them (ROWS), and all non-functions (OUTSIDE). */
interface Uses {
  name: string;
  unrecorded?: 'macro' | 'inline' | 'slot';
  accessibleIn?: string[];
  packages?: Record<string, string>;
  rows?: Caller[];
  outside?: Caller[];
  outsideCount?: number;
}

/** A function, a top-level form or the like that uses the name. SITES has the places of its uses. */
export interface NameUser {
  name: string;
  kind?: string;
  /** The function of which the name of this user is only an alias. */
  same?: string;
  /** True when the name only occurs in data of this function or form, so that it may not be a use. */
  possible?: boolean;
  /** True when the user is a top-level form. */
  outside?: boolean;
  sites?: UserSite[];
}

/** A page of users. OUTSIDE counts the top-level forms that certainly use the name, outsidePossible those
 *  that only have it as data. REPEATED counts the rows left out because a certain user has the same name. */
export interface Users {
  rows: NameUser[];
  outside: number;
  outsidePossible: number;
  repeated: number;
}

/** Returns the users in DATA on PAGE: first functions, of which there are NAMED in all, then top-level forms.
 *  SITES adds the places of their uses (S3.18). With VARIABLE, the name is that of a variable. */
export function usersOf(
  data: Uses,
  places: Places,
  {
    page,
    named,
    sites,
    variable = false,
  }: { page: { offset: number; limit: number }; named: number; sites: boolean; variable?: boolean },
): Users {
  const { rows = [], outside: forms = [], outsideCount = 0 } = data;
  const { symbol: used, setf } = partsOfName(data.name);
  const asked = { used, setf, packages: data.packages ?? {}, sites, variable };
  const find = siteFinder({ ...data, variable }, places);
  const told = new Set(rows.map(({ name = '' }) => name));
  const found = forms
    .flatMap((row) => outsideUser(row, asked, places, told) ?? [])
    .map((each): NameUser => ({ ...each, outside: true }));
  const different = differentOf(found);
  const certain = new Set(different.flatMap((each) => (each.possible ? [] : each.name)));
  const once = rows.filter(({ possible, name = '' }) => !(possible && certain.has(name)));
  const from = Math.max(0, page.offset - named);
  const shown = different.slice(from, from + page.limit - rows.length);
  const possible = different.filter((each) => each.possible).length;
  return {
    rows: [...once.map((row) => userOf(row, find)), ...shown].sort(byBlock),
    repeated: rows.length - once.length,
    outside: different.length - possible + Math.max(0, outsideCount - forms.length),
    outsidePossible: possible,
  };
}

/** Returns each of USERS once. Drops a possible user (see NameUser) when a certain user has the same name. */
function differentOf(users: readonly NameUser[]): NameUser[] {
  const certain = new Set(users.filter(({ possible }) => !possible).map(({ name }) => name));
  const told = users.filter(({ possible, name }) => !possible || !certain.has(name));
  const named = groupBy(told, (each) => `${userHeading(each)} ${each.possible}`);
  // A file can define the same name twice. Then both forms use the name, and their sites are joined.
  return [...named.values()].flatMap(([first, ...rest]) => {
    const sites = rest.flatMap((each) => each.sites ?? []);
    return first ? { ...first, ...(first.sites && { sites: [...first.sites, ...sites] }) } : [];
  });
}

/** Sorts functions before top-level forms, and last the code that only has the name in its data. */
function byBlock(one: NameUser, other: NameUser): number {
  const rank = ({ possible, outside }: NameUser) => (possible ? 2 : outside ? 1 : 0);
  return rank(one) - rank(other);
}

function userOf(
  { name = '', kind, same, possible, sites }: Caller,
  find: ReturnType<typeof siteFinder>,
): NameUser {
  return { name, kind, same, possible, sites: sites && find(name, sites) };
}

/** Returns DATA without the members that are only needed to find the places of uses. */
export function withoutOutside<Data extends Uses>(
  data: Data,
): Omit<Data, 'accessibleIn' | 'packages' | 'outside' | 'outsideCount'> {
  const { accessibleIn, packages, outside, outsideCount, ...rest } = data;
  return rest;
}

/** Returns the beginning of the row of a user: its name, and its kind unless it is an ordinary function. */
export function userHeading({ name, kind, same }: NameUser): string {
  return [name, kind && `(${kind})`, same && `(same function as ${same})`].filter(Boolean).join(' ');
}

/** Returns HEAD with a line for each of SITES. Of more than a few sites with texts of the same shape, only
 *  the first has a whole line, and one line lists the others. */
function userText(sites: readonly UserSite[], head: string): string {
  const rows = sites.map((site) => ({
    text: `    ${siteText(site)}`,
    shape: codeShape(site.text, wordsOf(site.method ?? '')),
    brief: { at: site.at, behind: site.method && ` [method ${site.method}]` },
  }));
  return [head, ...mergeAlikeRows(rows, '    ').map(({ text }) => text)].join('\n');
}

function wordsOf(text: string): string[] {
  return text.match(/[^\s()]+/g)?.map(unqualifiedName) ?? [];
}

/** Returns rows for as many of USERS as fit in one answer, and the number of users in these rows. If more
 *  than a few of these rows have the same shape, the first is followed by one line that lists the others.
 *  NAMED returns the beginning of a user's row, HEADER the line above the row. */
export function usersTold(
  users: readonly NameUser[],
  { named, header }: { named: (user: NameUser) => string; header: (user: NameUser) => string },
): { rows: { header: string; text: string }[]; shown: number } {
  const shaped = users.map((user) => {
    const { name, sites = [] } = user;
    const [site, ...others] = sites;
    const head = named(user);
    const alone = site === undefined || others.length > 0;
    return {
      header: header(user),
      text: userText(sites, head),
      shape: alone
        ? undefined
        : `${header(user)} ${codeShape(site.text, [unqualifiedName(name), ...wordsOf(site.method ?? '')])}`,
      brief: { name: head, at: site?.at ?? '' },
    };
  });
  const shown = fitting(shaped);
  const rows = mergeAlikeRows(shown, '    ').map(({ text, first }) => ({
    header: shaped[first]?.header ?? '',
    text,
  }));
  return { rows, shown: shown.length };
}

/** Returns a note that WHAT can be missing: this SBCL has no cross references to its own symbols (S3.12). */
export function missingNote(what: string): string {
  return `Note: this SBCL keeps no cross references to symbols of its own packages such as COMMON-LISP, so ${what} can be missing here.`;
}
