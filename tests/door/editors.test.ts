// What an editor sees of calls, what it may answer, and what happens when it does not.

import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bad, ERAS, good, NO_SYSTEMS } from '../harness.ts';
import { servingPlace } from '../image/served.ts';
import { sandboxTest } from '../sandbox/namespaces.ts';
import { until } from '../server/processes.ts';
import { ownFolder, ownSession } from '../shared.ts';
import { described, Editor, sessionOf, watchingEditor } from './editor.ts';
import { authorities, start } from './server.ts';

/** A decline that comes sooner is taken for one that no person made. */
const person = () => new Promise<void>((resolve) => setTimeout(resolve, 600));

const WRITE = { path: 'a.lisp', content: '(a)\n' };
const WROTE = good('Wrote 4 bytes to a.lisp');
const NOBODY = bad(
  "Tool write_file is dangerous and needs a human's approval, and here nobody can be asked. Nothing was done. A person can allow it when they start the server: --allow write_file:a.lisp",
);
const TOO_LATE = bad(
  "Tool write_file is dangerous and needs a human's approval. Nobody answered in time, so nothing was done. A person can allow it when they start the server: --allow write_file:a.lisp",
);

describe('a server', () => {
  test('writes what it is beside its socket, for its user only', async () => {
    const { session, root, path } = await start();
    expect(described(path)).toEqual({
      pid: session.pid,
      workspace: root.path,
      started: expect.any(Number),
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    });
    expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
    expect(statSync(`${path}.json`).mode & 0o777).toBe(0o600);
    await session.close();
    await until(
      'the removal of its files',
      60_000,
      () => !existsSync(`${path}.json`) && !existsSync(`${path}.socket`),
    );
  });

  test('removes the files of killed servers, and keeps those of others', async () => {
    const serving = servingPlace();
    onTestFinished(serving.remove);
    const options = { args: NO_SYSTEMS, env: { LIVE_LISP_SERVING: serving.path } };
    const killed = await ownSession(options);
    await killed.call('image_status');
    const dead = await sessionOf(serving.path, killed.pid);
    process.kill(killed.pid, 'SIGKILL');
    writeFileSync(join(dead, '..', 'session-1.json'), '{}');
    const next = await ownSession(options);
    await next.call('image_status');
    await watchingEditor(await sessionOf(serving.path, next.pid));
    expect([existsSync(`${dead}.json`), existsSync(`${dead}.socket`)]).toEqual([false, false]);
    expect(existsSync(join(dead, '..', 'session-1.json'))).toBe(true);
  });

  test('that nobody can connect to leaves no test waiting', async () => {
    const asked = new Editor('/nowhere').request('live-lisp/watch');
    await expect(asked).rejects.toThrow(
      'There was never an answer to live-lisp/watch: connect ENOENT /nowhere.socket.',
    );
  });

  test('works without, and says so, where it can have no socket', async () => {
    const folder = ownFolder();
    const file = folder.put('file', '');
    const session = await ownSession({ args: NO_SYSTEMS, env: { LIVE_LISP_SERVING: file } });
    expect((await session.call('image_status')).isError).toBe(false);
    await until('the complaint', 60_000, () =>
      session.stderr.includes('live-lisp: No editor and no command can connect: '),
    );
  });

  test('knows only its two methods, the second after the first, and says what is no message', async () => {
    const { path } = await start();
    const editor = new Editor(path);
    onTestFinished(() => void editor.socket.destroy());
    const message =
      'The first request on this socket must be live-lisp/watch; later ones can be live-lisp/answer.';
    const error = { code: -32000, message };
    expect(await editor.request('live-lisp/answer', { id: 'x', approve: true })).toMatchObject({ error });
    expect(await editor.request('initialize')).toMatchObject({ error });
    editor.write('no JSON');
    await until('the error', 60_000, () =>
      editor.messages.some(
        ({ id, error }) => id === null && error?.message === 'The line is no message of JSON-RPC.',
      ),
    );
  });
});

