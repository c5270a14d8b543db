// Defines the tool observe, which records calls of running code, takes profiles, counts objects, or compares the times
// of two forms.

import { CallError } from '../../errors.ts';
import type { Image } from '../../image/image.ts';
import { defineTool, type Result, type ToolDescription } from '../../kernel/tool.ts';
import type { Observations } from '../../records/observations.ts';
import { TIMEOUT } from '../calling.ts';
import { PACKAGE } from '../lookup.ts';
import type { Places } from '../places.ts';
import { observeCalls } from './calls.ts';
import { observeHeap } from './heap.ts';
import type { Observing } from './observing.ts';
import { observeProfile } from './profile.ts';
import { observeTimes } from './times.ts';

const OBSERVE = {
  name: 'observe',
  description:
    "Trace calls, profile, time or benchmark code: see why it is slow or allocates (conses) much. For errors use debug, for what runs now image_status. With parameter 'functions': a tree of their calls, with arguments, values, time and errors; mode types: only types. Modes cpu, alloc, time profile form; heap: what grows. against compares two forms.",
  parameters: [
    { name: 'form', type: 'string', description: 'The last of several is observed' },
    {
      name: 'seconds',
      type: 'number',
      description: 'How long to observe, or to repeat form',
      minimum: 0.01,
      maximum: 3600,
    },
    {
      name: 'functions',
      type: 'array',
      items: { type: 'string' },
      description: 'Such as area, or app: for a package',
    },
    {
      name: 'mode',
      type: 'string',
      description: 'Default: calls with functions, else cpu',
      enum: ['calls', 'types', 'cpu', 'alloc', 'time', 'heap'],
    },
    {
      name: 'where',
      type: 'string',
      description: 'Only calls whose parameters make this true: (> n 3)',
    },
    { name: 'against', type: 'string', description: 'Form to compare with' },
    {
      name: 'limit',
      type: 'integer',
      minimum: 1,
      maximum: 500,
    },
    PACKAGE,
    TIMEOUT,
  ],
  limitMs: Number.POSITIVE_INFINITY,
  required: [],
  safetyLevel: 'cautious',
  categories: ['execution'],
  shortDescription: 'Record calls with arguments and values, profile code, or compare two forms',
  complexity: 'complex',
  keywords: [
    'memory allocation',
    'slow function',
    'call tree',
    'trace calls',
    'profile',
    'arguments and return values',
    'benchmark',
    'types at run time',
  ],
} as const satisfies ToolDescription;

export function observeTool(image: Image, places: Places, observations: Observations) {
  return defineTool({
    ...OBSERVE,
    handler: async (args, context) => {
      const { mode = args.functions === undefined ? 'cpu' : 'calls' } = args;
      const observing: Observing = { image, places, observations, context, args };
      checkArguments(observing, mode);
      return await perform(observing, mode);
    },
  });
}

type Mode = 'calls' | 'types' | 'cpu' | 'alloc' | 'time' | 'heap';

async function perform(observing: Observing, mode: Mode): Promise<Result> {
  const { form, against, functions = [] } = observing.args;
  if (against !== undefined && form !== undefined) return observeTimes(observing, form, against);
  if (mode === 'heap') return observeHeap(observing);
  return mode === 'calls' || mode === 'types'
    ? observeCalls(observing, functions, mode === 'types')
    : observeProfile(observing, mode);
}

function checkArguments({ args }: Observing, mode: Mode): void {
  const { form, seconds, functions, against, where } = args;
  const records = mode === 'calls' || mode === 'types';
  const refuse = (text: string) => {
    throw new CallError(`${text} Nothing was done.`);
  };
  if (form === undefined && against !== undefined)
    refuse("Parameter 'against' needs parameter 'form': it compares the two.");
  if (form === undefined && seconds === undefined && mode !== 'heap')
    refuse("Give parameter 'form', or in parameter 'seconds' the time to observe the program.");
  if (against !== undefined && (functions !== undefined || args.mode !== undefined))
    refuse("With parameter 'against', only the two forms are measured; leave out 'functions' and 'mode'.");
  if (records && (functions ?? []).length === 0)
    refuse('To record calls, give functions: [...]; for a profile, give mode: "cpu", "alloc" or "time".');
  if (!records && functions !== undefined)
    refuse(
      `Parameter 'functions' works only in the modes calls and types; mode ${mode} observes the whole program. Leave the parameter out.`,
    );
  if (records && form !== undefined && seconds !== undefined)
    refuse(
      "Give either 'form' or 'seconds': calls are recorded while the form runs, or for that many seconds.",
    );
  if (!records && where !== undefined)
    refuse("Parameter 'where' filters recorded calls, so it needs parameter 'functions'.");
}
