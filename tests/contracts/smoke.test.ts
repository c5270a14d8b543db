import { expect, test } from 'vitest';
import { ERAS, startSession } from '../harness.ts';

test.each(ERAS)('answers an evaluation in the %s era', async (era) => {
  const session = await startSession({ era });
  try {
    expect(await session.eval('(+ 1 2)')).toBe('3');
    expect((await session.client.listTools()).tools.length).toBeGreaterThan(5);
  } finally {
    await session.close();
  }
});
