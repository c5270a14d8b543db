// Decides the tools that find and describe symbols.

import type { Image } from '../../image/image.ts';
import type { LookupFailure, Place } from '../../image/wire/data.ts';
import type { DescribeData, Thing } from '../../image/wire/operations.ts';
import { fittingRows, indent, joinSections, listText } from '../../kernel/reply.ts';
import {
  type Arguments,
  type CallContext,
  defineTool,
  keywordList,
  type Parameter,
  type Result,
  type ToolDefinition,
} from '../../kernel/tool.ts';
import {
  callOptions,
  checkWhole,
  LIMIT,
  OFFSET,
  PACKAGE,
  pageArguments,
  stringArgument,
} from '../arguments.ts';
import { foundValue, isLookupFailure, labelled, lookupResult } from '../outcome.ts';
import type { Places } from '../places.ts';

const TYPES: readonly string[] = ['function', 'macro', 'variable', 'class', 'generic-function'];

/** Chooses symbols by what they name; other values are answered by invalidType (S0.10). */
export const SYMBOL_TYPE: Parameter = {
  name: 'type',
  type: 'string',
  description: 'Filter by type: function, macro, variable, class, generic-function',
  enum: TYPES,
  openEnum: true,
};

/** Returns whether TYPE is one that SYMBOL_TYPE takes. */
export function isSymbolType(type: string): boolean {
  return TYPES.includes(type);
}

/** Returns the answer to a TYPE that is none (S0.10). */
export function invalidType(type: string): Result {
  return { data: { type }, text: `Invalid type: ${type}. Valid types: ${TYPES.join(', ')}`, absent: true };
}

const APROPOS_SEARCH: Omit<ToolDefinition, 'handler'> = {
  name: 'apropos_search',
  title: 'Search symbols',
  description:
    'Search for symbols matching a pattern. Returns symbol names, types, and packages. Useful for discovering available functions, variables, and classes.',
  parameters: [
    { name: 'pattern', type: 'string', description: 'Search pattern (case-insensitive substring)' },
    { name: 'package', type: 'string', description: 'Limit search to this package (optional)' },
    SYMBOL_TYPE,
    {
      name: 'inherited',
      type: 'boolean',
      description: 'With a package: also search the symbols it inherits from the packages it uses',
    },
    LIMIT,
    OFFSET,
  ],
  required: ['pattern'],
  categories: ['introspection'],
  shortDescription: 'Find symbols by a part of their name: functions, macros, variables, classes',
  complexity: 'simple',
  keywords: keywordList(`
    apropos, search symbols, find a symbol by name, list functions, autocomplete, exported symbols, what is in a
    package, symbols matching a pattern, names containing a word, starting with a prefix, ending with a suffix,
    begins with, ends in, substring match, fuzzy lookup, middle part of the name, with a word in their name, has
    in its name, functions that mention, functions like, grep for a symbol, completion, intellisense, workspace
    symbols, go to symbol, go to class by name, navigate to symbol, object browser, search everywhere, double
    Shift, Ctrl+N, Ctrl+T, public interface or API overview, discover the api, names in the api, what a library
    offers or provides, what the standard library comes with, members of a module or namespace, is there
    something for, is there a function for, is there a built-in to, anything for, something like, helper for,
    somebody wrote a helper, do we already have one, does Lisp already offer, everything that has to do with,
    list all classes, all types, all conditions, all generic functions gfs, all constants, all macros,
    defmacros, all global variables earmuffs, which variables does the package have, every class in the package,
    lisp api names, filter symbols by type, filter by kind, exported identifiers, external only, any home
    package, inherited symbols, forgot the exact name, forgot the spelling, cannot remember the name, how is it
    spelled, how is it called, what is it called, what is it named, really called, similar names, candidates,
    partial spelling, next page of symbols, paginate, utilities, helpers, predicates, accessors, enumerate, list
    package exports, how many symbols start with, do-symbols, slime-apropos-package, find-all-symbols, dir, C-c
    C-d a, C-c C-d p, functions with a word in them, whose name contains, symbols that contain, names that
    contain, Ctrl+Shift+O, Cmd+T, Ctrl+Shift+T, Class View, inspect.getmembers, getOwnPropertyNames, which
    functions exist, which functions are there, which macros are defined, what functions exist, part of a name,
    similarly named, wildcard, glob, tab completion, complete-symbol, is the name taken, does a function named
    so exist, standard function for, equivalent of, counterpart of, list constants, constants in a package, list
    macros, macros in a package, list the generic functions, list variables, variables whose name, predicate for
    checking, function that joins splits trims sorts, what is on offer, string functions, date functions,
    relevant functions, anything related, existing functions, anything called like, named like, name fragment,
    name pattern, names like, identifiers in the image, family of functions, functions about, functions for
    strings, hash tables streams dates numbers, trimming whitespace, uppercase, reversing a sequence, rounding
    numbers, remove duplicates, shuffle flatten split join, string utilities, is there a macro that, list of
    conditions, list of types, list structs, special variables for configuring, across packages, in any package,
    symbol table, browse symbols, imenu, helm-apropos, quick open symbol, Find Symbol, Open Symbol by Name, what
    was that function again, which name did it have, unknown exact name, functions called, other functions
    called, everything named, does the library have, does the package have a function, which helpers exist,
    names starting with, global parameters of an app, functions to upcase, string replace function, which other
    functions are named, canonicalise normalise helper, contents of a package, index of names, identifiers that
    mention, what functions about, lisp function for, function names, autocompletion, complete a name, do you
    know a function, ready-made function, macros about, functions about a subject, methods beginning with, what
    functions can I use, any constant for, operators that work on, constructor functions, all error conditions,
    functions to read write or parse, names in the image, function candidates, symbols that look like, only the
    beginning is known`),
  alwaysLoad: true,
};

