// That nothing differs right after a system was loaded, whatever it does.

import { expect } from 'vitest';
import { startSession } from '../harness.ts';

/** Loads SYSTEM into a fresh image and expects that it agrees with its files, also once it was loaded again. */
export async function expectAgreement(system: string): Promise<void> {
  const session = await startSession({ args: ['--replay', 'off'] });
  try {
    for (const force of [false, true]) {
      const { text, isError } = await session.call('load_system', { system, force }, { timeout: 600_000 });
      expect(isError, text).toBe(false);
      expect(text).not.toMatch(/no longer in|Not set again|before the .* changed/);
      const compared = await session.text('compare_image', { system });
      expect(compared).toBe(`The image and system ${system} agree.`);
    }
  } finally {
    await session.close();
  }
}
