// describe_symbol of random symbols of SBCL and of libraries, against what fixtures/describe-oracle.lisp finds itself.

import { beforeAll, expect, test } from 'vitest';
import { type Session, startSession } from '../harness.ts';
import { libraries } from '../libraries.ts';
import { PATIENCE_MS } from '../long.ts';

const SYMBOLS = 1000;

let session: Session;
beforeAll(async () => {
  session = await startSession();
  for (const system of libraries('hunchentoot', 'alexandria', 'cl-ppcre')) {
    const { isError, text } = await session.call('load_system', { system, timeout: 600 });
    expect(isError, text).toBe(false);
  }
  expect(await session.text('load_file', { path: 'fixtures/describe-oracle.lisp' })).toBe(
    'Loaded fixtures/describe-oracle.lisp',
  );
}, PATIENCE_MS);

test(
  `C15 S0.17 ${SYMBOLS} random symbols are described as they are`,
  async () => {
    const form = `(describe-oracle:differences ${SYMBOLS} 11)`;
    expect(await session.call('eval_form', { form, timeout: PATIENCE_MS / 1000 })).toMatchObject({
      text: 'NIL',
      isError: false,
    });
    expect(Number(await session.eval('describe-oracle:*compared*'))).toBeGreaterThan(SYMBOLS / 3);
  },
  PATIENCE_MS,
);

test('the comparison notices what is not so', async () => {
  await session.call('eval_form', {
    form: "(defun cl-user::spoken (a) a) (setf (sb-kernel:%simple-fun-arglist #'cl-user::spoken) '(a b))",
  });
  const difference = (code: string) =>
    session.eval(`(sb-int:encapsulate 'describe-oracle::kept-arglist 'test (lambda (f s) (funcall f s) '${code}))
                  (prog1 (not (describe-oracle::difference 'cl-user::spoken))
                    (sb-int:unencapsulate 'describe-oracle::kept-arglist 'test))`);
  expect(await difference('(a b)')).toContain('T');
  expect(await difference('(a c)')).toContain('NIL');
});
