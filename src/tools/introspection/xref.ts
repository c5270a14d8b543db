// Decides the tools that answer from cross references.

import type { Image } from '../../image/image.ts';
import type { Caller } from '../../image/wire/data.ts';
import type { WhoCallsData } from '../../image/wire/operations.ts';
import { fittingRows, hasMore, listsText, pageNote } from '../../kernel/reply.ts';
import { defineTool, type ToolDescription } from '../../kernel/tool.ts';
import { callOptions } from '../calling.ts';
import { lookedUp, PACKAGE, packageOf } from '../lookup.ts';
import { isNot } from '../natures.ts';
import { LIMIT, OFFSET, pageOf } from '../paging.ts';
import type { Places } from '../places.ts';
import { type Asked, siteFinder, siteText, type UserSite } from './sites.ts';

const PARAMETERS = [
  { name: 'name', type: 'string', description: 'Function name to find callers of' },
  { ...PACKAGE, description: 'Package name (defaults to CL-USER)' },
  {
    name: 'sites',
    type: 'boolean',
    description: 'Also show each place of a call: FILE:LINE:COLUMN and the line of text',
  },
  {
    name: 'internals',
    type: 'boolean',
    description: "Also list SBCL's own transforms, VOPs and optimizers",
  },
  LIMIT,
  OFFSET,
] as const;

const WHO_CALLS = {
  name: 'who_calls',
  title: 'Find callers',
  description:
    "Find all functions that call a given function. Uses SBCL's cross-reference database to discover callers.",
  parameters: PARAMETERS,
  required: ['name'],
  categories: ['introspection', 'xref'],
  shortDescription: 'Find the functions that call a given one, and where',
  complexity: 'moderate',
  keywords: [
    'callers',
    'find usages',
    'cross reference',
    'call graph',
    'where is it used',
    'find references',
    'dead code',
    'impact of a change',
  ],
  // Claude Code's own search does not find it for what breaks when a name changes.
  alwaysLoad: true,
} as const satisfies ToolDescription;

export function whoCalls(image: Image, places: Places) {
  return defineTool({
    ...WHO_CALLS,
    handler: async (args, context) => {
      const page = pageOf(args, context);
      const reply = await image.call(
        'who-calls',
        {
          name: args.name,
          ...packageOf(args),
          sites: args.sites ?? false,
          internals: args.internals ?? false,
          ...page,
        },
        callOptions(context),
      );
      return lookedUp(reply, (found) => {
        const users = usersOf(found, places);
        return {
          data: { ...withoutFeatures(found), rows: users },
          text: callersText(found, users, page.offset),
        };
      });
    },
  });
}

function callersText(data: WhoCallsData, rows: User[], offset: number): string {
  const { name, callers, others, kept } = data;
  const lines = fittingRows(
    rows.map((user) => userText(user, user.kind === undefined ? user.name : `${user.name} (${user.kind})`)),
  );
  const page = { offset, shown: lines.length, total: callers + others };
  const notes = [natureNote(data), !kept && missingNote('callers'), pageNote(page, 'callers')];
  if (page.total === 0) return [`No callers found for ${name}`, ...notes.filter(Boolean)].join('\n');
  // The functions, then whatever else calls (S3.10, S3.17).
  const [functions, places] = [`Functions that call ${name}:`, `Other places that call ${name}:`];
  const blocks = lines.map((text, index) => ({
    header: rows[index]?.kind === undefined ? functions : places,
    text,
  }));
  return [listsText(blocks, hasMore(page), callers > 0 ? functions : places), ...notes]
    .filter(Boolean)
    .join('\n');
}

/** What is asked about, and who uses it. */
interface Uses extends Asked {
  rows?: Caller[];
}

/** A user, with its places as people name them. */
export interface User {
  name: string;
  kind?: string;
  sites?: UserSite[];
}

/** Returns the users in DATA, of a VARIABLE or a function, with their places found (S3.18). */
export function usersOf({ rows = [], ...asked }: Uses, places: Places, variable = false): User[] {
  const find = siteFinder({ ...asked, variable }, places);
  return rows.map(({ sites, ...user }) => ({ ...user, ...(sites && { sites: find(user.name, sites) }) }));
}

/** Returns DATA without what only the search for places needs. */
export function withoutFeatures<Data extends Uses>({
  features,
  accessibleIn,
  ...data
}: Data): Omit<Data, 'features' | 'accessibleIn'> {
  return data;
}

/** Returns HEAD with a line for each place of USER. */
export function userText({ sites = [] }: User, head: string): string {
  return [head, ...sites.map((site) => `    ${siteText(site)}`)].join('\n');
}

/** Returns the note that the list lacks users of kind WHAT, because SBCL was built to keep none (S3.12). */
export function missingNote(what: string): string {
  return `Note: this SBCL keeps no cross references to symbols of its own packages such as COMMON-LISP, so ${what} can be missing here.`;
}

/** S3.16: what the name stands for when it is no function. */
function natureNote({ name, natures = [] }: WhoCallsData): string | false {
  if (natures.some((nature) => ['FUNCTION', 'GENERIC-FUNCTION', 'MACRO'].includes(nature))) return false;
  return `Note: ${isNot(name, natures, 'function')}`;
}
