// What calls change in an image that somebody else runs is undone when their server has gone, whatever they do then.

import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AttachedImage } from '../../src/image/attached/attached-image.ts';
import { temporaryFolder } from '../harness.ts';
import { until } from '../server/processes.ts';
import { startSbcl } from './attached-sbcl.ts';
import { described } from './served.ts';

const folder = temporaryFolder();
let socket: string;
let sbcl: ChildProcess;

beforeAll(async () => {
  ({ sbcl, socket } = await startSbcl(folder.path, { cwd: folder.path, silent: true }));
});
afterAll(() => {
  sbcl.kill('SIGKILL');
  folder.remove();
});

function attach(): AttachedImage {
  const find = async () => described(folder.path, 'sbcl-1', { socket });
  return new AttachedImage({ find, attachLine: '(load "attach.lisp")', limitMs: 60_000 });
}

/** Returns what evaluates forms in IMAGE, and resolves with the value of the last one as text. */
function asker(image: AttachedImage): (code: string) => Promise<string | undefined> {
  return async (code) => (await image.call('evaluate', { code })).data.values?.at(-1)?.[0]?.text;
}

// Each call ignores the interrupt that its server's end sends, until the test lets it go on.
const IGNORING = (goOn: string) =>
  `(sb-sys:without-interrupts (setf *ignoring* t) (loop until (probe-file "${goOn}") do (sleep 0.01)))`;
test.each([
  [
    'a recording',
    'observe-calls',
    (goOn: string) => ({ functions: ['observed-on'], code: IGNORING(goOn), limit: 5 }),
    "(and (sb-impl::encapsulation-info (sb-kernel:%coerce-name-to-fun 'observed-on)) t)",
  ],
  [
    'a profile',
    'observe-profile',
    // The form is run once before the samples are taken.
    (goOn: string) => ({
      mode: 'cpu' as const,
      code: `(if (shiftf *again* t) ${IGNORING(goOn)})`,
      seconds: 5,
      top: 5,
    }),
    '(not (null (symbol-value (find-symbol "*PROFILING*" "SB-SPROF"))))',
  ],
] as const)('%s ends with its server, though its call goes on', async (_, operation, args, changed) => {
  const [first, second] = [attach(), attach()];
  const goOn = join(folder.path, `go-on-${operation}`);
  const ask = asker(second);
  await ask('(defvar *ignoring*) (defvar *again*) (setf *ignoring* nil *again* nil)');
  await ask('(defun observed-on (x) x)');
  const left = first.call(operation, args(goOn));
  await until('that it ignores interrupts', 60_000, async () => (await ask('*ignoring*')) === 'T');
  expect(await ask(changed)).toBe('T');
  first.close();
  await left;
  await until('its end', 60_000, async () => (await ask(changed)) === 'NIL');
  // The call that goes on, and the one that asks; those that were answered leave the table a moment later.
  const jobs = () => ask('(hash-table-count live-lisp.jobs::**jobs**)');
  await until('the end of the other calls', 60_000, async () => (await jobs()) === '2');
  writeFileSync(goOn, '');
  await until(
    'the end of the call',
    60_000,
    async () => (await ask('(hash-table-count live-lisp.jobs::**jobs**)')) === '1',
  );
  expect(await ask(changed)).toBe('NIL');
  await second.end();
});

test.each([
  ['a watch', '(live-lisp.debug::operation/debug-watch :where "all")', 'live-lisp.debug::**watches**'],
  [
    'a held error',
    `(live-lisp.debug::note-held (make-condition 'error) 60 nil nil)`,
    'live-lisp.debug::**held**',
  ],
  [
    'a wrapper',
    `(live-lisp.observe::call-observed
       (let ((observation (live-lisp.observe::make-observation)))
         (live-lisp.observe::make-probes observation '(observed-late) nil nil)
         observation)
       (lambda () (setf *seen* (gethash 'observed-late live-lisp.base::**wrappers**))))`,
    '*seen*',
  ],
] as const)('%s that a call makes when its server has gone is not made', async (what, form, made) => {
  const [first, second] = [attach(), attach()];
  const goOn = join(folder.path, `late-${what.replace(' ', '-')}`);
  const ask = asker(second);
  await ask(
    '(defvar *ignoring*) (defvar *made*) (defvar *seen*) (setf *ignoring* nil *made* nil *seen* nil)',
  );
  await ask('(defun observed-late (x) x)');
  const left = first.call('evaluate', {
    code: `(sb-sys:without-interrupts (setf *ignoring* t) (loop until (probe-file "${goOn}") do (sleep 0.01)) ${form} (setf *made* t))`,
  });
  await until('that it ignores interrupts', 60_000, async () => (await ask('*ignoring*')) === 'T');
  first.close();
  await left;
  const connections = '(length live-lisp.base::**channels**)';
  await until('the end of its connection', 60_000, async () => (await ask(connections)) === '1');
  writeFileSync(goOn, '');
  await until('what it makes', 60_000, async () => (await ask('*made*')) === 'T');
  expect(await ask(made)).toBe('NIL');
  await second.end();
});
