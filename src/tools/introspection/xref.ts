// The tool who_calls, which answers from the cross references of SBCL.

import type { Image } from '../../image/image.ts';
import type { WhoCallsData } from '../../image/wire/operations.ts';
import type { EarlierAnswers } from '../../kernel/earlier-answers.ts';
import { hasMore, listsText, pageNote } from '../../kernel/reply.ts';
import {
  type ArgumentsFor,
  type CallContext,
  defineTool,
  type Result,
  type ToolDescription,
} from '../../kernel/tool.ts';
import { moreText } from '../agreement.ts';
import { callOptions } from '../calling.ts';
import { askedMethod } from '../definitions/asked-method.ts';
import { soughtDefinition } from '../definitions/asked-names.ts';
import { lookedUp, PACKAGE, packageOf } from '../lookup.ts';
import { isFunction, isNot, isVariable, usersAdvice } from '../natures.ts';
import { LIMIT, OFFSET, pageOf } from '../paging.ts';
import type { Places } from '../places.ts';
import { lookedUpEach, NAMES } from '../several.ts';
import { findersIn } from './finders.ts';
import { listedAgain, possibleUsers, wasListed } from './possible-users.ts';
import { referencesOf } from './references.ts';
import { unusedFunctions } from './unused.ts';
import {
  missingNote,
  type NameUser,
  unknownNotes,
  userHeading,
  userRows,
  usersOf,
  usersOnPage,
} from './users.ts';

const PARAMETERS = [
  { name: 'name', type: 'string', description: 'Function name to find callers of' },
  { ...PACKAGE, description: 'Package name (defaults to CL-USER)' },
  {
    name: 'sites',
    type: 'boolean',
    description: 'Also where: FILE:LINE:COLUMN',
  },
  {
    name: 'internals',
    type: 'boolean',
    description: "Also SBCL's own",
  },
  {
    name: 'unused',
    type: 'boolean',
    description: 'Dead code instead: functions of package that nobody uses; name may be empty',
  },
  {
    name: 'within',
    type: 'string',
    description: 'Only callers in this system',
  },
  { ...NAMES, description: 'Names; name may be empty' },
  LIMIT,
  OFFSET,
] as const;

const WHO_CALLS = {
  name: 'who_calls',
  description:
    "Find all functions that call a given function. Uses SBCL's cross-reference database to discover callers.",
  parameters: PARAMETERS,
  required: ['name'],
  instead: { name: ['names', 'unused'] },
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
    'functions that use it',
  ],
  // Claude Code's search does not find this tool for questions about what changing a name breaks.
  alwaysLoad: true,
} as const satisfies ToolDescription;

export function whoCallsTool(image: Image, places: Places) {
  return defineTool({
    ...WHO_CALLS,
    handler: async (args, context) => {
      const page = pageOf(args, context);
      if (args.unused)
        return unusedFunctions(
          image,
          places,
          { package: args.package || args.name, ...withinOf(args), ...page },
          context,
        );
      return lookedUpEach(args.name, args.names, async (text, several) => {
        const asked = soughtDefinition(text);
        const { method, missing } = await askedMethod(image, asked, args, context);
        if (missing) return { ...missing, unfound: true };
        const callers = await callersOf(image, places, { ...args, name: asked.name }, several, context);
        return method === undefined
          ? callers
          : { ...callers, text: `${callers.text}\n${methodNote(method)}` };
      });
    },
  });
}

function methodNote(method: string): string {
  return `Note: calls go to the generic function; the arguments of each call decide whether it runs the method ${method}.`;
}

async function callersOf(
  image: Image,
  places: Places,
  args: ArgumentsFor<typeof WHO_CALLS>,
  several: boolean,
  context: CallContext,
): Promise<Result> {
  const page = pageOf(args, context);
  const sites = args.sites ?? false;
  const internals = args.internals ?? false;
  const reply = await image.call(
    'who-calls',
    { name: args.name, ...packageOf(args), sites, internals, ...withinOf(args), ...page },
    callOptions(context),
  );
  const callers = lookedUp(reply, (found) => {
    const data = callersOnPage(found, places, page, sites);
    return {
      data,
      text: callersText(data, {
        offset: page.offset,
        several,
        places,
        earlierAnswers: context.earlierAnswers,
      }),
      unfound: data.callers + data.others + data.possible === 0,
    };
  });
  const { natures = [] } = callers.data as Partial<WhoCallsData>;
  if (isFunction(natures) || !isVariable(natures)) return callers;
  return withReferences(callers, await referencesOf(image, places, args, context));
}

/** Returns FOUND with the callers on PAGE, and with the totals of all pages. First come the callers in the rows of
 * FOUND, then the top-level forms that call the name, and last those that `possibleUsers` finds only in the texts of
 * files. */
