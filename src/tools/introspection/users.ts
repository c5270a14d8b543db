// Decides how the users of a name read: one row each, with the places of its uses, and which of them a page shows.

import type { Caller } from '../../image/wire/data.ts';
import { partsOfName } from '../../source/qualified.ts';
import { groupBy } from '../grouping.ts';
import type { Places } from '../places.ts';
import { type Asked, outside } from './outside.ts';
import { siteFinder, siteText, type UserSite } from './sites.ts';

/** What the image tells of the users of a name: the ROWS of a page, and all that are OUTSIDE functions. */
interface Uses {
  name: string;
  unrecorded?: 'macro' | 'inline' | 'slot';
  accessibleIn?: string[];
  packages?: Record<string, string>;
  rows?: Caller[];
  outside?: Caller[];
  outsideCount?: number;
}

/** A user, with its places as people name them. */
export interface User {
  name: string;
  kind?: string;
  /** Of which function it is another name. */
  same?: string;
  /** Whether it only has the name among its data. */
  possible?: boolean;
  /** Whether it is a top-level form. */
  outside?: boolean;
  sites?: UserSite[];
}

/** The users of a page, and how many top-level forms use the name, and how many only have it as data. REPEATED are left out of
 *  the page: they only have it as data, and a top-level form that defines the same name uses it. */
export interface Users {
  rows: User[];
  outside: number;
  outsidePossible: number;
  repeated: number;
}

/** Returns the users in DATA that PAGE has, where NAMED users come before top-level forms, with their places found when
 *  SITES are wanted (S3.18). Forms that use a VARIABLE have it as data. */
export function usersOf(
  data: Uses,
  places: Places,
  {
    page,
    named,
    sites,
    variable,
  }: { page: { offset: number; limit: number }; named: number; sites: boolean; variable?: boolean },
): Users {
  const { rows = [], outside: forms = [], outsideCount = 0 } = data;
  const asked = askedOf(data, sites, variable ?? false);
  const find = siteFinder({ ...data, variable: variable ?? false }, places);
  const told = new Set(rows.map(({ name = '' }) => name));
  const found = forms
    .flatMap((row) => outside(row, asked, places, told) ?? [])
    .map((each): User => ({ ...each, outside: true }));
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

/** Gives what is asked about the top-level forms in DATA. */
function askedOf(data: Uses, sites: boolean, variable: boolean): Asked {
  const { packages = {} } = data;
  return {
    used: partsOfName(data.name).symbol,
    packages,
    sites,
    variable,
  };
}

/** Gives each of USERS once, and none as possible that is certain. */
function differentOf(users: readonly User[]): User[] {
  const certain = new Set(users.filter(({ possible }) => !possible).map(({ name }) => name));
  const told = users.filter(({ possible, name }) => !possible || !certain.has(name));
  const named = groupBy(told, (each) => `${headOf(each)} ${each.possible}`);
  // A file can define a name twice, and with each form the name is used.
  return [...named.values()].flatMap(([first, ...rest]) => {
    const sites = rest.flatMap((each) => each.sites ?? []);
    return first ? { ...first, ...(first.sites && { sites: [...first.sites, ...sites] }) } : [];
  });
}

/** Functions stand before other places, and those before what only has the name as data. */
function byBlock(one: User, other: User): number {
  const rank = ({ possible, outside }: User) => (possible ? 2 : outside ? 1 : 0);
  return rank(one) - rank(other);
}

function userOf(
  { name = '', kind, same, possible, sites }: Caller,
  find: ReturnType<typeof siteFinder>,
): User {
  const user = { name, ...(kind && { kind }), ...(same && { same }), ...(possible && { possible }) };
  if (sites === undefined) return user;
  return { ...user, sites: find(name, sites) };
}

/** Returns DATA without what only the search for places needs. */
export function withoutOutside<Data extends Uses>(
  data: Data,
): Omit<Data, 'accessibleIn' | 'packages' | 'outside' | 'outsideCount'> {
  const { accessibleIn, packages, outside, outsideCount, ...rest } = data;
  return rest;
}

/** Returns how the row of a user begins: its name, and what it is when no function of its own. */
export function headOf({ name, kind, same }: User): string {
  return [name, kind && `(${kind})`, same && `(same function as ${same})`].filter(Boolean).join(' ');
}

/** Returns HEAD with a line for each place of USER. */
export function userText({ sites = [] }: User, head: string): string {
  return [head, ...sites.map((site) => `    ${siteText(site)}`)].join('\n');
}

/** Returns the note that a list of WHAT, callers or references, can be incomplete: this SBCL was built without cross
 *  references to its own symbols (S3.12). */
export function missingNote(what: string): string {
  return `Note: this SBCL keeps no cross references to symbols of its own packages such as COMMON-LISP, so ${what} can be missing here.`;
}
