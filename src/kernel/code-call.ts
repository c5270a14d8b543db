// Decides how code in the image calls a tool: which tool and parameters its names mean, what NIL means, and
// what it gets back.

import { messageOf } from '../errors.ts';
import type { Executor } from './executor.ts';
import type { Arguments, Parameter } from './parameter.ts';
import type { ToolRegistry } from './registry.ts';
import { boundText } from './reply.ts';
import type { Tool } from './tool.ts';

/** What became of a call by code: data, with what a model reads instead, or a text, or why it failed. RESULT is what it
 *  returned all the same. */
export type CodeAnswer =
  | { value: unknown; text?: string }
  | { failure: string; result?: string; needsApproval?: boolean };

/** Calls the tool that NAME means for code. Returns its data, all of it when ARGS set no limit; with AS_TEXT what a
 *  model would read. Of a call that failed it returns why, and whether a human has to approve it. Neither case nor -
 *  and _ matter in names (S2.21). In ARGS null stands for NIL. Names are read in the package HOME, unless ARGS say. */
export async function callFromCode(
  executor: Executor,
  registry: ToolRegistry,
  name: string,
  args: Arguments,
  signal: AbortSignal,
  { asText = false, home }: { asText?: boolean; home?: string | undefined } = {},
): Promise<CodeAnswer> {
  const registered = name.toLowerCase().replaceAll('-', '_');
  const tool = registry.getTool(registered);
  if (tool === null) return { failure: registry.unknownTool(name) };
  if (tool.refusesCode) {
    return {
      failure: `Tool ${tool.name} cannot be called from code in the image, which it would end. Nothing was done. Call ${tool.name} directly.`,
    };
  }
  try {
    const outcome = await executor.executeForCode(registered, argumentsFor(tool, args, home), {
      signal,
      forData: !asText,
    });
    if (!outcome.success) {
      const { error: failure, result, question } = outcome;
      return { failure, ...(result !== undefined && { result }), ...(question && { needsApproval: true }) };
    }
    const { data, text } = outcome;
    if (asText) return { value: text };
    return { value: data, ...(typeof data === 'object' && { text: boundText(text, TEXT_LIMIT) }) };
  } catch (error) {
    return { failure: messageOf(error) };
  }
}

/** Characters of the text that goes with data: all that one answer has room for, within the answer of an evaluation. */
const TEXT_LIMIT = 38_900;

/** Returns ARGS under the names of TOOL's parameters, names to be read in HOME unless they say where. What names none stays,
 *  and is refused as unknown; of several that name the same, the first counts. */
function argumentsFor(tool: Tool, args: Arguments, home: string | undefined): Arguments {
  const given = new Map<string, unknown>();
  for (const [name, value] of Object.entries(args)) {
    const parameter = findParameter(tool.parameters, name);
    const key = parameter?.name ?? name;
    // NIL for a parameter that is not there must not count as absent, or nobody would notice.
    if (!given.has(key)) given.set(key, parameter ? argumentFor(parameter, value) : (value ?? false));
  }
  const reads = tool.parameters.find(({ readsNames }) => readsNames);
  if (reads && home !== undefined && !given.get(reads.name)) given.set(reads.name, home);
  return Object.fromEntries(given);
}

function findParameter(parameters: readonly Parameter[], name: string): Parameter | undefined {
  const bare = (text: string) => text.toLowerCase().replace(/[-_]/g, '');
  return (
    parameters.find((each) => each.name === name) ?? parameters.find((each) => bare(each.name) === bare(name))
  );
}

/** Returns VALUE as a parameter of TYPE gets it: NIL is false or an empty array where that is wanted. */
function argumentFor({ type, items }: Pick<Parameter, 'type' | 'items'>, value: unknown): unknown {
  if (value === null && type === 'boolean') return false;
  if (value === null && type === 'array') return [];
  return items && Array.isArray(value) ? value.map((each) => argumentFor(items, each)) : value;
}
