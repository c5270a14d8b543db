// Runs tools that are written in Lisp. The server offers the tools that code registers in the image. It raises the
// safety level of tools that an agent's code registered.

import { CallError, ImageError } from '../errors.ts';
import type { Image, ImageTools } from '../image/image.ts';
import type { Reply } from '../image/wire/call.ts';
import type { Ending } from '../image/wire/endings.ts';
import type { Hold } from '../image/wire/operations.ts';
import { readToolDefinition, type ToolDefinitionData, toolDefinitionData } from '../kernel/definition.ts';
import type { Mirror } from '../kernel/mirror.ts';
import { valueText } from '../kernel/outcome.ts';
import { joinSections } from '../kernel/reply.ts';
import { atLeastCautious, defineTool, type Result, type Tool } from '../kernel/tool.ts';
import { callOptions } from './calling.ts';
import { holdingSection } from './debug/held-text.ts';
import { errorOptions, type HeldToolCalls, heldResultOr } from './debug/hold.ts';
import { endingText, outputSection } from './endings.ts';
import type { Places } from './places.ts';
import { warningSection } from './remarks.ts';

interface Debugging {
  readonly holds: HeldToolCalls;
  readonly places: Places;
}

export class LispTools implements ImageTools {
  readonly #mirror: Mirror;
  readonly #image: () => Image;
  readonly #builtIns: () => readonly Tool[];
  readonly #debugging: (() => Debugging) | undefined;
  readonly #callsNameImage: boolean;
  #registrations = 0;

  /** The tools that code in IMAGE defines are registered in MIRROR, which offers them to the clients. This code can
   * call the tools BUILT_INS. Without DEBUGGING, errors in the tools of IMAGE are not held in the debugger.
   * CALLS_NAME_IMAGE is true when the server has several images, so that calls have the argument `image`. */
  constructor(
    mirror: Mirror,
    image: () => Image,
    builtIns: () => readonly Tool[],
    debugging?: () => Debugging,
    callsNameImage = false,
  ) {
    this.#mirror = mirror;
    this.#image = image;
    this.#builtIns = builtIns;
    this.#debugging = debugging;
    this.#callsNameImage = callsNameImage;
  }

  offered(): object[] {
    return this.#builtIns().map(toolDefinitionData);
  }

  register(definition: unknown, atStart: boolean, registration?: unknown): string {
    this.#registrations += 1;
    const tool = lispTool(this.#image, readToolDefinition(definition), registration, this.#debugging);
    if (this.#callsNameImage && tool.parameters.some(({ name }) => name === 'image'))
      throw new CallError(
        `Tool ${tool.name} was not registered: the parameter name 'image' is reserved for choosing an image of this server. Give the parameter another name.`,
      );
    // The user chose the start file, so its tools keep their declared level.
    const registered = atStart ? tool : distrusted(tool, this.#registrations);
    return this.#mirror.add(registered).name;
  }

  clear(): void {
    this.#mirror.clear();
  }
}

/** Returns TOOL with the level cautious or higher, because an agent's code registered it. NUMBER is the number of the
 * registration; an approval covers only this registration. */
function distrusted(tool: Tool, number: number): Tool {
  const { name, safetyLevel } = tool;
  const level = atLeastCautious(safetyLevel);
  const raised = level !== safetyLevel && { declaredLevel: safetyLevel };
  return Object.freeze({ ...tool, safetyLevel: level, ...raised, approvedAs: `${name}#${number}` });
}

/** Returns the tool that DEFINITION, from the image, describes. A call of it runs a Lisp function in the image.
 * REGISTRATION tells the image which function. If the tool can hold errors, DEBUGGING returns what the tool `debug`
 * needs for them. */
function lispTool(
  image: () => Image,
  definition: ToolDefinitionData,
  registration: unknown,
  debugging: (() => Debugging) | undefined,
): Tool {
  const { name, parameters } = definition;
  return defineTool({
    ...definition,
    // The handler in the image gets only arguments that the caller gave, so defaults are not filled in.
    parameters: parameters.map((each) => ({ ...each, defaultOnlyDocumented: true })),
    // The image has its own time limit for all code that runs in it.
    limitMs: Number.POSITIVE_INFINITY,
    handler: async (args, context) => {
      const debuggingContext = debugging?.();
      const holding = takesOnError(definition) && debuggingContext !== undefined;
      const holdArguments = holding && holdArgumentsOf(args, debuggingContext.holds);
      const call = { name, registration, arguments: args, ...holdArguments };
      const reply = await image().call('run-tool', call, callOptions(context));
      const render = (ended: Reply<'run-tool'>) => runResult(name, ended, debuggingContext?.places);
      return holding
        ? heldResultOr(reply, { name: 'run-tool', args: call, ...debuggingContext }, render)
        : render(reply);
    },
  });
}

/** Returns true when the definition declares `on_error` with the values hold and end, as eval_form does. Only then can
 * an error of the tool be held. */
function takesOnError({ parameters }: ToolDefinitionData): boolean {
  return parameters.some(
    ({ name, enum: values }) => name === 'on_error' && values?.includes('hold') && values.includes('end'),
  );
}

function holdArgumentsOf(
  { on_error, restarts }: { readonly [name: string]: unknown },
  holds: HeldToolCalls,
): Hold {
  const names = Array.isArray(restarts) ? restarts.filter((each) => typeof each === 'string') : [];
  return errorOptions(
    { ...(on_error === 'hold' && { on_error }), ...(names.length > 0 && { restarts: names }) },
    holds,
  );
}

/** Returns the result of the Lisp tool NAME: its value, or the condition that it signalled. Throws an ImageError when
 * the run was interrupted or aborted, when the image was lost, or when the image does not have the tool. */
function runResult(
  name: string,
  { ending, output, data: remarks }: Reply<'run-tool'>,
  places: Places | undefined,
): Result {
  const { value } = remarks;
  const wrote = joinSections([
    holdingSection(remarks),
    warningSection(remarks, places),
    outputSection(output),
  ]);
  if (ending.kind === 'condition') {
    const text = joinSections([`Tool error: ${ending.condition.text}`, wrote]);
    return { data: { ending, output }, text, failed: true };
  }
  if (ending.kind !== 'done' || value === undefined) {
    throw new ImageError(joinSections([endingText(ending), limitAdvice(ending), wrote]));
  }
  if (value.missing !== undefined) {
    throw new ImageError(
      value.replaced
        ? `Tool ${name} was redefined while this call waited, so nothing was done. Call it again.`
        : `Tool ${name} was lost with the previous Lisp image. Evaluate its definition again.`,
    );
  }
  // If the handler has failed, `text` says why, and `result` is the value that it returned nevertheless.
  const { data = value.text, failed = false, result } = value;
  return {
    data,
    text: joinSections([toolText(value), wrote]),
    failed,
    ...(result && { result: toolText(result) }),
  };
}

/** Returns the text for a model. The image sends one unless DATA shows the same. */
function toolText({ data, text }: { data?: unknown; text?: string }): string {
  return text ?? (typeof data === 'string' ? data : valueText(data));
}

/** Returns advice when the time limit ended the call. In a process that a signal has stopped, more time would not
 * help. */
function limitAdvice(ending: Ending): string | false {
  return (
    ending.kind === 'interrupted' &&
    ending.reason === 'timeout' &&
    ending.stoppedPid === undefined &&
    'The user can raise this limit when starting the server: --eval-timeout SECONDS'
  );
}
