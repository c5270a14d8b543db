// Sessions that lose their image, and what is told of that.

import { afterEach } from 'vitest';
import { type Session, type StartOptions, startSession, temporaryFolder } from '../harness.ts';
import { imageOf, killChild } from '../server/processes.ts';

/** Returns a function that starts sessions which end with the test, with their own state folder unless OPTIONS name one. */
export function sessions(): (options?: StartOptions) => Promise<Session> {
  const open: Session[] = [];
  const folders: (() => void)[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((session) => session.close()));
    for (const remove of folders.splice(0)) remove();
  });
  return async (options = {}) => {
    const state = temporaryFolder();
    folders.push(state.remove);
    const session = await startSession({ ...options, env: { XDG_STATE_HOME: state.path, ...options.env } });
    open.push(session);
    return session;
  };
}

/** Kills the image of SESSION from outside. The server knows it then. */
export async function killImage(session: Session): Promise<void> {
  await killChild(await imageOf(session.pid));
}

/** Evaluates FORM after a loss; returns its text and the notice of that loss, without the time it took. */
export async function afterLoss(session: Session, form: string): Promise<{ text: string; told: string }> {
  const { text, notices } = await session.call('eval_form', { form });
  return { text, told: notices.join('\n').replace(/Built again in \d+\.\d s/g, 'Built again in 0.0 s') };
}

/** Returns what is told of a loss by SIGKILL, with the LINES behind the first. */
export function told(built: string, ...lines: string[]): string {
  const head = 'This is a new Lisp image; the one before was lost: it was ended by SIGKILL.';
  return [`${head} ${built}`, ...lines].join('\n');
}

/** Returns the sentences that tell WHAT was built again. */
export function built(what: string): string {
  return `Built again in 0.0 s: ${what}. Variables have the values that their definitions give.`;
}
