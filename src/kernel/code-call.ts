// Lets code in the image call a tool: finds the tool by name, converts NIL in the arguments, and builds the answer.

import { messageOf } from '../errors.ts';
import type { Executor } from './executor.ts';
import type { Arguments, Parameter } from './parameter.ts';
import type { ToolRegistry } from './registry.ts';
import { boundText } from './reply.ts';
import type { Tool } from './tool.ts';

/** The answer to a tool call by code: a value, or the reason of a failure. `text` is the text for a model, if the value
 * is data. `result` is the text of the result, if a failed call has one. */
type CodeAnswer =
  | { value: unknown; text?: string }
  | { failure: string; result?: string; needsApproval?: boolean };

/** Calls the tool NAME for code in the image. The case of letters in NAME does not count, and - equals _. Returns the
 * tool's complete data, unless ARGS set a limit. If AS_TEXT is true, returns the text for a model. If the call fails,
 * returns the reason, and whether a human must approve the call. A null in ARGS means NIL. Lisp names are read in the
 * package HOME, unless ARGS name a package. */
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
      failure: `Tool ${tool.name} cannot be called from code in the image, because it ends that image. Nothing was done. Call ${tool.name} directly.`,
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

/** Maximum number of characters of the text that accompanies the data. It is the limit of an answer minus the space for
 * the rest of the evaluation's answer. */
const TEXT_LIMIT = 38_900;

/** Returns ARGS under the names of TOOL's parameters, with HOME as package unless ARGS name one. Unknown names stay, so
 * that the validation refuses them. Of several values for one parameter, the first counts. */
function argumentsFor(tool: Tool, args: Arguments, home: string | undefined): Arguments {
  const given = new Map<string, unknown>();
  for (const [name, value] of Object.entries(args)) {
    const parameter = findParameter(tool.parameters, name);
    const key = parameter?.name ?? name;
    // NIL for an unknown parameter becomes false. As null it would count as absent, and the mistake would go unnoticed.
    if (!given.has(key)) given.set(key, parameter ? argumentFor(parameter, value) : (value ?? false));
  }
  const packageArg = tool.parameters.find(({ readsNames }) => readsNames);
  if (packageArg && home !== undefined && !given.get(packageArg.name)) given.set(packageArg.name, home);
  return Object.fromEntries(given);
}

function findParameter(parameters: readonly Parameter[], name: string): Parameter | undefined {
  const bare = (text: string) => text.toLowerCase().replace(/[-_]/g, '');
  return (
    parameters.find((each) => each.name === name) ?? parameters.find((each) => bare(each.name) === bare(name))
  );
}

/** Converts VALUE for a parameter: NIL becomes false for a boolean, and an empty array for an array. */
function argumentFor({ type, items }: Pick<Parameter, 'type' | 'items'>, value: unknown): unknown {
  if (value === null && type === 'boolean') return false;
  if (value === null && type === 'array') return [];
  return items && Array.isArray(value) ? value.map((item) => argumentFor(items, item)) : value;
}
