// Computes digests of contents.

import { createHash } from 'node:crypto';

/** Returns the SHA-256 digest of CONTENT as hexadecimal digits. */
export function digestOf(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
