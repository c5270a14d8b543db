// Long random runs of definitions of many kinds, with an image that is killed at random moments, also while it is built
// again. What there is afterwards is what there was before, or the notice tells the difference.

import { afterAll, expect, test } from 'vitest';
import { type Session, startSession, temporaryFolder } from '../harness.ts';
import { LONG } from '../long.ts';
import { imageOf, imagesOf, killChild } from '../server/processes.ts';
import { randomForm, randomNumbers, SHOW } from './random-forms.ts';

const RUNS = LONG ? { seeds: 8, steps: 400 } : { seeds: 1, steps: 40 };
const state = temporaryFolder();
afterAll(state.remove);

async function show(session: Session): Promise<{ shown: string; reported: string }> {
  const { text, notices, isError } = await session.call('eval_form', {
    form: SHOW,
    package: 'COMMON-LISP-USER',
  });
  // A busy machine tells late that the image was killed.
  if (text.startsWith('Error: The Lisp image was lost during this call: it was ended by SIGKILL.')) {
    return show(session);
  }
  expect(isError, text).toBe(false);
  return { shown: text, reported: notices.join('\n') };
}

/** Resolves after some milliseconds, so that the kill that follows comes at another moment each time. */
function anyMoment(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Kills the image of SESSION, sometimes while FORM is evaluated, sometimes while it is built again. */
async function loseImage(session: Session, form: string | undefined, next: (limit: number) => number) {
  const image = await imageOf(session.pid);
  const call = form && session.call('eval_form', { form });
  await anyMoment(form ? next(20) : 0);
  await killChild(image);
  const answer = call && (await call);
  if (next(3) === 0) {
    // The next one is started at once, unless there is nothing to build it from.
    await anyMoment(100 + next(80));
    const [rebuilt] = imagesOf(session.pid);
    if (rebuilt !== undefined) await killChild(rebuilt);
  }
  return answer;
}

const DIFFERS = /Not rebuilt|It was not rebuilt|There was no time/;

async function run(seed: number): Promise<void> {
  const next = randomNumbers(seed);
  const session = await startSession({ env: { XDG_STATE_HOME: state.path } });
  try {
    await session.eval('(require :sb-introspect)');
    const done: string[] = [];
    for (let step = 0; step < RUNS.steps; step++) {
      const form = randomForm(next);
      done.push(form);
      if (next(12) > 0) {
        await session.call('eval_form', { form });
        continue;
      }
      const { shown: before } = await show(session);
      const within = next(2) === 0;
      await loseImage(session, within ? form : undefined, next);
      const { shown: after, reported } = await show(session);
      if (DIFFERS.test(reported) || after === before) continue;
      // The form during which it was killed can have been told of, or not.
      const where = `seed ${seed}, step ${step}, ${within ? form : 'idle'}\n${reported}\n${done.join('\n')}`;
      expect(within, `${where}\n${difference(before, after)}`).toBe(true);
      await session.call('eval_form', { form });
      expect((await show(session)).shown, where).toBe(after);
    }
  } finally {
    await session.close();
  }
}

/** Returns the lines that only one of ONE and OTHER has. */
function difference(one: string, other: string): string {
  const [lines, others] = [one.split('\n'), other.split('\n')];
  return [
    ...lines.filter((line) => !others.includes(line)).map((line) => `- ${line}`),
    ...others.filter((line) => !lines.includes(line)).map((line) => `+ ${line}`),
  ].join('\n');
}

test.each(Array.from({ length: RUNS.seeds }, (_, index) => index + 1))(
  'a random run of seed %i',
  (seed) => run(seed),
  LONG ? 1_200_000 : 600_000,
);
