// Sessions whose clients listen for changes of the list, and definitions of tools for them.

import { type Era, type Session, type StartOptions, startSession } from '../harness.ts';

export interface Watched {
  session: Session;
  /** How often the list was said to have changed. */
  changes: () => number;
}

/** Starts a session of ERA that listens for changes of the list. */
export async function watch(era: Era, options: StartOptions = {}): Promise<Watched> {
  let changes = 0;
  const session = await startSession({ era, ...options });
  session.client.setNotificationHandler('notifications/tools/list_changed', () => {
    changes += 1;
  });
  if (era === 'modern') await session.client.listen({ toolsListChanged: true });
  return { session, changes: () => changes };
}

/** Starts such a session, passes it to USE, and ends it. */
export async function withSession(
  era: Era,
  use: (watched: Watched) => Promise<void>,
  options: StartOptions = {},
) {
  const watched = await watch(era, options);
  await use(watched).finally(() => watched.session.close());
}

/** Returns the form that registers a tool NAME that gives VALUE; MORE are further options. */
export function definition(name: string, value: string, more = ''): string {
  return `(live-lisp:register-tool live-lisp:*agent-q-registry*
    (live-lisp:define-tool "${name}" "Give ${value}. At once." '() ${more}
      :handler (lambda (args) (declare (ignore args)) "${value}")))`;
}

/** Returns the names in the list of SESSION. */
export async function namesOf({ client }: Session): Promise<string[]> {
  return (await client.listTools()).tools.map(({ name }) => name);
}

/** Returns the tool WANTED in the list of SESSION. */
export async function toolOf({ client }: Session, wanted: string) {
  return (await client.listTools()).tools.find(({ name }) => name === wanted);
}
