// Sessions that lose their image, and what is told of that.

import { afterAll, afterEach } from 'vitest';
import { type Session, type StartOptions, startSession, temporaryFolder } from '../harness.ts';
import { imageOf, killChild, until } from '../server/processes.ts';

/** Starts a session with OPTIONS, with a state folder of its own unless they name one. ENDS gets what ends both. */
async function launch(options: StartOptions, ends: (() => unknown)[]): Promise<Session> {
  const state = temporaryFolder();
  const session = await startSession({ ...options, env: { XDG_STATE_HOME: state.path, ...options.env } });
  ends.push(() => session.close().then(state.remove));
  return session;
}

/** Returns a function that starts sessions which end with the test. Without OPTIONS it gives one that the tests of a file
 *  share, with a new image for which nothing was kept. It is allowed to restart its image. */
export function sessions(): (options?: StartOptions) => Promise<Session> {
  const ends: (() => unknown)[] = [];
  const endsOfAll: (() => unknown)[] = [];
  afterEach(() => Promise.all(ends.splice(0).map((end) => end())));
  afterAll(() => Promise.all(endsOfAll.splice(0).map((end) => end())));
  let shared: Session | undefined;
  return async (options) => {
    if (options !== undefined) return launch(options, ends);
    if (shared === undefined) {
      shared = await launch({ args: ['--allow', 'restart_image'] }, endsOfAll);
    } else {
      await shared.call('restart_image', { rebuild: 'none' });
    }
    return shared;
  };
}

/** Kills the image of SESSION from outside. The server knows it then. */
export async function killImage(session: Session): Promise<void> {
  await killChild(await imageOf(session.pid));
}

/** Evaluates FORM, which prints "begun" and then runs for ever, and interrupts it after that. */
export async function evalInterrupted(session: Session, form: string): Promise<void> {
  const call = session.call('eval_form', { form });
  await until('what the call prints', 60_000, async () =>
    (await session.text('image_status')).includes('last line: begun'),
  );
  await session.call('interrupt');
  await call;
}

/** Evaluates FORM after a loss; returns its text and the notice of that loss, without the time it took. */
export async function afterLoss(session: Session, form: string): Promise<{ text: string; reported: string }> {
  const { text, notices } = await session.call('eval_form', { form });
  return { text, reported: notices.join('\n').replace(/Rebuilt in \d+\.\d s/g, 'Rebuilt in 0.0 s') };
}

/** Returns what is told of a loss by SIGKILL, with the LINES behind the first. */
export function reported(built: string, ...lines: string[]): string {
  const head = 'This is a new Lisp image; the one before was lost: it was ended by SIGKILL.';
  return [`${head} ${built}`, ...lines].join('\n');
}

/** Returns the sentences that tell WHAT was built again. */
export function built(what: string): string {
  return `Rebuilt in 0.0 s: ${what}. Variables have the values that their definitions give.`;
}
