// Decides the tools that answer from cross references.

import type { Image } from '../../image/image.ts';
import type { Caller, WhoCallsData } from '../../image/operations.ts';
import { fittingRows, joinSections, listText } from '../../kernel/reply.ts';
import { defineTool, keywordList, type Parameter, type ToolDefinition } from '../../kernel/tool.ts';
import { callOptions, LIMIT, OFFSET, pageArguments, stringArgument } from '../arguments.ts';
import { foundValue, isLookupFailure, lookupResult } from '../outcome.ts';
import type { Places } from '../places.ts';

const PARAMETERS: Parameter[] = [
  { name: 'name', type: 'string', description: 'Function name to find callers of' },
  { name: 'package', type: 'string', description: 'Package name (defaults to CL-USER)' },
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
    callers, find usages, cross reference, call graph, where is it used, find references, dead code,
    impact of a change, call sites, xref, call hierarchy, incoming calls, inbound edges, who uses, used
    by, uses of, users, using, places that trigger or hit it, code paths, reached from, depends on
    depending dependents, relies on relying, anybody still, unused function, obsolete, deprecated, safe
    to delete remove or throw out, break if changed, must update afterwards, blast radius, ripple
    effect, affected by a change, rename, refactor, change a signature add a required parameter, reverse
    dependencies, users of a macro, invocations, invoked triggered called from, funcall, consumers,
    backlinks, nobody calls it, slime-who-calls, sb-introspect:who-calls, Alt+F7, Shift+F12, M-?, C-c <,
    C-c C-w c`),
};

export function whoCalls(image: Image, places: Places) {
  return defineTool({
    ...WHO_CALLS,
    handler: async (args, context) => {
      const packageName = stringArgument(args, 'package');
      const reply = await image.call(
        'who-calls',
        {
          name: String(args['name']),
          ...(packageName && { package: packageName }),
          sites: args['sites'] === true,
          internals: args['internals'] === true,
          ...pageArguments(args),
        },
        callOptions(context),
      );
      const found = foundValue(reply);
      if (isLookupFailure(found)) return lookupResult(found);
      return { data: found, text: callersText(found, Number(args['offset'] ?? 0), places) };
    },
  });
}

function callersText(data: WhoCallsData, offset: number, places: Places): string {
  const total = data.callers + data.others;
  const features = new Set(data.features);
  const callee = data.name.replace(/^.*?::(?:\(\S+ (.*)\)$)?/s, '$1');
  const rows = data.rows ?? [];
  const lines = fittingRows(rows.map((caller) => callerLines(caller, places, features, callee)));
  const more = offset + lines.length < total;
  const notes = [
    natureNote(data),
    !data.kept &&
      'Note: this SBCL keeps no cross references to symbols of its own packages such as COMMON-LISP, so callers can be missing here.',
    more && `Note: ${total} callers; limit and offset reach the rest.`,
  ];
  const text = total === 0 ? `No callers found for ${data.name}` : blocksText(data, lines, more);
  return [text, ...notes.filter(Boolean)].join('\n');
}

/** The functions, then whatever else calls (S3.10); the last block ends in `...` when there are MORE. */
function blocksText({ name, callers, rows = [] }: WhoCallsData, lines: string[], more: boolean): string {
  const functions = lines.filter((_, index) => rows[index]?.kind === undefined);
  const others = lines.slice(functions.length);
  return joinSections([
    callers > 0 &&
      (functions.length > 0 || others.length === 0) &&
      `Functions that call ${name}:\n\n${listText(functions, more && others.length === 0)}`,
    others.length > 0 && `Other places that call ${name}:\n\n${listText(others, more)}`,
  ]);
}

function callerLines(
  { name, kind, sites }: Caller,
  places: Places,
  features: ReadonlySet<string>,
  callee: string,
): string {
  const head = kind === undefined ? name : `${name} (${kind})`;
  const shown = (sites ?? []).map((site) => {
    const found = places.site(site, features, callee);
    const text = [found?.at ?? 'no source', found?.text, site.method && `[method ${site.method}]`];
    return `\n    ${text.filter(Boolean).join('  ')}`;
  });
  return head + [...new Set(shown)].sort(bySite).join('');
}

function bySite(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true });
}

/** S3.16: what the name stands for when it is no function. */
function natureNote({ name, natures }: WhoCallsData): string | false {
  const all = natures ?? [];
  if (all.some((nature) => ['FUNCTION', 'GENERIC-FUNCTION', 'MACRO'].includes(nature))) return false;
  const others = all.map((nature) => `a ${nature.toLowerCase()}`).join(' and ');
  return others
    ? `Note: ${name} is ${others}, not a function.`
    : `Note: ${name} is not defined as a function.`;
}
