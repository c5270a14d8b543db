// The tool list_package_symbols, which describes a package and lists its symbols.

import type { Image } from '../../image/image.ts';
import type { CountedNames, PackageData } from '../../image/wire/operations.ts';
import { joinSections, labelled, pagedList } from '../../kernel/reply.ts';
import {
  type ArgumentsFor,
  type CallContext,
  defineTool,
  type Result,
  type ToolDescription,
} from '../../kernel/tool.ts';
import { callOptions } from '../calling.ts';
import { lookedUp } from '../lookup.ts';
import { checkWhole, LIMIT, OFFSET, pageOf } from '../paging.ts';
import { invalidType, isSymbolType, SYMBOL_TYPE } from './symbol-type.ts';

const LIST_PACKAGE_SYMBOLS = {
  name: 'list_package_symbols',
  description:
    'List everything a package exports (its public API), or its internal symbols, with nicknames, used packages, shadowing symbols and lock. To find symbols by part of a name use apropos_search.',
  parameters: [
    { name: 'package', type: 'string' },
    {
      name: 'access',
      type: 'string',
      enum: ['external', 'internal'],
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
  keywords: [
    'namespace',
    'exported symbols',
    'list a package',
    'what a package exports',
    'package symbols',
    'public API',
    'use list of a package',
    'which packages use it',
  ],
} as const satisfies ToolDescription;

export function listPackageSymbolsTool(image: Image) {
  return defineTool({
    ...LIST_PACKAGE_SYMBOLS,
    handler: async (args, context) => listPackage(image, args, context),
  });
}

async function listPackage(
  image: Image,
  args: ArgumentsFor<typeof LIST_PACKAGE_SYMBOLS>,
  context: CallContext,
): Promise<Result> {
  const { access, type } = args;
  const validType = type === undefined || isSymbolType(type);
  const { offset, limit } = pageOf(args, context);
  const reply = await image.call(
    'package-symbols',
    {
      package: args.package,
      access,
      ...(type && validType && { type: type.toUpperCase() }),
      offset,
      limit: validType ? limit : 0,
    },
    callOptions(context),
  );
  return lookedUp(reply, (found) => {
    if (!validType) return invalidType(type);
    checkWhole(args, context, found.total);
    return { data: found, text: joinSections([headText(found), symbolsText(found, access, offset, type)]) };
  });
}

function headText(data: PackageData): string {
  const { nicknames = [], localNicknames = [], counts } = data;
  const [external, internal, inherited] = counts;
  const designator = `"${data.name.replace(/[\\"]/g, '\\$&')}"`;
  const lines = [
    `Package ${data.name}`,
    nicknames.length > 0 && `Nicknames: ${nicknames.join(', ')}`,
    localNicknames.length > 0 &&
      `Local nicknames: ${localNicknames.map(([nickname, actual]) => `${nickname} for ${actual}`).join(', ')}`,
    namesText('Uses', data.uses, `(package-use-list ${designator})`),
    namesText('Used by', data.usedBy, `(package-used-by-list ${designator})`),
    namesText('Shadowing symbols', data.shadowing, `(package-shadowing-symbols ${designator})`),
    data.locked && 'Locked: redefining its symbols is an error unless it is unlocked.',
    `Symbols: ${external} external, ${internal} internal, ${inherited} inherited`,
    labelled('Documentation', data.documentation),
  ];
  return lines.filter(Boolean).join('\n');
}

/** Returns a line with the names; false when there are none. If not all fit, the line also has FORM, Lisp code that
 * returns all of them. */
function namesText(label: string, { count, names = [] }: CountedNames, form: string): string | false {
  if (count === 0) return false;
  const rest = count > names.length ? `, ... (${count} in all; eval_form of ${form} gives them)` : '';
  return `${label}: ${names.join(', ')}${rest}`;
}

function symbolsText(data: PackageData, access: string, offset: number, type?: string): string {
  const { name: shown, total, rows = [] } = data;
  const ofType = type === undefined ? '' : ` of type ${type}`;
  if (total === 0) return `No ${access} symbols${ofType}.`;
  const lines = rows.map(([home, name, label]) => `${nameIn(shown, home, name)} [${label}]`);
  return `${capitalized(access)} symbols${ofType} (${total}):\n\n${pagedList(lines, offset, total, 'symbols')}`;
}

/** Returns HOME::NAME, or only NAME when HOME is the package SHOWN. An empty name, and one that contains `::`, always
 * get the package. */
function nameIn(shown: string, home: string, name: string): string {
  return home === shown && name !== '' && !name.includes('::') ? name : `${home}::${name}`;
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
