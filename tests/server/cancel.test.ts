// What a client can cancel while it runs, and what it is told of that.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERAS, good, type Session } from '../harness.ts';
import { sharedSession } from '../shared.ts';
import { until } from './processes.ts';
import { RawServer, textOf } from './raw.ts';

/** Begins to evaluate FORM in SESSION, waits until that has set *BEGUN* and BEGUN resolves, cancels the call, and waits
 *  for its end at the client. What runs after *BEGUN* is set is compiled with that, as in a LET: the forms of a PROGN are
 *  compiled one after another, so the cancellation could come while SBCL compiles the next. */
async function cancelOnceBegun(
  session: Session,
  form: string,
  begun: () => Promise<unknown> = async () => {},
): Promise<void> {
  await session.eval('(defvar *begun*) (setf *begun* nil)');
  const controller = new AbortController();
  const call = session.call('eval_form', { form }, { signal: controller.signal });
  const rejected = expect(call).rejects.toThrow();
  await untilTrue(session, '*begun*');
  await begun();
  controller.abort();
  await rejected;
}

/** Resolves when FORM is true in the image of SESSION. */
async function untilTrue(session: Session, form: string): Promise<void> {
  await until(form, 60_000, async () => (await session.eval(form)) !== 'NIL');
}

/** Calls until an answer has notices, and returns those. */
function noticesOf(session: Session): Promise<string[]> {
  return until('a notice', 60_000, async () => {
    const { notices } = await session.call('eval_form', { form: '1' });
    return notices.length > 0 && notices;
  });
}

describe.each(ERAS)('in the %s era', (era) => {
  const session = sharedSession({ era }, '(defvar *kept* :kept)');

  test('a cancelled evaluation is interrupted, the image is kept, and its output comes as a notice', async () => {
    await session.eval('(defvar *left* nil)');
    await cancelOnceBegun(
      session,
      '(unwind-protect (progn (write-string "half of it") (setf *begun* t) (loop)) (setf *left* t))',
    );
    expect(await noticesOf(session)).toEqual([
      expect.stringMatching(
        /^A call that the client cancelled was interrupted after \d+\.\d s\.( It was at .*\.)? It had written:\nhalf of it$/,
      ),
    ]);
    const after = await session.call('eval_form', { form: '(list *kept* *left*)' });
    expect(after).toEqual(good('(:KEPT T)'));
  });

  test('the notice says so when it had written nothing', async () => {
    // SBCL compiles (sleep 1000) after *BEGUN* is set.
    await cancelOnceBegun(session, '(progn (setf *begun* t) (sleep 1000))', () =>
      until('its sleep', 60_000, async () => /^ *in .*SLEEP/m.test(await session.text('image_status'))),
    );
    expect(await noticesOf(session)).toEqual([
      expect.stringMatching(
        /^A call that the client cancelled was interrupted after \d+\.\d s\. It was at .*SLEEP.*\. It had written nothing\.$/,
      ),
    ]);
  });
});

describe('cancelling', () => {
  const session = sharedSession({}, '(defvar *kept* :kept)');

  test.each([
    '(unwind-protect (progn (setf *begun* t) (loop)) (loop))',
    '(sb-ext:run-program "/bin/sleep" (list (progn (setf *begun* t) "1000")))',
  ])('interrupts %s and keeps the image', async (form) => {
    await cancelOnceBegun(session, form);
    expect(await noticesOf(session)).toHaveLength(1);
    expect(await session.eval('*kept*')).toBe(':KEPT');
  });

  test('a long output is bounded in the notice', async () => {
    await cancelOnceBegun(
      session,
      '(let () (dotimes (i 100000) (write-string "0123456789")) (setf *begun* t) (loop))',
    );
    const [notice = ''] = await noticesOf(session);
    expect(notice).toMatch(
      /It had written:\n(0123456789){600}\n\[\.\.\. 988000 characters left out \.\.\.\]\n/,
    );
  });

  // A macro that never ends holds up SBCL in the compilation of the form around it.
  test.each([
    ['(format t "half of it~%")', 'It had written:\nhalf of it'],
    ['nil', 'It had written nothing.'],
  ])('the notice does not tell that SBCL compiled, after %s', async (writing, told) => {
    await session.eval('(defmacro endless () (setf *begun* t) (loop))');
    await cancelOnceBegun(session, `(progn ${writing} (let () (endless)))`);
    const [notice = ''] = await noticesOf(session);
    expect(notice.slice(notice.indexOf('It had'))).toBe(told);
  });

  test('an answer does not tell that SBCL compiled when the call was interrupted', async () => {
    await session.eval('(defmacro endless () (loop))');
    const form = '(progn (write-string "half of it") (let () (endless)))';
    expect(await session.eval(form, { timeout: 1 })).toMatch(/\n\nOutput:\nhalf of it$/);
  });

  test('what was done before it is kept: definitions, package, and the forms before', async () => {
    await cancelOnceBegun(
      session,
      '(defpackage :halfway (:use :cl)) (in-package :halfway) (defun f () :defined) (setf cl-user::*begun* t) (loop)',
    );
    expect(await noticesOf(session)).toHaveLength(1);
    expect(await session.eval('(list (package-name *package*) (f)) (in-package :cl-user)')).toMatch(
      /^\[1\] \("HALFWAY" :DEFINED\)\n/,
    );
  });
});

describe('on the wire', () => {
  let server: RawServer;
  beforeAll(async () => {
    server = await new RawServer().connect();
    await server.eval('1');
  });
  afterAll(() => server.kill());

  test('a cancelled call is not answered', async () => {
    const { id, line } = server.callLine('eval_form', { form: '(loop)' });
    server.write(line);
    await until('its beginning', 60_000, async () =>
      textOf(await server.send(server.callLine('image_status', {}))).includes('1 call runs'),
    );
    const params = { requestId: id, reason: 'enough' };
    server.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params })}\n`);
    await until('the notice', 60_000, async () => {
      const reply = await server.send(server.callLine('eval_form', { form: '1' }));
      return reply.result?.content?.[1]?.text.startsWith('A call that the client cancelled');
    });
    expect(server.messages.filter((each) => each.id === id)).toEqual([]);
  });

  test('a cancellation that comes after the answer changes nothing', async () => {
    const { id, line } = server.callLine('eval_form', { form: '(defvar *late* 1)' });
    await server.send({ id, line });
    server.write(
      `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } })}\n`,
    );
    const after = await server.send(server.callLine('eval_form', { form: '*late*' }));
    expect([textOf(after), after.result?.content?.length]).toEqual(['1', 1]);
  });
});
