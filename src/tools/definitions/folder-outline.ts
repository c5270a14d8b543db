// Renders the outline of a folder of Lisp files: the definitions of each file, and the other files that it
// needs.

import { dirname, relative, resolve } from 'node:path';
import { CallError } from '../../errors.ts';
import { filesBelow } from '../../files/walk.ts';
import { counted, cutText, fittingRows, joinSections } from '../../kernel/reply.ts';
import type { CallContext, Result } from '../../kernel/tool.ts';
import { type FileSummary, type SummedDefinition, summaryOf } from '../../source/summary.ts';
import { type DefinedSystem, describedSystems, isSameFile } from '../../source/systems.ts';
import { visibleName } from '../../visible.ts';
import { knowFeatures } from '../lookup.ts';
import { isLispFile } from '../parentheses.ts';
import { takingTurns } from '../turns.ts';
import { lookupBudget } from './in-workspace.ts';
import type { Origins } from './origins.ts';

/** Maximum number of characters about a file in the answer, for each line of the file. For a short file, LEAST
 * characters are allowed. */
const CHARACTERS_PER_LINE = 2;
const LEAST = 80;
/** Maximum number of characters in the answer for all files of a large folder. */
const CHARACTERS = 36_000;
/** Maximum number of characters of a name or a docstring. */
const SENTENCE_LIMIT = 80;

interface OutlinedFile extends FileSummary {
  path: string;
  lines: number;
  /** Other files with definitions that this file uses. */
  needs: string[];
}

/** A system. `path` is that of its .asd file, relative to the outlined folder. */
type OutlinedSystem = DefinedSystem & { path: string };

/** Returns the outline of the Lisp files below a folder. PATH is the path in the call, REAL the real path. */
export async function folderOutline(
  { image, workspace, places }: Pick<Origins, 'image' | 'workspace' | 'places'>,
  path: string,
  real: string,
  context: CallContext,
): Promise<Result> {
  await knowFeatures(image, context); // The features decide which forms after #+ and #- count.
  const budget = lookupBudget();
  const turn = takingTurns();
  const [files, systems]: [OutlinedFile[], OutlinedSystem[]] = [[], []];
  for await (const file of filesBelow(workspace, [real], budget)) {
    if (!isLispFile(file)) continue;
    await places.prepare([file]);
    const forms = places.forms(file);
    if (forms === undefined) continue;
    const name = relative(real, file);
    if (file.endsWith('.asd'))
      systems.push(...describedSystems(forms).map((system) => ({ ...system, path: name })));
    else {
      const lines = places.sourceText(file)?.text.trimEnd().split('\n').length ?? 0;
      files.push({ path: name, lines, needs: [], ...(await summaryOf(forms, turn)) });
    }
  }
  if (files.length === 0)
    throw new CallError(`There is no Lisp file in ${visibleName(path)}. Name another folder.`);
  addNeeds(files);
  const ordered = inLoadOrder(files, systems);
  const data = {
    path: places.fileName(real),
    complete: !budget.exceeded,
    systems: systems.map(({ name, dependsOn, path: file }) => ({ name, dependsOn, path: file })),
    files: ordered.map(fileData),
  };
  return { data, text: outlineText(path, ordered, systems, budget.exceeded === true) };
}

/** Sets `needs` of FILES. A file needs another one when it uses a name that only the other one defines. A method does
 * not count as a definition: a file that calls a generic function needs the file with the DEFGENERIC. */
function addNeeds(files: readonly OutlinedFile[]): void {
  const definers = new Map<string, OutlinedFile | 'several'>();
  for (const file of files)
    for (const { symbol, operator } of file.definitions) {
      if (symbol === '' || /defmethod$/.test(operator)) continue;
      const known = definers.get(symbol);
      definers.set(symbol, known === undefined || known === file ? file : 'several');
    }
  for (const file of files) {
    const needed = [...file.uses].map((name) => definers.get(name));
    file.needs = files.filter((other) => other !== file && needed.includes(other)).map(({ path }) => path);
  }
}

/** Returns FILES in the order in which SYSTEMS list them, and then those that no system lists. */
function inLoadOrder(files: readonly OutlinedFile[], systems: readonly OutlinedSystem[]): OutlinedFile[] {
  // Paths relative to the outlined folder. `resolve` removes `..` from them.
  const listed = systems.flatMap(({ path, files: own }) =>
    own.map((file) => relative('/', resolve('/', dirname(path), file))),
  );
  const placeOf = ({ path }: OutlinedFile) => {
    const place = listed.findIndex((file) => isSameFile(path, file));
    return place === -1 ? listed.length : place;
  };
  return files.toSorted((one, other) => placeOf(one) - placeOf(other));
}

function fileData({ path, lines, packages, needs, definitions, exports }: OutlinedFile) {
  return {
    path,
    lines,
    packages,
    needs,
    exports: Object.fromEntries(exports),
    definitions: definitions.map(({ operator, name, documentation }) => ({ operator, name, documentation })),
  };
}

