// Checks that a file has not changed since a human approved an edit of it, and decodes its text.

import { CallError } from '../errors.ts';
import { WHOLE_FILE_LIMIT } from '../files/lines.ts';
import { binaryKind, decode, type FileText } from '../files/text.ts';
import type { FileState } from '../files/write.ts';
import { visibleName } from '../visible.ts';

/** Throws a CallError when the fingerprint of the file differs from FINGERPRINT, that of the preview that a human
 * approved. If FINGERPRINT is undefined, nothing is checked. */
export function checkApproved({ name, fingerprint: now }: FileState, fingerprint: string | undefined): void {
  if (fingerprint === undefined || fingerprint === now) return;
  throw new CallError(
    `${visibleName(name)} changed while this call was prepared; nothing was written. Call again.`,
  );
}

/** Returns the text of a file; an empty text when the file does not exist. Throws a CallError when the file is binary,
 * in UTF-16, or too large. */
export function presentText({ name, size, bytes }: FileState): FileText {
  if (size === undefined) return { text: '', encoding: 'UTF-8', bom: false };
  const kind = bytes && binaryKind(bytes);
  if (bytes !== undefined && kind === undefined) return decode(bytes);
  const what = kind ?? `larger than ${WHOLE_FILE_LIMIT / 1024 / 1024} MB`;
  throw new CallError(`${visibleName(name)} is ${what}, which this tool does not change.`);
}
