// Renders the answer of the tool image_status.

import type { ImageStatus, JobStatus } from '../../image/session/status.ts';
import type { BackendJob, OthersJob } from '../../image/wire/operations.ts';
import { SILENT_BEATS, TIMES } from '../../image/wire/times.ts';
import type { EarlierAnswers } from '../../kernel/earlier-answers.ts';
import { cutText, joinSections } from '../../kernel/reply.ts';
import { printable } from '../../kernel/schema.ts';
import { secondsText } from '../endings.ts';
import { lackingLine } from '../lacking-text.ts';
import { plainText } from '../notice-text.ts';
import { collectedText, outputTexts } from '../progress-text.ts';
import { reasonText, toolOf } from './call-names.ts';

/** Number of seconds within which live-lisp continues an image that a signal has stopped. While calls wait, it sends
 * SIGCONT to the image every TIMES.beat milliseconds. */
const CONTINUED_S = (2 * TIMES.beat) / 1000;
/** Number of seconds after which an image that stands still is replaced: SILENT_BEATS intervals without an answer to a
 * ping, and up to one interval before this ping was sent. */
const STANDSTILL_S = ((SILENT_BEATS + 1) * TIMES.beat) / 1000;

/** The data from which the answer of image_status is made. */
export interface StatusFacts {
  status: ImageStatus;
  /** The report about the last loss; undefined when no image was lost. */
  lastLoss: string | undefined;
  /** Sentences that say what code in the image can do; undefined when the server does not know this. */
  confinement: string | undefined;
}

/** Returns the text of the answer. Leaves out explanations that an earlier answer to the same client (EARLIER_ANSWERS)
 * had already. */
export function statusText(
  { status, lastLoss, confinement }: StatusFacts,
  earlierAnswers: EarlierAnswers | undefined,
): string {
  const { jobs, beside = [] } = status;
  const others = status.backend?.others ?? [];
  return joinSections([
    [
      headline(status),
      imageLine(status),
      memoryLine(status),
      threadsLine(status),
      librariesLine(status, earlierAnswers),
      probeLine(status),
      corruptedLine(status),
      missingAbilitiesLine(status),
      confinement && confinementLine(confinement, earlierAnswers),
    ]
      .filter(Boolean)
      .join('\n'),
    jobs.length > 0 && `Calls:\n${callsText(jobs)}`,
    beside.length > 0 && `Calls in fresh images:\n${callsText(beside)}`,
    jobs.length + beside.length > 0 &&
      'interrupt with the number of a call (job) ends it and keeps the image.',
    others.length > 0 &&
      `Calls of other servers of this image (only those can end them):\n${fewRows(others.map(otherText))}`,
    lastLoss !== undefined && `Last loss: ${lastLoss}`,
  ]);
}

function headline(status: ImageStatus): string {
  const { state, why, building } = status;
  const attached = status.attached && attachedHeadline(status);
  if (attached) return attached;
  switch (state) {
    case 'not started':
      return `The Lisp image is not started; the next call that needs it starts it.${why === undefined ? '' : ` The last start failed: ${why}`}`;
    case 'lost':
      return `The Lisp image was lost: ${why}. The next call that needs one gets a new one.`;
    case 'starting':
      return 'The Lisp image is starting; calls wait for it.';
    case 'rebuilding':
      return `A new Lisp image is starting; the previous one was lost: ${why}. ${building === undefined ? '' : `It is ${building}. `}Calls wait for it.`;
    case 'ready':
      return `The Lisp image is ready, and no call${status.backend?.others === undefined ? '' : ' of this server'} runs.`;
    case 'busy':
      return `The Lisp image is busy: ${countsText(status.jobs)}.`;
    case 'not reacting':
      return notReactingHeadline(status);
  }
}

