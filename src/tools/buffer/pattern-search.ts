// Searches texts for a pattern in a worker thread, so that a slow pattern cannot block the server.

import { Worker } from 'node:worker_threads';
import { CallError, messageOf } from '../../errors.ts';
import { remainingTime } from '../../files/budget.ts';

/** Maximum CPU time, in milliseconds, of the search of one text. */
const MATCH_MS = 3000;

/** The code of the worker thread. Matching a JavaScript regular expression may never end, so it happens in a thread
 * that can be terminated. The code is a string, because a thread cannot run a part of a bundled file. */
const THREAD = `
const { parentPort, workerData } = require('node:worker_threads');
const pattern = new RegExp(workerData.source, workerData.flags);
parentPort.on('message', ({ text, skip, limit }) => {
  let count = 0;
  const found = [];
  for (const match of text.matchAll(pattern)) {
    if (count >= skip && found.length < limit) found.push([match.index, match.index + match[0].length]);
    count += 1;
  }
  parentPort.postMessage({ count, found });
});`;

export interface Matches {
  count: number;
  found: [start: number, end: number][];
}

/** Maximum number of characters of a pattern. A longer one would be slow to compile, and the answer repeats the
 * pattern. */
const PATTERN_LIMIT = 10_000;

/** Returns the regular expression for PATTERN. Throws a CallError when PATTERN is empty, too long or
 * invalid. */
export function searchPattern(pattern: string, regex: boolean): RegExp {
  if (pattern === '') throw new CallError("Parameter 'pattern' must not be empty.");
  if (pattern.length > PATTERN_LIMIT) {
    throw new CallError(
      `Parameter 'pattern' can have at most ${PATTERN_LIMIT} characters. Give the beginning of the text.`,
    );
  }
  // The searched texts have only LF as line ends.
  const normalized = pattern.replaceAll('\r\n', '\n');
  const source = regex ? normalized : normalized.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  try {
    return new RegExp(source, 'gimu');
  } catch {
    // Many patterns contain escapes that the flag u forbids, such as \- and \". They are tried without it.
  }
  try {
    return new RegExp(source, 'gim');
  } catch (error) {
    const reason = messageOf(error).replace(/^.*: /s, '');
    throw new CallError(
      `The regular expression cannot be read: ${reason.toLowerCase()}. Its syntax is JavaScript's; without regex: true the pattern is plain text.`,
    );
  }
}

/** Searches texts for one pattern in a worker thread. `stop` ends the thread. */
export class Searcher {
  readonly #pattern: RegExp;
  #thread: Worker | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #matchMs: number;

  constructor(pattern: RegExp, signal?: AbortSignal, matchMs: number = MATCH_MS) {
    this.#pattern = pattern;
    this.#matchMs = matchMs;
    this.#signal = signal;
  }

  #start(): Worker {
    const { source, flags } = this.#pattern;
    const thread = new Worker(THREAD, { eval: true, workerData: { source, flags } });
    // The thread can fail while no search is running. Without this listener, the error would end the server.
    return thread.on('error', () => {});
  }

  /** Returns the number of matches in TEXT, and the index ranges of at most LIMIT matches after the first SKIP ones.
   * Throws a CallError when the search takes too much time or stack, or is cancelled. */
  search(text: string, skip: number, limit: number): Promise<Matches> {
    const thread = this.#thread ?? this.#start();
    this.#thread = thread;
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void) => {
        clearTimeout(timer);
        this.#signal?.removeEventListener('abort', onExpired);
        thread.off('message', onAnswer).off('error', onError);
        settle();
      };
      const fail = (error: CallError) => {
        this.#thread = undefined;
        void thread.terminate();
        finish(() => reject(error));
      };
      const onExpired = () => fail(timeoutError(this.#matchMs));
      const onAnswer = (matches: Matches) => finish(() => resolve(matches));
      const onError = (error: unknown) => fail(searchError(error));
      const remainingMs = remainingTime(this.#matchMs);
      const onTime = () => {
        if (remainingMs() <= 0) onExpired();
        else timer = setTimeout(onTime, Math.max(remainingMs(), 10));
      };
      let timer = setTimeout(onTime, this.#matchMs);
      this.#signal?.addEventListener('abort', onExpired);
      thread.on('message', onAnswer).on('error', onError);
      thread.postMessage({ text, skip, limit });
    });
  }

  get ended(): boolean {
    return this.#signal?.aborted === true;
  }

  async stop(): Promise<void> {
    await this.#thread?.terminate();
  }
}

function searchError(error: unknown): CallError {
  if (!(error instanceof RangeError)) return new CallError(`The search failed: ${messageOf(error)}.`);
  return new CallError(
    'The search was stopped: the pattern takes too much stack for this text. Repeated groups that match long text, such as (a|b)*, cause this; use a character class such as [ab]*, or a simpler pattern.',
  );
}

function timeoutError(matchMs: number): CallError {
  return new CallError(
    `The search was stopped: the pattern took longer than ${matchMs / 1000} s. Repetitions within repetitions, such as (a+)+, cause this; use a simpler pattern.`,
  );
}
