// The tools apropos_search and describe_symbol, which find symbols and show their definitions.

import type { Image } from '../../image/image.ts';
import type { AproposData, DescribeData, Place } from '../../image/wire/operations.ts';
import {
  beyondNote,
  fittingRows,
  hasMore,
  indent,
  joinSections,
  labelled,
  listText,
  pagedList,
} from '../../kernel/reply.ts';
import {
  type ArgumentsFor,
  type CallContext,
  defineTool,
  type Result,
  type ToolDescription,
} from '../../kernel/tool.ts';
import type { DefinitionName } from '../../source/form-matching.ts';
import { definedName } from '../../source/qualified.ts';
import { callOptions } from '../calling.ts';
import { foundValue, isLookupFailure, lookedUp, lookupResult, PACKAGE, packageOf } from '../lookup.ts';
import { didYouMean } from '../natures.ts';
import { checkWhole, LIMIT, OFFSET, pageOf } from '../paging.ts';
import { evaluationText, type Places } from '../places.ts';
import { lookedUpEach, NAMES } from '../several.ts';
import { describeCall } from './dispatch.ts';
import { acceptedText, lambdaListText, withLambdaList } from './lambda-lists.ts';
import { invalidType, isSymbolType, SYMBOL_TYPE } from './symbol-type.ts';

const APROPOS_SEARCH = {
  name: 'apropos_search',
  description:
    'Search for symbols matching a pattern. Returns symbol names, types, and packages. Useful for discovering available functions, variables, and classes.',
  parameters: [
    { name: 'pattern', type: 'string', description: 'Search pattern (case-insensitive substring)' },
    { name: 'package', type: 'string', description: 'Limit search to this package (optional)' },
    {
      ...SYMBOL_TYPE,
      description: 'Filter by type: function, macro, variable, class, generic-function',
    },
    {
      name: 'inherited',
      type: 'boolean',
      description: 'Also symbols that package inherits',
    },
    {
      name: 'ranked',
      type: 'boolean',
      description:
        'When you remember the name only roughly: fuzzy, best first; mvb finds multiple-value-bind',
    },
    LIMIT,
    OFFSET,
  ],
  required: ['pattern'],
  categories: ['introspection'],
  shortDescription: 'Find symbols by a part of their name: functions, macros, variables, classes',
  complexity: 'simple',
  keywords: [
    'apropos',
    'search symbols',
    'find a symbol by name',
    'list functions',
    'autocomplete',
    'exported symbols',
    'what is in a package',
    'symbols matching a pattern',
  ],
  alwaysLoad: true,
} as const satisfies ToolDescription;

export function aproposSearchTool(image: Image, places: Places) {
  return defineTool({
    ...APROPOS_SEARCH,
    handler: async (args, context) => searchSymbols(image, places, args, context),
  });
}

async function searchSymbols(
  image: Image,
  places: Places,
  args: ArgumentsFor<typeof APROPOS_SEARCH>,
  context: CallContext,
): Promise<Result> {
  const { pattern, type } = args;
  const validType = type === undefined || isSymbolType(type);
  const { offset, limit } = pageOf(args, context);
  // The image is asked even when the type is invalid, because an unknown package is reported first.
  const search = {
    pattern,
    ...packageOf(args),
    ...(type && validType && { type: type.toUpperCase() }),
    inherited: args.inherited ?? false,
    offset,
    limit: validType ? limit : 0,
  };
  const reply = args.ranked
    ? await image.call('ranked-apropos', { ...search, roots: [places.root] }, callOptions(context))
    : await image.call('apropos', search, callOptions(context));
  const found = foundValue(reply);
  if (isLookupFailure(found)) return lookupResult(found);
  if (!validType) return invalidType(type);
  checkWhole(args, context, found.total);
  return {
    data: { total: found.total, rows: found.rows ?? [] },
    text: foundText(found, pattern, offset),
    unfound: found.total === 0,
  };
}

function foundText({ total, inherited, current, rows = [] }: AproposData, pattern: string, offset: number) {
  const lines = fittingRows(
    rows.map(([home, name, label, line]) => `${home}::${name} [${label}]${line ? `  ${line}` : ''}`),
  );
  const header = `Found ${total} ${total === 1 ? 'symbol' : 'symbols'} matching '${pattern}':\n\n`;
  const page = { offset, shown: lines.length, total };
  const note =
    (total === 0 &&
      inherited > 0 &&
      `Note: ${inherited} inherited symbols match; inherited: true lists them.`) ||
    (current !== undefined && currentNote(current)) ||
    beyondNote(page, 'symbols') ||
    '';
  return header + (lines.length > 0 ? listText(lines, hasMore(page)) : note);
}

/** Returns a note about matching symbols in the current package of the session, for a search that named no package and
 * found nothing. */
function currentNote({ package: name, count }: { package: string; count: number }): string {
  const one = count === 1;
  const what = `${count} ${one ? 'symbol' : 'symbols'} of ${name}, the current package, ${one ? 'matches' : 'match'}`;
  return `Note: ${what}; package: "${name}" lists ${one ? 'it' : 'them'}.`;
}

const METHOD_LIMIT = 20;

