// What every image promises, whoever runs it: one suite, given a function that makes the image.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Image, ImageTools } from '../src/image/image.ts';
import type { ImageStatus } from '../src/image/session/status.ts';
import type { CallOptions, Progress } from '../src/image/wire/call.ts';
import type { Upcalls } from '../src/image/wire/upcalls.ts';
import { callFromCode } from '../src/kernel/code-call.ts';
import { Executor } from '../src/kernel/executor.ts';
import { ToolRegistry } from '../src/kernel/registry.ts';
import { defineTool } from '../src/kernel/tool.ts';
import { LispTools } from '../src/tools/lisp.ts';
import { until } from './server/processes.ts';

/** What an image needs of the server. */
export interface Connections {
  callTool: NonNullable<Upcalls['callTool']>;
  tools: ImageTools;
}

/** Milliseconds after which a call that never ends is interrupted, and which it has besides to end. */
const LIMIT_MS = 400;

/** Returns a registry with the tool double, the executor of its tools, and what the image that IMAGE gives needs. */
function server(image: () => Image) {
  const registry = new ToolRegistry();
  const executor = new Executor(registry, {});
  registry.register(
    defineTool({
      name: 'double',
      description: 'Double a number.',
      parameters: [{ name: 'number', type: 'integer', description: 'A number' }],
      required: ['number'],
      handler: async ({ number }) => ({ data: 2 * Number(number), text: 'doubled' }),
    }),
  );
  const tools = new LispTools(registry.mirror, image, () => []);
  const callTool: Connections['callTool'] = (name, args, signal, how) =>
    callFromCode(executor, registry, name, args, signal, how);
  return { registry, executor, connections: { callTool, tools } };
}

/** Tests that the image which MAKE makes is one. */
export function imageContract(make: (connections: Connections) => Promise<Image>): void {
  describe('is an image', () => promises(make));
}

/** Resolves with the status of IMAGE once its backend has answered in the short time that a status waits for that. */
function reacting(image: Image): Promise<ImageStatus> {
  return until('a status in time', 60_000, async () => {
    const status = await image.status();
    return status.state !== 'not reacting' && status.backend !== undefined && status;
  });
}

