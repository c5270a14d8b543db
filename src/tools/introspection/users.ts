// Renders the users of a name, that is, the functions, top-level forms and other definitions that use it: a
// row for each, with the places of the uses. Selects a page of these rows.

import type { Caller } from '../../image/wire/operations.ts';
import { partsOfName, unqualifiedName } from '../../source/qualified.ts';
import { codeShape, fitting, mergeAlikeRows } from '../alike-rows.ts';
import { groupBy } from '../grouping.ts';
import type { Places } from '../places.ts';
import { outsideUser } from './outside.ts';
import { siteFinder, siteText, type UserSite } from './sites.ts';

/** The image's answer on the users of a name. ROWS are functions, a page of them. OUTSIDE are the top-level
 *  forms and other code outside functions, whatever the page; OUTSIDE_COUNT is their number, if some are left
 *  out. */
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

/** The page of users to show. */
interface UsersPage {
  page: { offset: number; limit: number };
  /** Number of functions on all pages. Top-level forms come after these. */
  named: number;
  /** True to add the places of the uses (S3.18). */
  sites: boolean;
  /** True when the name is that of a variable. */
  variable?: boolean;
}

/** Returns the users in DATA that are on the page: first functions, then top-level forms. */
export function usersOf(
  data: Uses,
  places: Places,
  { page, named, sites, variable = false }: UsersPage,
): Users {
  const { rows = [], outside = [], outsideCount = 0 } = data;
  const forms = formsUsing(data, places, { sites, variable });
  const certainForms = forms.filter(({ possible }) => !possible);
  const certainNames = new Set(certainForms.map(({ name }) => name));
  const functions = rows.filter(({ possible, name = '' }) => !(possible && certainNames.has(name)));
  const find = siteFinder({ ...data, variable }, places);
  const firstForm = Math.max(0, page.offset - named);
  const formsOnPage = forms.slice(firstForm, firstForm + page.limit - rows.length);
  return {
    rows: [...functions.map((row) => functionUser(row, find)), ...formsOnPage].sort(byBlock),
    repeated: rows.length - functions.length,
    outside: certainForms.length + Math.max(0, outsideCount - outside.length),
    outsidePossible: forms.length - certainForms.length,
  };
}

/** Returns the top-level forms in DATA that use the name. */
function formsUsing(
  { name, packages = {}, rows = [], outside = [] }: Uses,
  places: Places,
  options: { sites: boolean; variable: boolean },
): NameUser[] {
  const { symbol: used, setf } = partsOfName(name);
  const query = { used, setf, packages, ...options };
  const functionNames = new Set(rows.map((row) => row.name ?? ''));
  const forms = outside.flatMap((row) => outsideUser(row, query, places, functionNames) ?? []);
  return mergeSameNames(forms.map((form): NameUser => ({ ...form, outside: true })));
}

/** Returns each of FORMS once. Drops a possible user (see NameUser) when a certain user has the same name. */
function mergeSameNames(forms: readonly NameUser[]): NameUser[] {
  const certain = new Set(forms.filter(({ possible }) => !possible).map(({ name }) => name));
  const kept = forms.filter(({ possible, name }) => !possible || !certain.has(name));
  const groups = groupBy(kept, (each) => `${userHeading(each)} ${each.possible}`);
  // A file can define the same name twice. Then both forms use the name, and their sites are joined.
  return [...groups.values()].flatMap(([first, ...rest]) => {
    const sites = rest.flatMap((each) => each.sites ?? []);
    return first ? { ...first, ...(first.sites && { sites: [...first.sites, ...sites] }) } : [];
  });
}

function functionUser(
  { name = '', kind, same, possible, sites }: Caller,
  find: ReturnType<typeof siteFinder>,
): NameUser {
  return { name, kind, same, possible, sites: sites && find(name, sites) };
}

/** Sorts functions before top-level forms, and last the code that contains the name only as data. */
function byBlock(one: NameUser, other: NameUser): number {
  const rank = ({ possible, outside }: NameUser) => (possible ? 2 : outside ? 1 : 0);
  return rank(one) - rank(other);
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

/** Returns rows for as many of USERS as fit in one answer, and the number of users in these rows. If more
 *  than a few of these rows have the same shape, the first is followed by one line that lists the others.
 *  NAMED returns the beginning of a user's row, HEADER the line above the row. */
export function usersTold(
  users: readonly NameUser[],
  { named, header }: { named: (user: NameUser) => string; header: (user: NameUser) => string },
): { rows: { header: string; text: string }[]; shown: number } {
  const shaped = users.map((user) => {
    const head = named(user);
    return {
      header: header(user),
      text: userText(user.sites ?? [], head),
      shape: userShape(user, header(user)),
      brief: { name: head, at: user.sites?.[0]?.at ?? '' },
    };
  });
  const shown = fitting(shaped);
  const rows = mergeAlikeRows(shown, '    ').map(({ text, first }) => ({
    header: shaped[first]?.header ?? '',
    text,
  }));
  return { rows, shown: shown.length };
}

/** Returns HEAD with a line for each of SITES. Of more than a few sites with texts of the same shape, only
 *  the first has a whole line, and one line lists the others. */
function userText(sites: readonly UserSite[], head: string): string {
  const rows = sites.map((site) => ({
    text: `    ${siteText(site)}`,
    shape: codeShape(site.text, wordsOf(site.method)),
    brief: { at: site.at, behind: site.method && ` [method ${site.method}]` },
  }));
  return [head, ...mergeAlikeRows(rows, '    ').map(({ text }) => text)].join('\n');
}

/** Returns the shape of the row of a user with one site; undefined for other users, which are shown whole. */
function userShape({ name, sites = [] }: NameUser, header: string): string | undefined {
  const [site, ...others] = sites;
  if (site === undefined || others.length > 0) return undefined;
  return `${header} ${codeShape(site.text, [unqualifiedName(name), ...wordsOf(site.method)])}`;
}

/** Returns the names in METHOD, the specializers of a method, without packages. */
function wordsOf(method = ''): string[] {
  return method.match(/[^\s()]+/g)?.map(unqualifiedName) ?? [];
}

/** Returns a note that WHAT can be missing: this SBCL has no cross references to its own symbols (S3.12). */
export function missingNote(what: string): string {
  return `Note: this SBCL keeps no cross references to symbols of its own packages such as COMMON-LISP, so ${what} can be missing here.`;
}
