// The tool read_definition, which reads definitions by name, or lists the definitions in a file.

import { CallError } from '../../errors.ts';
import type { DescribeData } from '../../image/wire/operations.ts';
import { joinSections } from '../../kernel/reply.ts';
import {
  type ArgumentsFor,
  type CallContext,
  defineTool,
  type Result,
  type ToolDescription,
} from '../../kernel/tool.ts';
import { STANDARD_DEFINERS } from '../../source/definition.ts';
import { formsNaming } from '../../source/definitions.ts';
import { SourceText } from '../../source/text.ts';
import { TopLevelForms } from '../../source/top-level.ts';
import { callOptions } from '../calling.ts';
import { foundValue, isLookupFailure, lookupResult, PACKAGE, packageOf } from '../lookup.ts';
import { LIMIT, OFFSET } from '../paging.ts';
import type { Places } from '../places.ts';
import { NAMES } from '../several.ts';
import { METHOD_LIMIT } from './asked-method.ts';
import { type DefinitionQuery, parseQueries } from './asked-names.ts';
import {
  definitionsOf,
  isOfKind,
  type ReadRow,
  readRowText,
  type TextOfEvaluated,
  withoutRepeats,
} from './described.ts';
import { evaluatedText } from './evaluated.ts';
import { PARTIAL_NOTE, workspaceDefinitions } from './in-workspace.ts';
import type { Origins } from './origins.ts';
import { outline } from './outline.ts';

const READ_DEFINITION = {
  name: 'read_definition',
  description:
    'Show how functions, methods, macros, classes, variables, tests or systems are written: their source code, by name. For whole files use read_file. Returns the current text of the file, else the evaluated form, and says which. With path: outline of file or folder.',
  parameters: [
    {
      name: 'name',
      type: 'string',
      description: 'area (setf area) (defmethod area (circle))',
    },
    NAMES,
    PACKAGE,
    {
      name: 'kind',
      type: 'string',
      description: 'Such as function or class',
    },
    { name: 'methods', type: 'boolean', description: 'Also all methods' },
    { name: 'path', type: 'string' },
    LIMIT,
    OFFSET,
  ],
  required: [],
  categories: ['introspection'],
  shortDescription: 'Read the text of definitions by name, or an outline of a Lisp file',
  complexity: 'simple',
  keywords: [
    'view source',
    'show a definition',
    'code of a class',
    'source of a function',
    'outline of a file',
    'outline of a system or folder',
    'read a method',
    'text of a definition',
  ],
} as const satisfies ToolDescription;

export type ReadArguments = ArgumentsFor<typeof READ_DEFINITION>;

/** Returns the tool read_definition, which finds definitions through ORIGINS. */
export function readDefinitionTool(origins: Origins) {
  return defineTool({
    ...READ_DEFINITION,
    handler: async (args, context) => {
      const { path } = args;
      const name = [args.name ?? '', ...(args.names ?? [])].join('\n').trim();
      if (path !== undefined && name === '') return outline(origins, path, args, context);
      if (path !== undefined)
        throw new CallError("Give either 'name' or 'path': 'path' is for the outline of a whole file.");
      if (name === '')
        throw new CallError("To read definitions, give 'name'; for the outline of a Lisp file, give 'path'.");
      const results: Result[] = [];
      for (const query of parseQueries(name)) {
        const result = await readOne(origins, query, args, context);
        // Several of the names in `name` and `names` can mean the same definition.
        if (!results.some(({ text }) => text === result.text)) results.push(result);
      }
      return {
        data: results.map(({ data }) => data),
        text: joinSections(results.map(({ text }) => text)),
        ...(results.every(({ absent }) => absent) && { absent: true }),
        unfound: results.some(({ unfound }) => unfound),
      };
    },
  });
}

async function readOne(
  { image, places, workspace, history }: Origins,
  query: DefinitionQuery,
  args: ReadArguments,
  context: CallContext,
): Promise<Result> {
  const lookup = {
    // A form such as (defsystem "app") has the name in quotes. The image knows it without them.
    name: query.name.replace(/^"|"$/g, ''),
    ...packageOf(args),
    offset: 0,
    limit: METHOD_LIMIT,
  };
  const described = foundValue(await image.call('describe', lookup, callOptions(context)));
  const absent = isLookupFailure(described);
  const evaluated: TextOfEvaluated = (definition) => evaluatedText(history, definition, places.features);
  // `known` has the definitions of the name in the image. `rows` has those whose operator can be the requested one.
  const known = absent ? [] : definitionsOf(described, places, query, args, evaluated);
  const rows = known.filter((row) => hasOperator(row, query, places));
  const lackText = rows.every(({ text }) => text === undefined);
  const note = rows.length === 0 ? 'found by its name in the file' : 'may differ from what the image has';
  // If the image defines the name, but (also) with other operators than the requested one, only a form with exactly
  // the requested operator counts.
  const canBeOperator = (operator: string) =>
    absent ||
    (isOfKind(`${operator} ${STANDARD_DEFINERS.get(operator) ?? ''}`, args.kind) &&
      (known.length === rows.length || operator === query.operator));
  // `inFiles` are definitions in the files of the workspace, which are searched only when no row has a text.
  const inFiles = lackText
    ? await workspaceDefinitions({ workspace, places, home: args.package, canBeOperator }, query, args, note)
    : { rows: [], complete: true };
  // When nothing has the requested operator, the answer has what the image defines under the name instead.
  const definitions = [...(rows.length + inFiles.rows.length > 0 ? rows : known), ...inFiles.rows];
  const remark = !inFiles.complete && PARTIAL_NOTE;
  if (definitions.length > 0) {
    const text = joinSections([...withoutRepeats(definitions).map(readRowText), remark]);
    return { data: { name: query.name, definitions }, text };
  }
  const failure = absent
    ? lookupResult(described)
    : {
        data: { name: query.name, definitions: [] },
        text: noneText(described, query, args.kind),
      };
  return { ...failure, absent: true, text: joinSections([failure.text, remark]) };
}

/** Returns false only when the text of the row is known, and has no form with the requested operator. Of methods,
 * `definitionsOf` has already chosen the requested ones. */
function hasOperator(
  { text }: ReadRow,
  { symbol, operator, methods }: DefinitionQuery,
  { features }: Places,
): boolean {
  if (operator === undefined || methods !== undefined || text === undefined) return true;
  const forms = new TopLevelForms(new SourceText(text), features);
  return formsNaming(forms, { name: symbol, operator }).length > 0;
}

/** Returns a sentence that says what is missing: every definition, the requested method, or a definition of KIND. */
function noneText(
  { symbol, things = [] }: DescribeData,
  { operator }: DefinitionQuery,
  kind: string | undefined,
): string {
  if (operator === 'DEFMETHOD')
    return `${symbol} has no such method: neither the image nor a Lisp file of the workspace has one. read_definition of ${symbol} alone lists its methods.`;
  if (kind !== undefined)
    return `${symbol} has no definition of the kind ${kind}: neither the image nor a Lisp file of the workspace has one. Leave out kind to see all.`;
  return things.length > 0
    ? `${symbol} is in the image, but no record shows which file or evaluation defined it. describe_symbol shows what it is.`
    : `${symbol} has no definition: neither the image nor a Lisp file of the workspace has one.`;
}