function callersOnPage(
  found: WhoCallsData,
  places: Places,
  page: ReturnType<typeof pageOf>,
  sites: boolean,
): ShownCallers {
  const { files = [], accessibleIn = [], packages, outside, outsideCount, ...shown } = found;
  // The counts of all rows, also those on other pages. They do not include the top-level forms.
  const { callers, others, possible } = shown;
  const { forms, certain, ...users } = usersOf(found, places, { sites });
  // SBCL open-codes the calls of a (setf SLOT) function, so it may not have recorded all of them.
  const isKnown = callers + others + certain > 0 && found.unrecorded !== 'slot';
  const unseen = isKnown ? [] : possibleUsers(found, [...users.functions, ...forms], places, sites);
  const finders = found.findingUnrecorded ? findersIn(files, accessibleIn, places) : undefined;
  return {
    ...shown,
    // At most three names, as when the image finds these functions.
    ...(finders && { finding: finders.slice(0, 3).map(({ name }) => name), findingCount: finders.length }),
    others: others + certain,
    possible: possible - users.repeated + users.possible + unseen.length,
    rows: usersOnPage(users, callers + others + possible, [...forms, ...unseen], page),
  };
}

/** Returns CALLERS with REFERENCES inserted before its notes. The name is a variable and no function, so the image
 * takes no mention of it in data for a call, and the first line of CALLERS says that there are no callers. */
function withReferences(callers: Result, references: Result): Result {
  const [none = '', ...notes] = callers.text.split('\n');
  return {
    data: { ...(callers.data as object), references: references.data },
    text: `${none}\n\n${[references.text, ...notes].join('\n')}`,
  };
}

/** Returns the argument `within`, the name of a system; {} when it is absent or ''. */
function withinOf({ within }: { readonly within?: string }): { within?: string } {
  return within ? { within } : {};
}

type ShownCallers = Omit<WhoCallsData, 'rows'> & { rows: NameUser[] };

/** Options for rendering callers. `several` is true when the answer also has the callers of other functions. */
interface CallersShown {
  offset: number;
  several: boolean;
  places: Places;
  earlierAnswers: EarlierAnswers | undefined;
}

function callersText(data: ShownCallers, { offset, several, places, earlierAnswers }: CallersShown): string {
  const { name, callers, others, possible, leftOut = 0, kept, rows } = data;
  const headers = {
    functions: `Functions that call ${name}:`,
    places: `Other places that call ${name}:`,
    possible: several ? `Possible callers of ${name}:` : 'Possible callers:',
  };
  // Functions come first, then other callers, then code that has the name only in data.
  const { rows: blocks, shown } = userRows(rows, {
    named: userHeading,
    header: ({ kind, outside, possible }) =>
      headers[possible ? 'possible' : kind === undefined && !outside ? 'functions' : 'places'],
  });
  const page = { offset, shown, total: callers + others + possible };
  const nature = natureNote(data);
  const notes = [
    nature,
    leftOut > 0 && `Note: callers outside of that system are left out: ${leftOut}.`,
    !kept && !nature && missingNote('callers'),
    data.unrecorded && data.unrecorded !== 'slot' && UNRECORDED[data.unrecorded],
    ...unknownNotes(data, 'callers', places),
    pageNote(page, 'callers'),
  ];
  if (page.total === 0)
    return [`No callers found for ${name}`, findingNote(data, earlierAnswers), ...notes]
      .filter(Boolean)
      .join('\n');
  const first = callers > 0 ? headers.functions : others > 0 ? headers.places : headers.possible;
  return [listsText(blocks, hasMore(page), first), ...notes].filter(Boolean).join('\n');
}

/** Returns a note about functions that may call this one by a computed name. The note is shorter when an earlier answer
 * to the same client (EARLIER_ANSWERS) had it already. Returns false when there are no such functions. */
function findingNote(
  { finding = [], findingCount }: ShownCallers,
  earlierAnswers: EarlierAnswers | undefined,
): string | false {
  if (finding.length === 0) return false;
  if (wasListed(finding, findingCount, earlierAnswers))
    return `Note: it ${listedAgain(finding, findingCount, 'called')}.`;
  const names = `${finding.join(', ')}${moreText(finding.length, findingCount)}`;
  return `Note: code that may call it through a symbol from INTERN, FIND-SYMBOL or the reader: ${names}.`;
}

/** Notes about names whose uses in top-level forms SBCL does not record. */
const UNRECORDED = {
  macro: 'Note: SBCL does not record where top-level forms use a macro; search_in_buffer finds such forms.',
  inline:
    'Note: SBCL does not record where this function was put in line in top-level forms; search_in_buffer finds such forms.',
} as const;

/** Returns a note about the kind of the name when the name is not a function; else false. */
function natureNote({ name, natures = [] }: ShownCallers): string | false {
  if (isFunction(natures)) return false;
  const advice = name.includes('(SETF ')
    ? 'SBCL records no uses of it, so only forms in loaded files are shown.'
    : usersAdvice(name, natures);
  return `Note: ${isNot(name, natures, 'function')} ${advice}`.trimEnd();
}
