// When an image counts as frozen.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { startHeartbeat } from '../../src/image/process/heart.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('listenToHeart', () => {
  /** A heart that is busy and answers pings while ALIVE. */
  function heart() {
    const state = { busy: true, alive: true, pings: 0, kills: 0 };
    return {
      state,
      busy: () => state.busy,
      collecting: (): boolean | undefined => undefined,
      deniedMs: () => 0,
      ping: () => {
        state.pings++;
        return state.alive ? Promise.resolve() : new Promise(() => {});
      },
      kill: () => {
        state.kills++;
      },
    };
  }

  test('asks at each beat while calls wait, and not at rest', async () => {
    const beating = heart();
    const stop = startHeartbeat(beating, 5000, 200);
    await vi.advanceTimersByTimeAsync(700);
    expect(beating.state).toMatchObject({ pings: 3, kills: 0 });
    beating.state.busy = false;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(beating.state).toMatchObject({ pings: 3, kills: 0 });
    stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('kills what does not answer within the limit, and not before', async () => {
    const beating = heart();
    const stop = startHeartbeat(beating, 5000);
    beating.state.alive = false;
    await vi.advanceTimersByTimeAsync(6000);
    expect(beating.state.kills).toBe(0);
    await vi.advanceTimersByTimeAsync(1500);
    expect(beating.state.kills).toBe(1);
    stop();
  });

  test('waits long only for one that collects garbage, or where that cannot be seen', async () => {
    for (const [collecting, killedAfter] of [
      [false, 7],
      [true, 22],
      [undefined, 22],
    ] as const) {
      const beating = { ...heart(), collecting: () => collecting };
      beating.state.alive = false;
      const stop = startHeartbeat(beating, 19_500);
      await vi.advanceTimersByTimeAsync(1000 * killedAfter - 1500);
      expect(beating.state.kills).toBe(0);
      await vi.advanceTimersByTimeAsync(1000);
      expect(beating.state.kills).toBe(1);
      stop();
    }
  });

  test('does not count what one was denied the CPU, as long as it may be silent', async () => {
    for (const [deniedFor, killedAfter] of [
      [8000, 15],
      [Number.POSITIVE_INFINITY, 27],
    ] as const) {
      const began = Date.now();
      const deniedMs = () => Math.min(Date.now() - began, deniedFor);
      const beating = { ...heart(), collecting: () => false, deniedMs };
      beating.state.alive = false;
      const stop = startHeartbeat(beating, 19_500);
      await vi.advanceTimersByTimeAsync(1000 * killedAfter - 3000);
      expect(beating.state.kills).toBe(0);
      await vi.advanceTimersByTimeAsync(4000);
      expect(beating.state.kills).toBeGreaterThan(0);
      stop();
    }
  });

  test('forgives an answer that comes late', async () => {
    let answer = () => {};
    const kill = vi.fn();
    const ping = () =>
      new Promise<void>((resolve) => {
        answer = resolve;
      });
    const beating = { busy: () => true, collecting: () => undefined, deniedMs: () => 0, ping, kill };
    const stop = startHeartbeat(beating, 5000);
    for (let round = 0; round < 4; round++) {
      await vi.advanceTimersByTimeAsync(4000);
      answer();
    }
    expect(kill).not.toHaveBeenCalled();
    stop();
  });
});
