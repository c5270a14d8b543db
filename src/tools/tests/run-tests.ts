// Decides the tool that runs tests and tells what failed, and what has changed since they ran before.

import { CallError } from '../../errors.ts';
import type { Image } from '../../image/image.ts';
import {
  type ArgumentsFor,
  type CallContext,
  defineTool,
  type Result,
  type ToolDescription,
} from '../../kernel/tool.ts';
import { TIMEOUT } from '../calling.ts';
import { type Holds, ON_ERROR } from '../debug/hold.ts';
import type { Places } from '../places.ts';
import type { Grounds } from './grounds.ts';
import { TestMemory } from './memory.ts';
import { prepare, refuseNothing } from './preparation.ts';
import { type Asked, Run } from './run.ts';

const RUN_TESTS = {
  name: 'run_tests',
  title: 'Run tests',
  description:
    'Load what changed and run tests: of a system, by its ASDF test-op, or by name. Tells each failure with form, values and place, and what passed before and fails now. Without arguments it tests the systems of the workspace.',
  parameters: [
    { name: 'system', type: 'string', description: 'ASDF system to test' },
    { name: 'package', type: 'string', description: 'Run the tests whose names are in this package' },
    { name: 'test', type: 'string', description: 'Run this test or suite' },
    { name: 'failed', type: 'boolean', description: 'Run those that failed last' },
    {
      name: 'isolate',
      type: 'boolean',
      description: 'After a test that hangs, or ends thread or image, go on with the others',
    },
    { name: 'seed', type: 'integer', description: 'Makes random numbers repeat', minimum: 0 },
    { name: 'limit', type: 'integer', description: 'Failures to tell (20 when absent)', minimum: 1 },
    ON_ERROR,
    { ...TIMEOUT, description: 'Seconds after which a run is interrupted (600 when absent)' },
  ],
  limitMs: Number.POSITIVE_INFINITY,
  safetyLevel: 'cautious',
  categories: ['execution'],
  shortDescription: 'Run tests and tell what failed, and what has changed since',
  complexity: 'moderate',
  keywords: [
    'run the test suite',
    'unit tests',
    'test a system',
    'rerun failed tests',
    'regression',
    'fiveam',
    'failing tests',
    'test-op',
  ],
} as const satisfies ToolDescription;

type Arguments = ArgumentsFor<typeof RUN_TESTS>;

/** Returns the tool that runs tests in IMAGE. */
export function runTests(image: Image, { places, holds }: { places: Places; holds: Holds }) {
  const grounds: Grounds = { image, places, holds, memory: new TestMemory() };
  return defineTool({ ...RUN_TESTS, handler: async (args, context) => perform(grounds, args, context) });
}

async function perform(grounds: Grounds, args: Arguments, context: CallContext): Promise<Result> {
  const chosen = chosenTests(grounds, args);
  // What is not loaded is not needed for a test that is there; the run loads it for one that is not.
  const prepared = await prepare(grounds, args.system, context, chosen !== undefined);
  if ('failed' in prepared) return prepared.failed;
  const { systems, said } = prepared;
  if (chosen === undefined && systems.length === 0) refuseNothing();
  const asked: Asked = {
    ...(chosen ?? { systems }),
    ...(args.seed !== undefined && { seed: args.seed }),
  };
  return new Run(grounds, args, asked, said).perform(context);
}

/** Returns which tests ARGS choose, or undefined when it is whole systems. Throws a CallError when they contradict. */
function chosenTests(
  { memory }: Grounds,
  args: Arguments,
): Pick<Asked, 'name' | 'again' | 'package'> | undefined {
  const { test, package: home, failed } = args;
  const given = [test !== undefined && 'test', home !== undefined && 'package', failed && 'failed'].filter(
    (each) => each,
  );
  if (given.length > 1) throw new CallError(`Give one of ${given.join(' and ')}; nothing was done.`);
  if (test !== undefined) return { name: test };
  if (home !== undefined) return { package: home };
  if (!failed) return undefined;
  const again = memory.failed;
  if (again === undefined)
    throw new CallError('No tests ran yet, so none failed. Call run_tests without failed first.');
  if (again.length === 0) throw new CallError('No test failed when it last ran, so there is nothing to run.');
  return { again };
}