export function aproposSearch(image: Image) {
  return defineTool({
    ...APROPOS_SEARCH,
    handler: async (args, context) => searchSymbols(image, args, context),
  });
}

async function searchSymbols(image: Image, args: Arguments, context: CallContext): Promise<Result> {
  const pattern = String(args['pattern']);
  const packageName = stringArgument(args, 'package');
  const type = stringArgument(args, 'type');
  const validType = type === undefined || isSymbolType(type);
  const { offset, limit } = pageArguments(args, context);
  const reply = await image.call(
    'apropos',
    {
      pattern,
      ...(packageName && { package: packageName }),
      ...(type && validType && { type: type.toUpperCase() }),
      inherited: args['inherited'] === true,
      offset,
      limit: validType ? limit : 0,
    },
    callOptions(context),
  );
  const found = foundValue(reply);
  if (isLookupFailure(found)) return lookupResult(found);
  if (!validType) return invalidType(type);
  const { total, inherited } = found;
  checkWhole(args, context, total);
  const rows = found.rows ?? [];
  const lines = fittingRows(rows.map(([home, name, label]) => `${home}::${name} [${label}]`));
  const header = `Found ${total} ${total === 1 ? 'symbol' : 'symbols'} matching '${pattern}':\n\n`;
  const list = listText(lines, offset + lines.length < total);
  const note =
    total === 0 && inherited > 0
      ? `Note: ${inherited} inherited symbols match; inherited: true lists them.`
      : '';
  return { data: { total, rows }, text: header + list + note };
}

const DESCRIBE_SYMBOL: Omit<ToolDefinition, 'handler'> = {
  name: 'describe_symbol',
  title: 'Describe symbol',
  description:
    'Describe a Lisp symbol of the running image: everything it names (function, macro, generic function, class, type, variable, setf function), with argument list, type, value, documentation and where it is defined.',
  parameters: [
    {
      name: 'symbol',
      type: 'string',
      description: 'Symbol to describe, for example mapcar, my-package::thing or |Mixed Case|',
    },
    PACKAGE,
  ],
  required: ['symbol'],
  categories: ['introspection'],
  shortDescription:
    'Describe what a symbol names: arguments, type, value, documentation, place of definition',
  complexity: 'simple',
  keywords: keywordList(`
    describe a symbol, documentation, go to definition, docstring, where is it defined, function signature,
    arglist, what does this function do, where is it implemented, where does it live, which file and line, path
    and line number, jump to the source, source location, locate the definition, find the definition, open
    declaration, peek definition, which module or package is it from, M-., hover, tooltip, quick info, quick
    documentation, eldoc, javadoc, man page, manual page, MDN reference, __doc__, help(), explain a symbol,
    explain what it is for, meaning of, how do I use it properly, usage, what syntax it wants, what is this
    symbol, is it a function or a macro, defun or defmacro, is it a macro, constant or special variable, kind of
    thing, kind of identifier, required optional and keyword arguments, parameters it takes or accepts, args
    kwargs, arity, lambda list, return type, derived type, declared type, declaimed ftype, value of a variable,
    variable documentation, class slots, superclasses, supers and slots, what the class inherits from, parents,
    extends, fields of a struct, methods of a generic function, metadata of a symbol, exported or internal,
    symbol info, F12, F3, Ctrl+Q, slime-describe-symbol, slime-edit-definition, C-c C-d d, C-h f, Ctrl+click,
    Cmd+click, Ctrl+B, Alt+F12, gd, Shift+K, K in vim, pydoc, perldoc, ri, go to implementation, go to type
    definition, hyperspec, CLHS, C-c C-d h, documentation string, which file defines it, source file of a
    function, line of a definition, origin of a symbol, where does it come from, is it exported, is it a
    constant, what kind of object, purpose of a function, docs for, what does it stand for, look up a symbol,
    description of a function, details of a symbol, information about a symbol, tell me about, reference
    documentation, API docs, read the docs, definition site, show the definition, view the definition, find the
    source of a function, where is the code of, implemented, implementation of a function, declared, navigate to
    declaration, go to source, Alt+., Ctrl+], etags, xref-find-definitions, find-definition, describe-function,
    describe-variable, C-h v, C-h o, help text, synopsis, how to use, special operator, built-in variable,
    generic function or method, type of a variable, is it bound, symbol-function, symbol-value, fdefinition,
    home package, deftype, which type did the compiler derive, derived return type, documentation of a macro,
    documentation of a variable, where a class is defined, where a variable is defined, what is it for, JSDoc,
    docstring of a function, popup documentation, manual entry, what does it control, what it returns, denotes a
    function or a variable, does the name denote, macro is from, it is defined in, which file is it from, tell
    everything about, what type is, what is a function, function definition, function details, what for, params,
    prototype, current value of a variable, default values, attributes properties fields, metadata of an
    identifier, is it documented, documented, undocumented, where does a function live, info on a symbol, line
    and file of a function, macro or function, summary of what it does, description of options, definition of a
    class, setfable place`),
};

