// The tool observe, which runs code and records its calls, takes a profile, or compares the times of two forms.

import { CallError } from '../../errors.ts';
import type { Image } from '../../image/image.ts';
import { defineTool, type Result, type ToolDescription } from '../../kernel/tool.ts';
import { TIMEOUT } from '../calling.ts';
import { PACKAGE } from '../lookup.ts';
import type { Places } from '../places.ts';
import { observeCalls } from './calls.ts';
import type { Observing } from './observing.ts';
import { observeProfile } from './profile.ts';
import { observeTimes } from './times.ts';

const OBSERVE = {
  name: 'observe',
  description:
    'See how code runs. With functions: their calls while form runs, or for some seconds of what the program does. They are a tree with arguments, values, time and errors; mode types tells the types seen. mode cpu, alloc or time: a profile of form, which is repeated. against: which of two forms takes less.',
  parameters: [
    { name: 'form', type: 'string', description: 'What to run; of several forms the last is observed' },
    {
      name: 'seconds',
      type: 'number',
      description: 'Without form: for how long the program is observed. Else how long it is repeated at most',
      minimum: 0.01,
      maximum: 3600,
    },
    {
      name: 'functions',
      type: 'array',
      items: { type: 'string' },
      description: 'Functions whose calls are recorded: area, (setf area), or app: for all of a package',
    },
    {
      name: 'mode',
      type: 'string',
      description: 'What to tell (default calls with functions, else cpu)',
      enum: ['calls', 'types', 'cpu', 'alloc', 'time'],
    },
    {
      name: 'where',
      type: 'string',
      description: 'Record only calls of which this form over their parameters is true: (> n 3)',
    },
    {
      name: 'compare',
      type: 'string',
      description: 'Tell the first call that differs from those recorded before',
      enum: ['previous'],
    },
    { name: 'against', type: 'string', description: 'A form to run in turn with form: which takes less' },
    {
      name: 'limit',
      type: 'integer',
      description: 'How many calls to show, the last ones (20)',
      minimum: 1,
      maximum: 500,
    },
    {
      name: 'top',
      type: 'integer',
      description: 'How many functions of a profile (10)',
      minimum: 1,
      maximum: 100,
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
    'trace calls',
    'profile',
    'slow function',
    'arguments and return values',
    'benchmark',
    'memory allocation',
    'call tree',
    'types at run time',
  ],
} as const satisfies ToolDescription;

/** Returns the tool observe for code in IMAGE. PLACES finds the source places of functions. */
export function observe(image: Image, places: Places) {
  return defineTool({
    ...OBSERVE,
    handler: async (args, context) => {
      const { mode = args.functions === undefined ? 'cpu' : 'calls' } = args;
      const observing: Observing = { image, places, context, args };
      checkArguments(observing, mode);
      return await perform(observing, mode);
    },
  });
}

type Mode = 'calls' | 'types' | 'cpu' | 'alloc' | 'time';

async function perform(observing: Observing, mode: Mode): Promise<Result> {
  const { form, against, functions } = observing.args;
  if (against !== undefined && form !== undefined) return observeTimes(observing, form, against);
  return functions === undefined
    ? observeProfile(observing, mode)
    : observeCalls(observing, functions, mode === 'types');
}

/** Throws a CallError for arguments that exclude each other, or that MODE does not allow. */
function checkArguments({ args }: Observing, mode: Mode): void {
  const { form, seconds, functions, against, where, compare } = args;
  const records = mode === 'calls' || mode === 'types';
  const refuse = (text: string) => {
    throw new CallError(`${text} Nothing was done.`);
  };
  if (form === undefined && against !== undefined) refuse('against is compared with form; give form too.');
  if (form === undefined && seconds === undefined)
    refuse('Give form, what to run, or seconds, for how long to observe what the program does.');
  if (against !== undefined && (functions !== undefined || args.mode !== undefined))
    refuse('against only measures form and itself; leave out functions and mode.');
  if (records && (functions ?? []).length === 0)
    refuse('Give functions, whose calls are recorded; or mode: "cpu", "alloc" or "time" for a profile.');
  if (!records && functions !== undefined)
    refuse(`functions are for the modes calls and types; a profile by ${mode} tells of all functions.`);
  if (records && form !== undefined && seconds !== undefined)
    refuse('Calls are recorded while form runs, or for some seconds; give one of form and seconds.');
  if (!records && (where ?? compare) !== undefined)
    refuse('where and compare are about recorded calls; give functions too.');
}