describe('an editor', () => {
  test('sees each call and its answer, also those before it came', async () => {
    const { session, path } = await start({ clientName: 'a client' });
    await session.eval('(list 1\n 2)');
    const editor = await watchingEditor(path);
    await session.eval('(error "No\nway.")');
    const began = await editor.nth('live-lisp/began', 3);
    expect(began).toEqual({
      id: 3,
      time: expect.any(Number),
      client: 'a client',
      tool: 'eval_form',
      lines: ['> form: (error "No', '| way.")'],
    });
    expect((await editor.nth('live-lisp/began', 2))['lines']).toEqual(['> form: (list 1', '|  2)']);
    const milliseconds = expect.any(Number);
    expect(await editor.nth('live-lisp/ended', 2)).toEqual({
      id: 2,
      isError: false,
      milliseconds,
      line: '(1 2)',
    });
    expect(await editor.nth('live-lisp/ended', 3)).toEqual({
      id: 3,
      isError: true,
      milliseconds,
      line: 'Error: No',
    });
  });

  test('sees no line that could be another, and no end of a long argument', async () => {
    const { session, path } = await start();
    const editor = await watchingEditor(path);
    await session.eval(`1 ; \u202e\n=> 2\n;${'x'.repeat(5000)}`);
    const { lines } = await editor.nth('live-lisp/began', 2);
    expect(lines).toEqual([
      '> form: 1 ; <U+202E>',
      '| => 2',
      expect.stringMatching(/^\| ;x{3980,4000}$/),
      '| [...]',
    ]);
  });

  test('that does not read holds nothing up', async () => {
    const { session, path } = await start();
    const editor = await watchingEditor(path);
    editor.socket.pause();
    const form = `(progn ${'"'.padEnd(3000, 'x')}" ${';y\n'.repeat(300)} 1)`;
    for (let calls = 0; calls < 30; calls += 1) await session.eval(form);
    expect(await session.eval('(+ 1 2)')).toBe('3');
  });
});

describe('a question of a client that cannot ask', () => {
  test('is asked in the editor, and approved there', async () => {
    const place = await start();
    const editor = await watchingEditor(place.path);
    const progress: unknown[] = [];
    const onprogress = ({ message }: { message?: string }) => void progress.push(message);
    const called = place.session.call('write_file', WRITE, { onprogress });
    expect(await editor.nth('live-lisp/asked')).toEqual({
      id: expect.any(String),
      call: (await editor.nth('live-lisp/began', 2))['id'],
      headline: 'Approve write_file (dangerous)? new file, +1 −0, in a.lisp',
      tool: 'write_file',
      text: 'New file a.lisp, 1 line:\n+(a)',
    });
    expect(await editor.answer({ approve: true })).toEqual({ counts: true, text: 'Approved.' });
    expect(await called).toEqual(WROTE);
    expect(progress).toEqual(['waits until the user approves or denies it in Emacs']);
    expect(await editor.nth('live-lisp/closed')).toMatchObject({ why: 'approved in Emacs' });
    expect(authorities(place)).toEqual(['human, in an editor']);
    expect(await place.session.text('get_audit_log')).toContain(
      'write_file (dangerous, decided by the user in an editor or terminal) succeeded',
    );
    expect(await editor.answer({ approve: true })).toEqual({
      counts: false,
      text: 'This question was answered elsewhere, or its time ran out.',
    });
  });

  test('is denied there, with a word to the model or without', async () => {
    const place = await start();
    const editor = await watchingEditor(place.path);
    const first = place.session.call('write_file', WRITE);
    await editor.answer({ approve: false, words: ' Not here. ' });
    const denied = (notice: string) => ({
      text: 'Tool execution denied by user',
      notices: [notice],
      isError: true,
    });
    expect(await first).toEqual(
      denied('Nothing was done. The user denied the call in Emacs. The user says: Not here.'),
    );
    const second = place.session.call('write_file', WRITE);
    expect(await editor.answer({ approve: 'yes' }, 2)).toEqual({ counts: true, text: 'Denied.' });
    expect(await second).toEqual(denied('Nothing was done. The user denied the call in Emacs.'));
    expect(authorities(place)).toEqual(['denied', 'denied']);
    expect(existsSync(join(place.root.path, 'a.lisp'))).toBe(false);
  });

  test('is refused as without an editor when the last one goes', async () => {
    const place = await start();
    expect(await place.session.call('write_file', WRITE)).toEqual(NOBODY);
    const editor = await watchingEditor(place.path);
    const called = place.session.call('write_file', WRITE);
    await editor.nth('live-lisp/asked');
    editor.socket.destroy();
    expect(await called).toEqual(NOBODY);
    expect(authorities(place)).toEqual(['cannot ask', 'cannot ask']);
  });

  test('is refused when nobody answers in time', async () => {
    const place = await start({}, '--answer-time', '0.5');
    const editor = await watchingEditor(place.path);
    expect(await place.session.call('write_file', WRITE)).toEqual(TOO_LATE);
    expect(await editor.nth('live-lisp/closed')).toMatchObject({ why: 'nobody answered in time' });
    expect(authorities(place)).toEqual(['timed out']);
  });

  test('is taken away when the call is cancelled', async () => {
    const place = await start();
    const editor = await watchingEditor(place.path);
    const cancel = new AbortController();
    const called = place.session.call('write_file', WRITE, { signal: cancel.signal });
    await editor.nth('live-lisp/asked');
    cancel.abort();
    await expect(called).rejects.toThrow();
    expect(await editor.nth('live-lisp/closed')).toMatchObject({ why: 'the call was cancelled' });
  });

  test('is shown to an editor that comes later, and the first answer counts', async () => {
    const { session, path } = await start();
    const first = await watchingEditor(path);
    const called = session.call('write_file', WRITE);
    await first.nth('live-lisp/asked');
    const second = await watchingEditor(path);
    expect(await second.answer({ approve: false })).toEqual({ counts: true, text: 'Denied.' });
    expect(await first.answer({ approve: true })).toMatchObject({ counts: false });
    expect((await called).text).toBe('Tool execution denied by user');
  });
});

