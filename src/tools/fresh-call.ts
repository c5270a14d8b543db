// A call of a tool in a fresh image: its settings, and the loads before it.

import { join, relative } from 'node:path';
import { CallError } from '../errors.ts';
import type { CallOptions } from '../image/wire/call.ts';
import type { Inventory, LoadStep } from '../image/wire/operations.ts';
import type { Arguments } from '../kernel/parameter.ts';
import type { CallContext, Result, Tool } from '../kernel/tool.ts';
import { moreText } from './agreement.ts';
import { callOptions, limitOption } from './calling.ts';
import type { ToolDependencies, WithFresh } from './dependencies.ts';
import { loadFileBy } from './execution/load-file.ts';
import { loadNamedSystem } from './execution/load-system.ts';
import { loadResult } from './execution/load-text.ts';
import type { Places } from './places.ts';
import type { ShownWarnings } from './shown-warnings.ts';

/** A tool, and its settings for calls in a fresh image. */
export interface FreshAdapter {
  /** Returns the tool for the running image or a fresh one. */
  over: (dependencies: ToolDependencies) => Tool;
  /** Returns what the call itself loads. */
  loads?: (args: Arguments, running: ToolDependencies) => Promise<LoadStep>;
  /** Makes the call and returns the parts of its outcome, which are compared with those for another commit.
   * Absent: the tool cannot be called with a commit. */
  parts?: (fresh: ToolDependencies, args: Arguments, context: CallContext) => Promise<OutcomePart[]>;
  /** Compiles the files of the call in another image, before the call. Returns a result on failure only. */
  build?: (fresh: ToolDependencies, args: Arguments, context: CallContext) => Promise<Result | undefined>;
}

/** A part of the outcome of a call, such as its output. `text` is undefined when the part is empty. For the
 * values, `forms` has the text for each form. */
export interface OutcomePart {
  name: string;
  text: string | undefined;
  forms?: string[] | undefined;
}

/** Maximum number of definitions or variables in a line on differences. */
export const SHOWN = 20;
/** Limit in milliseconds for each query to the running image. */
const ASK_MS = 10_000;

/** A call of a tool in a fresh image. `running` is for the session's own image, `folder` for fasls. */
export interface FreshCall {
  running: ToolDependencies;
  adapter: FreshAdapter;
  args: Arguments;
  context: CallContext;
  folder: string;
  /** Collects the warnings of loads that the answer does not show. */
  warnings: ShownWarnings;
}

/** Returns the function that starts a fresh image. Throws a CallError when none can be started. */
export function starterOf({ withFreshImage }: ToolDependencies): WithFresh {
  if (withFreshImage !== undefined) return withFreshImage;
  throw new CallError(
    'fresh starts an SBCL on this machine, and a command (--image) starts the image of this session elsewhere, so nothing was done. Call without fresh.',
  );
}

/** Returns the loads that give the fresh image the files and systems of the running one; none when the call
 * names the system that it needs. */
export async function givenSteps({ running: { image }, args, context }: FreshCall): Promise<LoadStep[]> {
  const { systems, files } = image.loads;
  const isEmpty = !image.running && systems.length + files.length === 0;
  if (isEmpty || args['system'] !== undefined) return [];
  const { data } = await image.call('loads-again', image.loads, asking(context));
  return data.value ?? [...systems.map((system) => ({ system })), ...files.map((file) => ({ file }))];
}

/** Returns STEPS with the files below ROOT as they are in COPY, a copy of ROOT. */
export function stepsIn(steps: readonly LoadStep[], root: string, copy: string): LoadStep[] {
  return steps.map((step) =>
    step.file?.startsWith(`${root}/`) ? { file: join(copy, relative(root, step.file)) } : step,
  );
}

/** Returns the options of a query to the image, with a time limit of its own. */
export function asking(context: CallContext): CallOptions {
  return { ...callOptions(context), limitMs: ASK_MS };
}

/** Returns a phrase for STEPS, what is loaded before a call. */
export function afterLoading(steps: readonly LoadStep[], places: Places): string {
  const names = steps.map(({ system, file = '' }) => system ?? places.fileName(file));
  return names.length > 0 ? `after loading ${listed(names, ', ')}` : 'with nothing loaded before';
}

/** Returns what the loaded files below ROOTS, by default those of the workspace, define in the image of FRESH;
 * undefined when that image does not answer. */
export async function freshInventory(
  { running: { workspace }, context }: FreshCall,
  { image }: ToolDependencies,
  roots: readonly string[] = workspace.realRoots,
): Promise<Inventory | undefined> {
  if (!image.running) return undefined;
  const folders = roots.map((root) => `${root}/`);
  return (await image.call('inventory', { folders }, asking(context))).data.value;
}

/** Loads STEPS in the image of FRESH until one fails, files by their fasls if they ARE_COMPILED. Returns the results. */
export async function loadSteps(
  call: FreshCall,
  fresh: ToolDependencies,
  steps: readonly LoadStep[],
  areCompiled: boolean,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const [number, step] of steps.entries()) {
    const result = await loadStep(call, fresh, step, number, areCompiled);
    results.push(result);
    if (result.failed) break;
  }
  return results;
}

/** Loads STEP in the image of FRESH; a file by its fasl, which NUMBER tells, if it IS_COMPILED. Returns the result. */
export async function loadStep(
  { args, context, folder, warnings }: FreshCall,
  fresh: ToolDependencies,
  { system, file = '' }: LoadStep,
  number: number,
  isCompiled: boolean,
): Promise<Result> {
  const { image, places } = fresh;
  const load = { ...fresh, shownWarnings: warnings };
  const limit = typeof args['timeout'] === 'number' ? { timeout: args['timeout'] } : {};
  if (system !== undefined) return loadNamedSystem(image, load, { system, ...limit }, context);
  const fasl = join(folder, `${number}.fasl`);
  if (!isCompiled) return loadFileBy(image, load, { file, fasl, ...limit }, context);
  const options = { ...callOptions(context), ...limitOption(limit) };
  const reply = await image.call('load-source', { file: fasl }, options);
  warnings.keep(reply.data.warnings);
  const name = `the fasl of ${places.fileName(file)}`;
  const isWhole = reply.ending.kind === 'done';
  return loadResult(reply, isWhole ? `Loaded ${name}` : `Not loaded to its end: ${name}`, places, context);
}

/** Returns the first of TEXTS joined by SEPARATOR, and how many more there are. */
export function listed(texts: readonly string[], separator: string): string {
  const shown = texts.slice(0, SHOWN);
  return `${shown.join(separator)}${moreText(shown.length, texts.length)}`;
}
