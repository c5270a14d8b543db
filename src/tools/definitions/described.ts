// Renders the definitions that the image has for a name.

import type { DescribeData, Evaluated, Place, Thing } from '../../image/wire/operations.ts';
import { joinSections } from '../../kernel/reply.ts';
import { methodKey } from '../../source/definition.ts';
import type { DefinitionName } from '../../source/form-matching.ts';
import { definedName, definitionNameOf } from '../../source/qualified.ts';
import type { Places } from '../places.ts';
import { unixTimeText } from '../times.ts';
import type { Changed } from '../where-now.ts';
import type { DefinitionQuery } from './asked-names.ts';
import type { EvaluatedDefinition } from './evaluated.ts';

/** A definition in an answer. */
export interface ReadRow {
  name: string;
  kind?: string;
  /** The place as `FILE:LINE-LINE`, or the time of the evaluation that made the definition. */
  at: string;
  note?: string;
  text?: string;
  /** The methods of a generic function, each with its place. */
  methods?: { name: string; at: string }[];
}

/** Options that select the definitions of a name, and say how they are shown. */
export interface ReadOptions {
  readonly kind?: string;
  readonly methods?: boolean;
}

/** Maximum number of methods of a generic function to list below its text. */
const LIST_LIMIT = 200;

/** Returns the text of a row: a line with place and name, then the definition, then the list of methods. */
export function readRowText({ name, at, note, text, methods = [] }: ReadRow): string {
  const shown = methods.slice(0, LIST_LIMIT).map((method) => `  ${method.name}  ${method.at}`);
  const more = methods.length - shown.length;
  const lines = [...shown, ...(more > 0 ? [`  ... ${more} more`] : [])];
  return joinSections([
    `${at}  ${name}${note ? ` (${note})` : ''}`,
    text,
    lines.length > 0 && `Methods (${methods.length}; methods: true reads them):\n${lines.join('\n')}`,
  ]);
}

/** Returns the text of a definition that an evaluation made; undefined when the history of evaluations has dropped
 * it. */
export type TextOfEvaluated = (definition: EvaluatedDefinition) => string | undefined;

/** Returns the definitions of a name that QUERY and OPTIONS select. TEXT_OF returns the texts of definitions that
 * evaluations made. If it is absent, such definitions have no rows, and such methods rows without text. */
export function definitionsOf(
  { symbol, things = [] }: DescribeData,
  places: Places,
  query: DefinitionQuery,
  options: ReadOptions,
  textOf?: TextOfEvaluated,
): ReadRow[] {
  const groups = things
    .filter(({ nature }) => isOfKind(nature, options.kind))
    .map((thing) => ({
      hasForm: (thing.sources ?? []).length > 0 || thing.evaluated !== undefined,
      rows: thingRows(thing, definedName(symbol, thing.nature), { places, query, options, textOf }),
    }));
  const formRows = groups.filter(({ hasForm }) => hasForm).flatMap(({ rows }) => rows);
  // A group without a form is for a slot accessor. Its rows are the class or structure forms with the slot. If a form
  // defines the name, these rows are shown without text. If the query names methods, all rows are methods.
  const accessorRows = groups.filter(({ hasForm }) => !hasForm).flatMap(({ rows }) => rows);
  const areSecondary = query.methods === undefined && formRows.length > 0;
  return [...formRows, ...(areSecondary ? accessorRows.map(({ text: _, ...row }) => row) : accessorRows)];
}

/** Returns true when NATURE, a kind as the image prints it, or a defining operator with its kind, matches KIND. Without
 * KIND, returns true. */
export function isOfKind(nature: string, kind: string | undefined): boolean {
  const plain = (text: string) =>
    text
      .toUpperCase()
      .replace(/[-_ ]+/g, ' ')
      .trim();
  return (
    kind === undefined ||
    plain(nature).includes(plain(kind)) ||
    (plain(kind) === 'METHOD' && nature === 'GENERIC-FUNCTION')
  );
}

