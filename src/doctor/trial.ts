// Tests whether an image has the abilities that clients need, by calling the tools that clients call.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assemble } from '../assembly.ts';
import { type Config, inState } from '../config.ts';
import { messageOf } from '../errors.ts';
import { RUN_DOCTOR } from '../image/process/starter.ts';
import type { Hello } from '../image/wire/messages.ts';
import type { Executor } from '../kernel/executor.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';

/** The text of a file that the trial loads. The compiler gives a warning for its second function. */
const FILE = `(defpackage "LIVE-LISP-DOCTOR" (:use "COMMON-LISP"))
(in-package "LIVE-LISP-DOCTOR")
(defun double (x) (* 2 x))
(defun careless (unused) 1)
(defun answer () (double 21))
(defun failing (x) (error "Failed with ~A, as the doctor wants." x))
`;

const LOOP_SECONDS = 0.5;

/** A call of a tool, and a pattern that the text of its answer must match. */
interface Call {
  tool: string;
  args: object;
  answer: RegExp;
}

interface Step {
  name: string;
  /** The ability that the step tests, as a clause for the report, such as 'an image starts'. */
  shows: string;
  /** Returns the calls of this step. `file` is the path of the file that the trial loads. */
  calls: (file: string) => Call[];
}

const STARTS = 'an image starts';

const STEPS: readonly Step[] = [
  {
    name: 'evaluation',
    shows: '(* 6 7) gives 42',
    calls: () => [{ tool: 'eval_form', args: { form: '(* 6 7)' }, answer: /^42$/ }],
  },
  {
    name: 'load',
    shows: 'a file is loaded, and a compiler warning names its line',
    calls: (file) => [
      {
        tool: 'load_file',
        args: { path: file },
        answer: /^Loaded .*\(line 4(?::\d+)?, DEFUN CARELESS\): .*UNUSED/s,
      },
    ],
  },
  {
    name: 'callers',
    shows: 'who_calls finds a caller in that file',
    calls: () => [
      {
        tool: 'who_calls',
        args: { name: 'live-lisp-doctor::double' },
        answer: /^Functions that call LIVE-LISP-DOCTOR::DOUBLE:\n\n {2}LIVE-LISP-DOCTOR::ANSWER(?:\n|$)/,
      },
    ],
  },
  {
    name: 'errors',
    shows: 'an error comes back with its frames',
    calls: () => [
      {
        tool: 'eval_form',
        args: { form: '(live-lisp-doctor::failing 1)' },
        answer: /^Error: Failed with 1, as the doctor wants\.\n.*\n {2}0: \(LIVE-LISP-DOCTOR::FAILING 1\)/s,
      },
    ],
  },
  {
    name: 'interrupt',
    shows: 'an endless loop is interrupted, and the image keeps its definitions',
    calls: () => [
      {
        tool: 'eval_form',
        args: { form: '(loop)', timeout: LOOP_SECONDS },
        answer: /^Error: Interrupted after /,
      },
      { tool: 'eval_form', args: { form: '(live-lisp-doctor::answer)' }, answer: /^42$/ },
    ],
  },
];

/** The result of a step. `failure` is the answer that did not match its pattern. `lost` is true when the image ended
 * during the step. */
export interface StepResult extends Pick<Step, 'name' | 'shows'> {
  failure?: string;
  lost?: boolean;
}

export interface Trial {
  /** The results of the steps in order. The last one is that of the step that lost the image, if a step did. */
  results: StepResult[];
  /** The greeting of the backend, which lists abilities that this SBCL lacks, and their substitutes. Undefined when no
   * image started. */
  greeting?: Hello;
}

/** Returns the first result that has a failure; undefined when there is none. */
export function failureOf({ results }: Trial): StepResult | undefined {
  return results.find(({ failure }) => failure !== undefined);
}

/** Runs all steps in one new image, which is started with CONFIG but does not use the user's records. WITHOUT are the
 * names of SBCL's internals and of abilities that the backend must not use. */
export function tryImage(config: Config, without: readonly string[]): Promise<Trial> {
  return withTemporaryFolder(async (folder) => {
    const file = join(folder, 'doctor.lisp');
    writeFileSync(file, FILE);
    // A backend that lacks WITHOUT is compiled into a cache of its own, not into the user's.
    const own = without.length === 0 ? {} : { cache: join(folder, 'cache') };
    const { image, executor } = assemble({ ...trialConfig(config, folder), ...own }, { without });
    try {
      const began = performance.now();
      const greeting = await image.greeting();
      const started = `${STARTS}, here in ${Math.round(performance.now() - began)} ms`;
      const results: StepResult[] = [{ name: 'start', shows: started }];
      for (const { name, shows, calls } of STEPS) {
        const failure = await firstFailure(executor, calls(file));
        const lost = failure !== undefined && (await image.status()).state !== 'ready';
        results.push({ name, shows, ...(failure !== undefined && { failure }), ...(lost && { lost }) });
        if (lost) break;
      }
      return { results, greeting };
    } catch (error) {
      return {
        results: [
          {
            name: 'start',
            shows: STARTS,
            // Drop the advice to run the doctor, because this is the doctor.
            failure: messageOf(error).replace(RUN_DOCTOR, '').trimEnd(),
            lost: true,
          },
        ],
      };
    } finally {
      image.close();
    }
  });
}

/** Returns CONFIG for a trial: with records in FOLDER, and without --init files, libraries and standing approvals. */
function trialConfig(config: Config, folder: string): Config {
  return {
    ...config,
    ...inState(folder, { auditNamed: false, audit: '' }),
    readRoots: [...config.readRoots, folder],
    image: 'own',
    evalTimeoutMs: 30_000,
    init: undefined,
    libraries: 'none',
    replay: false,
    history: false,
    // No step can ask a human, so steps call only tools that need no approval under this policy.
    ask: 'dangerous',
    allow: [],
  };
}

/** Makes CALLS one after the other. Returns the first answer, with its notices, that does not match its pattern.
 * Returns undefined if all match. */
async function firstFailure(executor: Executor, calls: readonly Call[]): Promise<string | undefined> {
  for (const { tool, args, answer } of calls) {
    const outcome = await executor.execute(tool, args, { canAsk: false });
    const text = outcome.success ? outcome.text : outcome.error;
    if (!answer.test(text)) return [text, ...outcome.notices].join('\n');
  }
  return undefined;
}
