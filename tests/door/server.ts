// A server whose socket a test connects to, as an editor, a command or the page does.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Session, StartOptions } from '../harness.ts';
import { servingPlace } from '../image/served.ts';
import { ownFolder, ownSession } from '../shared.ts';
import { sessionOf } from './editor.ts';

export interface Place {
  session: Session;
  /** The workspace. */
  root: ReturnType<typeof ownFolder>;
  /** The path of the server's socket, without its end. */
  path: string;
  /** The audit log. */
  audit: string;
}

/** Starts a server with OPTIONS and ARGS, and its image, for the test that calls this. */
export async function start(options: StartOptions = {}, ...args: string[]): Promise<Place> {
  const serving = servingPlace();
  onTestFinished(serving.remove);
  const root = ownFolder();
  const audit = join(serving.path, 'audit.jsonl');
  const session = await ownSession({
    ...options,
    args: ['--root', root.path, '--audit', audit, ...args],
    env: { LIVE_LISP_SERVING: serving.path },
  });
  await session.call('image_status');
  return { session, root, path: await sessionOf(serving.path, session.pid), audit };
}

/** The authorities of the calls in the audit log of PLACE, in order. */
export function authorities({ audit }: Place): unknown[] {
  const lines = existsSync(audit) ? readFileSync(audit, 'utf8').trimEnd().split('\n') : [];
  const records = lines.map((line) => JSON.parse(line) as { event: string; authority?: string });
  return records.filter(({ event }) => event === 'begin').map(({ authority }) => authority);
}