/** Returns true when the options request the texts of methods. */
export function wantsMethods({ methods, kind }: ReadOptions): boolean {
  return methods === true || kind?.toUpperCase() === 'METHOD';
}

interface Reading {
  places: Places;
  query: DefinitionQuery;
  options: ReadOptions;
  textOf: TextOfEvaluated | undefined;
}

function thingRows(thing: Thing, name: string, reading: Reading): ReadRow[] {
  const { nature, sources = [], methods = [] } = thing;
  const { query, options, places } = reading;
  const fitting = methods.filter(
    ({ description = '' }) => query.methods?.includes(methodKey(description)) ?? true,
  );
  const methodRow = (method: Place) => {
    const [definition, title] = [{ name, method: method.description }, `${name} ${method.description}`];
    return (
      evaluatedRow(method.evaluated, title, 'METHOD', definition, reading) ??
      rowOf(method, title, 'METHOD', definition, reading)
    );
  };
  if (query.methods !== undefined) return fitting.map(methodRow);
  const evaluatedForm =
    sources.length === 0 ? evaluatedRow(thing.evaluated, name, nature, { name }, reading) : undefined;
  const rows = evaluatedForm
    ? [evaluatedForm]
    : sources.map((source) => rowOf(source, name, nature, { name }, reading));
  // The generic function of a slot accessor has no form, so its methods are shown.
  if (wantsMethods(options) || rows.length === 0) return [...rows, ...methods.map(methodRow)];
  const methodList = methods.map((method) => ({
    name: method.description ?? '',
    at: places.locate(method, { name, method: method.description }),
  }));
  const [first, ...more] = rows;
  return first === undefined || methodList.length === 0 ? rows : [{ ...first, methods: methodList }, ...more];
}

/** Returns the place of the lines LINE to LAST as `FILE:LINE-LAST`. */
export function linesText(file: string, line: number, last: number): string {
  return `${file}:${line}${last > line ? `-${last}` : ''}`;
}

/** Merges rows that have the same text and place into one row with all their names. Rows without text are merged only
 * if they have the same name and kind. */
export function withoutRepeats(rows: readonly ReadRow[]): ReadRow[] {
  const unique = new Map<string, ReadRow>();
  for (const { kind, ...row } of rows) {
    const name = kind === undefined ? row.name : `${row.name} [${kind}]`;
    const key = `${row.at} ${row.text ?? name}`;
    const existing = unique.get(key);
    if (existing !== undefined) existing.name += `, ${name}`;
    else unique.set(key, { ...row, name });
  }
  return [...unique.values()];
}

function evaluatedRow(
  evaluated: Evaluated | undefined,
  title: string,
  kind: string,
  { name, method }: DefinitionName,
  { textOf }: Reading,
): ReadRow | undefined {
  if (evaluated === undefined || textOf === undefined) return undefined;
  const text = textOf({ symbol: definitionNameOf(name), method, evaluated });
  const at = `evaluated ${unixTimeText(evaluated.time)}`;
  const note = `by ${evaluated.by ?? 'code'}; its text was not kept`;
  return { name: title, kind, at, ...(text === undefined ? { note } : { text }) };
}

const CHANGED: Record<Changed, string> = {
  form: 'changed since it was loaded; this is the current text',
  elsewhere: 'as it was loaded; the file changed since, but not this form',
  unknown: 'the file changed since it was loaded; this is the current text',
};

function rowOf(
  place: Place,
  title: string,
  kind: string,
  definition: DefinitionName,
  { places }: Reading,
): ReadRow {
  // If the code of the form computes the name, no part of the form has the name, so the whole form is read.
  const found = places.text(place, place.byCode ? { name: '' } : definition);
  if (found === undefined) return { name: title, kind, at: places.locate(place, definition) };
  const { file, line, lastLine, text, changed, old } = found;
  const version = old
    ? 'as it was loaded; not found in the file, which has changed since'
    : changed && CHANGED[changed];
  const note = [place.byCode && 'made by the code of this form', version].filter(Boolean).join('; ');
  return { name: title, kind, at: linesText(file, line, lastLine), ...(note && { note }), text };
}
