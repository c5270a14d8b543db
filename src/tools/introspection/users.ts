// Selects and renders a page of the users of a name: functions, top-level forms and other definitions that use it. Each
// user has a row with the places of its uses.

import type { Caller, UnreadFile } from '../../image/wire/operations.ts';
import { partsOfName, unqualifiedName } from '../../source/qualified.ts';
import { codeShape, fitting, mergeAlikeRows } from '../alike-rows.ts';
import { groupBy } from '../grouping.ts';
import type { Places } from '../places.ts';
import { outsideUser } from './outside.ts';
import { siteFinder, siteText, type UserSite } from './sites.ts';

/** The image's answer about the users of a name. `rows` is a page of functions. `outside` are all top-level forms and
 * other code outside of functions; `outsideCount` is their number when `outside` lacks some. `unrecorded` says why SBCL
 * may not record some uses. `accessibleIn` has all names of the packages in which the symbol is accessible. `packages`
 * maps nicknames of packages to names. */
interface Uses {
  name: string;
  unrecorded?: 'macro' | 'inline' | 'slot';
  accessibleIn?: string[];
  packages?: Record<string, string>;
  rows?: Caller[];
  outside?: Caller[];
  outsideCount?: number;
}

/** A function or top-level form that uses the name, with the places of its uses. */
export interface NameUser {
  name: string;
  kind?: string;
  /** The name of the function of which this user is an alias; absent when this user is not an alias. */
  same?: string;
  /** True when the user contains the name only as data, so that it may never use the definition. */
  possible?: boolean;
  /** True for a top-level form or other code outside of functions. */
  outside?: boolean;
  sites?: UserSite[];
}

/** The users of a name. `functions` are those on the page that the image returned. `forms` are all users outside of
 * functions. `certain` is the number of forms that certainly use the name, including those that the image left out.
 * `possible` is the number of `forms` that only contain the name as data. `repeated` is the number of functions that
 * are left out because a form of the same name certainly uses the name. */
interface Users {
  functions: NameUser[];
  forms: NameUser[];
  certain: number;
  possible: number;
  repeated: number;
}

/** Returns the users in DATA. If `sites` is true, each has the places of its uses. */
export function usersOf(
  data: Uses,
  places: Places,
  { sites, variable = false }: { sites: boolean; variable?: boolean },
): Users {
  const { rows = [], outside = [], outsideCount = 0 } = data;
  const forms = formsUsing(data, places, { sites, variable });
  const certainForms = forms.filter(({ possible }) => !possible);
  const functions = withoutDoubtful(rows, forms);
  const { name, unrecorded, accessibleIn } = data;
  const asked = { name, variable, ...(unrecorded && { unrecorded }), ...(accessibleIn && { accessibleIn }) };
  const find = siteFinder(asked, places);
  return {
    functions: functions.map((row) => functionUser(row, find)),
    forms,
    certain: certainForms.length + Math.max(0, outsideCount - outside.length),
    possible: forms.length - certainForms.length,
    repeated: rows.length - functions.length,
  };
}

/** Returns USERS without each possible user that has the name of a user in FORMS that is certain. */
function withoutDoubtful<User extends { name?: string; possible?: boolean }>(
  users: readonly User[],
  forms: readonly NameUser[],
): User[] {
  const certainNames = new Set(forms.filter(({ possible }) => !possible).map(({ name }) => name));
  return users.filter(({ possible, name = '' }) => !(possible && certainNames.has(name)));
}

/** Returns those users of a list that are on PAGE. The list begins with COUNT functions, of which FUNCTIONS and the
 * REPEATED ones are on PAGE. FURTHER is the whole rest of the list. */
export function usersOnPage(
  { functions, repeated }: Pick<Users, 'functions' | 'repeated'>,
  count: number,
  further: readonly NameUser[],
  page: { offset: number; limit: number },
): NameUser[] {
  // The image has counted the repeated functions, so each fills a row of PAGE although it is not shown.
  const rowsLeft = page.limit - functions.length - repeated;
  const start = Math.max(0, page.offset - count);
  return [...functions, ...further.slice(start, start + rowsLeft)].sort(byBlock);
}

