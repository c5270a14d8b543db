// A call runs what was registered and, where a human was asked, what they were asked about, whatever becomes of the tool.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { changedMeanwhile } from '../said.ts';
import { until } from '../server/processes.ts';
import { sharedFolder } from '../shared.ts';
import { definition, toolOf, withSession } from './sessions.ts';

const folder = sharedFolder();

describe('what was approved', () => {
  const define = (value: string) => definition('asks', value, ':safety-level :dangerous');

  test('S2.11 S2.12 it is no tool that was registered after the question', async () => {
    let questions = 0;
    let redefine: () => Promise<string> = () => expect.fail();
    await withSession(
      'legacy',
      async ({ session }) => {
        redefine = () => session.eval(define('other'));
        await session.eval(define('shown'));
        const text = changedMeanwhile('asks');
        expect(await session.call('asks')).toMatchObject({ text, isError: true });
        expect([await session.text('asks'), questions]).toEqual(['Tool execution denied by user', 2]);
      },
      {
        onQuestion: async () => {
          questions += 1;
          if (questions > 1) return { action: 'decline' };
          await redefine();
          return { action: 'accept', content: { decision: 'approve for this session' } };
        },
      },
    );
  });
});

test('S2.20 C19 a call that waits runs the handler for which it was validated', async () => {
  await withSession('legacy', async ({ session, changes }) => {
    await session.eval(
      `(defvar *changed* (list 0)) (defvar *all-changed* nil) ${definition('once', 'first')} ${definition('twice', 'first')}`,
    );
    await until('the tools', 60_000, () => changes() > 0);
    const change = `${definition('once', 'second')} ${definition('twice', 'second')} ${definition('twice', 'third')}`;
    const goOn = join(folder.path, 'go-on');
    // All places are taken until one of those that have them changes the tools.
    const filling = Array.from({ length: 8 }, () =>
      session.eval(
        `(loop until (probe-file "${goOn}") do (sleep 0.01))
        (if (zerop (sb-ext:atomic-incf (car *changed*)))
            (progn ${change} (setf *all-changed* t))
            (loop until *all-changed* do (sleep 0.01)))`,
        { timeout: 600 },
      ),
    );
    const waiting = [session.call('once'), session.call('twice')];
    const waits = async () => (await session.text('image_status')).includes('8 calls run, 2 wait.');
    await until('the calls that wait', 60_000, waits);
    writeFileSync(goOn, '');
    const [once, twice] = await Promise.all(waiting);
    expect(once).toMatchObject({ text: 'first', isError: false });
    expect(twice).toMatchObject({
      text: 'Tool twice was redefined while this call waited, so nothing was done. Call it again.',
      isError: true,
    });
    await Promise.all(filling);
    expect([await session.text('once'), await session.text('twice')]).toEqual(['second', 'third']);
  });
});

test('S2.20 what is set in a registered tool counts for clients when it is registered again', async () => {
  await withSession('legacy', async ({ session }) => {
    await session.eval(`(in-package :live-lisp-user) ${definition('parts', 'registered')}`);
    await session.eval(`(let ((tool (get-tool "parts")))
      (setf (tool-handler tool) (constantly "set")
            (tool-description tool) "Set."
            (tool-safety-level tool) :dangerous))`);
    expect(await session.text('parts')).toBe('registered');
    expect((await toolOf(session, 'parts'))?.description).toBe('Give registered. At once.');
    await session.eval(`(let ((tool (get-tool "parts")))
      (setf (tool-safety-level tool) :safe)
      (register-tool *agent-q-registry* tool))`);
    expect([await session.text('parts'), (await toolOf(session, 'parts'))?.description]).toEqual([
      'set',
      'Set.',
    ]);
  });
});

/** How many evaluations run. */
const JOBS = `(count "live-lisp evaluate" (sb-thread:list-all-threads)
  :key #'sb-thread:thread-name :test #'equal)`;

test('S2.20 a registration that is interrupted leaves no tool of two minds', async () => {
  await withSession('legacy', async ({ session }) => {
    const form = `(loop for n from 0
      do (let ((text (format nil "Number ~D." n)))
           (live-lisp:register-tool live-lisp:*agent-q-registry*
             (live-lisp:define-tool "number" text '() :handler (constantly text)))))`;
    for (let time = 0; time < 3; time += 1) {
      const before = (await toolOf(session, 'number'))?.description;
      const cancelled = new AbortController();
      const call = session.call('eval_form', { form }, { signal: cancelled.signal });
      await until('a registration', 60_000, async () => {
        return (await toolOf(session, 'number'))?.description !== before;
      });
      cancelled.abort();
      await expect(call).rejects.toThrow();
      // The answer of a call that the client cancelled never comes; this one waits for the end of its thread.
      await until('its end', 60_000, async () => (await session.eval(JOBS)) === '1');
      expect(await session.text('number')).toBe((await toolOf(session, 'number'))?.description);
      expect(
        await session.eval(
          '(live-lisp:tool-result-success (live-lisp:execute-tool-call (live-lisp:get-tool "number") nil))',
        ),
      ).toBe('T');
    }
  });
});
