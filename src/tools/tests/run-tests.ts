// Defines the tool run_tests, which runs tests and shows their failures, and what has changed since the last run. The
// parameter `fresh` is not in the list here: src/tools/fresh.ts adds it.

import { CallError, messageOf } from '../../errors.ts';
import { toResult } from '../../kernel/outcome.ts';
import { joinSections } from '../../kernel/reply.ts';
import { argumentsLines, previewLines } from '../../kernel/shown.ts';
import {
  type ArgumentsFor,
  type CallContext,
  defineTool,
  type Preview,
  type Result,
  type Tool,
  type ToolDescription,
} from '../../kernel/tool.ts';
import { questionLine } from '../../question-line.ts';
import { limitOption, TIMEOUT } from '../calling.ts';
import { ON_ERROR, RESTARTS } from '../debug/hold.ts';
import type { TestDependencies } from './dependencies.ts';
import { nothingToRun, prepare } from './preparation.ts';
import { resetVariables } from './reset.ts';
import { Run } from './run.ts';
import type { TestSelection } from './run-result.ts';

const RUN_TESTS = {
  name: 'run_tests',
  description:
    "Run tests of a system, package or name, after loading what changed; without arguments all suites of the project. Parameters 'edits' and 'then': change, test and check in one call. Shows each failure's form, values, place, and what passed.",
  parameters: [
    { name: 'system', type: 'string' },
    { name: 'package', type: 'string' },
    { name: 'test', type: 'string', description: 'Test or suite' },
    { name: 'failed', type: 'boolean' },
    {
      name: 'touching',
      type: 'string',
      description: 'Tests reaching this function',
    },
    { name: 'coverage', type: 'boolean', description: 'Lines that never ran' },
    {
      name: 'isolate',
      type: 'boolean',
      description: 'Go on after hang or crash',
    },
    { name: 'seed', type: 'integer', minimum: 0 },
    { name: 'repeat', type: 'integer', minimum: 1 },
    { name: 'limit', type: 'integer', minimum: 1 },
    {
      name: 'reset',
      type: 'array',
      items: { type: 'string' },
      description: 'Variables to initialize',
    },
    {
      name: 'edits',
      type: 'array',
      items: { type: 'object' },
      description: 'As edit_definitions; with fresh, a trial',
    },
    {
      name: 'then',
      type: 'array',
      items: { type: 'string' },
      description: 'Forms after',
    },
    ON_ERROR,
    RESTARTS,
    TIMEOUT,
  ],
  limitMs: Number.POSITIVE_INFINITY,
  safetyLevel: 'cautious',
  categories: ['execution'],
  shortDescription: 'Run tests; show failures and what has changed since the last run',
  complexity: 'moderate',
  keywords: [
    'unit tests',
    'fiveam',
    'regression',
    'test suite',
    'rerun failed tests',
    'run the test suite',
    'test a system',
    'failing tests',
  ],
} as const satisfies ToolDescription;

type Arguments = ArgumentsFor<typeof RUN_TESTS>;
type Chosen = Pick<TestSelection, 'name' | 'again' | 'package' | 'touching'>;

/** Returns the tool run_tests. `editing` is the tool that makes the edits in `edits`. `evaluating` is the tool that
 * evaluates the forms in `then`. If `limitsLoads` is true, the timeout of a call also limits each of its loads. */
export function runTestsTool(
  dependencies: TestDependencies & { editing: Tool; evaluating: Tool; limitsLoads: boolean },
) {
  const { editing, evaluating, limitsLoads } = dependencies;
  return defineTool({
    ...RUN_TESTS,
    raisedBy: ({ edits }) =>
      edits === undefined
        ? undefined
        : {
            safetyLevel: editing.safetyLevel,
            allowedAs: editing.name,
            preview: async (args, context) => {
              // Throws if the call would fail, so that no human is asked.
              await chosenTests(dependencies, args);
              return previewOf(editing, { ...args, edits }, context);
            },
          },
    handler: async (args, context) => {
      const chosen = await chosenTests(dependencies, args);
      // This only writes the files. `perform` loads them.
      const edited = args.edits && toResult(await editing.handler({ edits: args.edits }, context));
      const limited = limitsLoads ? { ...dependencies, loadLimit: limitOption(args) } : dependencies;
      const ran = await perform(limited, evaluating, args, chosen, context).catch((error: unknown) => {
        // The edits were made, so the answer must report them. The forms in `then` are evaluated even after an error.
        if (edited === undefined && args.then === undefined) throw error;
        return { data: {}, text: messageOf(error), failed: true };
      });
      const form = args.then?.join('\n');
      const evaluated =
        form === undefined ? undefined : toResult(await evaluating.handler({ form }, context));
      return together(ran, edited, evaluated);
    },
  });
}

