// An image that dies where nothing is built again: the call that ran says so. The next gets a new one, and is told once
// what was lost.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Answer, bad, good, type Session } from '../harness.ts';
import { killImage } from '../recovery/losses.ts';
import { lostDuring, lostWithIt } from '../said.ts';
import { imageOf, imagesOf, until } from '../server/processes.ts';
import { ownSession, sharedFolder, sharedSession } from '../shared.ts';

const REPLAY_OFF = ['--replay', 'off'];

function lost(how: string): Answer {
  return bad(`Error: ${lostDuring(how)}`);
}

function notice(how: string, what: string): string {
  return `This is a new Lisp image; the one before was lost: ${how}. ${what}`;
}

/** Starts a session, hands it to USE, and ends it. */
async function withSession(args: string[], use: (session: Session) => Promise<void>): Promise<void> {
  const session = await ownSession({ args: [...REPLAY_OFF, ...args] });
  await use(session);
}

describe('in one session', () => {
  // What cannot be interrupted costs more time the larger the heap is.
  const session = sharedSession({ args: [...REPLAY_OFF, '--heap', '256MB'] }, '1');

  function answer(form: string, more: Record<string, unknown> = {}): Promise<Answer> {
    return session.call('eval_form', { form, ...more });
  }

  /** Expects that the image just lost is told with the next answer, and with no other. */
  async function expectReported(reported: string): Promise<void> {
    expect(await answer('(+ 1 2)')).toEqual({ text: '3', notices: [reported], isError: false });
    expect(await answer('(+ 1 2)')).toEqual(good('3'));
  }

  // Each evaluates twice after a loss: these two and the definition are what the next can lose.
  test.each([
    ['(exit :code 3)', 'it exited with code 3'],
    // What is needed at the end of the call is gone from the backend.
    [
      `(setf (live-lisp.jobs::job-crowded live-lisp.jobs::*job*) t
             live-lisp.jobs::**collect-much** (lambda () (error 'unbound-variable :name 'live-lisp.jobs::gone)))`,
      'its backend failed: The variable LIVE-LISP.JOBS::GONE is unbound',
    ],
  ])('by %s: the texts are exact', async (form, how) => {
    await answer('(defvar *mine* 1)');
    const { text, isError } = await answer(form);
    expect({ text, notices: [], isError }).toEqual(lost(how));
    const next = await answer("(boundp '*mine*)");
    expect([next.text, next.notices.length]).toEqual(['NIL', 1]);
    expect(next.notices[0]).toMatch(
      new RegExp(
        `^This is a new Lisp image; the one before was lost: ${how}\\. Lost with it: everything that \\d+ evaluation`,
      ),
    );
    expect((await answer('2')).notices).toEqual([]);
  });

  test('the evaluations are counted for each image', async () => {
    await answer('(exit)');
    for (const form of ['1', '2', '3']) await answer(form);
    await answer('(exit)');
    await expectReported(notice('it exited with code 0', lostWithIt(3)));
    await answer('(exit)');
    await expectReported(notice('it exited with code 0', lostWithIt(2)));
  });

  test('killed from outside while it evaluates, with others beside it', async () => {
    await answer('(defvar *busy* (list 0))');
    const busy = '(progn (sb-ext:atomic-incf (car *busy*)) (loop))';
    const calls = [answer(busy), answer(busy)];
    await until('both run', 60_000, async () => (await answer('(= (car *busy*) 2)')).text === 'T');
    process.kill(await imageOf(session.pid), 'SIGKILL');
    expect(await Promise.all(calls)).toEqual([
      lost('it was ended by SIGKILL'),
      lost('it was ended by SIGKILL'),
    ]);
    const next = await Promise.all([answer('1'), answer('2')]);
    expect(next.flatMap(({ notices }) => notices)).toHaveLength(1);
    expect(imagesOf(session.pid)).toHaveLength(1);
  });

  test('during a lookup: that says so too', async () => {
    await answer(
      '(defclass deadly () ()) (defmethod print-object ((x deadly) s) (declare (ignore s)) (exit :abort t)) (defvar *deadly* (make-instance (quote deadly)))',
    );
    const { text, isError } = await session.call('describe_symbol', { symbol: '*deadly*' });
    // A value that cannot be shown safely may also be left out.
    if (isError) expect(text).toMatch(/^The Lisp image was lost during this call: it exited with code 1\./);
    else expect(text).toContain('*DEADLY*');
    await answer('1');
    expect((await answer('2')).notices).toEqual([]);
  });

  test('what cannot be interrupted costs the image, which is told once', async () => {
    const how = 'a call could not be interrupted, so the image had to be replaced';
    await answer('1');
    await answer('(exit)');
    await answer('1');
    // The limit must come when the call is in its loop, also where many others want the CPU.
    expect(await answer('(sb-sys:without-interrupts (loop))', { timeout: 3 })).toEqual(lost(how));
    await expectReported(notice(how, lostWithIt(1)));
  });
});

