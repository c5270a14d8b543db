// Defines and parses the argument `edits` of edit_definitions.

import { CallError, messageOf } from '../../errors.ts';
import type { ArgumentsOf, Parameter } from '../../kernel/parameter.ts';
import { readArguments } from '../../kernel/schema.ts';
import { type CallPattern, callPatternOf } from '../../source/call-rewriting.ts';
import { type DefinitionQuery, parseQueries } from './asked-names.ts';

/** The members of an edit, declared like the parameters of a tool. */
export const EDIT = [
  {
    name: 'definition',
    type: 'string',
    description:
      'area, (setf area) or (defmethod area (circle)); if omitted, old is anywhere in path and text is appended',
  },
  { name: 'path', type: 'string', description: 'Its file, or a new one' },
  { name: 'line', type: 'integer', description: 'Where several match', minimum: 1 },
  {
    name: 'op',
    type: 'string',
    enum: ['replace', 'before', 'after', 'delete', 'calls'],
    description: 'Default: replace by text. calls: its calls, old (f a &key b), new (f b :a a)',
  },
  { name: 'text', type: 'string', description: 'Whole forms' },
  { name: 'old', type: 'string', description: 'Or an exact part to replace' },
  { name: 'new', type: 'string', description: 'Instead of old' },
  { name: 'all', type: 'boolean', description: 'Every old' },
] as const satisfies readonly Parameter[];

export const EDIT_REQUIRED = [] as const;

type EditMembers = ArgumentsOf<typeof EDIT, typeof EDIT_REQUIRED>;

/** Replaces the text `old` by `replacement`: everywhere if `all` is true, otherwise once. */
export interface Part {
  kind: 'part';
  old: string;
  replacement: string;
  all: boolean;
}

/** An edit that rewrites all calls of the function `query` by `pattern`, in the file `path` or in the whole
 * workspace. */
export interface CallsEdit {
  label: string;
  path?: string;
  query: DefinitionQuery;
  pattern: CallPattern;
}

/** A change of one definition. */
export type DefinitionChange =
  | { kind: 'replace' | 'before' | 'after'; text: string }
  | { kind: 'delete' }
  | Part;

/** An edit with its `label`, such as `edits[0]`. It changes the definition of `query`, replaces a part of the file
 * `path`, or puts `text` into that file. If `byName` is true, each definition in `text` replaces the definition of the
 * same name; otherwise `text` is appended. */
export type DefinitionEdit =
  | { label: string; query: DefinitionQuery; path?: string; line?: number; change: DefinitionChange }
  | { label: string; query?: never; path: string; part: Part }
  | { label: string; query?: never; path: string; part?: never; text: string; byName: boolean };

/** Maximum number of edits in a call, because a human reviews all of them. */
const EDIT_LIMIT = 200;

/** Parses VALUES, the argument `edits`. Throws a CallError that names the invalid edit. */
export function editsOf(values: readonly unknown[]): (DefinitionEdit | CallsEdit)[] {
  if (values.length === 0) throw new CallError("Parameter 'edits' is empty. Give at least one edit.");
  if (values.length > EDIT_LIMIT) {
    throw new CallError(
      `Parameter 'edits' has ${values.length} edits, more than a person can look through. Give at most ${EDIT_LIMIT}.`,
    );
  }
  return values.map((value, index) => {
    const label = `edits[${index}]`;
    try {
      return editOf(
        label,
        readArguments({ name: label, parameters: EDIT, required: EDIT_REQUIRED }, value ?? {}),
      );
    } catch (error) {
      throw new CallError(`${label}: ${messageOf(error).replaceAll('\n', ' ')}`);
    }
  });
}

function editOf(label: string, args: EditMembers): DefinitionEdit | CallsEdit {
  const { definition, path, line } = args;
  if (definition === undefined && args.op === 'calls')
    throw new CallError(
      "Parameter 'definition' is missing. Give the name of the function whose calls are to change.",
    );
  if (definition === undefined) return { label, ...fileChangeOf(args) };
  const [query, ...more] = parseQueries(definition, 'definition');
  if (query === undefined || more.length > 0)
    throw new CallError(
      `Parameter 'definition' names ${more.length + 1} definitions. Give an edit for each.`,
    );
  if (args.op === 'calls') return { label, query, path, pattern: patternOf(query, args) };
  return { label, query, path, line, change: changeOf(args.op, args) };
}

function patternOf(
  { name, symbol, operator }: DefinitionQuery,
  { line, text, old, new: replacement }: EditMembers,
): CallPattern {
  if (old === undefined || replacement === undefined || (line ?? text) !== undefined)
    throw new CallError("op: \"calls\" takes only 'definition', 'old', 'new' and 'path'.");
  if (operator !== undefined || symbol.startsWith('SETF '))
    throw new CallError(`op: "calls" needs the name of a function or macro, not ${name}.`);
  const pattern = callPatternOf(old, replacement);
  if (typeof pattern === 'string') throw new CallError(`${pattern}.`);
  if (pattern.operator !== symbol) throw new CallError(`Parameter 'old' must be a call of ${name}.`);
  return pattern;
}

/** Returns the change of an edit without `definition`. */
function fileChangeOf(args: EditMembers) {
  const { path, line, op = 'after', text, old, new: replacement } = args;
  if (path !== undefined && line === undefined) {
    const part = partOf(args);
    if (part !== undefined) return { path, part };
  }
  if (
    path === undefined ||
    text === undefined ||
    (op !== 'after' && op !== 'replace') ||
    (line ?? old ?? replacement) !== undefined
  )
    throw new CallError(
      "Parameter 'definition' is missing. Give it; or 'path', 'old' and 'new'; or 'path' and 'text': the text is then appended to the file or, with op: \"replace\", replaces the definitions with the same names.",
    );
  return { path, text, byName: op === 'replace' };
}

/** Returns the replacement of `old` by `new`; undefined when neither is given. */
function partOf({ op, text, old, new: replacement, all = false }: EditMembers): Part | undefined {
  if (old === undefined && replacement === undefined) return undefined;
  if ((op !== undefined && op !== 'replace') || text !== undefined)
    throw new CallError(
      "Parameters 'old' and 'new' do not go with 'op' or 'text'. Give 'old' and 'new', or 'text'.",
    );
  if (old === undefined || replacement === undefined)
    throw new CallError("Parameters 'old' and 'new' go together; one is missing.");
  if (old === '')
    throw new CallError("Parameter 'old' is empty. Give the part of the definition to replace.");
  if (old === replacement)
    throw new CallError("Parameters 'old' and 'new' are the same, so there is nothing to change.");
  return { kind: 'part', old, replacement, all };
}

function changeOf(op: Exclude<EditMembers['op'], 'calls'>, args: EditMembers): DefinitionChange {
  const part = partOf(args);
  if (part !== undefined) return part;
  const { text } = args;
  if (op === 'delete') {
    if (text !== undefined) throw new CallError('op: "delete" takes no text.');
    return { kind: 'delete' };
  }
  if (text === undefined)
    throw new CallError("Parameter 'text' is missing. Give 'text', or 'old' and 'new', or op: \"delete\".");
  return { kind: op ?? 'replace', text };
}