const DESCRIBE_SYMBOL = {
  name: 'describe_symbol',
  description:
    "Show what a Lisp symbol is and does: the function, macro, class, type or variable it names, its docstring, arguments, declared type and value, and where it is defined. For code use read_definition. With parameter 'arguments': the methods a generic function runs, in order.",
  parameters: [
    {
      name: 'symbol',
      type: 'string',
      description: 'Such as mapcar, app::thing or |Mixed Case|',
    },
    PACKAGE,
    {
      name: 'arguments',
      type: 'array',
      items: { type: 'string' },
      description: 'A class, literal or variable for each required argument',
    },
    { ...NAMES, description: 'Symbols; symbol may be empty' },
    LIMIT,
    OFFSET,
  ],
  required: ['symbol'],
  instead: { symbol: ['names'] },
  categories: ['introspection'],
  shortDescription:
    'Describe what a symbol names: arguments, type, value, documentation, place of definition',
  complexity: 'simple',
  keywords: [
    'describe a symbol',
    'documentation',
    'go to definition',
    'docstring',
    'where is it defined',
    'what is it',
    'which methods run in which order',
    'what does it do',
  ],
  // Claude Code's search does not find this tool for questions about a function's documentation.
  alwaysLoad: true,
} as const satisfies ToolDescription;

export function describeSymbolTool(image: Image, places: Places) {
  return defineTool({
    ...DESCRIBE_SYMBOL,
    handler: async (args, context) => {
      const page = pageOf(args, context, METHOD_LIMIT);
      if (args.arguments !== undefined)
        return describeCall(image, places, { ...args, arguments: args.arguments }, page, context);
      const [asked, options] = [{ ...packageOf(args), ...page }, callOptions(context)];
      return lookedUpEach(args.symbol, args.names, async (name) => {
        const reply = await image.call('describe', { name, ...asked }, options);
        return lookedUp(reply, (found) => {
          const data = withPlaces(found, places);
          return { data, text: describeText(data, page.offset) };
        });
      });
    },
  });
}

type Described = ReturnType<typeof withPlaces>;

function withPlaces({ things = [], ...data }: DescribeData, places: Places) {
  const locate = (place: Place, definition: DefinitionName) => places.locate(place, definition);
  return {
    ...data,
    things: things.map(({ sources = [], methods, ...thing }) => {
      const name = definedName(data.symbol, thing.nature);
      return {
        ...withLambdaList({ ...thing, sources }, places, name),
        sources: sources.map((source) => locate(source, { name })),
        ...(methods && {
          methods: methods.map((method) => ({
            name: method.description,
            at: locate(method, { name, method: method.description }),
          })),
        }),
      };
    }),
  };
}

function describeText(data: Described, offset: number): string {
  const { things } = data;
  return joinSections([
    `${data.symbol} [${data.natures?.join(', ') || data.label}]\n${statusLine(data)}`,
    ...things.map((thing) => thingText(thing, offset)),
    things.length === 0 && nothingText(data.near),
    data.properties && `Property list keys: ${data.properties.join(', ')}`,
  ]);
}

function nothingText(near: readonly string[] | undefined): string {
  const nothing = 'It names nothing: no function, macro, variable, class or type.';
  return [nothing, didYouMean(near)].filter(Boolean).join(' ');
}

function statusLine({ home, status, homeStatus, in: where }: Described): string {
  const here = status === 'inherited' ? `inherited by ${where}` : `${status} in ${where}`;
  if (home === undefined) return `${here}, without a home package`;
  return home === where ? here : `${homeStatus} in ${home}, ${here}`;
}

/** Kinds of definitions with a lambda list. SBCL records it, unless the code was compiled without this record. */
const CALLED: readonly string[] = [
  'FUNCTION',
  'MACRO',
  'GENERIC-FUNCTION',
  'SPECIAL OPERATOR',
  'SETF FUNCTION',
  'TYPE',
];

function thingText(thing: Described['things'][number], offset: number): string {
  const { value, slots, supers } = thing;
  const called = CALLED.includes(thing.nature) || thing.arglist !== undefined;
  const lines = [
    called && `Arguments: ${lambdaListText(thing)}`,
    acceptedText(thing),
    labelled('Type', thing.type),
    labelled('Value', value?.text),
    value?.type && `Class of the value: ${value.type}`,
    supers && `Direct superclasses: ${supers.join(', ')}`,
    slots && `Direct slots: ${slots.join(', ')}`,
    thing.inline && `Declaimed: ${thing.inline}`,
    thing.compilerMacro && 'Has a compiler macro.',
    labelled('Documentation', thing.documentation),
    ...thing.sources.map((at) => `Defined: ${at}`),
    thing.sources.length === 0 && thing.evaluated && `Defined: ${evaluationText(thing.evaluated)}`,
    methodsText(thing, offset),
  ];
  return [thing.nature.toLowerCase(), ...lines.filter(Boolean).map((line) => indent(String(line), 2))].join(
    '\n',
  );
}

function methodsText({ methods = [], methodCount = 0 }: Described['things'][number], offset: number) {
  if (methodCount === 0) return false;
  const rows = methods.map(({ name, at }) => `${name}  ${at}`);
  return `Methods (${methodCount}):\n${pagedList(rows, offset, methodCount, 'methods')}`;
}
