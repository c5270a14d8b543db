// A profile of generic functions, and one of a program that is not loaded.

import { expect, test } from 'vitest';
import { sharedSession } from '../shared.ts';

const session = sharedSession();

test('methods are told as such, and so is what finds them', async () => {
  await session.eval(`(progn (defgeneric taken (x)) (defmethod taken ((x integer)) x) (defmethod taken ((x string)) 1)
    (defun take-many (n) (dotimes (i n) (taken i) (taken "a"))))`);
  const text = await session.text('observe', { form: '(take-many 2000000)', mode: 'cpu' });
  expect(text).toMatch(
    /% {2}(dispatch of a generic function|\(:METHOD COMMON-LISP-USER::TAKEN \(\w+\)\)) {2}< COMMON-LISP-USER::TAKE-MANY/,
  );
  expect(text).not.toMatch(/LAMBDA|FAST-METHOD/);
});

test('a package that is not there is loaded first', async () => {
  expect(await session.text('observe', { form: '(not-there-yet:run)' })).toBe(
    'Error: form 1 cannot be read: Package NOT-THERE-YET does not exist.\nIt begins at line 1, column 1; reading stopped at line 1, column 19. Nothing was evaluated. When a system defines it, call load_system first.',
  );
});
