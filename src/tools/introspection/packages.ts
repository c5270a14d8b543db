// Decides the tool that shows what a package has.

import type { Image } from '../../image/image.ts';
import type { CountedNames, PackageData } from '../../image/wire/introspection.ts';
import { fittingRows, hasMore, joinSections, listsText, pageNote } from '../../kernel/reply.ts';
import {
  type Arguments,
  type CallContext,
  defineTool,
  keywordList,
  type Result,
  type ToolDefinition,
} from '../../kernel/tool.ts';
import { callOptions, checkWhole, LIMIT, OFFSET, pageArguments, stringArgument } from '../arguments.ts';
import { foundValue, isLookupFailure, labelled, lookupResult } from '../outcome.ts';
import { invalidType, isSymbolType, SYMBOL_TYPE } from './symbols.ts';

const LIST_PACKAGE_SYMBOLS: Omit<ToolDefinition, 'handler'> = {
  name: 'list_package_symbols',
  title: 'List package',
  description:
    'List the symbols of a package with what they name, and describe the package: nicknames, local nicknames, used and using packages, shadowing symbols, lock, documentation, how many symbols it has.',
  parameters: [
    { name: 'package', type: 'string', description: 'Package name or nickname' },
    {
      name: 'access',
      type: 'string',
      description:
        'Which symbols: external (exported), internal, present (both), inherited from used packages, or accessible (all)',
      enum: ['external', 'internal', 'present', 'inherited', 'accessible'],
      default: 'external',
    },
    SYMBOL_TYPE,
    LIMIT,
    OFFSET,
  ],
  required: ['package'],
  categories: ['introspection', 'packages'],
  shortDescription: 'List the symbols of a package, its nicknames, and the packages it uses',
  complexity: 'simple',
  keywords: keywordList(`
    package symbols, exported symbols, list a package, package nicknames, use list of a package, which packages
    use it, public API, external internal inherited symbols, used-by list, uses and used by, uses another
    package, package-local nicknames, local nickname, prefix of a package, stands for a package, shadowing
    symbols, exports of a package, what is exported from, exported functions, public members, public interface,
    complete public interface, complete api, all symbols of a package, private symbols, private names, not
    exported, defpackage, namespace contents, namespace overview, contents of a package, module members, members
    of a module, package definition, imports, depends on packages, aliases, name conflicts, package lock,
    locked, how many symbols, symbol counts, browse a package, package browser, describe a package, unfamiliar
    library, cheat sheet, dir(module), __all__, Object.keys, export list, index of a package, package-info,
    do-external-symbols, list-all-symbols, package-use-list, package-used-by-list, package-nicknames,
    slime-list-package, import *, what does a package export, public names, internal functions, non-exported
    helpers, index.d.ts, ns-publics, clojure ns, namespace members, java package contents, use-package,
    conflicting symbols, imported symbols, shadowed symbols, uses which packages, which packages does it use,
    package users, dependencies between packages, list exports, names a package exports, everything in a
    package, exported API of a package, package details, details of a package, who uses the package, nicknames
    of, does it import, what does it import, internal symbols of a package, functions in a namespace, public
    functions, shadow, does it shadow, is it locked, everything a package exports, package contents, symbols
    inherited from used packages, package information, package summary, in-package names, short name of a
    package, other names of a package, package prefix, colon prefix, name of a package, using alexandria, uses
    alexandria, :use, :export, :import-from, :local-nicknames, depend on a package, packages that depend,
    package graph, package relations, Package Explorer, module exports, module.exports, __init__.py, export
    default, export *, names kept private, private functions of a package, what a module provides, list the
    names, symbol counts by type, describe-package, M-x slime-list-package, show what it exports, symbols public
    in, packages used by, packages using it, has a nickname, package info, which symbols are internal,
    defpackage form, inherited symbols, names in a package, package documentation`),
};

export function listPackageSymbols(image: Image) {
  return defineTool({
    ...LIST_PACKAGE_SYMBOLS,
    handler: async (args, context) => listPackage(image, args, context),
  });
}

async function listPackage(image: Image, args: Arguments, context: CallContext): Promise<Result> {
  const type = stringArgument(args, 'type');
  const validType = type === undefined || isSymbolType(type);
  const { offset, limit } = pageArguments(args, context);
  const reply = await image.call(
    'package-symbols',
    {
      package: String(args['package']),
      access: stringArgument(args, 'access') ?? 'external',
      ...(type && validType && { type: type.toUpperCase() }),
      offset,
      limit: validType ? limit : 0,
    },
    callOptions(context),
  );
  const found = foundValue(reply);
  if (isLookupFailure(found)) return lookupResult(found);
  if (!validType) return invalidType(type);
  checkWhole(args, context, listedCount(found));
  return { data: found, text: joinSections([headText(found), symbolsText(found, offset, type)]) };
}

function listedCount({ listed }: Pick<PackageData, 'listed'>): number {
  return listed.reduce((total, [, count]) => total + count, 0);
}

function headText(data: PackageData): string {
  const { nicknames = [], localNicknames = [], counts } = data;
  const [external, internal, inherited] = counts;
  const lines = [
    `Package ${data.name}`,
    nicknames.length > 0 && `Nicknames: ${nicknames.join(', ')}`,
    localNicknames.length > 0 &&
      `Local nicknames: ${localNicknames.map(([nickname, actual]) => `${nickname} for ${actual}`).join(', ')}`,
    namesText('Uses', data.uses),
    namesText('Used by', data.usedBy),
    namesText('Shadowing symbols', data.shadowing),
    data.locked && 'Locked: redefining what its symbols name is an error unless the lock is removed.',
    `Symbols: ${external} external, ${internal} internal, ${inherited} inherited`,
    labelled('Documentation', data.documentation),
  ];
  return lines.filter(Boolean).join('\n');
}

function namesText(label: string, { count, names = [] }: CountedNames): string | false {
  if (count === 0) return false;
  const rest = count > names.length ? `, ... (${count} in all)` : '';
  return `${label}: ${names.join(', ')}${rest}`;
}

function symbolsText({ listed, rows = [] }: PackageData, offset: number, type?: string): string {
  const ofType = type === undefined ? '' : ` of type ${type}`;
  const lines = fittingRows(rows.map(([, home, name, label]) => `${home}::${name} [${label}]`));
  const totals = new Map(listed);
  const page = {
    offset,
    shown: lines.length,
    total: listedCount({ listed }),
  };
  const blocks = lines.map((text, index) => {
    const status = rows[index]?.[0] ?? 'external';
    return { header: `${capitalized(status)} symbols${ofType} (${totals.get(status)}):`, text };
  });
  const empty = listed.filter(([, count]) => count === 0).map(([status]) => status);
  const parts = [
    listsText(blocks, hasMore(page)),
    pageNote(page, 'symbols'),
    empty.length > 0 && `${blocks.length > 0 ? '\n' : ''}No ${empty.join(' or ')} symbols${ofType}.`,
  ];
  return parts.filter(Boolean).join('\n');
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
