// Decides how the configuration of a client is read and replaced: never half-written, and kept as it was beside it.

import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf, SetupError } from '../errors.ts';
import { makeFolder, realPath } from '../paths.ts';

const NO_FILE: readonly unknown[] = ['ENOENT', 'ENOTDIR'];

/** Returns where FILE is kept as it was before it was changed. */
export function backupOf(file: string): string {
  return `${realPath(file)}.before-live-lisp`;
}

/** Returns the text of FILE; undefined when there is none. Throws a SetupError when it cannot be read. */
export function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (NO_FILE.includes((error as NodeJS.ErrnoException).code)) return undefined;
    throw new SetupError(
      `${file} cannot be read (${messageOf(error)}). Make it readable, and run this again.`,
    );
  }
}

/** Replaces FILE by TEXT at once, or removes it when TEXT is undefined. Its mode stays; one behind a link is replaced
 *  there. Throws a SetupError when it cannot be written; then it is as it was. */
export function replaceText(file: string, text: string | undefined): void {
  const real = realPath(file);
  const partial = `${real}.${process.pid}`;
  try {
    if (text === undefined) {
      rmSync(real, { force: true });
      return;
    }
    makeFolder(dirname(real));
    const mode = statSync(real, { throwIfNoEntry: false })?.mode ?? 0o600;
    writeFileSync(partial, text, { mode: mode & 0o777, flag: 'wx' });
    renameSync(partial, real);
  } catch (error) {
    removeIfThere(partial);
    throw new SetupError(
      `${file} cannot be written (${messageOf(error)}), and is as it was. Make it writable, and run this again.`,
    );
  }
}

function removeIfThere(file: string): void {
  try {
    rmSync(file);
  } catch {
    // It was not made.
  }
}

/** Keeps FILE, whose text is TEXT, as it is now; nothing when there is none. Only who can read it can read that. */
export function keepBackup(file: string, text: string | undefined): void {
  if (text === undefined) return;
  replaceText(backupOf(file), text);
}