function outlineText(
  path: string,
  files: readonly OutlinedFile[],
  systems: readonly OutlinedSystem[],
  isCut: boolean,
): string {
  const lines = files.reduce((sum, file) => sum + file.lines, 0);
  const exported = exportedNames(files);
  const share = Math.min(CHARACTERS_PER_LINE, CHARACTERS / lines);
  const sections = files.map((file) => fileText(file, exported, Math.max(LEAST, share * file.lines)));
  const shown = fittingRows(sections);
  const left = files.length - shown.length;
  return joinSections([
    `${visibleName(path)} has ${counted(files.length, 'Lisp file')} with ${counted(lines, 'line')}. The uses were found by searching the text for names.`,
    systems.map(systemText).join('\n'),
    ...shown,
    left > 0 && `Note: ${counted(left, 'more file')} did not fit. Name a subfolder.`,
    isCut && 'Note: there are too many files, so not all were read. Name a subfolder.',
  ]);
}

function systemText({ name, dependsOn, path, files }: OutlinedSystem): string {
  const needs = dependsOn.length > 0 ? `, needs ${dependsOn.join(' ')}` : '';
  return `System ${name} (${path}, ${counted(files.length, 'file')})${needs}`;
}

/** Returns `PACKAGE NAME` for each name that a DEFPACKAGE form in FILES exports. */
function exportedNames(files: readonly OutlinedFile[]): Set<string> {
  const exported = files.flatMap(({ exports }) =>
    [...exports].flatMap(([home, names]) => names.map((name) => `${home} ${name}`)),
  );
  return new Set(exported);
}

/** Returns the section about FILE in about LIMIT characters: the names that it defines, and docstrings while there is
 * space. Names in EXPORTED come first. */
function fileText(file: OutlinedFile, exported: ReadonlySet<string>, limit: number): string {
  const { path, lines, packages, needs, exports, others } = file;
  const isExported = ({ home, symbol }: SummedDefinition) => exported.has(`${home} ${symbol}`);
  const rank = (definition: SummedDefinition) => (isExported(definition) ? 0 : 1);
  const definitions = file.definitions.toSorted((one, other) => rank(one) - rank(other));
  const head = [
    `${path}: ${counted(lines, 'line')}`,
    packages.length > 0 && `in ${packages.join(' ').toLowerCase()}`,
    needs.length > 0 && `uses ${needs.join(' ')}`,
  ];
  const rows = [
    head.filter(Boolean).join(', '),
    ...[...exports].map(
      ([name, names]) => `  package ${name.toLowerCase()}: ${counted(names.length, 'exported name')}`,
    ),
  ];
  let room = limit - rows.join('\n').length;
  const add = (row: string) => {
    rows.push(row);
    room -= row.length;
  };
  for (const [kind, names] of namesByKind(definitions, isExported))
    add(`  ${kind}: ${fittingNames(names, room)}`);
  if (others.size > 0) {
    const counts = [...others].toSorted(([, one], [, other]) => other - one).slice(0, 3);
    add(`  other forms: ${counts.map(([operator, count]) => `${operator} ${count}`).join(', ')}`);
  }
  const described = new Set<string>();
  for (const definition of definitions) {
    // `documentation` is source text, in which a backslash precedes a quote.
    const [name, sentence] = [shownName(definition), definition.documentation?.replace(/\\(.)/g, '$1')];
    if (sentence === undefined || described.has(name)) continue;
    described.add(name);
    const row = `  ${name}  ${cutText(sentence, SENTENCE_LIMIT)}`;
    if (row.length > room) break;
    add(row);
  }
  return rows.join('\n');
}

/** Groups the names of DEFINITIONS by operator and by whether they are exported. If a name has several definitions,
 * such as methods, it is followed by their number. */
function namesByKind(
  definitions: readonly SummedDefinition[],
  isExported: (definition: SummedDefinition) => boolean,
): Map<string, string[]> {
  const counts = new Map<string, Map<string, number>>();
  for (const definition of definitions) {
    const kind = definition.operator + (isExported(definition) ? ', exported' : '');
    const names = counts.get(kind) ?? new Map<string, number>();
    const name = shownName(definition);
    names.set(name, (names.get(name) ?? 0) + 1);
    counts.set(kind, names);
  }
  const texts = [...counts].map(([kind, names]): [string, string[]] => [
    kind,
    [...names].map(([name, count]) => (count === 1 ? name : `${name} x${count}`)),
  ]);
  return new Map(texts);
}

/** Returns the name of a definition, cut if it is long. For a DEFSTRUCT with options, it is written as a list such as
 * `(point (:copier nil))`, of which only `point` is shown. */
function shownName({ name }: SummedDefinition): string {
  const [, structure] = /^\(([^\s()]+) \(/.exec(name) ?? [];
  return cutText(structure ?? name, SENTENCE_LIMIT);
}

/** Returns the first of NAMES that fit into ROOM characters, at least three, and the number of the others. */
function fittingNames(names: readonly string[], room: number): string {
  let length = 0;
  const end = names.findIndex((name, index) => {
    length += name.length + 1;
    return length > room - 20 && index >= 3; // Keeps 20 for the rest of the row.
  });
  const shown = end === -1 ? names : names.slice(0, end);
  const left = names.length - shown.length;
  return shown.join(' ') + (left > 0 ? ` ... ${left} more` : '');
}
