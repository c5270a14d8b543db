// Decides the tools that answer from cross references.

import type { Image } from '../../image/image.ts';
import type { Caller } from '../../image/wire/data.ts';
import type { WhoCallsData } from '../../image/wire/operations.ts';
import { fittingRows, hasMore, listsText, pageNote } from '../../kernel/reply.ts';
import { defineTool, keywordList, type Parameter, type ToolDefinition } from '../../kernel/tool.ts';
import { callOptions, LIMIT, OFFSET, PACKAGE, pageArguments, stringArgument } from '../arguments.ts';
import { isNot } from '../natures.ts';
import { foundValue, isLookupFailure, lookupResult } from '../outcome.ts';
import type { Places } from '../places.ts';

const PARAMETERS: Parameter[] = [
  { name: 'name', type: 'string', description: 'Function name to find callers of' },
  PACKAGE,
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
];

const WHO_CALLS: Omit<ToolDefinition, 'handler'> = {
  name: 'who_calls',
  title: 'Find callers',
  description:
    "Find all functions that call a given function. Uses SBCL's cross-reference database to discover callers.",
  parameters: PARAMETERS,
  required: ['name'],
  categories: ['introspection', 'xref'],
  shortDescription: 'Find the functions that call a given one, and where',
  complexity: 'moderate',
  keywords: keywordList(`
    callers, find usages, cross reference, call graph, where is it used, find references, dead code, impact of a
    change, who calls, call sites, xref, call hierarchy, incoming calls, inbound edges, who uses, who is using,
    used by, uses of, users of, using it, what needs it, is it needed, places that call it, places that trigger
    it, code paths that hit it, reached from, called from, where is it called, where does the call come from,
    gets called, makes a call to, depends on it, depending, dependents, relies on it, relying on, anybody still,
    unused function, is it unused, unused method, obsolete, deprecated, safe to delete or remove, can I delete,
    safely rename, before I rename or delete it, throw it out, safe delete, what breaks if I change it, parts of
    the program that break, what must I update afterwards, everything I must update, blast radius, ripple
    effect, affected code, before refactoring, change the argument order, change a signature, add a required
    parameter, reverse dependencies, upstream consumers, users of a macro, where is a macro used, invocations,
    invoked, invokes, triggered, funcall, backlinks, nobody calls it, reference count, more than one place, how
    many times is it referred to, in our code, line and column of every call, static analysis of calls,
    slime-who-calls, slime-calls-who, sb-introspect:who-calls, Alt+F7, Shift+F12, M-?, C-c <, C-c C-w c, find
    all callers, Ctrl+Alt+H, Ctrl+Shift+G, gr, caller tree, reverse call tree, references to a function, usages
    of a function, who invokes, who uses the macro, functions that use the macro, macro users, expansions of a
    macro in code, find all invocations, calls to adapt, still in use, in use anywhere, used anywhere, used
    elsewhere, where else is it used, nothing uses it, orphan, clients of this function, fan-in, what would
    break, sly-who-calls, slime-who-macroexpands, who-macroexpands, C-c C-w m, calling functions, who is
    calling, all calls to a function, functions which call, depending upon, points at it, refers to, referred,
    referenced by, ends up in, goes through, leads to, which tests exercise it, tests that call it, dependants,
    consequences of a change, adapt callers, migrate callers, update the call sites, find dead functions, never
    called, no callers, leftover calls, remaining callers, still referenced, still pointing at, remove a
    function, delete a function, rename a function, can we inline it, caller graph, method callers, Show Usages,
    Peek References, CodeLens, cscope, xref-find-references, lsp references, grep but accurate, accurate usages,
    directly reached, spot where it is invoked, each place, every place, every spot, all places, who needs it,
    is somebody using it, nobody uses, not used any more, views routes tests that invoke, where do we call out,
    callers of callers, transitive callers, change the signature, what else must change, number of callers,
    which other functions rely on, can I drop it, drop the function, orphaned function, everything that goes
    through it, affected by a change, call tree upwards, list sites calling, every use of a function, Find
    Usages of a method, which functions does a change affect, other functions that use it, everyone using, users
    of a function, from which places, where do we use it, does any code still use it, which function invokes, no
    one calls, incoming edges in the dependency graph, map of who calls whom, which code triggers it`),
};

export function whoCalls(image: Image, places: Places) {
  return defineTool({
    ...WHO_CALLS,
    handler: async (args, context) => {
      const packageName = stringArgument(args, 'package');
      const page = pageArguments(args, context);
      const reply = await image.call(
        'who-calls',
        {
          name: String(args['name']),
          ...(packageName && { package: packageName }),
          sites: args['sites'] === true,
          internals: args['internals'] === true,
          ...page,
        },
        callOptions(context),
      );
      const found = foundValue(reply);
      if (isLookupFailure(found)) return lookupResult(found);
      const users = usersOf(found, places);
      return {
        data: { ...withoutFeatures(found), rows: users },
        text: callersText(found, users, page.offset),
      };
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
  const blocks = lines.map((text, index) => ({
    header:
      rows[index]?.kind === undefined ? `Functions that call ${name}:` : `Other places that call ${name}:`,
    text,
  }));
  return [listsText(blocks, hasMore(page)), ...notes].filter(Boolean).join('\n');
}

/** What is asked about, and who uses it. */
interface Uses {
  name: string;
  features?: string[];
  rows?: Caller[];
}

/** A user, with its places as people name them. */
export interface User {
  name: string;
  kind?: string;
  sites?: UserSite[];
}

/** FILE:LINE:COLUMN, the line of text there, and the specializers when it is in a method. */
interface UserSite {
  at: string;
  text: string;
  method?: string;
}

/** Returns the users in DATA with their places found (S3.18). */
export function usersOf({ name, features = [], rows = [] }: Uses, places: Places): User[] {
  const used = name.replace(/^.*?::(?:\(\S+ (.*)\)$)?/s, '$1');
  const known = new Set(features);
  return rows.map(({ sites, ...user }) => {
    if (sites === undefined) return user;
    const found = sites.map((site) => {
      const { at, text } = places.site(site, known, used) ?? { at: 'no source', text: '' };
      return { at, text, ...(site.method && { method: site.method }) };
    });
    const different = new Map(found.map((site) => [siteText(site), site]));
    return {
      ...user,
      sites: [...different].sort(([one], [other]) => bySite(one, other)).map(([, site]) => site),
    };
  });
}

/** Returns DATA without what only the search for places needs. */
export function withoutFeatures<Data extends Uses>({ features, ...data }: Data): Omit<Data, 'features'> {
  return data;
}

function siteText({ at, text, method }: UserSite): string {
  return [at, text, method && `[method ${method}]`].filter(Boolean).join('  ');
}

/** Returns HEAD with a line for each place of USER. */
export function userText({ sites = [] }: User, head: string): string {
  return [head, ...sites.map((site) => `    ${siteText(site)}`)].join('\n');
}

function bySite(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true });
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
