// Caches with a fasl and a core of the backend, and servers that use them.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Session, type StartOptions, startSession } from '../harness.ts';

/** What stands in place of a core where there can be none. */
export const NONE = 'none\n';

export const cacheIn = (place: string) => join(place, 'live-lisp');
/** Returns the files of cores, also of unfinished ones, in the cache at PLACE. */
export function coresIn(place: string): string[] {
  const names = existsSync(cacheIn(place)) ? readdirSync(cacheIn(place)) : [];
  return names.filter((name) => name.startsWith('image-')).map((name) => join(cacheIn(place), name));
}

/** Returns the file of the one core at PLACE; it can be the note that there can be none. */
export function keptCoreIn(place: string): string {
  const [core = '', ...others] = coresIn(place);
  expect(others).toEqual([]);
  expect(core).toMatch(/image-[0-9a-f]{16}\.core$/);
  return core;
}

/** Starts a server with OPTIONS whose cache is at PLACE, and calls USE. */
export async function withCache<T>(
  use: (session: Session) => Promise<T>,
  options: StartOptions,
  place: string,
): Promise<T> {
  const session = await startSession({ ...options, env: { ...options.env, XDG_CACHE_HOME: place } });
  try {
    return await use(session);
  } finally {
    await session.close();
  }
}

const FROM_CORE = '(not (null (search "--core" (with-open-file (in "/proc/self/cmdline") (read-line in)))))';
/** Tells whether the image of SESSION was started from the core. */
export const fromCore = (session: Session) => session.eval(FROM_CORE);
