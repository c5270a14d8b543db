// interrupt ends calls that run or wait, and keeps the image.

import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Answer } from '../harness.ts';
import { lostDuring } from '../said.ts';
import { until } from '../server/processes.ts';
import { ownSession, sharedSession } from '../shared.ts';

const BY_INTERRUPT =
  'Interrupted after \\d+\\.\\d s by the tool interrupt; the image and what was done so far are kept\\.';

/** Returns the pattern of a whole text that LINES make, each of them a pattern. */
function pattern(...lines: string[]): RegExp {
  return new RegExp(`^${lines.join('\\n')}$`);
}

const session = sharedSession(
  { args: ['--heap', '1GB'] },
  `(defvar *kept* :kept)
    (defun works (x) (loop (sleep 0.01) (when (eq x :never) (return x))))`,
);
beforeAll(async () => {});
afterEach(async () => {
  await session.call('interrupt', { all: true });
  expect(await session.eval('*kept*')).toBe(':KEPT');
});

/** Begins to evaluate FORMS, and returns their answers to come and the numbers of their calls once they run. */
async function begin(...forms: string[]): Promise<{ calls: Promise<Answer>[]; numbers: number[] }> {
  const before = await numbers();
  const calls = forms.map((form) => session.call('eval_form', { form }));
  const begun = await until('the calls', 10_000, async () => {
    const text = await session.text('image_status');
    const now = numbersIn(text).filter((each) => !before.includes(each));
    // Eight run at once.
    const working = Math.min(8, forms.filter((form) => form.includes('(works')).length);
    return now.length === forms.length && text.split('::WORKS ').length > working && now;
  });
  return { calls, numbers: begun };
}

/** Returns the numbers of the calls under way. */
async function numbers(): Promise<number[]> {
  return numbersIn(await session.text('image_status'));
}

function numbersIn(text: string): number[] {
  return [...text.matchAll(/^ {2}(\d+): /gm)].map(([, number]) => Number(number));
}

test('needs no number when one call is under way; both are told where it was and what it wrote', async () => {
  const { calls, numbers } = await begin('(progn (princ "half") (works 1))');
  const { text, isError } = await session.call('interrupt');
  const where = [
    'It was at:',
    '(  \\d: .*\\n)*  \\d: \\(COMMON-LISP-USER::WORKS 1\\)',
    '',
    'Output:',
    'half',
  ];
  expect(isError).toBe(false);
  expect(text).toMatch(
    pattern(
      `Call ${numbers[0]} \\(eval_form \\(progn \\(princ "half"\\) \\(works 1\\)\\)\\): ${BY_INTERRUPT}`,
      '',
      ...where,
    ),
  );
  const [answer] = await Promise.all(calls);
  expect(answer?.isError).toBe(true);
  expect(answer?.text).toMatch(pattern(`Error: ${BY_INTERRUPT}`, '', ...where));
  expect(answer?.notices).toEqual([]);
});

test('with several under way names them, and ends the one that is chosen', async () => {
  const { calls, numbers } = await begin('(works 1)', '(works 2)');
  const [first, second] = numbers;
  const choice = `(${first} \\(eval_form \\(works 1\\), \\d+\\.\\d s\\)|${second} \\(eval_form \\(works 2\\), \\d+\\.\\d s\\))`;
  const { text, isError } = await session.call('interrupt');
  expect(isError).toBe(true);
  expect(text).toMatch(
    pattern(`2 calls run or wait: ${choice}, ${choice}\\. Give the number of one as 'job', or all: true\\.`),
  );
  expect(await session.text('interrupt', { job: second })).toMatch(
    new RegExp(`^Call ${second} \\(eval_form`),
  );
  expect((await calls[1])?.text).toMatch(new RegExp(`^Error: ${BY_INTERRUPT}`));
  expect(await session.text('interrupt', { job: second })).toMatch(
    pattern(
      `Call ${second} has ended already; nothing was interrupted\\. Other calls: ${first} \\(eval_form \\(works 1\\), \\d+\\.\\d s\\)\\.`,
    ),
  );
  expect(await session.text('interrupt', { job: 99_999 })).toMatch(
    /^There is no call 99999; nothing was interrupted\. Other calls: \d+ \(.*\)\.$/,
  );
});

test('ends all, running and waiting, and those that wait never begin', async () => {
  const { calls } = await begin(...Array.from({ length: 10 }, (_, n) => `(works ${n})`));
  const { text, isError } = await session.call('interrupt', { all: true });
  expect(isError).toBe(false);
  expect(text.match(/by the tool interrupt; the image and what was done so far are kept\./g)).toHaveLength(8);
  const never =
    'Ended by the tool interrupt after a wait of \\d+\\.\\d s; the call had not begun, so nothing was done\\.';
  expect(text.match(new RegExp(`^Call \\d+ \\(eval_form \\(works [89]\\)\\): ${never}$`, 'gm'))).toHaveLength(
    2,
  );
  const answers = await Promise.all(calls);
  expect(answers.map((answer) => answer.isError)).toEqual(Array(10).fill(true));
  expect(answers.filter((answer) => pattern(`Error: ${never}`).test(answer.text))).toHaveLength(2);
});

test('climbs on when a call resists', async () => {
  const { calls } = await begin('(unwind-protect (works 1) (works 2))');
  expect(await session.text('interrupt')).toMatch(
    /by the tool interrupt; the image and what was done so far are kept\. Its cleanup forms did not end in time and were cut short\.\n/,
  );
  expect((await calls[0])?.isError).toBe(true);
});