export function describeSymbol(image: Image, places: Places) {
  return defineTool({
    ...DESCRIBE_SYMBOL,
    handler: async (args, context) => {
      const packageName = stringArgument(args, 'package');
      const reply = await image.call(
        'describe',
        { name: String(args['symbol']), ...(packageName && { package: packageName }) },
        callOptions(context),
      );
      const found: DescribeData | LookupFailure = foundValue(reply);
      if (isLookupFailure(found)) return lookupResult(found);
      return { data: describeData(found, places), text: describeText(found, places) };
    },
  });
}

/** Returns DATA with its places as people name them. */
function describeData({ features, things = [], ...data }: DescribeData, places: Places) {
  const known = new Set(features);
  const locate = (place: Place) => places.locate(place, known);
  return {
    ...data,
    things: things.map(({ sources = [], methods, ...thing }) => ({
      ...thing,
      sources: sources.map(locate),
      ...(methods && {
        methods: methods.map((method) => ({ name: method.description, at: locate(method) })),
      }),
    })),
  };
}

function describeText(data: DescribeData, places: Places): string {
  const things = data.things ?? [];
  return joinSections([
    `${data.symbol} [${data.natures?.join(', ') || data.label}]\n${statusLine(data)}`,
    ...things.map((thing) => thingText(thing, places, new Set(data.features))),
    things.length === 0 && 'It names nothing: no function, macro, variable, class or type.',
    data.properties && `Property list keys: ${data.properties.join(', ')}`,
  ]);
}

function statusLine({ home, status, homeStatus, in: where }: DescribeData): string {
  const here = status === 'inherited' ? `inherited by ${where}` : `${status} in ${where}`;
  if (home === undefined) return `${here}, without a home package`;
  return home === where ? here : `${homeStatus} in ${home}, ${here}`;
}

function thingText(thing: Thing, places: Places, features: ReadonlySet<string>): string {
  const { value, methods = [], methodCount = 0, slots, supers } = thing;
  const lines = [
    labelled('Arguments', thing.arglist),
    labelled('Type', thing.type),
    labelled('Value', value?.text),
    value?.type && `Class of the value: ${value.type}`,
    supers && `Direct superclasses: ${supers.join(', ')}`,
    slots && `Direct slots: ${slots.join(', ')}`,
    thing.inline && `Declaimed: ${thing.inline}`,
    thing.compilerMacro && 'Has a compiler macro.',
    labelled('Documentation', thing.documentation),
    ...(thing.sources ?? []).map((source) => `Defined: ${places.locate(source, features)}`),
    methodCount > 0 &&
      `Methods (${methodCount}):\n${listText(
        methods.map((method) => `${method.description}  ${places.locate(method, features)}`),
        methods.length < methodCount,
      )}`,
  ];
  return [thing.nature.toLowerCase(), ...lines.filter(Boolean).map((line) => indent(String(line), 2))].join(
    '\n',
  );
}
