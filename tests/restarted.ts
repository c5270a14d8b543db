// One server for the tests of a file, each of which begins with a new image: that takes a quarter of a new server.

import { afterAll } from 'vitest';
import { type Session, type StartOptions, startSession } from './harness.ts';

/** Returns a function that gives each test the same session, with OPTIONS, and a new image for which nothing was kept. It
 *  ends with the file or the `describe` that this is called in. It is allowed to restart its image. */
export function restartedSession(options: StartOptions = {}): () => Promise<Session> {
  let session: Session | undefined;
  afterAll(() => session?.close());
  return async () => {
    if (session === undefined) {
      session = await startSession({
        ...options,
        args: [...(options.args ?? []), '--allow', 'restart_image'],
      });
    } else {
      const { text, isError } = await session.call('restart_image', { rebuild: 'none' });
      if (isError) throw new Error(`The image did not start again: ${text}`);
    }
    return session;
  };
}
