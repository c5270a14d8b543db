// The tool function_arglist, which shows the arguments of a function.

import type { Image } from '../../image/image.ts';
import type { ArglistData } from '../../image/wire/operations.ts';
import { labelled, pagedList } from '../../kernel/reply.ts';
import { defineTool, type ToolDescription } from '../../kernel/tool.ts';
import { callOptions } from '../calling.ts';
import { lookedUp, PACKAGE, packageOf } from '../lookup.ts';
import { isNot } from '../natures.ts';
import { LIMIT, OFFSET, pageOf } from '../paging.ts';
import type { Places } from '../places.ts';
import { acceptedText, type FromSource, lambdaListText, withLambdaList } from './lambda-lists.ts';

const FUNCTION_ARGLIST = {
  name: 'function_arglist',
  description:
    'Show how to call a function or macro: the arguments it takes (its lambda list), required, optional and keyword parameters, with defaults and types, and what it returns. For the rest use describe_symbol.',
  parameters: [
    {
      name: 'symbol',
      type: 'string',
      description: 'Such as mapcar, app::thing or (setf thing)',
    },
    PACKAGE,
    {
      name: 'methods',
      type: 'boolean',
      description: 'For each method too',
    },
    LIMIT,
    OFFSET,
  ],
  required: ['symbol'],
  categories: ['introspection'],
  shortDescription: 'Show the arguments of a function or macro: lambda list, types, defaults, methods',
  complexity: 'simple',
  keywords: [
    'arglist',
    'lambda list',
    'parameters it takes',
    'function signature',
    'arguments and their types',
    'keyword arguments',
    'how to call it',
    'return type',
  ],
} as const satisfies ToolDescription;

export function functionArglistTool(image: Image, places: Places) {
  return defineTool({
    ...FUNCTION_ARGLIST,
    handler: async (args, context) => {
      const page = pageOf(args, context);
      const { methods = false } = args;
      const reply = await image.call(
        'arglist',
        { name: args.symbol, ...packageOf(args), methods, ...page },
        callOptions(context),
      );
      const offset = methods ? page.offset : undefined;
      return lookedUp(reply, ({ sources, ...found }) => {
        const data = withLambdaList({ ...found, sources }, places, found.name);
        return { data, text: arglistText(data, offset) };
      });
    },
  });
}

/** Renders DATA. The list of methods begins at OFFSET. If OFFSET is undefined, only the number of methods is shown. */
function arglistText(data: ArglistData & FromSource, offset: number | undefined): string {
  const { name, natures = [], kind, arglist, declaimed = [], combination } = data;
  const call = arglist === undefined ? `${name}, arguments not recorded` : `${name} ${lambdaListText(data)}`;
  const lines = [
    kind ? call : isNot(name, natures, 'function'),
    acceptedText(data),
    kind && `Kind: ${kind}`,
    labelled('Type', data.type),
    declaimed.length > 0 && `Declaimed: ${declaimed.join(', ')}`,
    data.compilerMacro && `Compiler macro: ${data.compilerMacro}`,
    data.setf && `Setf: ${data.setf}`,
    combination && `Method combination: ${combination}`,
    labelled('Documentation', data.documentation),
    methodsText(data, offset),
  ];
  return lines.filter(Boolean).join('\n');
}

function methodsText({ methodCount, methods = [] }: ArglistData, offset?: number): string | false {
  if (methodCount === undefined) return false;
  if (methodCount === 0) return 'Methods: none';
  if (offset === undefined) return `Methods: ${methodCount}; methods:true lists them`;
  return `Methods (${methodCount}):\n${pagedList(methods, offset, methodCount, 'methods')}`;
}
