// Defines a call of a tool in a fresh image, and performs the loads that come before the call.

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

/** A tool, and functions for calling it in a fresh image. */
export interface FreshAdapter {
  /** Returns the tool that works in the image of the dependencies: the running image or a fresh one. */
  over: (dependencies: ToolDependencies) => Tool;
  /** Returns the load that the call itself performs. Absent for tools that load nothing. */
  loads?: (args: Arguments, running: ToolDependencies) => Promise<LoadStep>;
  /** Makes the call and returns the parts of its outcome, which are compared with those for another commit. Absent when
   * the tool cannot be called with a commit. */
  parts?: (fresh: ToolDependencies, args: Arguments, context: CallContext) => Promise<OutcomePart[]>;
  /** Compiles the files that the call needs, in another image and before the call. Returns a result when this fails,
   * else undefined. */
  build?: (fresh: ToolDependencies, args: Arguments, context: CallContext) => Promise<Result | undefined>;
}

/** A part of the outcome of a call, such as its output. `text` is undefined when the part is empty. For the part with
 * the values, `forms` has the text for each form. */
export interface OutcomePart {
  name: string;
  text: string | undefined;
  forms?: string[] | undefined;
}

/** Maximum number of definitions or variables that a line about differences shows. */
export const SHOWN = 20;
/** Milliseconds in which the running image must answer a query. */
const ASK_MS = 10_000;

/** A call of a tool in a fresh image. `running` has the image of the session. `folder` is the folder for fasls. */
export interface FreshCall {
  running: ToolDependencies;
  adapter: FreshAdapter;
  args: Arguments;
  context: CallContext;
  folder: string;
  /** Records the warnings of the loads, which the answer does not show. */
  warnings: ShownWarnings;
}

/** Returns the function that starts a fresh image. Throws a CallError when no fresh image can be started. */
export function starterOf({ withFreshImage }: ToolDependencies): WithFresh {
  if (withFreshImage !== undefined) return withFreshImage;
  throw new CallError(
    "Parameter 'fresh' starts an SBCL on this machine, but the command of --image starts this session's image elsewhere, so nothing was done. Call without 'fresh'.",
  );
}

/** Returns the systems and files that a fresh image must load to have the same definitions as the running image.
 * Returns none when the argument `system` of the call says what to load. */
export async function givenSteps({ running: { image }, args, context }: FreshCall): Promise<LoadStep[]> {
  const { systems, files } = image.loads;
  const isEmpty = !image.running && systems.length + files.length === 0;
  if (isEmpty || args['system'] !== undefined) return [];
  const { data } = await image.call('loads-again', image.loads, asking(context));
  return data.value ?? [...systems.map((system) => ({ system })), ...files.map((file) => ({ file }))];
}

/** Returns STEPS in which files below ROOT are replaced by the same files in COPY, a copy of ROOT. */
export function stepsIn(steps: readonly LoadStep[], root: string, copy: string): LoadStep[] {
  return steps.map((step) =>
    step.file?.startsWith(`${root}/`) ? { file: join(copy, relative(root, step.file)) } : step,
  );
}

/** Returns the options for a question to an image. Its time limit is ASK_MS, and not the time limit of the call. */
export function asking(context: CallContext): CallOptions {
  return { ...callOptions(context), limitMs: ASK_MS };
}

/** Returns a phrase that says which STEPS are loaded before a call. */
export function afterLoading(steps: readonly LoadStep[], places: Places): string {
  const names = steps.map(({ system, file = '' }) => system ?? places.fileName(file));
  return names.length > 0 ? `after loading ${listed(names, ', ')}` : 'with nothing loaded before';
}

/** Returns an inventory of the definitions that a fresh image, IMAGE, has loaded from files below ROOTS. By default,
 * ROOTS are those of the workspace. Returns undefined when the image does not answer. */
export async function freshInventory(
  { running: { workspace }, context }: FreshCall,
  { image }: ToolDependencies,
  roots: readonly string[] = workspace.realRoots,
): Promise<Inventory | undefined> {
  if (!image.running) return undefined;
  const folders = roots.map((root) => `${root}/`);
  return (await image.call('inventory', { folders }, asking(context))).data.value;
}

/** Calls `loadStep` for each of STEPS in the image of FRESH, until one fails. The position of a step in STEPS is its
 * number. Returns the results. */
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

/** Performs one load, of a system or a file, in the image of FRESH, and returns its result. The fasl of a file is
 * `NUMBER.fasl` in the folder of the call. If IS_COMPILED is true, another image has written this fasl. */
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

/** Returns the first SHOWN of TEXTS, joined by SEPARATOR, and the number of the others. */
export function listed(texts: readonly string[], separator: string): string {
  const shown = texts.slice(0, SHOWN);
  return `${shown.join(separator)}${moreText(shown.length, texts.length)}`;
}
