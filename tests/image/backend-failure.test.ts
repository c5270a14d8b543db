// An error in the backend's own code, before or after the work of a call: the answer says so, the image is kept, and
// the server's log has the error with its frames.

import { expect, test } from 'vitest';
import { bad, good } from '../harness.ts';
import { until } from '../server/processes.ts';
import { sharedSession } from '../shared.ts';

const session = sharedSession({ args: ['--replay', 'off'] });
const evaluated = (form: string) => session.call('eval_form', { form });

const DETAILS = "the server's standard error has the details for a bug report.";
test('after a call: what it did is kept, and the frames are in the log', async () => {
  expect(
    await evaluated('(progn (defvar *kept* 1) (setf (live-lisp.jobs::job-output live-lisp.jobs::*job*) 42))'),
  ).toEqual(
    bad(`Error: live-lisp failed after the call had run, so its result is lost, but its effects remain (The value 42 is not of type LIVE-LISP.BASE::CAPTURE). The image is kept. Check what the call did before you repeat it; ${DETAILS}
Type: COMMON-LISP::TYPE-ERROR`),
  );
  expect(await evaluated('*kept*')).toEqual(good('1'));
  await until('the log has the report', 60_000, async () => session.stderr.includes('::RUN-HERE'));
  expect(session.stderr).toMatch(
    /^live-lisp: The backend failed after it began operation evaluate: COMMON-LISP::TYPE-ERROR\nThe value 42 is not of type LIVE-LISP\.BASE::CAPTURE.*\n(?: {2}\(.*\n)*? {2}\(LIVE-LISP\.JOBS::ANSWER /m,
  );
});

test('in the thread that reads requests', async () => {
  await evaluated('(setf (live-lisp.jobs::session-errors live-lisp.jobs::*session*) 42)');
  const { text, isError } = await session.call('get_last_error', {});
  expect({ text, isError }).toEqual({
    text: `The lookup failed, because code in the image signalled COMMON-LISP::TYPE-ERROR: live-lisp failed, so nothing was done (The value 42 is not of type SEQUENCE). The image is kept. Call again; ${DETAILS}`,
    isError: true,
  });
  await evaluated("(setf (live-lisp.jobs::session-errors live-lisp.jobs::*session*) '())");
  expect(await evaluated('*kept*')).toEqual(good('1'));
  expect(session.stderr).toContain('live-lisp: The backend failed in its operation last-error: ');
});

test('before a call: it runs in a new image, and the frames are in the log', async () => {
  await evaluated(
    `(push (lambda () (error "Not ~S." '(a . #.(sb-int:unquote 'b 2)))) live-lisp.jobs::**before-jobs**)`,
  );
  const { text, notices } = await evaluated('(+ 1 2)');
  expect(text).toBe('3');
  expect(notices.join('\n')).toContain('its backend failed: Not (A . ,@B)');
  expect(session.stderr).toContain('live-lisp: The backend failed before it began operation evaluate: ');
});