function notReactingHeadline({ silentMs = 0, outside, frozenMs, elsewhere }: ImageStatus): string {
  const since = `The Lisp image has not reacted for ${secondsText(silentMs)}`;
  if (outside?.stopped)
    return `${since}: its process is stopped, for example by SIGSTOP. live-lisp resumes it within ${CONTINUED_S} s.`;
  if (elsewhere && frozenMs !== undefined)
    return `${since}: it collects garbage, code in it keeps all threads from running, or the connection to it hangs. If this lasts ${secondsText(frozenMs)}, the image is replaced.`;
  if (outside?.starved) return `${since}: other processes have the CPU.`;
  const replaced =
    frozenMs === undefined
      ? ''
      : ` If this lasts ${STANDSTILL_S} s without garbage collection, or ${secondsText(frozenMs)} in any case, the image is replaced.`;
  return `${since}: it collects garbage, or code in it keeps all threads from running.${replaced}`;
}

/** Returns the headline for an image that somebody else runs; '' when it is the same as for an image that the server
 * runs. */
function attachedHeadline({ state, why, stopped, served, silentMs = 0 }: ImageStatus): string {
  switch (state) {
    case 'not started':
      return `live-lisp is not connected to a Lisp image; the next call that needs one connects.${why === undefined ? '' : ` The last attempt failed: ${why}`}`;
    case 'lost':
      return `The connection to the Lisp image was lost: ${why}. The next call that needs the image tries to reconnect.`;
    case 'starting':
      return 'live-lisp is connecting to the Lisp image; calls wait for it.';
    case 'not reacting':
      return stopped && served
        ? `The Lisp image has not reacted for ${secondsText(silentMs)}: its process is stopped, for example by Ctrl-Z. Ask the user to resume it: kill -CONT ${served.pid}`
        : '';
    default:
      return '';
  }
}

function probeLine({ probe }: ImageStatus): string | false {
  if (probe === undefined) return false;
  const probed = `The image was probed ${secondsText(probe.msAgo)} ago`;
  return probe.works
    ? `${probed}: it works.`
    : `${probed}, because calls had failed: it did not work, and was replaced.`;
}

function corruptedLine({ corrupted }: ImageStatus): string | false {
  if (corrupted === undefined) return false;
  return `SBCL warned that its memory may be corrupted (${corrupted}); restart_image gives a new image.`;
}

function missingAbilitiesLine({ lacking, plainBecause }: ImageStatus): string | undefined {
  if (lacking === undefined) return undefined;
  return plainBecause === undefined ? lackingLine(lacking) : plainText(plainBecause, lacking);
}

function countsText(jobs: JobStatus[]): string {
  const running = jobs.filter(({ phase }) => phase === 'running').length;
  const waiting = jobs.length - running;
  const runs = running > 0 && `${running} ${running === 1 ? 'call runs' : 'calls run'}`;
  const waits = waiting > 0 && `${waiting} ${waiting === 1 ? 'waits' : 'wait'}`;
  return [runs, waits].filter(Boolean).join(', ');
}

function imageLine({ backend, outside }: ImageStatus): string | false {
  if (outside === undefined && backend === undefined) return false;
  const version = backend === undefined ? 'SBCL' : `SBCL ${backend.version}`;
  const inPackage = backend === undefined ? '' : `; current package ${backend.package}`;
  const process = outside === undefined ? '' : `, pid ${outside.pid}, up ${uptimeText(outside.uptimeMs)}`;
  return `${version}${process}${inPackage}`;
}

function uptimeText(milliseconds: number): string {
  const minutes = milliseconds / 60_000;
  if (minutes < 2) return secondsText(milliseconds);
  return minutes < 120 ? `${Math.round(minutes)} min` : `${Math.round(minutes / 60)} h`;
}

const MEGABYTE = 1024 * 1024;

function megabytes(octets: number): string {
  return `${Math.round(octets / MEGABYTE)} MB`;
}

/** If the backend's data about memory are older than this, in milliseconds, the text says how old they are. */
const STALE_MS = 500;

function memoryLine({ backend, backendMsAgo = 0, outside, serverRss }: ImageStatus): string {
  const parts = [
    backend && `heap ${megabytes(backend.heapUsed)} of ${megabytes(backend.heapSize)}`,
    backend && `garbage collections took ${secondsText(backend.collectedMilliseconds)}`,
    outside?.residentOctets !== undefined && `image ${megabytes(outside.residentOctets)} resident`,
    `server ${megabytes(serverRss)} resident`,
  ];
  const old =
    backend && backendMsAgo > STALE_MS ? ` (heap and collections ${secondsText(backendMsAgo)} ago)` : '';
  return `Memory: ${parts.filter(Boolean).join('; ')}${old}`;
}

