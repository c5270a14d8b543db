// Decides the tool that tells how a function is called.

import type { Image } from '../../image/image.ts';
import type { ArglistData } from '../../image/wire/introspection.ts';
import { fittingRows, hasMore, listText, pageNote } from '../../kernel/reply.ts';
import { defineTool, keywordList, type ToolDefinition } from '../../kernel/tool.ts';
import { callOptions, LIMIT, OFFSET, PACKAGE, pageArguments, stringArgument } from '../arguments.ts';
import { isNot } from '../natures.ts';
import { foundValue, isLookupFailure, labelled, lookupResult } from '../outcome.ts';

const FUNCTION_ARGLIST: Omit<ToolDefinition, 'handler'> = {
  name: 'function_arglist',
  title: 'Show arguments',
  description:
    'Show how a function, macro, generic function, setf function or special operator is called: its lambda list with defaults, the types of arguments and values, and documentation. With methods:true also the specializers and lambda list of each method.',
  parameters: [
    {
      name: 'symbol',
      type: 'string',
      description: "Function name, for example mapcar, my-package::thing, #'thing or (setf thing)",
    },
    PACKAGE,
    {
      name: 'methods',
      type: 'boolean',
      description: 'Of a generic function: also list its methods; limit and offset count them',
    },
    LIMIT,
    OFFSET,
  ],
  required: ['symbol'],
  categories: ['introspection'],
  shortDescription: 'Show the arguments of a function or macro: lambda list, types, defaults, methods',
  complexity: 'simple',
  keywords: keywordList(`
    arglist, lambda list, function signature, arguments and their types, keyword arguments, parameters it takes,
    default values of arguments, return type, what arguments does it take, what args does it accept, what does
    it expect, how do I call it, calling convention, order of arguments, which order to pass, parameter order,
    arity, number of arguments, invalid number of arguments, how many required args, optional arguments, is it
    optional, &key &optional &rest &aux, kwargs, varargs, positional and named parameters, third parameter, type
    of a parameter, default value of an option, default timeout, ftype, derived function type, declaimed,
    returned values, signature help, parameter info, parameter hints, eldoc, autodoc, inspect.signature,
    Function.length, prototype of a function, usage, macro lambda list, var and body syntax, destructuring,
    special operator syntax, setf function, compiler macro, inlined, methods of a generic function, specializers
    of methods, which classes they specialise on, overloads, overloaded, multiple dispatch, method signatures,
    method combination, qualifiers around before after, implementations of a generic function, slime-autodoc,
    operator-arglist, sb-introspect function-lambda-list, C-c C-s, Ctrl+P, Ctrl+Shift+Space, positional
    arguments, named arguments, options of a function, options it takes, keywords accepted, keyword args, too
    many arguments, too few arguments, unknown keyword argument, first argument, second argument, last argument,
    mandatory arguments, what do I have to pass, what to pass, argument hints, argument types, types of the
    arguments, which type does it return, multiple values returned, which methods has it, list the methods,
    slime-arglist, sly-autodoc, C-c C-d A, describe the parameters, calling sequence, sequence of arguments,
    expected inputs, input and output types, does it accept a keyword, is there a keyword argument, possible
    options, possible keywords, argument names, parameter names, call template, call tip, type hints, function
    type, declared argument types, a list or a vector, what does it give back, wrong number of args, missing
    argument, lambda list keywords, allow-other-keys, supplied-p, docs per parameter, defmethods for, defmethods
    exist, methods on a class, applicable methods, eql specializer, compute-applicable-methods,
    generic-function-methods, how many does it want, what is the second argument for, does it need an argument,
    calling a function properly, header of a function, function header, typed signature, sequence of parameters,
    order of the parameters, possible values of an argument, what must I supply, tooltip of parameters, how many
    parameters, minimum and maximum number of arguments, defaults of optional args, classes the generic function
    has methods for`),
};

export function functionArglist(image: Image) {
  return defineTool({
    ...FUNCTION_ARGLIST,
    handler: async (args, context) => {
      const packageName = stringArgument(args, 'package');
      const page = pageArguments(args, context);
      const methods = args['methods'] === true;
      const reply = await image.call(
        'arglist',
        { name: String(args['symbol']), ...(packageName && { package: packageName }), methods, ...page },
        callOptions(context),
      );
      const found = foundValue(reply);
      if (isLookupFailure(found)) return lookupResult(found);
      return { data: found, text: arglistText(found, methods ? page.offset : undefined) };
    },
  });
}

/** The methods of DATA are listed from OFFSET on, or only counted. */
function arglistText(data: ArglistData, offset: number | undefined): string {
  const { name, natures = [], kind, arglist, declaimed = [], combination } = data;
  const lines = [
    kind ? `${name} ${arglist}` : isNot(name, natures, 'function'),
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
  const lines = fittingRows(methods);
  const page = { offset, shown: lines.length, total: methodCount };
  const parts = [
    `Methods (${methodCount}):`,
    listText(lines, hasMore(page)),
    pageNote(page, methodCount === 1 ? 'method' : 'methods'),
  ];
  return parts.filter(Boolean).join('\n');
}