describe.each(ERAS)('a question of a client of the %s era that can ask', (era) => {
  /** Starts a server whose client answers by ANSWER; undefined for a client that waits until WAITED resolves. */
  const asking = (action: 'accept' | 'cancel', waits: Promise<void> = Promise.resolve()) => {
    const asked: string[] = [];
    const onQuestion = async ({ message }: { message: string }) => {
      asked.push(message);
      await waits;
      return action === 'accept' ? { action, content: { decision: 'approve' } } : { action };
    };
    return { asked, options: { era, onQuestion } };
  };
  const gate = () => {
    let open = () => {};
    const waits = new Promise<void>((resolve) => {
      open = resolve;
    });
    return { waits, open };
  };

  test('says that it is asked in the editor too, and is taken away there when the client answers', async () => {
    const { asked, options } = asking('accept');
    const place = await start(options);
    const editor = await watchingEditor(place.path);
    expect(await place.session.call('write_file', WRITE)).toEqual(WROTE);
    expect(asked[0]).toMatch(
      /^Approve write_file \(dangerous; also asked in Emacs\)\? new file, \+1 −0, in\n… a\.lisp\n/,
    );
    expect(await editor.nth('live-lisp/closed')).toMatchObject({ why: 'approved in the client' });
    expect(authorities(place)).toEqual(['human']);
  });

  test('is denied in the client', async () => {
    const onQuestion = async () => {
      await person();
      return { action: 'decline' as const };
    };
    const place = await start({ era, onQuestion });
    const editor = await watchingEditor(place.path);
    expect((await place.session.call('write_file', WRITE)).text).toBe('Tool execution denied by user');
    expect(await editor.nth('live-lisp/closed')).toMatchObject({ why: 'denied in the client' });
  });

  test('waits for the editor when the client gives no answer', async () => {
    const place = await start(asking('cancel').options);
    const editor = await watchingEditor(place.path);
    const called = place.session.call('write_file', WRITE);
    expect(await editor.answer({ approve: true })).toMatchObject({ counts: true });
    expect(await called).toEqual(WROTE);
    expect(authorities(place)).toEqual(['human, in an editor']);
  });

  test('counts as the editor answered it first', async () => {
    const { waits, open } = gate();
    const place = await start(asking('accept', waits).options);
    const editor = await watchingEditor(place.path);
    const called = place.session.call('write_file', WRITE);
    await editor.answer({ approve: false, words: 'No.' });
    open();
    expect(await called).toMatchObject({
      notices: ['Nothing was done. The user denied the call in Emacs. The user says: No.'],
    });
  });
});

test.each([
  ['the terminal', 'the terminal'],
  [7, 'an editor'],
  ['My Editor', '"My Editor"'],
])('a question names the editor %j as %s: quotes are for names from outside', async (editor, shown) => {
  let asked = '';
  const onQuestion = ({ message }: { message: string }) => {
    asked = message;
    return { action: 'accept' as const, content: { decision: 'approve' } };
  };
  const place = await start({ onQuestion });
  const connection = new Editor(place.path);
  onTestFinished(() => void connection.socket.destroy());
  await connection.request('live-lisp/watch', { editor });
  expect(await place.session.call('write_file', WRITE)).toEqual(WROTE);
  expect(asked).toContain(`(dangerous; also asked in ${shown})?`);
});

test('a question waits for the editor when the client declines sooner than a person can', async () => {
  const onQuestion = () => ({ action: 'decline' as const });
  const place = await start({ onQuestion, waits: { soonestDeclineMs: 600_000 } });
  const editor = await watchingEditor(place.path);
  let onprogress = () => {};
  const declined = new Promise<void>((resolve) => {
    onprogress = resolve;
  });
  const called = place.session.call('write_file', WRITE, { onprogress });
  await declined;
  await editor.answer({ approve: true });
  expect(await called).toEqual(WROTE);
  expect(authorities(place)).toEqual(['human, in an editor']);
});

