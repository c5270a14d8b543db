// How a running call is ended step by step, and who may run.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Queue } from '../../src/image/session/queue.ts';
import { enforceFairLimit, enforceLimit } from '../../src/image/wire/ending-steps.ts';
import { TIMES } from '../../src/image/wire/times.ts';

/** The steps at which a call is ended, and the limit of the calls here. */
const { again, terminate, ask, kill, collecting } = TIMES;
const LIMIT_MS = 1000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A call that notes each step against it with the milliseconds since it began. */
function job() {
  const began = Date.now();
  const steps: [number, string][] = [];
  const note = (step: string) => steps.push([Date.now() - began, step]);
  return {
    steps,
    interrupt: (reason: string) => void note(`interrupt ${reason}`),
    terminate: () => void note('terminate'),
    reacts: async () => note('ask'),
    collecting: (): boolean | undefined => undefined,
    deniedMs: () => 0,
    kill: () => void note('kill'),
  };
}

describe('watch', () => {
  test('after the limit interrupts twice, ends the thread, kills an image that reacts', async () => {
    const call = job();
    enforceLimit(call, LIMIT_MS, undefined);
    vi.advanceTimersByTime(LIMIT_MS - 1);
    expect(call.steps).toEqual([]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(call.steps).toEqual([
      [LIMIT_MS, 'interrupt timeout'],
      [LIMIT_MS + again, 'interrupt timeout'],
      [LIMIT_MS + terminate, 'terminate'],
      [LIMIT_MS + ask, 'ask'],
      [LIMIT_MS + ask + kill, 'kill'],
    ]);
  });

  test.each([true, undefined])(
    'waits for an image that does not react, while it may collect garbage (%s)',
    async (seen) => {
      const call = { ...job(), reacts: () => new Promise(() => {}), collecting: () => seen };
      enforceLimit(call, LIMIT_MS, undefined);
      await vi.advanceTimersByTimeAsync(60_000);
      expect(call.steps.map(([, step]) => step)).not.toContain('kill');
    },
  );

  test('gives a call that does not end in an image that reacts and collects garbage longer', async () => {
    const call = { ...job(), collecting: () => true };
    enforceLimit(call, LIMIT_MS, undefined);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(call.steps.at(-1)).toEqual([LIMIT_MS + ask + collecting + kill, 'kill']);
  });

  test('kills an image that does not react and collects no garbage', async () => {
    const call = { ...job(), reacts: () => new Promise(() => {}), collecting: () => false };
    enforceLimit(call, LIMIT_MS, undefined);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(call.steps.at(-1)).toEqual([LIMIT_MS + ask + kill, 'kill']);
  });

  test('gives an image that reacts late its time', async () => {
    const late = 5000;
    const quiet = LIMIT_MS + ask + late - TIMES.poll;
    const call = {
      ...job(),
      reacts: () => new Promise((resolve) => setTimeout(resolve, late)),
      collecting: () => Date.now() - began < quiet,
    };
    const began = Date.now();
    enforceLimit(call, LIMIT_MS, undefined);
    await vi.advanceTimersByTimeAsync(60_000);
    const [at = 0, step] = call.steps.at(-1) ?? [];
    expect(step).toBe('kill');
    expect(at).toBeGreaterThanOrEqual(quiet + kill);
    expect(at).toBeLessThanOrEqual(quiet + ask + kill + 2 * TIMES.poll);
  });

  test('puts steps off by what the image was denied the CPU, in all by no more than it may', async () => {
    const began = Date.now();
    const denied = (upTo: number) => ({
      ...job(),
      reacts: () => new Promise(() => {}),
      collecting: () => false,
      deniedMs: () => Math.min(Math.max(0, Date.now() - began - LIMIT_MS), upTo),
    });
    const [call, starving] = [denied(500), denied(Number.POSITIVE_INFINITY)];
    enforceLimit(call, LIMIT_MS, undefined);
    enforceLimit(starving, LIMIT_MS, undefined);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(call.steps).toEqual([
      [LIMIT_MS, 'interrupt timeout'],
      [LIMIT_MS + again + 500, 'interrupt timeout'],
      [LIMIT_MS + terminate + 500, 'terminate'],
      [LIMIT_MS + ask + kill + 500, 'kill'],
    ]);
    expect(starving.steps.at(-1)).toEqual([LIMIT_MS + ask + kill + collecting, 'kill']);
  });

  test.each([
    ['by what the image was denied the CPU', 500, LIMIT_MS + 500],
    ['by no more than twice the limit', Number.POSITIVE_INFINITY, 3 * LIMIT_MS],
  ])('puts a limit that nobody has chosen off %s', async (_, upTo, at) => {
    const began = Date.now();
    const call = { ...job(), deniedMs: () => Math.min(Date.now() - began - LIMIT_MS / 2, upTo) };
    enforceFairLimit(call, LIMIT_MS);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(call.steps[0]).toEqual([at, 'interrupt timeout']);
  });

  test('takes no step more once the call has ended', async () => {
    for (const [steps, before] of [0, again, terminate, ask, ask + kill].entries()) {
      const call = job();
      const ended = steps === 0 ? enforceFairLimit(call, LIMIT_MS) : enforceLimit(call, LIMIT_MS, undefined);
      await vi.advanceTimersByTimeAsync(LIMIT_MS + before - 1);
      ended();
      await vi.advanceTimersByTimeAsync(60_000);
      expect(call.steps).toHaveLength(steps);
    }
    expect(vi.getTimerCount()).toBe(0);
  });

  test('goes the same way when the client cancels, and only once', async () => {
    const call = job();
    const controller = new AbortController();
    enforceLimit(call, LIMIT_MS, controller.signal);
    vi.advanceTimersByTime(300);
    controller.abort();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(call.steps).toEqual([
      [300, 'interrupt cancelled'],
      [300 + again, 'interrupt cancelled'],
      [300 + terminate, 'terminate'],
      [300 + ask, 'ask'],
      [300 + ask + kill, 'kill'],
    ]);
  });

  test('a cancellation after the limit does not begin again', async () => {
    const call = job();
    const controller = new AbortController();
    enforceLimit(call, 100, controller.signal);
    vi.advanceTimersByTime(200);
    controller.abort();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(call.steps.map(([, step]) => step)).toEqual([
      'interrupt timeout',
      'interrupt timeout',
      'terminate',
      'ask',
      'kill',
    ]);
  });

  test('a call that was cancelled before it began is interrupted at once', () => {
    const call = job();
    enforceLimit(call, 1000, AbortSignal.abort());
    expect(call.steps).toEqual([[0, 'interrupt cancelled']]);
  });
});

describe('Queue', () => {
  /** Lets NAMES enter QUEUE in that order and notes who is in. */
  function enterAll(queue: Queue, names: string[], signals: Record<string, AbortSignal> = {}) {
    const entered: string[] = [];
    const waits: string[] = [];
    const all = names.map((name) =>
      queue
        .enter(signals[name], () => waits.push(name))
        .then((isIn) => void entered.push(isIn ? name : `${name} left`)),
    );
    return { entered, waits, all: Promise.all(all) };
  }

  const settle = () => vi.advanceTimersByTimeAsync(0);

  test('lets in as many as it has places, the rest in order, and tells those that wait', async () => {
    const queue = new Queue(2);
    const { entered, waits } = enterAll(queue, ['a', 'b', 'c', 'd', 'e']);
    await settle();
    expect([entered, waits]).toEqual([
      ['a', 'b'],
      ['c', 'd', 'e'],
    ]);
    queue.leave();
    await settle();
    queue.leave();
    queue.leave();
    await settle();
    expect(entered).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  test('one that gives up while it waits loses its place to nobody', async () => {
    const queue = new Queue(1);
    const controller = new AbortController();
    const { entered } = enterAll(queue, ['a', 'b', 'c', 'd'], { c: controller.signal });
    await settle();
    controller.abort();
    await settle();
    expect(entered).toEqual(['a', 'c left']);
    queue.leave();
    await settle();
    queue.leave();
    await settle();
    expect(entered).toEqual(['a', 'c left', 'b', 'd']);
    queue.leave();
    const { entered: next } = enterAll(queue, ['e', 'f']);
    await settle();
    expect(next).toEqual(['e']);
  });

  test('one that has given up before does not enter, nor take a place', async () => {
    const queue = new Queue(1);
    const { entered } = enterAll(queue, ['a', 'b'], { a: AbortSignal.abort() });
    await settle();
    expect(entered.sort()).toEqual(['a left', 'b']);
  });
});