function threadsLine({ backend }: ImageStatus): string | false {
  if (backend === undefined) return false;
  const { threads, programThreads, threadNames = [] } = backend;
  const names = threadNames.map((name) => JSON.stringify(name)).join(', ');
  const more = programThreads > threadNames.length ? ', ...' : '';
  return `Threads: ${threads}, ${programThreads === 0 ? 'none' : programThreads} of the program${names && `: ${names}${more}`}`;
}

/** Returns CONFINEMENT, a sentence. If an earlier answer had it, returns only its beginning, up to the first comma or
 * colon outside parentheses: of `Code in the image is in a sandbox: it may write ...`, returns
 * `Code in the image is in a sandbox.`. */
function confinementLine(confinement: string, earlierAnswers: EarlierAnswers | undefined): string {
  return earlierAnswers?.repeats('confinement', confinement)
    ? confinement.replace(/^((?:\([^)]*\)|[^,:])*)[,:].*/s, '$1.')
    : confinement;
}

function librariesLine(
  { backend, attached, elsewhere }: ImageStatus,
  earlierAnswers: EarlierAnswers | undefined,
): string | false {
  // In an image that somebody else runs, its user loads the libraries. In an image on another machine, its init file
  // does.
  if (backend === undefined || attached || elsewhere) return false;
  if (backend.libraries === undefined)
    return `Libraries: no manager${earlierAnswers?.repeats('managers') ? '' : ' (Quicklisp, qlot or ocicl) is set up'}`;
  const { name, file, loaded, failure } = backend.libraries;
  if (failure !== undefined) return `Libraries: ${failure}`;
  return `Libraries: ${name} (${file}), ${loaded ? 'loaded' : 'loaded when a system or a form first needs it'}`;
}

const SHOWN_CALLS = 12;
const SHOWN_FRAMES = 3;
const FRAME_LIMIT = 120;

function callsText(jobs: JobStatus[]): string {
  return fewRows(jobs.map(callText));
}

function fewRows(rows: readonly string[]): string {
  const shown = rows.slice(0, SHOWN_CALLS);
  const more = rows.length - shown.length;
  return [...shown, ...(more > 0 ? [`  ... ${more} more`] : [])].join('\n');
}

function callText(job: JobStatus): string {
  const { number, subject, phase, ahead = 0, parent, stopping } = job;
  const state = {
    running: '',
    queued: `, waits for a place${ahead === 0 ? '' : ` behind ${ahead} other ${ahead === 1 ? 'call' : 'calls'}`}`,
    starting: ', waits for the image',
  }[phase];
  const by = parent === undefined ? '' : `, called by the code of call ${parent}`;
  const ending =
    stopping &&
    `being ended ${reasonText(stopping.reason, stopping.byUser)}, for ${secondsText(stopping.milliseconds)}`;
  return callRows(
    `${number}: ${toolOf(job)}${subject && ` ${printable(subject)}`} (${secondsText(job.milliseconds)}${state}${by})`,
    [ending, ...factsOf(job)],
    job.frames,
  );
}

function otherText(job: OthersJob): string {
  const { server = 'a process whose number is not known', milliseconds } = job;
  return callRows(`${toolOf(job)} (${secondsText(milliseconds)}), by ${server}`, factsOf(job), job.frames);
}

function factsOf(job: Partial<BackendJob>): (string | false | undefined)[] {
  return [collectedText(job), job.file && `at the file ${job.file}`, ...outputTexts(job)];
}

function callRows(
  head: string,
  facts: readonly (string | false | undefined)[],
  frames: readonly string[] = [],
): string {
  const known = facts.filter(Boolean);
  return [
    `  ${head}`,
    ...(known.length > 0 ? [`     ${known.join(', ')}`] : []),
    ...frames.slice(0, SHOWN_FRAMES).map((frame) => `     in ${cutText(frame, FRAME_LIMIT)}`),
  ].join('\n');
}