describe('what was lost', () => {
  const folder = sharedFolder();
  const file = join(folder.path, 'some.lisp');
  mkdirSync(join(folder.path, 'lost-system'));
  writeFileSync(file, '(defvar *some* 1)\n');
  folder.put('init.lisp', '(defvar cl-user::*init* :loaded)\n');
  folder.put('bad-init.lisp', '(defvar cl-user::*half* 1)\n(error "bad init")\n');
  folder.put('lost-system/lost-system.asd', '(asdf:defsystem "lost-system")\n');

  test('files and systems are named', async () => {
    await withSession(['--root', folder.path], async (session) => {
      await session.eval('1');
      await session.call('load_file', { path: 'some.lisp' });
      await session.call('load_system', { system: 'lost-system' });
      await session.eval('(exit)');
      const { notices } = await session.call('describe_symbol', { symbol: 'car' });
      expect(notices).toHaveLength(1);
      expect(notices[0]).toContain('everything that 1 evaluation made');
      expect(notices[0]).toMatch(/; the loaded systems (asdf, )?lost-system(, \S+)*; the loaded files /);
      expect(notices[0]).toContain(`the loaded files ${file}. Load or define again what you need.`);
      // They are lost only once.
      await session.eval('(exit)');
      expect((await session.call('eval_form', { form: '1' })).notices).toEqual([
        notice('it exited with code 0', 'Nothing was lost with it.'),
      ]);
    });
  });

  test('an image in which nothing was done is told so', async () => {
    await withSession([], async (session) => {
      await session.text('describe_symbol', { symbol: 'car' });
      await killImage(session);
      expect((await session.call('eval_form', { form: '1' })).notices).toEqual([
        notice('it was ended by SIGKILL', 'Nothing was lost with it.'),
      ]);
    });
  });

  test('--init is loaded into the new image too', async () => {
    await withSession(['--init', join(folder.path, 'init.lisp')], async (session) => {
      expect(await session.eval('(list *init* (makunbound (quote *init*)))')).toBe('(:LOADED *INIT*)');
      await session.eval('(exit)');
      const { text, notices } = await session.call('eval_form', { form: '*init*' });
      expect(text).toBe(':LOADED');
      expect(notices).toEqual([notice('it exited with code 0', lostWithIt(1))]);
    });
  });

  test('an error in the --init file is told once for each image, and the image is used', async () => {
    const init = join(folder.path, 'bad-init.lisp');
    await withSession(['--init', init], async (session) => {
      const reported = `The start file ${init} was not loaded to its end: bad init\n`;
      const first = await session.call('eval_form', { form: '*half*' });
      expect([first.text, first.isError, first.notices.length]).toEqual(['1', false, 1]);
      expect(first.notices[0]?.startsWith(reported)).toBe(true);
      expect((await session.call('eval_form', { form: '2' })).notices).toEqual([]);
      await session.eval('(exit)');
      const { notices } = await session.call('eval_form', { form: '*half*' });
      expect(notices.filter((text) => text.startsWith(reported))).toHaveLength(1);
      expect((await session.call('eval_form', { form: '2' })).notices).toEqual([]);
    });
  });
});
