// What the tests of a file, or of a `describe`, share: servers and folders that are gone when the last of them has ended.

import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { Session, type StartOptions, startSession, type TestFolder, temporaryFolder } from './harness.ts';

/** Returns a new empty folder, which is removed behind the tests. */
export function sharedFolder(): Omit<TestFolder, 'remove'> {
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

/** Returns a session as sharedSession does. Its image has loaded a file NAME.lisp with TEXT, and is in the package NAME. */
export function sharedProgram(name: string, text: string): Session {
  const root = sharedFolder();
  const path = `${name}.lisp`;
  root.put(path, text);
  const session = sharedSession({ args: ['--root', root.path] });
  beforeAll(async () => {
    await session.call('load_file', { path });
    await session.eval(`(in-package :${name})`);
  });
  return session;
}

/** Returns a new empty folder, which is removed behind the test that calls this. */
export function ownFolder(): Omit<TestFolder, 'remove'> {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  return folder;
}

/** Starts a server with OPTIONS for the test that calls this, and ends it behind that. Resolves with its session. */
export async function ownSession(options: StartOptions = {}): Promise<Session> {
  const session = await startSession(options);
  onTestFinished(() => session.close());
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
