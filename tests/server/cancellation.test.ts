// Whatever ends a call ends it by an interrupt: cleanup forms run and the state is kept. That holds for every tool that
// runs code, also while it waits, and for what its code has called.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../harness.ts';
import { within } from '../load.ts';
import { ownSession, sharedFolder, sharedSession } from '../shared.ts';
import { gone, imageOf, until } from './processes.ts';
import { RawServer, textOf } from './raw.ts';

/** A server that is ended exits within a second. */
const EXIT_MS = 1000;

/** Runs until it is interrupted, and notes that it began and that its cleanup form ran. */
const ENDLESS =
  '(unwind-protect (progn (setf cl-user::*begun* t) (loop (sleep 0.01))) (setf cl-user::*cleaned* t))';

const REGISTRATION = `(live-lisp:register-tool live-lisp:*agent-q-registry*
  (live-lisp:define-tool "endless" "Runs until it is interrupted." '() :handler (lambda (args) (declare (ignore args)) ${ENDLESS})))`;

/** Calls that run for ever, each by another tool. */
const CALLS: [string, Record<string, unknown>][] = [
  ['compile_form', { form: `(defun compiled () #.${ENDLESS})` }],
  ['macroexpand_form', { form: '(endlessly)' }],
  ['load_system', { system: 'endless' }],
  ['endless', {}],
  ['eval_form', { form: '(live-lisp:call-tool :load-file :path "endless.lisp")' }],
];

// How a cancellation comes from the client in each era is in cancel.test.ts.
describe('a call that the client cancels', () => {
  const root = sharedFolder();
  root.put('endless.lisp', `${ENDLESS}\n`);
  root.put('endless.asd', '(asdf:defsystem "endless" :components ((:file "endless")))\n');
  const session = sharedSession(
    {
      args: ['--root', root.path],
      env: { ASDF_OUTPUT_TRANSLATIONS: `/:${root.path}/cache/` },
    },
    `(defvar *begun*) (defvar *cleaned*) (defvar *kept* :kept)
      (defmacro endlessly () ${ENDLESS}) ${REGISTRATION}`,
  );

  test.each(CALLS)('%s %j ends at once, and its cleanup forms run', async (name, args) => {
    await session.eval('(setf *begun* nil *cleaned* nil)');
    const controller = new AbortController();
    const rejected = expect(session.call(name, args, { signal: controller.signal })).rejects.toThrow();
    await until('its beginning', 60_000, async () => (await session.eval('*begun*')) === 'T');
    controller.abort();
    await rejected;
    await until('its cleanup', 60_000, async () => (await session.eval('*cleaned*')) === 'T');
    await until('the end of all calls', 60_000, async () => {
      return (await session.text('image_status')).startsWith('The Lisp image is ready, and no call runs.');
    });
    expect(await session.eval('*kept*')).toBe(':KEPT');
  });

  test('while the image starts does nothing, and leaves no call behind', async () => {
    const go = join(root.path, 'go');
    const init = root.put('init.lisp', `(loop until (probe-file "${go}") do (sleep 0.01))\n`);
    const slow = await ownSession({ args: ['--root', root.path, '--init', init] });
    const controller = new AbortController();
    const call = slow.call('eval_form', { form: '(defvar *never* 1)' }, { signal: controller.signal });
    const rejected = expect(call).rejects.toThrow();
    await until('the start', 60_000, async () =>
      (await slow.text('image_status')).includes('waits for the image'),
    );
    controller.abort();
    await rejected;
    await until('its end', 60_000, async () => !(await slow.text('image_status')).includes('eval_form'));
    root.put('go', '');
    expect(await slow.eval("(boundp '*never*)")).toBe('NIL');
  });
});

describe('a call that runs when the server ends', () => {
  let server: RawServer;
  let folder: ReturnType<typeof temporaryFolder>;
  beforeEach(async () => {
    folder = temporaryFolder();
    // On a busy machine cleanup forms take longer than they have.
    server = await new RawServer({ waits: { image: { cleanup: 60_000 } } }).connect();
  });
  afterEach(async () => {
    await server.kill();
    folder.remove();
  });

  // killed.test.ts ends one by SIGINT.
  test.each<[string, (server: RawServer) => void]>([
    ['stdin that ends', (ended) => ended.end()],
    ['SIGHUP', (ended) => ended.process.kill('SIGHUP')],
  ])('by %s still runs its cleanup forms, and the image is gone', async (_, end) => {
    const [begun, cleaned] = [join(folder.path, 'begun'), join(folder.path, 'cleaned')];
    const touch = (file: string) => `(close (open "${file}" :direction :output :if-exists :supersede))`;
    const form = `(unwind-protect (progn ${touch(begun)} (loop (sleep 0.01))) ${touch(cleaned)})`;
    server.write(server.callLine('eval_form', { form }).line);
    await until('its beginning', 60_000, () => existsSync(begun));
    const image = await imageOf(server.pid);
    const { code } = await within(EXIT_MS, () => {
      end(server);
      return server.exited;
    });
    expect(code).toBe(0);
    expect(existsSync(cleaned)).toBe(true);
    await gone(image, 60_000);
  });

  test('by a signal is told so when the client still listens', async () => {
    await server.eval('(defun half () (princ "half") (loop (sleep 100)))');
    const { id, line } = server.callLine('eval_form', { form: '(half)' });
    server.write(line);
    await until('its output', 60_000, async () =>
      textOf(await server.send(server.callLine('image_status', {}))).includes('4 characters of output'),
    );
    server.process.kill('SIGTERM');
    await server.exited;
    await until('all that it wrote', 60_000, () => server.process.stdout.readableEnded);
    const answer = server.messages.find((each) => each.id === id);
    expect(answer?.result?.isError).toBe(true);
    expect(answer?.result?.content?.[0]?.text).toMatch(
      /^Error: Interrupted after \d+\.\d s because the server is ending\.\n\nIt was at:\n[\s\S]*\n\nOutput:\nhalf$/,
    );
  });
});
