// What a client can see and do while a call runs: progress, and its cancellation.

import { existsSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERAS, type Session, startSession, temporaryFolder } from '../harness.ts';
import { pause, until } from './processes.ts';
import { RawServer, textOf } from './raw.ts';

interface Heard {
  progress: number;
  message?: string;
}

/** Calls the tool NAME of SESSION with ARGS and returns its text and the progress that was told. */
async function heard(session: Session, name: string, args: Record<string, unknown>) {
  const progress: Heard[] = [];
  const answer = await session.call(name, args, { onprogress: (each: Heard) => progress.push(each) });
  return { ...answer, progress };
}

/** Begins to evaluate FORM in SESSION and returns the function that cancels it and waits for its end. */
function beginEvaluation(session: Session, form: string): () => Promise<void> {
  const controller = new AbortController();
  const call = session.call('eval_form', { form }, { signal: controller.signal });
  const rejected = expect(call).rejects.toThrow();
  return async () => {
    controller.abort();
    await rejected;
  };
}

/** Resolves when FORM is true in the image of SESSION. */
async function untilTrue(session: Session, form: string): Promise<void> {
  await until(form, 10_000, async () => (await session.eval(form)) !== 'NIL');
}

describe.each(ERAS)('in the %s era', (era) => {
  let session: Session;
  beforeAll(async () => {
    session = await startSession({ era });
    await session.eval('(defvar *kept* :kept)');
  });
  afterAll(() => session.close());

  test('progress is told about once a second, strictly increasing, with time and output so far', async () => {
    const form = '(progn (write-string "twelve chars") (sleep 2.5) :done)';
    const { text, progress } = await heard(session, 'eval_form', { form });
    expect(text).toMatch(/^:DONE\n/);
    expect(progress.length).toBeGreaterThanOrEqual(2);
    for (const { message } of progress) expect(message).toMatch(/^\d+\.\d s, 12 characters of output$/);
    const values = progress.map((each) => each.progress);
    expect(values.every((value, index) => value > (values[index - 1] ?? 0))).toBe(true);
  });

  test('a short call tells none', async () => {
    expect((await heard(session, 'eval_form', { form: '1' })).progress).toEqual([]);
  });

  test('a cancelled evaluation is interrupted, the image is kept, and its output comes as a notice', async () => {
    await session.eval('(defvar *left* nil)');
    const cancel = beginEvaluation(
      session,
      '(unwind-protect (progn (write-string "half of it") (setf *begun* t) (loop)) (setf *left* t))'.replace(
        '(progn',
        '(progn (defvar *begun*)',
      ),
    );
    await untilTrue(session, "(boundp '*begun*)");
    await cancel();
    await untilTrue(session, '*left*');
    const notices = await noticesOf(session);
    expect(notices).toHaveLength(1);
    expect(notices[0]).toMatch(
      /^A call that the client cancelled was interrupted after \d+\.\d s\.( It was at .*\.)? It had written:\nhalf of it$/,
    );
    expect(await session.call('eval_form', { form: '*kept*' })).toEqual({ text: ':KEPT', notices: [], isError: false });
  });

  test('the notice says so when it had written nothing', async () => {
    const cancel = beginEvaluation(session, '(progn (defvar *asleep* t) (sleep 1000))');
    await untilTrue(session, "(boundp '*asleep*)");
    await cancel();
    expect(await noticesOf(session)).toEqual([
      expect.stringMatching(
        /^A call that the client cancelled was interrupted after \d+\.\d s\. It was at .*SLEEP.*\. It had written nothing\.$/,
      ),
    ]);
  });

  test('a cancelled cleanup form that loops is interrupted too', async () => {
    const cancel = beginEvaluation(session, '(unwind-protect (loop) (defvar *cleaning* t) (loop))');
    await pause(200);
    await cancel();
    await untilTrue(session, "(boundp '*cleaning*)");
    expect(await noticesOf(session)).toHaveLength(1);
    expect(await session.eval('*kept*')).toBe(':KEPT');
  });

  /** Calls until an answer has notices, and returns those. */
  function noticesOf(from: Session): Promise<string[]> {
    return until('a notice', 5000, async () => {
      const { notices } = await from.call('eval_form', { form: '1' });
      return notices.length > 0 && notices;
    });
  }
});

describe('the queue', () => {
  const BUSY = '(progn (incf *running*) (loop until *free* do (sleep 0.02)) (incf *through*) :ran)';

  /** Starts a session in which eight evaluations run until FREE is called. */
  async function fullSession() {
    const session = await startSession();
    await session.eval('(defvar *running* 0) (defvar *free* nil) (defvar *through* 0)');
    const calls = Array.from({ length: 8 }, () => session.call('eval_form', { form: BUSY }));
    // Lookups need no place, so they can tell when all run.
    await until('eight evaluations', 10_000, async () => {
      return (await session.text('describe_symbol', { symbol: '*running*' })).includes('Value: 8');
    });
    return { session, calls };
  }

  test('a call that waits in it is told so, and runs when there is a place', async () => {
    const { session, calls } = await fullSession();
    const waiting = heard(session, 'eval_form', { form: '(list :ninth (setf *free* t))', timeout: 5 });
    // The ninth cannot free the others, so cancel one of them by ending the session's first call.
    const raced = await Promise.race([waiting.then(() => 'ran'), pause(500).then(() => 'waits')]);
    expect(raced).toBe('waits');
    const file = temporaryFolder();
    try {
      await session.text('describe_symbol', { symbol: '*free*' });
    } finally {
      file.remove();
    }
    await session.close();
    await Promise.allSettled([waiting, ...calls]);
  });
});
