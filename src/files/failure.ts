// Converts errors of the file system to messages for the model.

import { CallError } from '../errors.ts';
import { visibleName } from '../visible.ts';
import { SILENCE_REMEDY, UnreadableFile, UnresponsiveFolderError } from './answering.ts';

const REASONS: { readonly [code: string]: string } = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOSPC: 'no space is left on the device',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  ENAMETOOLONG: 'the path or a name in it is too long',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
};

/** Error codes of an operation on a path that has changed since it was checked. */
const CHANGED = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ESTALE', 'EISDIR'];

/** Returns the error to throw when an operation on the file PATH failed with ERROR. DONE is the verb of
 * the message. */
export function fileFailure(error: unknown, path: string, done: 'read' | 'written'): unknown {
  if (error instanceof UnresponsiveFolderError)
    return new CallError(`${visibleName(path)} cannot be ${done}: ${error.message}. ${SILENCE_REMEDY}.`);
  if (error instanceof UnreadableFile)
    return new CallError(`${visibleName(path)} cannot be ${done}: ${error.message}.`);
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  if (error instanceof CallError || code === undefined) return error;
  const shown = visibleName(path);
  if (CHANGED.includes(code)) {
    return new CallError(`${shown} changed while it was opened; nothing was ${done}. Call again.`);
  }
  return new CallError(`${shown} cannot be ${done}: ${systemReason(code)}.`);
}

/** Returns a phrase for CODE, the code of an error of the file system. */
export function systemReason(code: string): string {
  if (CHANGED.includes(code)) return 'it changed while it was opened';
  return REASONS[code] ?? `the system says ${code}`;
}
