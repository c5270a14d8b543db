// What the tests of a file, or of a `describe`, share: servers and folders that are gone when the last of them has ended.

import { afterAll, beforeAll } from 'vitest';
import { Session, type StartOptions, startSession, temporaryFolder } from './harness.ts';

/** Returns the path of a new empty folder, which is removed behind the tests. */
export function sharedFolder(): { path: string } {
  const folder = temporaryFolder();
  afterAll(() => folder.remove());
  return folder;
}

/** Returns a session whose server is started with OPTIONS before the tests, when FORM is evaluated too, and ended behind
 *  them. */
export function sharedSession(options: StartOptions = {}, form?: string): Session {
  const session = new Session();
  beforeAll(async () => {
    await session.start(options);
    if (form !== undefined) await session.eval(form);
  });
  afterAll(() => session.close());
  return session;
}

/** Starts a server with OPTIONS, gives its session to USE, and ends it. Resolves with what USE does. */
export async function withSession<Value>(
  options: StartOptions,
  use: (session: Session) => Promise<Value>,
): Promise<Value> {
  const session = await startSession(options);
  try {
    return await use(session);
  } finally {
    await session.close();
  }
}
