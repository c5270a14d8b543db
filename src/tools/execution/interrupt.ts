// Defines the tool interrupt, which ends calls that run or wait in the image.

import { CallError } from '../../errors.ts';
import type { Image } from '../../image/image.ts';
import type { Job, JobEnd, Jobs } from '../../image/session/jobs.ts';
import { TIMES } from '../../image/wire/times.ts';
import { joinSections } from '../../kernel/reply.ts';
import { type ArgumentsFor, defineTool, type Result, type ToolDescription } from '../../kernel/tool.ts';
import { endingText, outputSection, secondsText } from '../endings.ts';
import type { Places } from '../places.ts';
import { choicesText, toolOf } from './call-names.ts';

const INTERRUPT = {
  name: 'interrupt',
  description:
    'Stop (abort, ctrl-c) a running evaluation or other call that hangs or takes too long, such as an endless loop, and keep the image. For a broken image use restart_image. Shows where the call was; the call itself gets an error.',
  parameters: [
    {
      name: 'job',
      type: 'integer',
      description: 'Its number in image_status',
      minimum: 1,
      isOfImage: 'call',
    },
    { name: 'all', type: 'boolean' },
  ],
  safetyLevel: 'cautious',
  // Not destructive, because an interrupted call keeps its effects. Not idempotent, because a second call of this tool
  // can end another call.
  effects: { destructive: false, openWorld: false },
  categories: ['execution'],
  shortDescription: 'Interrupt a call that runs too long, and keep the image',
  complexity: 'simple',
  keywords: [
    'abort a call',
    'ctrl-c',
    'it hangs',
    'abort',
    'cancel a call',
    'interrupt',
    'stop a running evaluation',
    'stop an endless loop',
  ],
} as const satisfies ToolDescription;

/** Returns the tool that interrupts calls in IMAGE. PLACES finds the source places of their frames. */
export function interruptTool(image: Image, places: Places) {
  return defineTool({ ...INTERRUPT, handler: (args, { page }) => interruptJobs(image, args, places, page) });
}

/** Milliseconds to wait for the end of an interrupted call. A call usually ends within 3 s, even when its code resists.
 * Garbage collection, or other processes on the CPU, can delay the end by TIMES.collecting. */
const END_TIMEOUT_MS = 3000 + TIMES.collecting;

/** Interrupts the jobs that ARGS choose, and waits for their ends. BY_USER is true when the human does this on the
 * session's page. */
async function interruptJobs(
  { jobs, isAttached }: Image,
  args: ArgumentsFor<typeof INTERRUPT>,
  places: Places,
  byUser: boolean | undefined,
): Promise<Result> {
  const chosen = chooseJobs(jobs, args);
  const ends = chosen.map((job) => {
    job.interrupt('interrupt', byUser);
    return endOf(job, places, isAttached);
  });
  const ended = await Promise.all(ends);
  const text = joinSections(ended.map((end) => end.text));
  return { data: ended.map(({ data }) => data), text, failed: ended.some(({ data }) => !data.ended) };
}

function chooseJobs(jobs: Jobs, args: ArgumentsFor<typeof INTERRUPT>): Job[] {
  const { job: number, all = false } = args;
  const own = ownJobs(jobs);
  // Code of a call can call tools. Inner calls end with their outer call, so only outer calls can be chosen, and inner
  // calls of the call that interrupts.
  const others = jobs.listAll().filter((job) => !own.includes(job));
  const choices = others.filter(({ parent }) => parent === undefined || own.includes(parent));
  if (number !== undefined && all) throw new CallError('Give job or all, not both.');
  if (number !== undefined) return [jobNumbered(jobs, number, own, choices)];
  if (choices.length === 0) {
    const what =
      own.length > 0 ? 'The only running call is the one that called interrupt' : 'No call runs in the image';
    throw new CallError(`${what}, so there is nothing to interrupt.`);
  }
  if (choices.length > 1 && !all) {
    throw new CallError(
      `${choices.length} calls run or wait: ${choicesText(choices)}. Give the number of one as 'job', or all: true.`,
    );
  }
  return choices;
}

function jobNumbered(jobs: Jobs, number: number, own: Job[], choices: Job[]): Job {
  const job = jobs.listAll().find((candidate) => candidate.number === number);
  if (job !== undefined && own.includes(job)) {
    throw new CallError(
      `Call ${number} cannot interrupt itself: its own code calls interrupt. To end it, call (abort) or return from its code.`,
    );
  }
  if (job !== undefined) return job;
  const gone = jobs.hasExisted(number) ? `Call ${number} has ended already` : `There is no call ${number}`;
  throw new CallError(
    choices.length === 0
      ? `${gone}, and no other call runs or waits; nothing was interrupted.`
      : `${gone}; nothing was interrupted. Other calls: ${choicesText(choices)}.`,
  );
}

/** Returns the job whose code called this tool, then the job whose code called that job, and so on. */
function ownJobs(jobs: Jobs): Job[] {
  const own: Job[] = [];
  for (let job = jobs.caller(); job !== undefined; job = job.parent) own.push(job);
  return own;
}

/** Waits until JOB, which was interrupted, has ended. Returns a text that says how it ended. IS_ATTACHED is true when
 * somebody else runs the image. */
async function endOf(
  job: Job,
  places: Places,
  isAttached: boolean,
): Promise<{ data: { ended: boolean }; text: string }> {
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), END_TIMEOUT_MS);
  });
  const end = await Promise.race([job.ended, timedOut]).finally(() => clearTimeout(timer));
  const { number, subject } = job;
  const name = `${number} (${toolOf(job)}${subject && ` ${subject}`})`;
  const data = { job: number, tool: toolOf(job), ended: end !== undefined, ...end };
  return {
    data,
    text: joinSections([
      end === undefined ? stuckText(name, isAttached) : headline(name, end, places),
      end && outputSection(end.output),
    ]),
  };
}

function stuckText(name: string, isAttached: boolean): string {
  const next = isAttached
    ? 'live-lisp does not end an image that the user runs. If this lasts, ask the user to check the image.'
    : 'If this lasts, live-lisp replaces the image; see image_status.';
  return `Call ${name} has not ended within ${secondsText(END_TIMEOUT_MS)}: the image does not react. ${next}`;
}

function headline(name: string, { ending }: JobEnd, places: Places): string {
  if (ending.kind === 'interrupted' || ending.kind === 'lost')
    return `Call ${name}: ${endingText(ending, places)}`;
  return `Call ${name} had ended by itself before it could be interrupted.`;
}
