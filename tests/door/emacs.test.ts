// live-lisp.el in a real Emacs, with a real SLIME.

import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { good, PROJECT, type Session, type StartOptions } from '../harness.ts';
import { libraries } from '../libraries.ts';
import { until } from '../server/processes.ts';
import { ownFolder, ownSession } from '../shared.ts';
import { inTime } from './editor.ts';
import { LIVE_LISP_EL, sharedEmacs } from './emacs.ts';

libraries('swank');

const emacs = sharedEmacs();
beforeAll(async () => {
  await emacs.start();
  await emacs.startSlime();
});

/** The buffer of the first question that is open. */
const QUESTION = '*live-lisp: write_file*';

/** Starts a server in the folder of Emacs, whose client cannot ask. Resolves when Emacs is connected to it. */
async function start({ args = [], waits }: Pick<StartOptions, 'args' | 'waits'> = {}): Promise<Session> {
  const session = await ownSession({
    ...(waits && { waits }),
    args: ['--root', emacs.folder.path, ...args],
    env: { LIVE_LISP_SERVING: emacs.serving.path },
    clientName: 'an-agent',
  });
  await session.call('image_status');
  await emacs.until(
    `(seq-find (lambda (server) (= (process-get server 'pid) ${session.pid})) live-lisp--servers)`,
  );
  await log(/image_status\n {2}=> /);
  await emacs.value(
    '(with-current-buffer (live-lisp--log-buffer) (let ((inhibit-read-only t)) (erase-buffer)) t)',
  );
  return session;
}

/** Resolves with the log once it matches PATTERN, without what differs between runs. */
async function log(pattern: RegExp): Promise<string> {
  const text = await until(`${pattern} in the log`, 60_000, async () => {
    const now = await emacs.buffer('*live-lisp*');
    return pattern.test(now) ? now : undefined;
  });
  return text.replace(/^\d\d:\d\d:\d\d \S+ /gm, 'TIME FOLDER ').replace(/\(\d+\.\d s\)$/gm, '(SECONDS)');
}

/** Selects the window of the question, as the user would with C-x o. */
async function selectQuestion(): Promise<void> {
  await emacs.until('(live-lisp--question-buffers)');
  await emacs.value('(progn (setq live-lisp--last-answer 0) (live-lisp-questions) t)');
}

describe('live-lisp-mode', () => {
  test('makes the image of SLIME serve, and shows what an agent evaluates there', async () => {
    const session = await start();
    expect(await session.eval('(not (find-package :swank))')).toBe('NIL');
    await session.eval('(defun twice (x)\n  (* 2 x))\n(twice 4)');
    await session.eval('(error "No.")');
    expect(await log(/=> Error/)).toBe(`TIME FOLDER an-agent eval_form
  > form: (not (find-package :swank))
  => NIL  (SECONDS)
TIME FOLDER an-agent eval_form
  > form: (defun twice (x)
  |   (* 2 x))
  | (twice 4)
  => [1] TWICE  (SECONDS)
TIME FOLDER an-agent eval_form
  > form: (error "No.")
  => Error: No.  (SECONDS)
`);
    expect(
      await emacs.value('(seq-filter (lambda (b) (string-match-p "sldb" (buffer-name b))) (buffer-list))'),
    ).toBe('nil');
  });

  test('keeps what it shows of a call together when calls run at once', async () => {
    const session = await start();
    const slow = session.eval('(progn (sleep 1) :slow)');
    await log(/sleep 1/);
    await session.eval(':quick');
    await slow;
    expect(await log(/=> :SLOW[\s\S]*=> :QUICK/)).toBe(`TIME FOLDER an-agent eval_form
  > form: (progn (sleep 1) :slow)
  => :SLOW  (SECONDS)
TIME FOLDER an-agent eval_form
  > form: :quick
  => :QUICK  (SECONDS)
`);
  });

  test('connects to no server in a folder that others can enter', async () => {
    expect(await emacs.value('(live-lisp--own-folder-p "/tmp")')).toBe('nil');
    expect(await emacs.value('(live-lisp--own-folder-p (live-lisp--folder))')).toBe('t');
  });

  test('lets the servers go when it is turned off', async () => {
    await start();
    await emacs.value('(live-lisp-mode -1)');
    expect(await emacs.value('live-lisp--servers')).toBe('nil');
    await emacs.value('(let ((live-lisp-attach-images nil)) (live-lisp-mode 1))');
    await emacs.until('live-lisp--servers');
  });
});

