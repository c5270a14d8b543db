// What a human is shown of a file before it is loaded, and when they cannot be shown it.

import { truncateSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sharedWorkspace } from '../files/sessions.ts';

const at = sharedWorkspace({ args: ['--ask', 'cautious'] });

test('S2.11 its content', async () => {
  at.put('a.lisp', '(a)\n');
  await at.answer('load_file', { path: 'a.lisp' });
  expect(at.questions).toEqual([
    'Approve load_file (cautious)? 1 line to compile and run, in a.lisp\n+(a)\nAll of it: FILE',
  ]);
});

test.each([
  [
    { forget: true },
    '1 line to compile and run, then to remove from\n\u2026 the image what earlier answers listed as no longer in the file',
  ],
  [{ check: true }, '1 line to compile, not to load'],
])('with %j what else becomes of it', async (how, reported) => {
  at.put('a.lisp', '(a)\n');
  at.questions.length = 0;
  await at.answer('load_file', { path: 'a.lisp', ...how });
  expect(at.questions).toEqual([
    `Approve load_file (cautious)? ${reported}, in a.lisp\n+(a)\nAll of it: FILE`,
  ]);
});

test('a file too large to show is not read, and nobody is asked', async () => {
  truncateSync(at.put('huge.lisp', '(a)\n'), 100_000_000_000);
  at.questions.length = 0;
  expect(await at.answer('load_file', { path: 'huge.lisp' })).toBe(
    'failed: huge.lisp is larger than 16 MB, too large to show to a human for approval. Load it with eval_form and (load ...), or ask the user to start the server without --ask cautious.',
  );
  expect(at.questions).toEqual([]);
});

test('a failure of the file system is told as for the other file tools', async () => {
  const name = 'x'.repeat(300);
  expect(await at.answer('load_file', { path: name })).toBe(
    `failed: ${name} cannot be read: the path or a name in it is too long.`,
  );
});
