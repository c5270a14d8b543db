// Decides whether what was approved is still what would happen.

import { CallError } from '../errors.ts';
import type { Present } from '../files/write.ts';
import { visibleName } from '../visible.ts';

/** Throws a CallError when PRESENT is no longer the file that was approved under FINGERPRINT. */
export function checkApproved({ name, fingerprint: now }: Present, fingerprint: string | undefined): void {
  if (fingerprint === undefined || fingerprint === now) return;
  throw new CallError(`${visibleName(name)} changed after it was approved; nothing was written. Ask again.`);
}