describe('a question', () => {
  test('is shown with its diff where nobody types, and approved by a key there', async () => {
    const file = emacs.folder.put('asked.lisp', '(a)\n(b)\n');
    const session = await start();
    await emacs.value('(progn (switch-to-buffer (get-buffer-create "typing")) (delete-other-windows) t)');
    const called = session.call('write_file', { path: 'asked.lisp', content: '(a)\n(c)\n' });
    await emacs.until(`(get-buffer-window "${QUESTION}")`);
    emacs.type('yyy');
    await emacs.until('(equal (with-current-buffer "typing" (buffer-string)) "yyy")');
    expect(readFileSync(file, 'utf8')).toBe('(a)\n(b)\n');
    expect(await emacs.buffer(QUESTION)).toBe(`Approve write_file (dangerous)? line 2, +1 −1, in asked.lisp

File asked.lisp, line 2, +1 −1:
@@ -1,2 +1,2 @@
 (a)
-(b)
+(c)
`);
    expect(await emacs.text('(live-lisp--lighter)')).toMatch(/^ live-lisp:\d+\?1$/);
    await selectQuestion();
    emacs.type('y');
    expect(await called).toEqual(good('Wrote 8 bytes to asked.lisp'));
    await emacs.until(`(not (get-buffer "${QUESTION}"))`);
    expect(await log(/approved in Emacs/)).toContain('TIME FOLDER write_file: approved in Emacs\n');
  });

  test('is denied by a key, with a word to the agent', async () => {
    const session = await start();
    const called = session.call('write_file', { path: 'denied.lisp', content: '(a)\n' });
    await selectQuestion();
    emacs.type('nTake a macro.\r');
    expect(await called).toEqual({
      text: 'Tool execution denied by user',
      notices: ['Nothing was done. The user denied the call in Emacs. The user says: Take a macro.'],
      isError: true,
    });
    expect(existsSync(join(emacs.folder.path, 'denied.lisp'))).toBe(false);
  });

  test('is not answered by the key that has just answered another', async () => {
    const session = await start();
    const write = (path: string) => session.call('write_file', { path, content: '(a)\n' });
    const called = [write('one.lisp'), write('two.lisp')];
    await emacs.until('(= (length (live-lisp--question-buffers)) 2)');
    await selectQuestion();
    emacs.type('y');
    await emacs.until('(= (length (live-lisp--question-buffers)) 1)');
    // The answer was given just now, however long a busy machine took since.
    await emacs.value('(progn (setq live-lisp--last-answer (+ (float-time) 600)) (live-lisp-questions) t)');
    emacs.type('y');
    await emacs.said('This is another question: read it, then answer');
    expect(await emacs.value('(length (live-lisp--question-buffers))')).toBe('1');
    await selectQuestion();
    emacs.type('y');
    expect((await Promise.all(called)).map(({ isError }) => isError)).toEqual([false, false]);
  });

  test('goes with its server', async () => {
    const session = await start();
    session.call('write_file', { path: 'gone.lisp', content: '(a)\n' }).catch(() => {});
    await emacs.until(`(get-buffer "${QUESTION}")`);
    process.kill(session.pid, 'SIGKILL');
    await emacs.until(`(not (get-buffer "${QUESTION}"))`);
    await expect(emacs.value('(live-lisp-questions)')).rejects.toThrow('No question is open');
  });
});

describe('a file that is open in Emacs', () => {
  test('is not changed while it has unsaved changes, and shown anew when it was changed', async () => {
    const file = emacs.folder.put('open.lisp', '(a)\n');
    // A file is changed when Emacs answers late, as on a busy machine.
    const waits = { unsavedMs: 600_000 };
    const session = await start({ args: ['--allow', 'write_file'], waits });
    await emacs.value(`(with-current-buffer (find-file-noselect "${file}") (insert ";") t)`);
    expect(await session.text('write_file', { path: 'open.lisp', content: '(b)\n' })).toBe(
      'open.lisp has unsaved changes in Emacs, so nothing was written. Ask the user to save or revert it there, then read it again and call again.',
    );
    await emacs.value('(with-current-buffer "open.lisp" (save-buffer) t)');
    expect(readFileSync(file, 'utf8')).toBe(';(a)\n');
    expect((await session.call('write_file', { path: 'open.lisp', content: '(b)\n' })).isError).toBe(false);
    await emacs.until('(equal (with-current-buffer "open.lisp" (buffer-string)) "(b)\\n")');
    expect(await emacs.value('(buffer-modified-p (get-buffer "open.lisp"))')).toBe('nil');
  });
});

