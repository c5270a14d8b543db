// What is known of calls under way, when they are told how they do, and since when an image is silent.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type JobEnd, Jobs } from '../../src/image/session/jobs.ts';
import { reportProgress } from '../../src/image/session/progress.ts';
import type { Progress } from '../../src/image/wire/call.ts';
import type { Peer } from '../../src/image/wire/peer.ts';
import { Pulse } from '../../src/image/wire/pulse.ts';
import { endingText } from '../../src/tools/endings.ts';
import { LongCalls } from '../../src/tools/execution/long-calls.ts';
import { progressText } from '../../src/tools/progress-text.ts';

beforeEach(() => {
  // A round of IO is none of the time that tests let pass.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const DONE: JobEnd = { ending: { kind: 'done' } };

/** A peer that answers no request before it is told to. */
function silentPeer() {
  const asked: { op: string; answer: (value: object) => void }[] = [];
  const request = (op: string) => {
    const answer = new Promise((resolve) => {
      asked.push({ op, answer: (value) => resolve({ ending: DONE.ending, data: { value } }) });
    });
    return { id: asked.length, answer };
  };
  return { asked, peer: { request } as unknown as Peer };
}

test('a job is about the first line of its code, bounded, or its file, or nothing', () => {
  const jobs = new Jobs();
  const subjectOf = (args: object) => jobs.begin('evaluate', args).subject;
  expect(subjectOf({ code: '\n  (f)\n(g)' })).toBe('(f)');
  expect(subjectOf({ code: 'x'.repeat(101), file: '/f' })).toBe(`${'x'.repeat(100)}...`);
  expect(subjectOf({ file: '/a/b.lisp', fasl: '/c' })).toBe('/a/b.lisp');
  expect(subjectOf({ index: 0 })).toBe('');
});

test('jobs are numbered on, and gone once they have ended', async () => {
  const jobs = new Jobs();
  const [one, two] = [jobs.begin('evaluate', {}), jobs.begin('describe', {})];
  expect(jobs.list()).toEqual([one, two]);
  jobs.end(one, DONE);
  expect(await one.ended).toBe(DONE);
  expect(jobs.list()).toEqual([two]);
  expect(jobs.begin('evaluate', {}).number).toBe(3);
  expect([0, 1, 3, 4].map((number) => jobs.hasExisted(number))).toEqual([false, true, true, false]);
});

test('a call that has run for 10 s is mentioned, once', () => {
  const jobs = new Jobs();
  jobs.begin('evaluate', { code: '(f)' });
  const long = new LongCalls({ jobs });
  vi.advanceTimersByTime(9999);
  expect(long.takeNotes()).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(long.takeNotes()).toEqual([
    'Note: still running: call 1 (eval_form (f), 10.0 s). Use interrupt to end a call that nobody waits for.',
  ]);
  expect(long.takeNotes()).toEqual([]);
});

test('a job ends for the reason that came first', () => {
  const jobs = new Jobs();
  const client = new AbortController();
  const job = jobs.begin('evaluate', {});
  job.follow(client.signal);
  job.interrupt('interrupt');
  client.abort('ending');
  expect([job.signal.aborted, job.reason]).toEqual([true, 'interrupt']);
  const other = new AbortController();
  const cancelled = jobs.begin('evaluate', {});
  cancelled.follow(other.signal);
  other.abort('interrupt'); // What a client says is no reason of ours.
  expect(cancelled.reason).toBe('cancelled');
});

test('when the server ends, all are ended, and not waited for longer than that', async () => {
  const jobs = new Jobs();
  const job = jobs.begin('evaluate', {});
  const over = vi.fn();
  void jobs.endAll(150).then(over);
  expect(job.reason).toBe('ending');
  await vi.advanceTimersByTimeAsync(149);
  expect(over).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(over).toHaveBeenCalled();
  await new Jobs().endAll(1e6);
});

test('progress is told each second, in each phase, until the end', async () => {
  const jobs = new Jobs();
  const reported: Progress[] = [];
  const job = jobs.begin('evaluate', {});
  const stopReporting = reportProgress(job, (progress) => reported.push(progress));
  const next = async () => {
    await vi.advanceTimersByTimeAsync(1000);
    return reported.splice(0);
  };
  job.phase = { kind: 'queued', ahead: () => ({ running: 8, waiting: 2 }) };
  expect(await next()).toEqual([{ milliseconds: 1000, waiting: { running: 8, waiting: 2 } }]);
  job.phase = { kind: 'starting' };
  expect(await next()).toEqual([{ milliseconds: 2000, waiting: 'start' }]);
  const { asked, peer } = silentPeer();
  job.phase = { kind: 'running', peer, id: 7 };
  expect(await next()).toEqual([]);
  expect(await next()).toEqual([{ milliseconds: 4000, silentMs: 1000 }]);
  expect(asked).toHaveLength(1);
  asked[0]?.answer({ characters: 3 });
  await vi.advanceTimersByTimeAsync(0);
  expect(reported.splice(0)).toEqual([{ milliseconds: 4000, characters: 3 }]);
  await next();
  stopReporting();
  asked[1]?.answer({ characters: 4 });
  expect(await next()).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});

test.each([5, [], { lastLine: { a: 1 }, file: ['/f'], collectedMilliseconds: 'long' }])(
  'what a program says of progress in the place of the backend, such as %j, is not told',
  async (said) => {
    const texts: string[] = [];
    const job = new Jobs().begin('evaluate', {});
    const stopReporting = reportProgress(job, (progress) => texts.push(progressText(progress)));
    const { asked, peer } = silentPeer();
    job.phase = { kind: 'running', peer, id: 7 };
    for (const answer of [{ characters: 3 }, { ...Object(said), characters: 4 }, said]) {
      await vi.advanceTimersByTimeAsync(1000);
      asked.at(-1)?.answer(answer);
      await vi.advanceTimersByTimeAsync(0);
    }
    stopReporting();
    expect(texts.slice(0, 2)).toEqual(['1.0 s, 3 characters of output', '2.0 s, 4 characters of output']);
    expect(texts[2]).toMatch(/^3\.0 s(?:, 4 characters of output)?$/);
  },
);

test('a silent image is asked each question once, and it is known since when it is silent', async () => {
  const { asked, peer } = silentPeer();
  const pulse = new Pulse(peer);
  void pulse.ping();
  void pulse.ping();
  await vi.advanceTimersByTimeAsync(500);
  const first = pulse.status(70);
  await vi.advanceTimersByTimeAsync(70);
  expect(await first).toEqual({ silentMs: 570 });
  const second = pulse.status(70);
  expect(asked.map(({ op }) => op)).toEqual(['ping', 'status']);
  asked[1]?.answer({ version: '2' });
  expect(await second).toEqual({
    lastStatus: { status: { version: '2' }, at: performance.now() },
    silentMs: 0,
  });
});

test.each([
  [
    { milliseconds: 1000, waiting: { running: 1, waiting: 2 } },
    '1.0 s, waiting behind 1 call that runs and 2 that wait',
  ],
  [
    { milliseconds: 0, characters: 1, lastLine: 'a\u001b[31m' },
    '0.0 s, 1 character of output, last line: a [31m',
  ],
  [{ milliseconds: 9000, collectedMilliseconds: 49 }, '9.0 s'],
  [
    { milliseconds: 9000, silentMs: 2000, collectedMilliseconds: 50, file: '/f.lisp', characters: 2 },
    '9.0 s, 0.1 s of it collecting garbage, the image has not responded for 2.0 s; it may be collecting garbage, /f.lisp, 2 characters of output',
  ],
] satisfies [Progress, string][])('%j reads %s', (progress, text) => {
  expect(progressText(progress)).toBe(text);
});

test.each([
  [
    { reason: 'interrupt', notBegun: true, byUser: true },
    'Ended by the user on the page after a wait of 9.0 s; the call had not begun, so nothing was done.',
  ],
  [
    { reason: 'interrupt', byUser: true },
    'Interrupted after 9.0 s by the user on the page; the image and what was done so far are kept.',
  ],
  [
    { reason: 'ending', notBegun: true },
    'Ended because the server is ending after a wait of 9.0 s; the call had not begun, so nothing was done.',
  ],
  [
    { reason: 'cancelled', notBegun: true },
    'Ended because the client cancelled it after a wait of 9.0 s; the call had not begun, so nothing was done.',
  ],
  [
    { reason: 'timeout', collectedMilliseconds: 1900 },
    'Interrupted after 9.0 s, past the limit of this call; the image and what was done so far are kept. Collecting garbage took 1.9 s of that.',
  ],
  [
    { reason: 'interrupt', collectedMilliseconds: 1700, cutShort: true },
    'Interrupted after 9.0 s by the tool interrupt; the image and what was done so far are kept. Its cleanup forms did not end in time and were cut short.',
  ],
] as const)('an interruption %j reads %s', (how, text) => {
  expect(endingText({ kind: 'interrupted', frames: [], afterMs: 9000, ...how })).toBe(text);
});
