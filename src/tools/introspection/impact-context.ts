// Collects the data about a change besides calls: the text of the definition, and files that are not loaded.

import type { Budget } from '../../files/budget.ts';
import type { ImpactData } from '../../image/wire/operations.ts';
import type { CallContext } from '../../kernel/tool.ts';
import { callMentionsIn } from '../../source/calls.ts';
import type { Features } from '../../source/form.ts';
import { packagesUsing } from '../../source/packages.ts';
import type { SourceText } from '../../source/text.ts';
import { callOptions } from '../calling.ts';
import { METHOD_LIMIT } from '../definitions/asked-method.ts';
import { parseQueries } from '../definitions/asked-names.ts';
import { definitionsOf, withoutRepeats } from '../definitions/described.ts';
import { lispFiles, lookupBudget } from '../definitions/in-workspace.ts';
import type { Origins } from '../definitions/origins.ts';
import { foundValue, isLookupFailure, packageOf } from '../lookup.ts';
import type { Places } from '../places.ts';
import { takingTurns } from '../turns.ts';
import { namesFinder } from './removal.ts';
import { usedOf } from './sites.ts';

/** A file, with the lines (from 1) that use the name of the definition. */
export interface NamingFile {
  file: string;
  lines: number[];
  /** True for a test file that is not loaded, when no test is known to reach the definition. */
  unloadedTests?: boolean;
}

/** Maximum number of characters of a text. For a longer text, only its place is shown. */
const TEXT_LIMIT = 2000;

/** Returns the texts of all definitions of a name, each with its place. */
export async function definitionTexts(
  { image, places }: Origins,
  args: { name: string; package?: string },
  context: CallContext,
): Promise<string[]> {
  const [query] = parseQueries(args.name);
  if (query === undefined) return [];
  const lookup = { name: query.name, ...packageOf(args), offset: 0, limit: query.methods ? METHOD_LIMIT : 0 };
  const described = foundValue(await image.call('describe', lookup, callOptions(context)));
  if (isLookupFailure(described)) return [];
  const rows = definitionsOf(described, places, query, {}).map(({ methods: _, ...row }) => row);
  return withoutRepeats(rows.filter(({ text }) => text !== undefined)).map((row) => {
    const { at, name, note, text = '' } = row;
    const shown = text.length > TEXT_LIMIT ? 'read_definition has its text.' : text;
    return `${at}  ${name}${note ? ` (${note})` : ''}\n${shown}`;
  });
}

/** Returns those Lisp files of the workspace that contain the name of the definition and are not loaded, as far as
 * BUDGET allows. `complete` is true when all files were searched. */
export async function unloadedFiles(
  { places, workspace }: Origins,
  facts: ImpactData,
  budget: Budget = lookupBudget(),
): Promise<{ unloaded: NamingFile[]; complete: boolean }> {
  const { homes = [], files = [] } = facts;
  const loaded = new Set(files);
  const texts = [];
  for await (const file of lispFiles(workspace, places, budget)) {
    const text = loaded.has(file) ? undefined : places.sourceText(file);
    if (text !== undefined) texts.push({ file, text });
  }
  const turn = takingTurns();
  const usingPackages: string[] = [];
  for (const { text } of texts) {
    usingPackages.push(...packagesUsing(text.text, homes));
    await turn();
  }
  const ofTests = new Set((facts.testFiles ?? []).map((file) => places.fileName(file)));
  const naming = await filesNaming(facts, [...homes, ...usingPackages], texts, places);
  const unloaded = naming.map((each) => (ofTests.has(each.file) ? { ...each, unloadedTests: true } : each));
  return { unloaded, complete: !budget.exceeded };
}

/** Returns the test files of the workspace that are not loaded; [] when a test is known to reach the function. */
export function unloadedTestFiles({ places }: Origins, { files, testFiles = [] }: ImpactData): string[] {
  const loaded = new Set(files);
  return testFiles
    .filter((file) => places.isOwn(file) && !loaded.has(file))
    .map((file) => places.fileName(file));
}

/** Returns the loaded test files that use the name of the function; [] when a test is known to reach it. A framework
 * can keep tests as data, where SBCL records no uses. */
export async function testsNaming({ places }: Origins, facts: ImpactData): Promise<NamingFile[]> {
  const loaded = new Set(facts.files);
  const texts = (facts.testFiles ?? []).flatMap((file) => {
    const text = loaded.has(file) ? places.sourceText(file) : undefined;
    return text === undefined ? [] : [{ file, text }];
  });
  return filesNaming(facts, facts.homes ?? [], texts, places);
}

/** Returns those of TEXTS that contain the name of the definition, with the lines. For a function, only calls count.
 * HOMES are the packages in which the name is accessible. */
async function filesNaming(
  facts: ImpactData,
  homes: readonly string[],
  texts: readonly { file: string; text: SourceText }[],
  places: Places,
): Promise<NamingFile[]> {
  const turn = takingTurns();
  const naming: NamingFile[] = [];
  const find = facts.kind === undefined ? namesFinder(facts, homes) : callsFinder(facts, homes);
  for (const { file, text } of texts) {
    await turn();
    const starts = find(text, places.features).map(({ start }) => start);
    const lines = [...new Set(starts.map((start) => text.positionAt(start).line))];
    if (lines.length > 0) naming.push({ file: places.fileName(file), lines });
  }
  return naming;
}

function callsFinder({ name, kind }: ImpactData, homes: readonly string[]) {
  const callee = { ...usedOf({ name, accessibleIn: homes }), macro: kind === 'MACRO' };
  return (text: SourceText, features: Features) =>
    callMentionsIn(text, features, callee).filter(({ how }) => how !== 'as a name');
}
