// The tool who_references, which finds uses of a variable.

import type { Image } from '../../image/image.ts';
import type { ReferencesData } from '../../image/wire/operations.ts';
import { hasMore, joinSections, listsText, pageNote } from '../../kernel/reply.ts';
import {
  type ArgumentsFor,
  type CallContext,
  defineTool,
  type Result,
  type ToolDescription,
} from '../../kernel/tool.ts';
import { allIn, sharedHome } from '../alike-rows.ts';
import { callOptions } from '../calling.ts';
import { soughtDefinition } from '../definitions/asked-names.ts';
import { groupBy } from '../grouping.ts';
import { lookedUp, PACKAGE, packageOf } from '../lookup.ts';
import { isNot, isVariable, usersAdvice } from '../natures.ts';
import { LIMIT, OFFSET, pageOf } from '../paging.ts';
import type { Places } from '../places.ts';
import {
  missingNote,
  type NameUser,
  unknownNotes,
  userHeading,
  userRows,
  usersOf,
  usersOnPage,
} from './users.ts';

const WHO_REFERENCES = {
  name: 'who_references',
  description:
    'Find where a global or special variable or a constant is used: functions that read it, set it (setf) or bind it (let), and initial values, slot initforms, top-level forms and data. For functions and macros use who_calls.',
  parameters: [
    { name: 'name', type: 'string', description: 'Such as *print-base*' },
    PACKAGE,
    {
      name: 'sites',
      type: 'boolean',
      description: 'Also where: FILE:LINE:COLUMN',
    },
    LIMIT,
    OFFSET,
  ],
  required: ['name'],
  categories: ['introspection', 'xref'],
  shortDescription: 'Find the functions that read, set or bind a variable, and where',
  complexity: 'moderate',
  keywords: [
    'variable references',
    'usages of a global variable',
    'find write accesses',
    'who sets a variable',
    'who reads a variable',
    'who binds a special variable',
    'where is a variable used',
    'uses of a constant',
  ],
} as const satisfies ToolDescription;

export function whoReferencesTool(image: Image, places: Places) {
  return defineTool({
    ...WHO_REFERENCES,
    handler: (args, context) => referencesOf(image, places, args, context),
  });
}

/** Returns the result of who_references for ARGS: the definitions that use a variable. */
export async function referencesOf(
  image: Image,
  places: Places,
  args: ArgumentsFor<typeof WHO_REFERENCES>,
  context: CallContext,
): Promise<Result> {
  const page = pageOf(args, context);
  const sites = args.sites ?? false;
  const reply = await image.call(
    'who-references',
    { name: soughtDefinition(args.name).name, ...packageOf(args), sites, ...page },
    callOptions(context),
  );
  return lookedUp(reply, (found) => {
    // usersOf makes rows of the members that are left out here.
    const { accessibleIn, packages, outside, outsideCount, ...shown } = found;
    const { forms, certain, ...users } = usersOf(found, places, { sites, variable: true });
    const data = {
      ...shown,
      // The image counts only functions.
      total: found.total + certain - users.repeated,
      rows: usersOnPage(users, found.total, forms, page),
    };
    const text = joinSections([
      referencesText(data, page.offset, places),
      sites && data.total === 1 && onlySource(found, places),
    ]);
    return { data, text, unfound: data.total === 0 };
  });
}

/** The numbers of source lines to show for a single use: `around` lines before and after it, or the whole form when it
 * has at most `whole` lines. */
const SOURCE = { around: 3, whole: 20 };

/** Returns the source of the use when there is only one; else undefined. */
function onlySource({ rows = [] }: ReferencesData, places: Places): string | undefined {
  const [place, ...others] = rows[0]?.sites ?? [];
  return place && others.length === 0 ? places.around(place, SOURCE.around, SOURCE.whole) : undefined;
}

const OWN_BINDING = ' (also binds it, so it may set only that binding)';

type ShownReferences = Omit<ReferencesData, 'rows'> & { rows: NameUser[] };

/** The kinds of use that functions have. A row of another kind is for another definition. */
const VERBS: readonly string[] = ['read', 'set', 'bind'];

function referencesText(data: ShownReferences, offset: number, places: Places): string {
  const { name, total, kept, rows } = data;
  const isNoFunction = ({ kind = '', outside }: NameUser) => outside || !VERBS.includes(kind);
  const binders = new Set(rows.flatMap(({ kind, name: user }) => (kind === 'bind' ? user : [])));
  const alsoBinds = (user: NameUser) => user.kind === 'set' && binders.has(user.name);
  const blockOf = (user: NameUser) => {
    if (user.possible) return 'Possible users';
    return isNoFunction(user) ? `Other places that use ${name}` : `Functions that ${user.kind} ${name}`;
  };
  const homes = new Map(
    [...groupBy(rows, blockOf)].map(([block, users]) => [block, sharedHome(users.map(({ name }) => name))]),
  );
  const homeOf = (user: NameUser) => homes.get(blockOf(user)) ?? '';
  const { rows: blocks, shown } = userRows(rows, {
    named: (user) => {
      const short = { ...user, name: user.name.slice(homeOf(user).length) };
      return isNoFunction(user) ? userHeading(short) : `${short.name}${alsoBinds(user) ? OWN_BINDING : ''}`;
    },
    header: (user) => `${blockOf(user)}${allIn(homeOf(user))}:`,
  });
  const page = { offset, shown, total };
  const parts = [
    total === 0
      ? `No references found for ${name}`
      : listsText(blocks, hasMore(page), `Functions that read, set or bind ${name}:`),
    natureNote(data),
    !kept && missingNote('references'),
    ...unknownNotes(data, 'references', places),
    pageNote(page, 'references'),
  ];
  return parts.filter(Boolean).join('\n');
}

/** Returns a note when the name is not a variable, or is a symbol macro, whose references SBCL does not record; else
 * false. */
function natureNote({ name, natures = [], expansion }: ShownReferences): string | false {
  if (expansion !== undefined) {
    return `Note: ${name} is a symbol macro: SBCL records no references to it, only to its expansion, ${expansion}.`;
  }
  return (
    !isVariable(natures) &&
    `Note: ${isNot(name, natures, 'variable')} ${usersAdvice(name, natures)}`.trimEnd()
  );
}
