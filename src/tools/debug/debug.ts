// Defines the tool debug, which shows errors at which threads wait in the debugger, and continues these threads.

import { CallError } from '../../errors.ts';
import type { Image } from '../../image/image.ts';
import { type ArgumentsFor, defineTool, type Result, type ToolDescription } from '../../kernel/tool.ts';
import { TIMEOUT } from '../calling.ts';
import type { Places } from '../places.ts';
import { endCall, invokeRestart, retry, returnFrom } from './continuing.ts';
import type { DebugDependencies, HeldErrorRequest } from './held.ts';
import type { HeldToolCalls } from './hold.ts';
import { listHeld, showThread, unwatchErrors, watchErrors } from './listing.ts';
import { evaluate, fix, showHeld } from './looking.ts';

const DEBUG = {
  name: 'debug',
  description:
    "Debug a stopped error or thread: look at frames and variables, evaluate there, fix code, take a restart, continue. on_error: hold keeps an error for this; for past errors use get_last_error. Parameter 'error' alone: condition, frames and restarts; with frame: its variables.",
  parameters: [
    {
      name: 'error',
      type: 'integer',
      description: 'Number; without it: a list',
      minimum: 1,
      isOfImage: 'error',
    },
    { name: 'frame', type: 'integer', description: '0: newest', minimum: 0 },
    {
      name: 'eval',
      type: 'string',
      description: 'Form, in the frame',
    },
    { name: 'restart', type: 'string', description: 'Name or number' },
    {
      name: 'values',
      type: 'array',
      items: { type: 'string' },
      description: 'Of the restart',
    },
    { name: 'return', type: 'string', description: 'Form whose values it returns' },
    { name: 'fix', type: 'string', description: 'Definitions, for retry' },
    { name: 'retry', type: 'boolean', description: 'Run the frame or form again' },
    { name: 'end', type: 'boolean', description: 'Abort its call' },
    { name: 'package', type: 'string' },
    {
      name: 'thread',
      type: 'string',
      description: 'To look at',
    },
    {
      name: 'watch',
      type: 'string',
      description: 'Record errors of all, a thread or a package',
    },
    { name: 'type', type: 'string', description: 'Of watched errors' },
    { name: 'hold', type: 'boolean', description: 'Hold watched errors' },
    { name: 'unwatch', type: 'boolean' },
    TIMEOUT,
  ],
  // The image has its own time limit for all code that runs in it.
  limitMs: Number.POSITIVE_INFINITY,
  safetyLevel: 'cautious',
  categories: ['execution'],
  shortDescription: 'Look into a held error, evaluate in its frames, fix the code and run the frame again',
  complexity: 'complex',
  keywords: [
    'debugger',
    'fix and continue',
    'continue after an error',
    'evaluate in a frame',
    'restart a frame',
    'variables of a frame',
    'invoke a restart',
    'hold an error',
  ],
} as const satisfies ToolDescription;

type Arguments = ArgumentsFor<typeof DEBUG>;

/** Returns the tool debug for IMAGE. HOLDS contains the calls that wait at an error. PLACES finds the source places of
 * frames. */
export function debugTool(image: Image, holds: HeldToolCalls, places: Places) {
  return defineTool({
    ...DEBUG,
    handler: async (args, context) => perform({ image, holds, places, context }, args),
  });
}

/** The arguments that act on a held error. A call can have only one of them. */
const ACTIONS = ['eval', 'restart', 'return', 'retry', 'end'] as const;
/** The arguments that do not act on a held error. */
const OTHERS = ['watch', 'unwatch', 'thread'] as const;

async function perform(dependencies: DebugDependencies, args: Arguments): Promise<Result> {
  const { error } = args;
  const action = chosenAction(args);
  if (args.watch !== undefined) return watchErrors(dependencies, args.watch, args);
  if (args.unwatch) return unwatchErrors(dependencies);
  if (args.thread !== undefined) return showThread(dependencies, args.thread);
  if (error === undefined) return listHeld(dependencies);
  const held: HeldErrorRequest = { ...dependencies, error, args };
  if (args.fix === undefined) return performAction(held, args, action);
  const fixed = await fix(held, args.fix);
  if (action !== 'retry' || fixed.failed) return fixed;
  const after = await retry({ ...held, fixed: true });
  return { ...after, text: [fixed.text, after.text].join('\n\n') };
}

async function performAction(
  held: HeldErrorRequest,
  args: Arguments,
  action: (typeof ACTIONS)[number] | undefined,
) {
  switch (action) {
    case 'eval':
      return evaluate(held, args.eval ?? '');
    case 'restart':
      return invokeRestart(held, args.restart ?? '');
    case 'return':
      return returnFrom(held, args.return ?? '');
    case 'retry':
      return retry(held);
    case 'end':
      return endCall(held);
    case undefined:
      return showHeld(held);
  }
}

/** Returns the action that ARGS request; undefined when the call only shows the error. Throws a CallError for arguments
 * that cannot be combined. */
function chosenAction(args: Arguments): (typeof ACTIONS)[number] | undefined {
  const isGiven = (name: keyof Arguments) => args[name] !== undefined && args[name] !== false;
  const given = [...ACTIONS, ...OTHERS].filter(isGiven);
  if (given.length > 1) throw new CallError(`Give only one of ${given.join(' and ')}; nothing was done.`);
  const action = ACTIONS.find(isGiven);
  if (args.fix !== undefined && given.length > 0 && action !== 'retry') {
    throw new CallError(`Parameter 'fix' goes with 'retry', not with '${given[0]}'; nothing was done.`);
  }
  const [empty] = (['eval', 'return', 'fix', 'values'] as const).filter((name) =>
    [args[name]].flat().some((form) => form?.trim() === ''),
  );
  if (empty !== undefined) throw new CallError(`Parameter '${empty}' has an empty form; nothing was done.`);
  if (args.values !== undefined && action !== 'restart') {
    throw new CallError("Parameter 'values' needs 'restart', so nothing was done. Give 'restart' too.");
  }
  if ((isGiven('type') || isGiven('hold')) && args.watch === undefined) {
    throw new CallError("Parameters 'type' and 'hold' need 'watch', so nothing was done. Give 'watch' too.");
  }
  const needsError = action !== undefined || args.fix !== undefined || args.frame !== undefined;
  if (args.error === undefined && needsError) {
    throw new CallError(
      "Give parameter 'error': the number of a held error. debug without arguments lists them.",
    );
  }
  return action;
}