async function previewOf(
  editing: Tool,
  { edits, then = [], ...how }: Arguments & { edits: readonly unknown[] },
  context: CallContext,
): Promise<Preview> {
  const preview = await editing.preview?.({ edits }, context);
  if (preview === undefined) throw new TypeError('What edits are made cannot be shown.');
  const settings = argumentsLines(how);
  const run =
    settings.length === 0
      ? [questionLine`Then the changed files are loaded, and tests run.`]
      : [questionLine`Then the changed files are loaded, and tests run, with:`, ...settings];
  const evaluated = then.flatMap((form) => [questionLine`Then this is evaluated:`, ...previewLines(form)]);
  const text = previewLines(preview.text);
  const { lines = text, summary = questionLine`` } = preview;
  const forms = then.length === 1 ? questionLine` and 1 form` : questionLine` and ${then.length} forms`;
  return {
    ...preview,
    summary: questionLine`${summary}, then load, tests${then.length === 0 ? questionLine`` : forms}`,
    lines: [...lines, ...(settings.length === 0 ? [] : run), ...evaluated],
    text: [...run, ...evaluated, ...text],
  };
}

function together(ran: Result, edited: Result | undefined, evaluated: Result | undefined): Result {
  if (edited === undefined && evaluated === undefined) return ran;
  return {
    data: {
      ...(ran.data as object),
      ...(edited && { edited: edited.data }),
      ...(evaluated && { evaluated: evaluated.data }),
    },
    text: joinSections([ran.text, edited?.text, evaluated && `Then:\n${evaluated.text}`]),
    failed: ran.failed === true || evaluated?.failed === true,
  };
}

/** Loads changed code, sets the variables that the arguments name, and runs the tests CHOSEN. If CHOSEN is undefined,
 * runs all tests of a system, or of all systems of the workspace. */
async function perform(
  dependencies: TestDependencies,
  evaluating: Tool,
  args: Arguments,
  chosen: Chosen | undefined,
  context: CallContext,
): Promise<Result> {
  // The image may already have the chosen tests. So load only systems that were loaded before. If `Run` does not find a
  // chosen test, it loads the other systems too.
  const known = chosen !== undefined && args.edits === undefined && args.reset === undefined;
  const { system, restarts } = args;
  const prepared = await prepare(
    dependencies,
    { system, known, restarts, edited: args.edits !== undefined },
    context,
  );
  if ('failed' in prepared) return prepared.failed;
  const { systems, loadNotes } = prepared;
  if (chosen === undefined && systems.length === 0) return nothingToRun();
  const reset = await resetVariables(dependencies, evaluating, args.reset ?? [], context);
  if ('failed' in reset) return reset.failed;
  const selection: TestSelection = {
    ...(chosen ?? { systems }),
    ...(args.seed !== undefined && { seed: args.seed }),
  };
  // Restarts are for the load only. In a test, an error must make the test fail.
  const { restarts: _, reset: __, ...how } = args;
  return new Run(dependencies, how, selection, joinSections([loadNotes, reset.loadNotes])).perform(context);
}

/** Returns the tests that the arguments choose; undefined when they choose whole systems. Throws a CallError when the
 * arguments exclude each other, or when there are no such tests. */
async function chosenTests(dependencies: TestDependencies, args: Arguments): Promise<Chosen | undefined> {
  const { system, test, package: home, failed, touching } = args;
  const given = [
    test !== undefined && 'test',
    home !== undefined && 'package',
    failed && 'failed',
    touching !== undefined && 'touching',
  ].filter((each) => each);
  if (given.length > 1) throw new CallError(`Give only one of ${given.join(' and ')}; nothing was done.`);
  if (test !== undefined) return { name: test };
  if (home !== undefined) return { package: home };
  if (touching !== undefined) return reaching(dependencies, touching);
  if (!failed) return undefined;
  // Callers can write the name of a system as a Lisp symbol.
  const systemName = system?.toLowerCase().replace(/^[#:]+/, '');
  const which = systemName === undefined ? '' : ` of ${systemName}`;
  const again = dependencies.memory.failed(systemName);
  if (again === undefined)
    throw new CallError(
      `No tests${which} have run yet, so none failed. First call run_tests without parameter 'failed'.`,
    );
  if (again.length === 0)
    throw new CallError(`No test${which} failed when it last ran, so there is nothing to run.`);
  return { again };
}

/** Returns the tests that reached the definition NAME in their last run with coverage. Adds tests that reached
 * definitions which have changed since. Throws a CallError when NAME was not measured. */
async function reaching({ reached, places }: TestDependencies, name: string): Promise<Chosen> {
  if (!reached.any) {
    throw new CallError(
      "No run has recorded coverage yet. Call run_tests with coverage: true, then with 'touching'.",
    );
  }
  const found = reached.find(name);
  if ('several' in found)
    throw new CallError(`${name} names several definitions: ${found.several.join(', ')}. Give one of these.`);
  if ('near' in found) {
    const hint = found.near.length > 0 ? ` Similar names: ${found.near.join(', ')}.` : '';
    throw new CallError(
      `No run with coverage measured ${name}.${hint} If it is new, run with coverage again.`,
    );
  }
  // A definition has changed when its file no longer contains the text that was measured.
  await places.prepare(reached.files);
  const before = new Set(found.tests);
  const changed = reached
    .testsReaching(({ file, text }) => places.sourceText(file)?.text.includes(text) === false)
    .filter((test) => !before.has(test));
  return { again: [...before, ...changed], touching: { name: found.name, changed } };
}
