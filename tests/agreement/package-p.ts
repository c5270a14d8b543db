// A package P that each test of a file has anew, in files of a workspace that it loads.

import { afterAll, beforeAll, beforeEach } from 'vitest';
import { LIBRARIES_AS_COMPILED, type Session, startSession, temporaryFolder } from '../harness.ts';

export let root: ReturnType<typeof temporaryFolder>;
export let session: Session;

/** What an answer about what is in the image only ends with. */
export const FORGET = 'load_file with forget: true removes what its file no longer has.';

/** What an answer ends with that lists what forgetting would remove of e.lisp. */
export const LISTED =
  'No definition of e.lisp was removed: forget: true removes only what an earlier answer listed, and this answer lists some definitions for the first time. To remove all, repeat load_file with forget: true.';

/** Has each test begin in an image that has loaded p.lisp, which makes the package P, and nothing else. */
export function withPackageP(): void {
  beforeAll(async () => {
    // Anew for each file: one worker can run several of them.
    root = temporaryFolder();
    session = await startSession({
      args: [
        ...['--root', root.path, '--allow', 'restart_image', '--allow', 'edit_definitions'],
        ...['--replay', 'off', ...LIBRARIES_AS_COMPILED],
      ],
    });
  });
  afterAll(async () => {
    await session.close();
    root.remove();
  });
  beforeEach(async () => {
    await session.call('restart_image', { rebuild: 'none' });
    put('p.lisp', '(defpackage "P" (:use "CL"))');
    await load('p.lisp');
  });
}

/** Writes FORMS, which are in the package P unless they make that, as the file NAME. */
export function put(name: string, ...forms: string[]): void {
  root.put(name, `${name === 'p.lisp' ? '' : '(in-package "P")\n'}${forms.join('\n')}\n`);
}

/** Loads the file PATH and returns the answer. MORE has other arguments of load_file. */
export async function load(path: string, more: object = {}): Promise<string> {
  return (await session.call('load_file', { path, ...more })).text;
}

/** Loads the file PATH, so that the answer lists what the file no longer has, has that forgotten, and returns the
 *  answer to that. */
export async function forget(path: string): Promise<string> {
  await load(path);
  return load(path, { forget: true });
}

/** Writes FORMS as the file NAME, loads it and returns the answer. */
export async function loaded(name: string, ...forms: string[]): Promise<string> {
  put(name, ...forms);
  return load(name);
}

/** Returns what compare_image answers about the file PATH. */
export function compare(path: string): Promise<string> {
  return session.text('compare_image', { path });
}