test('a denial in a client of the modern era counts also after an approval in the editor', async () => {
  let open = () => {};
  const waits = new Promise<void>((resolve) => {
    open = resolve;
  });
  const onQuestion = async () => {
    await Promise.all([waits, person()]);
    return { action: 'decline' as const };
  };
  const place = await start({ era: 'modern', onQuestion });
  const editor = await watchingEditor(place.path);
  const called = place.session.call('write_file', WRITE);
  expect(await editor.answer({ approve: true })).toMatchObject({ counts: true });
  open();
  expect((await called).text).toBe('Tool execution denied by user');
  expect(authorities(place)).toEqual(['denied']);
});

test('C20 code in the image opens no question', async () => {
  const { session, path } = await start();
  const editor = await watchingEditor(path);
  const call =
    '(handler-case (live-lisp:call-tool :write-file :path "a" :content "x") (error (c) (type-of c)))';
  expect(await session.eval(call)).toBe('LIVE-LISP:APPROVAL-REQUIRED');
  expect(editor.reported('live-lisp/asked')).toEqual([]);
});

sandboxTest('code in the sandbox does not reach the socket, and cannot plant another', async () => {
  const { session, path } = await start({}, '--sandbox', 'on');
  const form = `(progn (require :sb-bsd-sockets)
    (handler-case (funcall (intern "SOCKET-CONNECT" :sb-bsd-sockets)
                           (make-instance (intern "LOCAL-SOCKET" :sb-bsd-sockets) :type :stream) "${path}.socket")
      (error (c) (type-of c))))`;
  expect(await session.eval(form)).toBe('SB-BSD-SOCKETS:ADDRESS-FAMILY-NOT-SUPPORTED');
  const place = JSON.stringify(join(path, '..', 'session-1.json'));
  expect(
    await session.eval(`(handler-case (open ${place} :direction :output) (file-error () :refused))`),
  ).toBe(':REFUSED');
});

describe('a file with unsaved changes in an editor', () => {
  const UNSAVED = (file: string) =>
    bad(
      `${file} has unsaved changes in Emacs, so nothing was written. Ask the user to save or revert it there, then read it again and call again.`,
    );

  /** Without these, a file is changed when the editor answers late, as on a busy machine. */
  const waits = { unsavedMs: 600_000 };

  test('is not changed, and nobody is asked', async () => {
    const { session, root, path } = await start(
      { waits },
      '--allow',
      'write_file',
      '--allow',
      'edit_definitions',
    );
    const file = root.put('a.lisp', '(defun a () 1)\n');
    root.put('b.lisp', '(defun b () 1)\n');
    const editor = await watchingEditor(path);
    editor.unsaved = [file];
    expect(await session.call('write_file', WRITE)).toEqual(UNSAVED('a.lisp'));
    expect(await session.call('propose_file_edit', { path: 'a.lisp', original: '1', modified: '2' })).toEqual(
      UNSAVED('a.lisp'),
    );
    const edits = ['a', 'b'].map((name) => ({
      definition: name,
      path: `${name}.lisp`,
      text: `(defun ${name} () 2)`,
    }));
    expect((await session.call('edit_definitions', { edits })).text).toContain(
      'a.lisp has unsaved changes in Emacs, so nothing was written.',
    );
    expect(readFileSync(join(root.path, 'b.lisp'), 'utf8')).toBe('(defun b () 1)\n');
    editor.unsaved = [];
    expect(await session.call('edit_definitions', { edits })).toMatchObject({ isError: false });
    await editor.nth('live-lisp/changed', 2);
    expect(editor.reported('live-lisp/changed')).toEqual([{ file }, { file: join(root.path, 'b.lisp') }]);
  });

  test('is refused when the changes came while the question was open', async () => {
    const { session, root, path } = await start({ waits });
    const file = root.put('a.lisp', '(b)\n');
    const editor = await watchingEditor(path);
    const called = session.call('write_file', WRITE);
    await editor.nth('live-lisp/asked');
    editor.unsaved = [file];
    await editor.answer({ approve: true });
    expect(await called).toEqual(UNSAVED('a.lisp'));
  });

  test('is changed when the editor does not say so in time', async () => {
    const { session, path } = await start({}, '--allow', 'write_file');
    const editor = await watchingEditor(path);
    editor.unsaved = undefined;
    expect(await session.call('write_file', WRITE)).toEqual(WROTE);
  });
});