describe('unsaved text in Emacs', () => {
  const NOTE = 'Note: This is the unsaved text in Emacs, not that on the disk.';
  const DISK = 'Note: It has unsaved changes in Emacs; this is the text on the disk.';

  /** Visits FILE in Emacs, and evaluates FORMS in its buffer. */
  const edit = (file: string, ...forms: string[]) =>
    emacs.value(
      `(with-current-buffer (find-file-noselect ${JSON.stringify(file)}) (goto-char (point-max)) ${forms.join(' ')} t)`,
    );
  afterEach(() =>
    emacs.value(
      '(dolist (buffer (buffer-list)) (with-current-buffer buffer (when buffer-file-name (set-buffer-modified-p nil) (kill-buffer))))',
    ),
  );
  const read = (session: Session, buffer: string) => inTime(() => session.text('read_buffer', { buffer }));
  const search = (session: Session, args: { pattern: string; buffer: string }) =>
    inTime(() => session.text('search_in_buffer', args));

  test('is read and searched, until it is saved or the buffer is killed', async () => {
    const file = emacs.folder.put('text/a.lisp', '(a)\n');
    const session = await start();
    await edit(file);
    expect(await read(session, file)).toBe('text/a.lisp, line 1 of 1, 4 bytes\n\n(a)');
    await edit(file, '(insert "(λ \\"ü\\") ; 日本\\n")', '(narrow-to-region 1 3)');
    const shown = `text/a.lisp, lines 1 to 2 of 2, 23 bytes\n\n(a)\n(λ "ü") ; 日本\n\n${NOTE}`;
    expect(await read(session, 'text/a.lisp')).toBe(shown);
    expect(await search(session, { pattern: '日本', buffer: 'text' })).toBe(
      `Found 1 match of '日本' in 1 of 1 file:\n\n  text/a.lisp:\n    2:11  (λ "ü") ; 日本\nNote: searched the unsaved text in Emacs: text/a.lisp.`,
    );
    expect(await emacs.value('(with-current-buffer "a.lisp" (buffer-narrowed-p))')).toBe('t');
    await edit(file, '(widen) (save-buffer)');
    expect(await read(session, file)).toBe(shown.replace(`\n\n${NOTE}`, ''));
    await edit(file, '(insert ";")');
    expect(await read(session, file)).toContain(NOTE);
    await edit(file, '(set-buffer-modified-p nil) (kill-buffer)');
    expect(await read(session, file)).toBe(shown.replace(`\n\n${NOTE}`, ''));
  });

  test.each([
    ['CRLF', '(a)\r\n', '(insert "(b)\\n")', 'lines 1 to 2 of 2, 10 bytes, CRLF line ends\n\n(a)\n(b)'],
    [
      'Latin-1 with what it lacks',
      Buffer.from('"\xe9"\n', 'latin1'),
      '(insert "λ\\n")',
      'lines 1 to 2 of 2, 8 bytes\n\n"é"\nλ',
    ],
    ['nothing', '(a)\n', '(erase-buffer)', ''],
  ])('is what would be saved: %s', async (_, before, form, shown) => {
    const file = emacs.folder.put('stored.lisp', before);
    const session = await start();
    await edit(file, form);
    const head = shown === '' ? 'stored.lisp is empty (0 bytes).' : `stored.lisp, ${shown}`;
    expect(await read(session, file)).toBe(`${head}\n\n${NOTE}`);
  });

  test('of a file that was never saved is read by its path and base name', async () => {
    const file = join(emacs.folder.path, 'never/saved-once.lisp');
    const session = await start();
    await edit(file, '(insert "(new)\\n")');
    const shown = `never/saved-once.lisp, line 1 of 1, 6 bytes\n\n(new)\n\n${NOTE}`;
    expect(await read(session, 'never/saved-once.lisp')).toBe(shown);
    expect(await read(session, 'saved-once.lisp')).toBe(shown);
  });

  test('of a link is that of the file to which it led when Emacs visited it', async () => {
    const outside = ownFolder();
    const secret = outside.put('secret.lisp', '(secret)\n');
    const [target, link] = [emacs.folder.put('target.lisp', '(a)\n'), join(emacs.folder.path, 'link.lisp')];
    symlinkSync(target, link);
    const session = await start();
    await edit(link, '(insert "(b)\\n")');
    const shown = `target.lisp, lines 1 to 2 of 2, 8 bytes\n\n(a)\n(b)\n\n${NOTE}`;
    expect(await read(session, 'link.lisp')).toBe(shown);
    expect(await read(session, 'target.lisp')).toBe(shown);
    await edit(link, '(set-buffer-modified-p nil) (kill-buffer)');
    rmSync(link);
    symlinkSync(secret, link);
    await edit(link, '(insert "(more)\\n")');
    expect(await read(session, 'link.lisp')).toMatch(
      /^Path link\.lisp leads by a link outside the workspace /,
    );
    rmSync(link);
    writeFileSync(link, '(b)\n');
    expect(await read(session, 'link.lisp')).toBe(`link.lisp, line 1 of 1, 4 bytes\n\n(b)\n\n${DISK}`);
  });

  test.each([
    ['more than is sent', 'a.lisp', '(insert (make-string 1100000 ?x))'],
    ['a view of the file', 'a.bin', '(hexl-mode)', '(set-buffer-modified-p t)'],
  ])('is not read when it is %s', async (_, name, ...forms) => {
    const file = emacs.folder.put(name, name.endsWith('.gz') ? gzipSync('(a)\n') : '(a)\n');
    const session = await start();
    await edit(file, ...forms);
    expect(await search(session, { pattern: '(a)', buffer: name })).toContain(DISK);
  });

  test('of a file that is encrypted when it is saved is not read', async () => {
    const session = await start();
    await edit(join(emacs.folder.path, 'never.gpg'), '(insert "secret")');
    expect(await read(session, 'never.gpg')).toBe(
      `There is no file never.gpg in the workspace ${emacs.folder.path}. No file has a similar name. It was never saved in Emacs, which did not send its text. Ask the user to save it.`,
    );
    expect(await search(session, { pattern: 'secret', buffer: '.' })).not.toContain('never.gpg');
  });

  test('is not waited for while Emacs stands still', async () => {
    const file = emacs.folder.put('still.lisp', '(a)\n');
    const session = await start();
    await edit(file, '(insert "(b)\\n")');
    await emacs.stoppedDuring(async () => {
      expect(await session.text('read_buffer', { buffer: 'still.lisp' })).toBe(
        'still.lisp, line 1 of 1, 4 bytes\n\n(a)\n\nNote: Emacs did not report in time whether it has unsaved changes; this is the text on the disk.',
      );
    });
    await emacs.value('t');
    expect(await read(session, 'still.lisp')).toContain(NOTE);
  });
});

