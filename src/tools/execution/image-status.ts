// The tool image_status, and the data of its answer.

import type { Image, RestartableImage } from '../../image/image.ts';
import type { Jobs } from '../../image/session/jobs.ts';
import { outputSoFar } from '../../image/session/progress.ts';
import type { ImageStatus, JobStatus } from '../../image/session/status.ts';
import type { OthersJob } from '../../image/wire/operations.ts';
import { type Served, servedName, servedSince } from '../../image/wire/served.ts';
import { defineTool, type ToolDescription } from '../../kernel/tool.ts';
import { lackingPhrases } from '../lacking-text.ts';
import { lossText } from '../loss-text.ts';
import { toolOf } from './call-names.ts';
import { type StatusFacts, statusText } from './image-status-text.ts';

const IMAGE_STATUS = {
  name: 'image_status',
  description:
    'Show whether the SBCL process still answers and what it is doing: calls running or waiting, how long, with output and top frames, threads, heap memory, garbage collection. Use it when something hangs; interrupt ends a call.',
  parameters: [],
  categories: ['execution'],
  shortDescription: 'Tell what the image does now: calls that run, where they are, memory, threads',
  complexity: 'simple',
  keywords: [
    'where is it stuck',
    'alive',
    'image status',
    'how much heap is left',
    'how long has it been going',
    'which function is it inside',
    'what is it doing now',
    'still no output',
  ],
} as const satisfies ToolDescription;

/** Returns the tool for IMAGE. REPLACEABLE is the same image if this server started it, else undefined. The tool then
 * also shows the report about the last loss of the image. CONFINEMENT returns a sentence that says how code in the
 * image is confined. */
export function imageStatusTool(
  image: Image,
  replaceable: RestartableImage | undefined,
  confinement?: () => string,
) {
  return defineTool({
    ...IMAGE_STATUS,
    images: 'all',
    handler: async (_, { earlierAnswers, page }) => {
      const status = await image.status();
      // An image that is silent would not answer.
      const outputs = page && status.silentMs === undefined ? await outputsOf(image.jobs) : undefined;
      const report = replaceable?.lastLoss;
      const facts = {
        status,
        // The image need not be new any more.
        lastLoss: report && lossText(report).replace(/^This is a new Lisp image; the/, 'The'),
        confinement: status.attached ? whoseText(status) : confinement?.(),
      };
      return { data: statusData(facts, outputs), text: statusText(facts, earlierAnswers) };
    },
  });
}

/** For the human on the page: the output of each call so far, by the number of the call. The text for a model has only
 * the last lines. */
type Outputs = ReadonlyMap<number, string | undefined>;

async function outputsOf(jobs: Jobs): Promise<Outputs> {
  const all = jobs.listAll().map(async (job) => [job.number, await outputSoFar(job)] as const);
  return new Map(await Promise.all(all));
}

function whoseText({ served }: ImageStatus): string {
  const which =
    served === undefined
      ? 'The image was not found yet; the user runs it, and'
      : `The image is ${servedName(served)}, run by the user${routeText(served)}. It has served ${served.workspace} since ${servedSince(served)};`;
  return `${which} live-lisp neither restarts nor ends it. Code in it runs in no sandbox, so it can do all that the user can.`;
}

function routeText({ through }: Served): string {
  return through === undefined ? '' : `, found through ${through}`;
}

const seconds = (milliseconds: number) => Math.round(milliseconds / 100) / 10;

/** Returns the data of the answer, with sizes in octets and times in seconds. Unknown values are absent, but
 * `collecting` of a call is 0 then. */
function statusData({ status, lastLoss, confinement }: StatusFacts, outputs: Outputs | undefined): object {
  const { backend } = status;
  const { state, outside, why, building, silentMs, backendMsAgo, serverRss } = status;
  const data = {
    state,
    pid: outside?.pid,
    // The first is for the server's own image, the second for an attached one.
    stopped: outside?.stopped ?? status.stopped,
    starved: outside?.starved,
    why,
    building,
    corrupted: status.corrupted,
    less: status.lacking && lackingPhrases(status.lacking),
    plainBecause: status.plainBecause,
    probe: status.probe && { works: status.probe.works, ago: seconds(status.probe.msAgo) },
    lastLoss,
    served: status.served && {
      name: status.served.name,
      pid: status.served.pid,
      workspace: status.served.workspace,
      lisp: status.served.lisp,
      started: status.served.started,
      through: status.served.through,
    },
    uptime: outside && seconds(outside.uptimeMs),
    silent: silentMs && seconds(silentMs),
    version: backend?.version,
    package: backend?.package,
    memory: {
      heapUsed: backend?.heapUsed,
      heapSize: backend?.heapSize,
      // Seconds that garbage collections took.
      collecting: backend && backend.collectedMilliseconds / 1000,
      imageRss: outside?.residentOctets,
      serverRss,
    },
    threads: backend && {
      count: backend.threads,
      program: backend.programThreads,
      names: backend.threadNames ?? [],
    },
    libraries: backend?.libraries,
    reportedAgo: backendMsAgo && seconds(backendMsAgo),
    jobs: status.jobs.map((job) => jobData(job, outputs)),
    beside: status.beside?.map((job) => jobData(job, outputs)),
    others: backend?.others?.map(otherData),
    confinement,
  };
  // This removes the members that are undefined.
  return JSON.parse(JSON.stringify(data)) as object;
}

function jobData(job: JobStatus, outputs: Outputs | undefined): object {
  const { number, subject, phase, ahead, parent, stopping, characters, lastLine, file, frames } = job;
  return {
    job: number,
    tool: toolOf(job),
    about: subject,
    state: phase,
    seconds: seconds(job.milliseconds),
    ahead,
    calledBy: parent,
    ending: stopping?.reason,
    endingFor: stopping && seconds(stopping.milliseconds),
    characters,
    lastLine,
    output: outputs?.get(number),
    file,
    collecting: (job.collectedMilliseconds ?? 0) / 1000,
    frames,
  };
}

function otherData(job: OthersJob): object {
  const { server, milliseconds, characters, lastLine, file, frames } = job;
  return { tool: toolOf(job), server, seconds: seconds(milliseconds), characters, lastLine, file, frames };
}
