// A file that changes between the preview of a call and its write is left as it is.

import { expect, test } from 'vitest';
import { checkApproved } from '../../src/tools/approved.ts';

test('a file that changed since the call was prepared is refused, whoever approved the change', () => {
  const now = { name: 'shop.lisp', size: 1, bytes: undefined, fingerprint: 'now' };
  expect(() => checkApproved(now, 'before')).toThrow(
    'shop.lisp changed while this call was prepared; nothing was written. Call again.',
  );
  for (const same of ['now', undefined]) checkApproved(now, same);
});