describe('the file live-lisp.el', () => {
  test('has the version of the package', () => {
    const { version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as {
      version: string;
    };
    expect(readFileSync(LIVE_LISP_EL, 'utf8')).toContain(`\n;; Version: ${version}\n`);
  });

  test('is compiled without a warning', async () => {
    const folder = ownFolder();
    copyFileSync(LIVE_LISP_EL, join(folder.path, 'live-lisp.el'));
    const { stderr } = await promisify(execFile)(
      'emacs',
      ['-Q', '--batch', '-f', 'batch-byte-compile', 'live-lisp.el'],
      { cwd: folder.path },
    );
    expect(stderr).toBe('');
  });

  test('names files as SBCL reads them', async () => {
    expect(await emacs.text('(live-lisp--namestring "/a b/[c]/d*.lisp")')).toBe('/a b/\\[c]/d\\*.lisp');
  });

  test('reads messages also in an Emacs without a JSON parser in C', async () => {
    const parsed = '(prin1-to-string (live-lisp--parsed "{\\"a\\":[1,\\"x\\"],\\"b\\":false,\\"c\\":null}"))';
    const withParser = await emacs.value(parsed);
    expect(withParser).toBe(JSON.stringify('((a . [1 "x"]) (b) (c))'));
    const without = `(cl-letf (((symbol-function 'json-parse-string) nil)) ${parsed})`;
    expect(await emacs.value(without)).toBe(withParser);
  });
});

test('live-lisp-images shows the images that serve, and live-lisp-stop ends that', async () => {
  const images =
    '(save-window-excursion (live-lisp-images) (with-current-buffer "*live-lisp images*" (buffer-string)))';
  expect(await emacs.text(images)).toMatch(
    /^Images that serve:\n {2}sbcl-\d+: SBCL \S+, pid \d+, in \S+ since /,
  );
  await emacs.value('(progn (live-lisp-stop) t)');
  await emacs.said('live-lisp: this image does not serve any more');
  expect(await emacs.text(images)).toMatch(
    /^No image serves\. M-x live-lisp-attach makes that of SLIME or SLY serve\.\n/,
  );
  await emacs.value('(progn (live-lisp-stop) t)');
  await emacs.said('live-lisp: this image did not serve');
  await emacs.value('(progn (live-lisp-attach) t)');
  await emacs.said('live-lisp: this image serves now');
});