function formsUsing(
  { name, packages = {}, rows = [], outside = [] }: Uses,
  places: Places,
  options: { sites: boolean; variable: boolean },
): NameUser[] {
  const { symbol: used, setf } = partsOfName(name);
  const query = { used, setf, packages, ...options };
  // outsideUser leaves out a possible form that has one of these names.
  const functionNames = new Set(rows.map((row) => row.name ?? ''));
  const forms = outside.flatMap((row) => outsideUser(row, query, places, functionNames) ?? []);
  return mergeSameNames(forms.map((form): NameUser => ({ ...form, outside: true })));
}

/** Merges users of the same name. Leaves out a possible user when a certain user has the same name. */
function mergeSameNames(forms: readonly NameUser[]): NameUser[] {
  const groups = groupBy(withoutDoubtful(forms, forms), (each) => `${userHeading(each)} ${each.possible}`);
  // A file can define a name twice, and both definitions may use the function. They become one row, which has the
  // places of use in both.
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

/** Compares users so that functions come first, then top-level forms, then code that has the name only in data. */
function byBlock(one: NameUser, other: NameUser): number {
  const rank = ({ possible, outside }: NameUser) => (possible ? 2 : outside ? 1 : 0);
  return rank(one) - rank(other);
}

/** Returns the beginning of a user's row: the name, and the kind unless it is an ordinary function. */
export function userHeading({ name, kind, same }: NameUser): string {
  return [name, kind && `(${kind})`, same && `(same function as ${same})`].filter(Boolean).join(' ');
}

/** Returns rows for those of USERS that fit in one answer, and the number of these users. When many rows look alike
 * (see userShape), shows the first and lists the others in one line. `named` returns the beginning of the row of a
 * user, and `header` the line above it. */
export function userRows(
  users: readonly NameUser[],
  { named, header }: { named: (user: NameUser) => string; header: (user: NameUser) => string },
): { rows: { header: string; text: string }[]; shown: number } {
  const shaped = users.map((user) => {
    const head = named(user);
    const above = header(user);
    return {
      header: above,
      text: userText(user.sites ?? [], head),
      shape: userShape(user, above),
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

/** Returns HEAD with a line for each of SITES. Merges the lines of sites that look alike (see codeShape). */
function userText(sites: readonly UserSite[], head: string): string {
  const rows = sites.map((site) => ({
    text: `    ${siteText(site)}`,
    shape: codeShape(site.text, wordsOf(site.method)),
    brief: { at: site.at, behind: site.method && ` [method ${site.method}]` },
  }));
  return [head, ...mergeAlikeRows(rows, '    ').map(({ text }) => text)].join('\n');
}

/** Returns a text that is equal for definitions that use the name in a similar way (see codeShape). Rows with equal
 * texts are merged. Returns undefined for a definition that does not use the name in exactly one place; its row is
 * shown completely. */
function userShape({ name, sites = [] }: NameUser, header: string): string | undefined {
  const [site, ...others] = sites;
  if (site === undefined || others.length > 0) return undefined;
  return `${header} ${codeShape(site.text, [unqualifiedName(name), ...wordsOf(site.method)])}`;
}

/** Returns the names in METHOD, the specializers of a method, without packages. */
function wordsOf(method = ''): string[] {
  return method.match(/[^\s()]+/g)?.map(unqualifiedName) ?? [];
}

/** Returns a note that WHAT may be missing, because this SBCL has no cross references to its own symbols. */
export function missingNote(what: string): string {
  return `Note: this SBCL records no cross references to symbols of its own packages, such as COMMON-LISP, so ${what} may be missing here.`;
}

const FILE_LIMIT = 3;

/** Returns notes with the reasons why a list may be incomplete. WHAT is a plural noun, such as 'callers'. */
export function unknownNotes(
  { interpreted, unheard, unread = [] }: { interpreted?: boolean; unheard?: boolean; unread?: UnreadFile[] },
  what: string,
  places: Places,
): string[] {
  const files = unread
    .slice(0, FILE_LIMIT)
    .map(
      ({ file, why }) =>
        `Note: not all top-level forms of ${places.fileName(file)} could be read (${why}); search_in_buffer finds names in that file.`,
    );
  const more = unread.length - files.length;
  return [
    interpreted && `Note: ${what} in interpreted code of this image are unknown.`,
    unheard && `Note: ${what} in initial values and top-level forms are unknown here.`,
    ...files,
    more > 0 && `Note: this also applies to ${more} more ${more === 1 ? 'file' : 'files'}.`,
  ].filter((note) => typeof note === 'string');
}
