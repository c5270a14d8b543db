// Lets code in the image call a tool: matches names, converts NIL, and shapes the answer.

import { messageOf } from '../errors.ts';
import type { Executor } from './executor.ts';
import type { Arguments, Parameter } from './parameter.ts';
import type { ToolRegistry } from './registry.ts';
import { boundText } from './reply.ts';
import type { Tool } from './tool.ts';

/** The answer to a call by code: data with the text for a model, a text alone, or a failure. `result` is the
 *  text of a call that failed but returned something. */
type CodeAnswer =
  | { value: unknown; text?: string }
  | { failure: string; result?: string; needsApproval?: boolean };

/** Calls the tool NAME for code. Names are compared without case, and - equals _ (S2.21). Returns the tool's
 *  data, in full unless ARGS set a limit; with AS_TEXT, the text for a model. For a failed call, returns the
 *  reason, and whether a human must approve the call. In ARGS, null means NIL. HOME is the package for Lisp
 *  names, unless ARGS name a package. */
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

/** Limit, in characters, of the text with the data: that of an answer minus the additions of an
 *  evaluation. */
const TEXT_LIMIT = 38_900;

/** Returns ARGS with the names of TOOL's parameters, and HOME as package unless ARGS name one. Unknown names
 *  stay, for a later refusal. Of several values for one parameter, the first counts. */
function argumentsFor(tool: Tool, args: Arguments, home: string | undefined): Arguments {
  const given = new Map<string, unknown>();
  for (const [name, value] of Object.entries(args)) {
    const parameter = findParameter(tool.parameters, name);
    const key = parameter?.name ?? name;
    // NIL for an unknown parameter stays false, because null would count as absent and hide the mistake.
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
