// Performs a call in a peer: sends the request, ends it at its time limit, and has the answer recorded.

import type { CallOptions, Reply } from '../wire/call.ts';
import { type Endable, enforceLimit } from '../wire/ending-steps.ts';
import { endingAfter } from '../wire/endings.ts';
import type { Answer } from '../wire/messages.ts';
import type { Operations, Reason } from '../wire/operations.ts';
import { codeCaller } from '../wire/origin.ts';
import type { Peer } from '../wire/peer.ts';
import type { Times } from '../wire/times.ts';
import type { Job } from './jobs.ts';
import type { CallNotice } from './notices.ts';

export type OperationName = keyof Operations;

/** A call of the operation `name` with `args`, which the server tracks as `job`. */
export interface PendingCall<Name extends OperationName> {
  readonly job: Job;
  readonly name: Name;
  readonly args: Operations[Name]['args'];
  readonly options: CallOptions;
}

type AnswerRecorder = (id: number, answer: Answer) => void;

/** The functions and facts about an image that a request needs. */
export interface RequestHost {
  /** Maximum number of milliseconds that a call may take. */
  readonly limitMs: number;
  /** True when somebody else runs the image. */
  readonly attached?: boolean;
  /** True for a fresh image, which was made for one call and ends with it. */
  readonly fresh?: boolean;
  /** Returns the process id of the image if a signal has stopped its process, else undefined. Absent for an image of
   * the server, which is replaced when it does not react. */
  stoppedPid?(): number | undefined;
  /** Prepares to record the operation `name` with `args`, before `peer` performs it. Resolves with a function that
   * records the answer. The caller also calls this function when the operation stops at a held error, and when the
   * image is lost. Returns undefined when there is nothing to record. */
  answerRecorder(peer: Peer, name: OperationName, args: object): Promise<AnswerRecorder> | undefined;
  notify(notice: CallNotice): void;
}

/** Operations on whole files or test suites. They have the time limit of a load. */
const LONG_OPERATIONS: ReadonlySet<OperationName> = new Set<OperationName>([
  ...(['load-file', 'load-files', 'load-forms', 'load-order', 'load-source', 'load-system'] as const),
  ...(['check-file', 'check-text', 'test-plan', 'test-run'] as const),
]);

/** Performs CALL in PEER. Ends it at its time limit, or when its job is aborted. */
export async function perform<Name extends OperationName>(
  peer: Peer,
  call: PendingCall<Name>,
  host: RequestHost,
  times: Times,
): Promise<Reply<Name>> {
  const { job, name, args, options } = call;
  const startedAt = performance.now();
  const record = await answerRecorder(peer, call, host);
  const { id, answer } = peer.request(name, args, options.onOutput !== undefined);
  job.phase = { kind: 'running', peer, id };
  const limitMs = options.limitMs ?? (LONG_OPERATIONS.has(name) ? times.load : host.limitMs);
  const { stop, abandoned } = limitRequest({ peer, id, job, limitMs }, host, times);
  // Without `abandoned`, wait for ANSWER alone, because Promise.race settles some microtasks later. If the server's own
  // image ends, the server handles the loss in the microtasks right after ANSWER, and must have recorded ANSWER by
  // then.
  const received = await (abandoned ? Promise.race([answer, abandoned]) : answer);
  stop();
  notifyNews(received, host);
  // A signal has stopped the image, so the server waits no longer. The image answers when SIGCONT lets it go on.
  if (isAbandoned(received)) void answer.then((late) => notifyNews(late, host));
  const { output, data } = received;
  const afterMs = performance.now() - startedAt;
  const ending = endingAfter(received.ending, afterMs, host, job.endedByUser);
  if (isCancelled(options)) host.notify({ kind: 'cancelled', ending, afterMs, output });
  record(id, received);
  return { ending, ...(output && { output }), data };
}

/** Returns a function that records the answer to a call of the operation `name` with `args`. If this call continues an
 * earlier one, and the answer also ends the earlier call, it is recorded as the answer to the earlier call only. */
async function answerRecorder(
  peer: Peer,
  { name, args, options: { continues } }: PendingCall<OperationName>,
  host: RequestHost,
): Promise<AnswerRecorder> {
  const recordCall = await host.answerRecorder(peer, name, args);
  if (continues === undefined) return (id, answer) => recordCall?.(id, answer);
  const recordEarlier = await host.answerRecorder(peer, continues.name, continues.args);
  return (id, answer) => {
    const endsEarlier = !continues.ifLeft || 'left' in answer.data;
    (endsEarlier ? recordEarlier : recordCall)?.(id, answer);
  };
}

/** Returns true when the client has cancelled the call with OPTIONS, so that only a notice can report how the call
 * ended. */
function isCancelled({ signal, ofCommand }: CallOptions): boolean {
  return signal?.aborted === true && !ofCommand && codeCaller() === undefined;
}

/** Reports the parts of an answer that are not about its call: the output of other threads, and changes. */
function notifyNews({ background, changes }: Answer, host: RequestHost): void {
  if (background) host.notify({ kind: 'background', output: background });
  if (changes) host.notify({ kind: 'changes', changes });
}

/** The result for a request that an image did not answer because a signal has stopped its process. */
type Abandoned = Omit<Answer, 'data'> & { data: Record<string, never> };

function isAbandoned({ ending }: Answer): boolean {
  return ending.kind === 'interrupted' && ending.stoppedPid !== undefined;
}

/** Ends the request ID of PEER when JOB is aborted or takes longer than LIMIT_MS. The returned `stop` cancels this.
 * `abandoned` resolves when the request must end, but a signal such as SIGSTOP has stopped the process of the image. It
 * is undefined for an image that the server started, because the server replaces such an image. */
function limitRequest(
  { peer, id, job, limitMs }: { peer: Peer; id: number; job: Job; limitMs: number },
  host: RequestHost,
  times: Times,
): { stop: () => void; abandoned?: Promise<Abandoned> } {
  const endable = peer.job(id);
  const interrupt = (reason: Reason) => {
    job.stopping ??= { reason, at: performance.now() };
    endable.interrupt(reason);
  };
  const limit = (means: Endable) => enforceLimit({ ...means, interrupt }, limitMs, job.signal, times);
  if (host.stoppedPid === undefined) return { stop: limit(endable) };
  let stop = () => {};
  const abandoned = new Promise<Abandoned>((resolve) => {
    const abandon = () => {
      const stoppedPid = host.stoppedPid?.();
      if (stoppedPid === undefined) return false;
      const reason = job.stopping?.reason ?? 'timeout';
      resolve({ ending: { kind: 'interrupted', reason, frames: [], stoppedPid }, data: {} });
      return true;
    };
    stop = limit({ ...endable, abandon });
  });
  return { stop, abandoned };
}