test('ends a call whose thread has not come to its code yet, and keeps the image', async () => {
  await session.eval(`(defvar *not-begun-kept* t) (let ((left 1))
    (push (lambda () (when (= (decf left) 0) (sleep 1000))) live-lisp.jobs::**before-jobs**))`);
  const { text, isError } = await session.call('eval_form', { form: '1', timeout: 0.3 });
  await session.eval('(pop live-lisp.jobs::**before-jobs**)');
  expect([isError, text]).toEqual([
    true,
    // Whether its thread had come to know of the call is a matter of chance.
    expect.stringMatching(
      /the image (?:and what was done so far are|is) kept|the call had not begun, so nothing was done/,
    ),
  ]);
  expect(await session.eval('(boundp (quote *not-begun-kept*))')).toBe('T');
});

test('ends the first call of an image too when it has made *FEATURES* a circle, which no compilation survives', async () => {
  const fresh = await ownSession();
  const circle = '(setf *features* (let ((l (list :a))) (setf (cdr l) l) l))';
  const { text } = await fresh.call('eval_form', { form: `(progn ${circle} (loop))`, timeout: 3 });
  expect(text).toMatch(/^Error: Interrupted after/);
});

describe('from code', () => {
  const callTool = (more = '') =>
    `(handler-case (live-lisp:call-tool :interrupt${more}) (live-lisp:tool-error (e) (live-lisp:tool-error-message e)))`;

  test('it ends another call, and tells what became of it as data (S2.21)', async () => {
    const { calls, numbers } = await begin('(progn (princ "half") (works 1))');
    const form = `(let* ((end (first ${callTool()})) (ending (gethash "ending" end)))
      (list (gethash "job" end) (gethash "ended" end) (gethash "kind" ending) (gethash "reason" ending)
            (gethash "text" (gethash "output" end))))`;
    expect(await session.eval(form)).toBe(`(${numbers[0]} T "interrupted" "interrupt" "half")`);
    expect((await calls[0])?.isError).toBe(true);
  });

  test('it cannot end its own call, whichever way it is asked', async () => {
    expect(await session.eval(callTool())).toBe(
      '"The only running call is the one that called interrupt, so there is nothing to interrupt."',
    );
    const own = `(gethash "job" (first (gethash "jobs" (live-lisp:call-tool :image-status))))`;
    expect(await session.eval(callTool(` :job ${own}`))).toMatch(
      /^"Call \d+ cannot interrupt itself: its own code calls interrupt\. To end it, call \(abort\) or return from its code\."$/,
    );
  });

  test('all means all others', async () => {
    const { calls } = await begin('(works 1)', '(works 2)');
    expect(await session.eval('(list (length (live-lisp:call-tool :interrupt :all t)))')).toBe('(2)');
    for (const { text } of await Promise.all(calls)) {
      expect(text).toMatch(new RegExp(`^Error: ${BY_INTERRUPT}`));
    }
  });
});

describe('a call whose code has called a tool', () => {
  const NESTED =
    '(handler-case (live-lisp:call-tool :eval-form :form "(works 1)") (live-lisp:tool-error () :inner-ended))';

  /** Begins such a call and returns its answer to come with both numbers. */
  async function beginNested() {
    const call = session.call('eval_form', { form: NESTED });
    const [outer = 0, inner = 0] = await until('both', 5000, async () => {
      const both = await numbers();
      return both.length === 2 && both;
    });
    return { call, outer, inner };
  }

  test('counts as one, and what it called ends with it', async () => {
    const { call, outer } = await beginNested();
    expect(await session.text('interrupt')).toMatch(new RegExp(`^Call ${outer} `));
    expect((await call).text).toMatch(
      new RegExp(`^Error: ${BY_INTERRUPT}\\n\\nIt was at:\\n  0: \\(LIVE-LISP:CALL-TOOL `),
    );
    await until('the end of both', 2000, async () => (await numbers()).length === 0);
  });

  test('goes on when only that is interrupted, which is a failure for it', async () => {
    const { call, inner } = await beginNested();
    await session.text('interrupt', { job: inner });
    expect((await call).text).toBe(':INNER-ENDED');
  });
});

test('an image in which a call cannot be ended is replaced, and both are told', async () => {
  // How long the image is given follows from its heap.
  const lost = await ownSession({ args: ['--heap', '256MB'] });
  await lost.eval('1');
  // One function, so that all of it is compiled before it writes.
  const form = '(funcall (lambda () (princ 1) (sb-sys:without-interrupts (loop))))';
  const call = lost.call('eval_form', { form });
  await until('the call', 10_000, async () => (await lost.text('image_status')).includes('1 character'));
  const how = lostDuring('a call could not be interrupted, so the image had to be replaced');
  // On a busy machine it says first that the call has not ended yet.
  const { text } = await until('the end', 60_000, async () => {
    const answer = await lost.call('interrupt');
    return !answer.isError && answer;
  });
  expect(text).toBe(`Call 2 (eval_form ${form}): ${how}\n\nOutput:\n1`);
  expect((await call).text).toBe(`Error: ${how}\n\nOutput:\n1`);
});

test('what runs on for long is told with the next answer, once', async () => {
  const short = await ownSession({ waits: { longMs: 1000 } });
  await short.eval('(defun works (x) (loop (sleep 0.01) (when (eq x :never) (return x))))');
  const call = short.call('eval_form', { form: '(works 9)' });
  const notices = await until('the note', 30_000, async () => {
    const { notices } = await short.call('eval_form', { form: '1' });
    return notices.length > 0 && notices;
  });
  expect(notices).toEqual([
    expect.stringMatching(
      /^Note: still running: call 2 \(eval_form \(works 9\), [1-9]\d*\.\d s\)\. Use interrupt to end a call that nobody waits for\.$/,
    ),
  ]);
  expect((await short.call('eval_form', { form: '2' })).notices).toEqual([]);
  await short.call('interrupt');
  await call;
});
