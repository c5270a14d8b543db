// Decides what is measured besides the cases: calls side by side, and cancelled.

import { freeMs } from '../load.ts';
import { type Arena, LIMITS } from './arena.ts';

/** One thing that was measured, with how it went. */
export interface Aside {
  name: string;
  went: string;
  breaches: string[];
}

/** Returns the seconds since BEGAN, by `freeMs`. */
function since(began: number): number {
  return (freeMs() - began) / 1000;
}

async function twoSleeps(arena: Arena): Promise<Aside> {
  const began = freeMs();
  const times = await Promise.all([1, 2].map(() => arena.eval('(sleep 2)', 5).then(() => since(began))));
  const late = Math.max(...times) > 2 + LIMITS.concurrentMs / 1000;
  return {
    name: 'two (sleep 2) at once',
    went: times.map((time) => `${time.toFixed(2)} s`).join(' + '),
    breaches: late ? ['they did not run side by side'] : [],
  };
}

async function listDuringSleep(arena: Arena): Promise<Aside> {
  const sleep = arena.eval('(sleep 3)', 5);
  const began = freeMs();
  await arena.session.client.listTools();
  const time = since(began);
  await sleep;
  return {
    name: 'tools/list during (sleep 3)',
    went: `${time.toFixed(3)} s`,
    breaches: time > LIMITS.concurrentMs / 1000 ? ['it waited'] : [],
  };
}

async function cancelledSleep(arena: Arena): Promise<Aside> {
  await arena.eval('(defparameter *state* :kept)');
  const controller = new AbortController();
  const call = arena.session
    .call('eval_form', { form: '(sleep 12)', timeout: 20 }, { signal: controller.signal })
    .catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  controller.abort();
  const began = freeMs();
  const { text, notices } = await arena.eval('*state*');
  const time = since(began);
  await call;
  // The cancelled call may end a little later.
  notices.push(...(await arena.eval('(sleep 0.2)')).notices, ...(await arena.eval('1')).notices);
  return {
    name: 'a 12 s sleep cancelled after 1 s, then an evaluation',
    went: `answered ${time.toFixed(3)} s later, state ${text === ':KEPT' ? 'kept' : 'lost'}`,
    breaches: [
      ...(time > LIMITS.concurrentMs / 1000 ? ['it waited'] : []),
      ...(text === ':KEPT' ? [] : [`the state is ${text}`]),
      ...(notices.some((notice) => /was interrupted after 1\.\d s/.test(notice))
        ? []
        : ['nothing told of it']),
    ],
  };
}

/** Measures all of them in ARENA. */
export async function measureAsides(arena: Arena): Promise<Aside[]> {
  return [await twoSleeps(arena), await listDuringSleep(arena), await cancelledSleep(arena)];
}