function promises(make: (connections: Connections) => Promise<Image>): void {
  let image: Image;
  const { registry, executor, connections } = server(() => image);

  beforeAll(async () => {
    image = await make(connections);
    await image.call('evaluate', { code: '(in-package :cl-user)' });
    // The first answer says which image it is, if somebody else runs that.
    image.takeNotices();
  });
  afterAll(() => image.end());

  /** Evaluates CODE. */
  const evaluate = (code: string, options: CallOptions = {}) => image.call('evaluate', { code }, options);
  const printed = async (code: string) =>
    (await evaluate(code)).data.values?.map((values) => values.map(({ text }) => text).join(' '));

  test('values of several forms are printed, and the session goes on', async () => {
    expect(await printed('(defvar *seen* 1) (values 1 "a") (incf *seen*)')).toEqual(['*SEEN*', '1 "a"', '2']);
    expect(await printed('* *seen*')).toEqual(['2', '2']);
  });

  test('a condition is an ending with its type, text and frames', async () => {
    const { ending } = await evaluate('(defun fails (x) (cerror "Go on." "No ~A." x) x) (fails 7)');
    expect(ending).toMatchObject({
      kind: 'condition',
      condition: { type: 'COMMON-LISP::SIMPLE-ERROR', text: 'No 7.' },
    });
    const { restarts = [], frames = [] } = ending.kind === 'condition' ? ending.condition : {};
    expect(restarts.map(({ name }) => name)).toContain('CONTINUE');
    expect(frames[0]).toMatchObject({ call: expect.stringContaining('FAILS 7') });
    const kept = await image.call('last-error', { index: 0 });
    expect(kept.data.value?.error).toMatchObject({ form: '(fails 7)', type: 'COMMON-LISP::SIMPLE-ERROR' });
  });

  test('text that cannot be read says where', async () => {
    const { data } = await evaluate('1\n (+ 1');
    expect(data.unreadable).toMatchObject({ number: 2, line: 2, column: 2 });
  });

  test('warnings come with what they are about', async () => {
    const { data } = await evaluate('(defun warned (x) (no-such-function))');
    expect(data.warnings?.map(({ severity }) => severity).sort()).toEqual(['style-warning', 'undefined']);
  });

  test('output is told, and bounded', async () => {
    const { output } = await evaluate('(progn (print :out) (format *error-output* "err") 1)');
    expect(output).toEqual({ text: '\n:OUT err' });
    const long = await evaluate("(dotimes (i 100000) (princ 'abcdefghij))");
    expect(long.output?.omitted).toBeGreaterThan(900_000);
  });

  test('a call is interrupted at its limit, and the image lives on', async () => {
    const { ending } = await image.call('evaluate', { code: '(loop)' }, { limitMs: LIMIT_MS });
    expect(ending).toMatchObject({ kind: 'interrupted', reason: 'timeout' });
    expect(await printed('*seen*')).toEqual(['2']);
  });

  test('a call is interrupted when its client cancels it, and its cleanup forms run', async () => {
    const client = new AbortController();
    const code = '(unwind-protect (progn (defvar *within* t) (loop)) (setf *seen* 7))';
    const reply = evaluate(code, { signal: client.signal });
    await until('its loop', 10_000, async () => (await printed("(boundp '*within*)"))?.[0] === 'T');
    client.abort();
    expect((await reply).ending).toMatchObject({ kind: 'interrupted', reason: 'cancelled' });
    expect(await printed('*seen*')).toEqual(['7']);
    expect(image.takeNotices()).toMatchObject([{ kind: 'cancelled', ending: { reason: 'cancelled' } }]);
  });

  test('progress tells what a call has written', async () => {
    const reported: Progress[] = [];
    const client = new AbortController();
    const onProgress = (progress: Progress) => {
      reported.push(progress);
      if (progress.lastLine === 'Second.') client.abort();
    };
    await evaluate('(progn (format t "First.~%Second.") (loop (sleep 0.01)))', {
      signal: client.signal,
      onProgress,
    });
    expect(reported.at(-1)).toMatchObject({ characters: 14, lastLine: 'Second.' });
    image.takeNotices();
  });

  test('symbols, callers and argument lists are looked up', async () => {
    await evaluate('(defpackage :contract (:use :cl)) (defun contract::callee (a) a)');
    await evaluate('(defun contract::caller (b) (contract::callee b))');
    const all = { package: 'contract', offset: 0, limit: 10 };
    const found = await image.call('apropos', { pattern: 'calle', ...all });
    expect(found.data.value).toMatchObject({
      total: 2,
      rows: [
        ['CONTRACT', 'CALLEE', 'FUNCTION'],
        ['CONTRACT', 'CALLER', 'FUNCTION'],
      ],
    });
    // The first makes an index of the whole image.
    const callers = await image.call('who-calls', { name: 'callee', ...all });
    expect(callers.data.value).toMatchObject({ callers: 1, rows: [{ name: 'CONTRACT::CALLER' }] });
    const arglist = await image.call('arglist', { name: 'callee', ...all });
    expect(arglist.data.value).toMatchObject({ arglist: '(A)' });
    const missing = await image.call('describe', {
      name: 'nobody',
      package: 'contract',
      offset: 0,
      limit: 20,
    });
    expect(missing.data.value).toEqual({ failure: 'no-symbol', symbol: 'NOBODY', package: 'contract' });
  });

  test('code in the image calls tools of the server as functions', async () => {
    expect(await printed('(live-lisp:call-tool "double" :number 21)')).toEqual(['42']);
    const [failure] =
      (await printed('(handler-case (live-lisp:call-tool "nope") (error (e) (princ-to-string e)))')) ?? [];
    expect(failure).toContain('Unknown tool: nope.');
  });

  test('a tool that is defined in the image is one of the server', async () => {
    const definition =
      '(live-lisp:register-tool live-lisp:*agent-q-registry* (live-lisp:define-tool "triple" "Triple." \'((:name "x" :type :integer)) :required \'("x") :handler (lambda (args) (* 3 (gethash "x" args)))))';
    await evaluate(definition);
    expect(registry.getTool('triple')?.safetyLevel).toBe('cautious');
    expect(await executor.execute('triple', { x: 14 })).toMatchObject({ success: true, data: 42 });
  });

  test('its features are known, and follow each change', async () => {
    const before = image.features;
    expect([before.has('SBCL'), before.has('MINE')]).toEqual([true, false]);
    await evaluate('(setf *features* (list* :mine (quote other) *features*))');
    expect([...image.features]).toEqual(['MINE', 'COMMON-LISP-USER::OTHER', ...before]);
    // In place, which leaves the list the same.
    await evaluate('(setf (first *features*) :yours)');
    expect([...image.features].slice(0, 2)).toEqual(['YOURS', 'COMMON-LISP-USER::OTHER']);
    await evaluate('(setf *features* (cddr *features*))');
    expect(image.features).toEqual(before);
    await image.call('features', {});
    const same = image.features;
    await evaluate('1');
    expect(image.features).toBe(same);
  });

  test.each([
    ['what is no symbol', '\'(:a 1 "b" (:or :c) :d)', ['A', 'D']],
    ['a circle', '(let ((l (list :a :b))) (setf (cddr l) l))', ['A', 'B']],
  ])('calls are answered when *FEATURES* is set to %s', async (_, value, features) => {
    const before = image.features;
    await evaluate('(defvar *put-back*) (setf *put-back* (sb-thread:make-semaphore))');
    await evaluate(`(let ((kept *features*))
      (sb-thread:make-thread (lambda () (sb-thread:wait-on-semaphore *put-back*) (setf *features* kept)))
      (setf *features* ${value})
      nil)`);
    expect([...image.features]).toEqual(features);
    // Nothing can be compiled now; a call of a function is not.
    await evaluate('(sb-thread:signal-semaphore *put-back*)');
    const back = async () => {
      await image.call('features', {});
      return image.features.size === before.size;
    };
    await until('the features', 10_000, back);
  });

  test('two calls run at once, and a look-up does not wait for them', async () => {
    const stop = new AbortController();
    const replies = [1, 2].map(() => evaluate('(loop (sleep 0.01))', { signal: stop.signal }));
    await until(
      'both',
      10_000,
      () => image.jobs.list().filter((job) => job.phase.kind === 'running').length === 2,
    );
    expect(
      (await image.call('describe', { name: 'car', package: 'cl', offset: 0, limit: 20 })).ending,
    ).toEqual({ kind: 'done' });
    const { state, jobs } = await reacting(image);
    expect([state, jobs.map(({ phase }) => phase)]).toEqual(['busy', ['running', 'running']]);
    // The thread of a call that was answered ends a little later.
    const inImage = async () => (await image.status()).backend?.jobs?.length === 2;
    await until('both in the image', 10_000, inImage);
    stop.abort();
    for (const { ending } of await Promise.all(replies)) expect(ending.kind).toBe('interrupted');
    image.takeNotices();
  });

  test('the status of an idle image tells its version, package and heap', async () => {
    const { state, backend, jobs } = await reacting(image);
    expect([state, jobs, backend?.package]).toEqual(['ready', [], 'COMMON-LISP-USER']);
    expect(backend?.heapUsed).toBeLessThan(backend?.heapSize ?? 0);
    expect(image.running).toBe(true);
  });
}
