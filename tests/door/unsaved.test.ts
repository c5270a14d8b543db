// What tools answer about a file with unsaved changes in an editor, and when the editor answers wrongly or not at all.

import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { bad, type Session, type StartOptions } from '../harness.ts';
import { servingPlace } from '../image/served.ts';
import { sandboxTest } from '../sandbox/namespaces.ts';
import { until } from '../server/processes.ts';
import { ownFolder, ownSession, sharedFolder, sharedSession } from '../shared.ts';
import { inTime, type Message, sessionOf, watchingEditor } from './editor.ts';

const serving = servingPlace();
afterAll(serving.remove);
const folder = sharedFolder();
const shared = sharedSession({
  args: ['--root', folder.path, '--allow', 'edit_definitions'],
  env: { LIVE_LISP_SERVING: serving.path },
});
/** The path of the socket of that server, without its end. */
let socket: string;
beforeAll(async () => {
  await shared.call('image_status');
  socket = await sessionOf(serving.path, shared.pid);
});

/** Empties the workspace of the shared server, and connects an editor for the test that calls this. */
async function start() {
  for (const name of readdirSync(folder.path)) rmSync(join(folder.path, name), { recursive: true });
  return { session: shared, root: folder, path: socket, editor: await watchingEditor(socket) };
}

/** Starts a server with OPTIONS over ROOT, and an editor that watches it, for the test that calls this. */
async function startOwn(root: ReturnType<typeof ownFolder>, { args = [], env }: StartOptions) {
  const own = servingPlace();
  onTestFinished(own.remove);
  const session = await ownSession({
    args: ['--root', root.path, ...args],
    env: { ...env, LIVE_LISP_SERVING: own.path },
  });
  await session.call('image_status');
  return { session, editor: await watchingEditor(await sessionOf(own.path, session.pid)) };
}

/** Resolves with the text of the answer to the call of TOOL with ARGS. */
const text = (session: Session, tool: string, args: object) => inTime(() => session.text(tool, { ...args }));

const NOTE = 'Note: This is the unsaved text in Emacs, not that on the disk.';
const SILENT =
  'Note: Emacs did not report in time whether it has unsaved changes; this is the text on the disk.';

describe('read_buffer', () => {
  test('shows the text in the editor', async () => {
    const { session, root, editor } = await start();
    editor.texts.set(root.put('a.lisp', '(a)\n'), '(a)\n;; λ\n(b)\n');
    root.put('saved.lisp', '(c)\n');
    expect(await text(session, 'read_buffer', { buffer: 'a.lisp' })).toBe(
      `a.lisp, lines 1 to 3 of 3, 14 bytes\n\n(a)\n;; λ\n(b)\n\n${NOTE}`,
    );
    expect(await text(session, 'read_buffer', { buffer: 'a.lisp', start_line: 2, end_line: 2 })).toBe(
      `a.lisp, line 2 of 3, 14 bytes\n\n;; λ\n\n${NOTE}`,
    );
    expect(await text(session, 'read_buffer', { buffer: 'a.lisp', start_line: 4 })).toBe(
      'a.lisp has 3 lines; start_line 4 is beyond its end. This is the unsaved text in Emacs, not that on the disk.',
    );
    expect(await text(session, 'read_buffer', { buffer: 'saved.lisp' })).toBe(
      'saved.lisp, line 1 of 1, 4 bytes\n\n(c)',
    );
  });

  test('takes one request, also of a saved file', async () => {
    const { session, root, editor } = await start();
    const file = root.put('a.lisp', '(a)\n');
    for (const unsaved of ['', '(b)\n']) {
      if (unsaved !== '') editor.texts.set(file, unsaved);
      let before = 0;
      await inTime(async () => {
        before = editor.reported('live-lisp/unsaved').length;
        return session.text('read_buffer', { buffer: 'a.lisp' });
      });
      expect(editor.reported('live-lisp/unsaved').length).toBe(before + 1);
    }
  });

  test.each([
    ['(a)\r\n(b)\r\n', 'a.lisp, lines 1 to 2 of 2, 10 bytes, CRLF line ends\n\n(a)\n(b)'],
    ['\ufeff(a)', 'a.lisp, line 1 of 1, 6 bytes, byte order mark, no newline at the end\n\n(a)'],
    ['', 'a.lisp is empty (0 bytes).'],
  ])('says how the text %j would be stored', async (content, expected) => {
    const { session, root, editor } = await start();
    editor.texts.set(root.put('a.lisp', '(a)\n'), content);
    expect(await text(session, 'read_buffer', { buffer: 'a.lisp' })).toBe(`${expected}\n\n${NOTE}`);
  });

  test('shows a file that was never saved, by its path or base name', async () => {
    const { session, root, editor } = await start();
    root.put('src/old.lisp', '(old)\n');
    editor.texts.set(join(root.path, 'src/new.lisp'), '(new)\n');
    editor.texts.set(join(root.path, '.git/message'), 'A message\n');
    const shown = `src/new.lisp, line 1 of 1, 6 bytes\n\n(new)\n\n${NOTE}`;
    expect(await text(session, 'read_buffer', { buffer: 'src/new.lisp' })).toBe(shown);
    expect(await text(session, 'read_buffer', { buffer: 'new.lisp' })).toBe(shown);
    expect(await text(session, 'read_buffer', { buffer: 'message' })).toBe(
      `There is no file message in the workspace ${root.path}. No file has a similar name.`,
    );
    expect(await text(session, 'read_file', { path: 'src/new.lisp' })).toBe(
      `There is no file src/new.lisp. Relative paths start at ${root.path}. It was never saved in Emacs; read_buffer shows the text there.`,
    );
  });

  test('says when several editors have changes, and shows the text of the first', async () => {
    const { session, root, editor, path } = await start();
    const file = root.put('a.lisp', '(a)\n');
    const second = await watchingEditor(path);
    second.texts.set(file, '(second)\n');
    expect(await text(session, 'read_buffer', { buffer: 'a.lisp' })).toContain(`(second)\n\n${NOTE}`);
    editor.texts.set(file, '(first)\n');
    await until('the text of the first', 60_000, async () =>
      (await session.text('read_buffer', { buffer: 'a.lisp' })).endsWith(
        '(first)\n\nNote: This is the unsaved text in one of 2 editor buffers, not that on the disk.',
      ),
    );
  });

  test('gives code the name of the editor', async () => {
    const { session, root, editor } = await start();
    editor.texts.set(root.put('a.lisp', '(a)\n'), '(b)\n');
    const form =
      '(let ((d (live-lisp:call-tool :read-buffer :buffer "a.lisp"))) (list (gethash "text" d) (gethash "unsavedIn" d)))';
    await until('the name', 60_000, async () => (await session.eval(form)) === '("(b)" "Emacs")');
  });
});

test('code is told that it got the text on the disk', async () => {
  const { session, root, editor } = await start();
  const file = root.put('a.lisp', '(a)\n');
  const lacking = (call: string) =>
    session.eval(`(values (gethash "lacksChangesIn" (live-lisp:call-tool ${call})))`);
  const calls = [':read-buffer :buffer "a.lisp"', ':search-in-buffer :buffer "a.lisp" :pattern "a"'];
  for (const call of calls) {
    editor.unsaved = [];
    await until('the answer of the editor', 60_000, async () => (await lacking(call)) === 'NIL');
    editor.unsaved = [file];
    expect(await lacking(call)).toBe('"Emacs"');
    editor.unsaved = undefined;
    expect(await lacking(call)).toBe('"Emacs"');
  }
});

describe('search_in_buffer', () => {
  test('searches the texts in the editor', async () => {
    const { session, root, editor } = await start();
    root.put('a.lisp', '(old)\n');
    editor.texts.set(root.put('b.lisp', '(old)\n'), '(new)\n(newer)\n');
    editor.texts.set(join(root.path, 'c.lisp'), '(new)\n');
    editor.texts.set(join(root.path, '.git/message'), 'new\n');
    expect(await text(session, 'search_in_buffer', { pattern: 'new' })).toBe(
      `Found 3 matches of 'new' in 2 of 3 files:\n\n  b.lisp:\n    1:2  (new)\n    2:2  (newer)\n  c.lisp:\n    1:2  (new)\nNote: searched the unsaved text in Emacs: b.lisp, c.lisp.`,
    );
    expect(await text(session, 'search_in_buffer', { pattern: 'old' })).toContain(
      "Found 1 match of 'old' in 1 of 3 files:",
    );
    expect(await text(session, 'search_in_buffer', { pattern: 'newer', buffer: 'b.lisp' })).toBe(
      `Found 1 match of 'newer' in b.lisp:\n\n  2:2  (newer)\n${NOTE}`,
    );
    expect(await text(session, 'search_in_buffer', { pattern: '(new', code: true })).toContain(
      "Found 2 matches of '(new' in 2 of 3 files:",
    );
    expect(await text(session, 'search_in_buffer', { pattern: 'message', buffer: '.' })).toContain('Found 0');
  });

  test('counts a file that was never saved once, also when one root is in another', async () => {
    const root = ownFolder();
    root.put('src/a.lisp', '(a)\n');
    const { session, editor } = await startOwn(root, { args: ['--root', join(root.path, 'src')] });
    editor.texts.set(join(root.path, 'src/b.lisp'), '(b)\n');
    expect(await text(session, 'search_in_buffer', { pattern: '(b)' })).toContain(
      "Found 1 match of '(b)' in 1 of 2 files:",
    );
    expect(await text(session, 'read_buffer', { buffer: 'b.lisp' })).toContain('src/b.lisp, line 1 of 1');
  });

  test('names files whose text the editor does not send', async () => {
    const { session, root, editor } = await start();
    const file = root.put('big.lisp', '(old)\n');
    editor.answerUnsaved = ({ id }) => editor.write(JSON.stringify({ id, result: [{ file }] }));
    expect(await text(session, 'search_in_buffer', { pattern: 'old' })).toBe(
      `Found 1 match of 'old' in 1 of 1 file:\n\n  big.lisp:\n    1:2  (old)\nNote: searched the text on the disk, without the unsaved changes in Emacs: big.lisp.`,
    );
  });
});

describe('a tool that reads the disk', () => {
  const note = (file: string) =>
    `Note: ${file} has unsaved changes in Emacs; this call used the text on the disk. read_buffer shows the unsaved text.`;

  test.each([
    ['read_file', { path: 'src/a.lisp' }],
    ['read_definition', { path: 'src/a.lisp' }],
    ['read_definition', { name: 'in-a' }],
    ['load_file', { path: 'src/a.lisp' }],
  ])('says so: %s %j', async (tool, args) => {
    const { session, root, editor } = await start();
    editor.texts.set(root.put('src/a.lisp', '(defun in-a () 1)\n'), '(defun in-a () 2)\n');
    root.put('src/b.lisp', '(defun in-b () 1)\n');
    expect((await inTime(() => session.call(tool, args))).notices).toContain(note('src/a.lisp'));
  });

  test('says nothing of files that it did not read', async () => {
    const { session, root, editor } = await start();
    editor.texts.set(root.put('b.lisp', '(defun in-a () 1)\n'), '(defun in-a () 2)\n');
    root.put('src/b.lisp', '(defun in-b () 1)\n');
    expect((await inTime(() => session.call('read_file', { path: 'src/b.lisp' }))).notices).toEqual([]);
  });

  test.each([
    ['who_calls', { sites: true }],
    ['impact_of_change', {}],
  ])('and names places in it says so, also when it finds none: %s', async (tool, args) => {
    const { session, root, editor } = await start();
    const uses = (name: string) =>
      `(defvar *${name}* 1)\n(defun of-${name} () *${name}*)\n(defun ${name} () (of-${name}))\n`;
    editor.texts.set(root.put('noted.lisp', uses('noted')), '');
    root.put('saved.lisp', uses('saved'));
    for (const path of ['noted.lisp', 'saved.lisp']) await session.call('load_file', { path });
    const used = (name: string) => `of-${name}`;
    const notices = async (name: string) =>
      (await inTime(() => session.call(tool, { name, ...args }))).notices;
    expect(await notices(used('noted'))).toEqual([note('noted.lisp')]);
    expect(await notices(used('saved'))).toEqual([]);
    expect(await notices('used-by-nothing')).toEqual([note('noted.lisp')]);
    editor.texts.clear();
    expect(await notices(used('noted'))).toEqual([]);
  });

  test.each([
    ['load_system', { system: 'unsaved' }],
    ['rename_symbol', { name: 'cl-user::in-b', to: 'in-c', dry_run: true }],
  ])('and other files than its arguments name says so: %s', async (tool, args) => {
    const { session, root, editor } = await start();
    root.put('unsaved.asd', '(defsystem "unsaved" :components ((:file "a") (:file "b")))\n');
    editor.texts.set(root.put('a.lisp', '(in-package :cl-user)\n(defun in-a () 1)\n'), '(defun in-a () 2)\n');
    root.put('b.lisp', '(in-package :cl-user)\n(defun in-b () 1)\n');
    editor.texts.set(root.put('notes.txt', 'old\n'), 'new\n');
    await session.call('load_system', { system: 'unsaved' });
    expect((await inTime(() => session.call(tool, args))).notices).toEqual([
      'Note: this call read the files on the disk, without the unsaved changes of a.lisp in Emacs. read_buffer shows these.',
    ]);
    editor.texts.clear();
    expect((await inTime(() => session.call(tool, args))).notices).toEqual([]);
  });

  test('says when the editor does not answer', async () => {
    const { session, root, editor } = await start();
    root.put('a.lisp', '(a)\n');
    editor.unsaved = undefined;
    expect((await session.call('read_file', { path: 'a.lisp' })).notices).toEqual([
      'Note: Emacs did not report in time whether it has unsaved changes; this call used the text on the disk.',
    ]);
  });

  test('says that it did not search unsaved changes for a definition to edit', async () => {
    const { session, root, editor } = await start();
    editor.texts.set(root.put('a.lisp', '(defun a () 1)\n'), '(defun b () 1)\n');
    const edits = [{ definition: 'b', text: '(defun b () 2)' }];
    const sentence =
      ' Unsaved changes of a.lisp were not searched: if the definition may be there, ask the user to save.';
    expect(await text(session, 'edit_definitions', { edits })).toContain(sentence);
  });
});

describe('an editor that gives no valid answer', () => {
  const DISK = `a.lisp, line 1 of 1, 4 bytes\n\n(a)\n\n${SILENT}`;
  const results: unknown[] = [
    42,
    [1],
    [{ file: 'a.lisp', octets: '' }],
    [{ file: '/x/../a.lisp', octets: '' }],
    [{ file: '/a.lisp', octets: 1 }],
    [{ octets: 'KGIpCg==' }],
  ];

  test('is told, and the text on the disk is shown', async () => {
    const { session, root, editor } = await start();
    root.put('a.lisp', '(a)\n');
    for (const result of results) {
      editor.answerUnsaved = ({ id }) => editor.write(JSON.stringify({ id, result }));
      expect(await session.text('read_buffer', { buffer: 'a.lisp' }), JSON.stringify(result)).toBe(DISK);
    }
    editor.answerUnsaved = ({ id }) => editor.write(JSON.stringify({ id, error: { message: 'No.' } }));
    expect(await session.text('read_buffer', { buffer: 'a.lisp' })).toBe(DISK);
    editor.answerUnsaved = () => editor.write('no message');
    expect(await session.text('read_buffer', { buffer: 'a.lisp' })).toBe(DISK);
  });

  test('is not waited for, and its late answer is not taken for another', async () => {
    const { session, root, editor } = await start();
    const file = root.put('a.lisp', '(a)\n');
    const late: Message[] = [];
    editor.answerUnsaved = (request) => late.push(request);
    expect(await session.text('read_buffer', { buffer: 'a.lisp' })).toBe(DISK);
    expect(await session.text('read_buffer', { buffer: 'a.lisp', start_line: 2 })).toBe(
      `a.lisp has 1 line; start_line 2 is beyond its end. ${SILENT.replace('Note: ', '')}`,
    );
    expect(await session.text('search_in_buffer', { pattern: '(a)' })).toBe(
      "Found 1 match of '(a)' in 1 of 1 file:\n\n  a.lisp:\n    1:1  (a)\nNote: Emacs did not report in time whether it has unsaved changes, so such changes may be missing here.",
    );
    editor.answerUnsaved = ({ id }) => {
      const lines = late.map((request) =>
        JSON.stringify({ id: request.id, result: [{ file, octets: 'KGwp' }] }),
      );
      for (const line of [...lines, JSON.stringify({ id, result: false })]) editor.write(line);
    };
    expect(await text(session, 'read_buffer', { buffer: 'a.lisp' })).toBe(
      'a.lisp, line 1 of 1, 4 bytes\n\n(a)',
    );
  });

  test('is named by the error when there is no such file or definition on the disk', async () => {
    const { session, root, editor } = await start();
    editor.unsaved = undefined;
    const sentence = ' Emacs did not report in time whether it has unsaved changes.';
    expect(await session.text('read_buffer', { buffer: 'new.lisp' })).toBe(
      `There is no file new.lisp in the workspace ${root.path}. No file has a similar name.${sentence}`,
    );
    expect(await session.text('read_file', { path: 'new.lisp' })).toBe(
      `There is no file new.lisp. Relative paths start at ${root.path}. No file has a similar name.${sentence}`,
    );
    const edits = [{ definition: 'b', text: '(defun b () 2)' }];
    expect((await session.text('edit_definitions', { edits })).endsWith(sentence)).toBe(true);
  });

  test('is let go when it sends too long a line, or ends', async () => {
    const { session, root, editor, path } = await start();
    root.put('a.lisp', '(a)\n');
    editor.answerUnsaved = ({ id }) => editor.write(`{"id":${id},"result":"${'x'.repeat(3_000_000)}`);
    expect(await session.text('read_buffer', { buffer: 'a.lisp' })).toBe(DISK);
    const next = await watchingEditor(path);
    next.answerUnsaved = () => next.socket.destroy();
    expect(await session.text('read_buffer', { buffer: 'a.lisp' })).toBe(DISK);
    expect(await text(session, 'read_buffer', { buffer: 'a.lisp' })).toBe(
      'a.lisp, line 1 of 1, 4 bytes\n\n(a)',
    );
  });

  test('of two does not hide what the other says', async () => {
    const { session, root, editor, path } = await start();
    const file = root.put('a.lisp', '(a)\n');
    editor.unsaved = undefined;
    (await watchingEditor(path)).texts.set(file, '(b)\n');
    expect(await text(session, 'read_buffer', { buffer: 'a.lisp' })).toBe(
      `a.lisp, line 1 of 1, 4 bytes\n\n(b)\n\n${NOTE}`,
    );
  });
});

describe('a file that tools may not read', () => {
  test('is not asked for outside of the workspace, and ignored in an answer', async () => {
    const { session, root, editor } = await start();
    root.put('a.lisp', '(a)\n');
    const outside = ownFolder();
    const file = outside.put('secret.lisp', '(s)\n');
    editor.texts.set(file, '(secret)\n');
    expect((await session.call('read_buffer', { buffer: file })).text).toContain(
      `Path ${file} is outside the workspace ${root.path}.`,
    );
    expect(editor.reported('live-lisp/unsaved')).toEqual([]);
    const octets = Buffer.from('(secret)\n').toString('base64');
    editor.answerUnsaved = ({ id }) => editor.write(JSON.stringify({ id, result: [{ file, octets }] }));
    expect(await text(session, 'search_in_buffer', { pattern: 'secret' })).toBe(
      "Found 0 matches of 'secret' in 1 file",
    );
    expect(await inTime(() => session.call('read_buffer', { buffer: 'secret.lisp' }))).toEqual(
      bad(`There is no file secret.lisp in the workspace ${root.path}. No file has a similar name.`),
    );
  });

  sandboxTest('stays hidden when the sandbox hides it', async () => {
    const home = ownFolder();
    const file = home.put('.npmrc', 'on the disk\n');
    const { session, editor } = await startOwn(home, { args: ['--sandbox', 'on'], env: { HOME: home.path } });
    editor.texts.set(file, 'token\n');
    expect(await inTime(() => session.call('read_buffer', { buffer: '.npmrc' }))).toEqual(
      bad(
        '.npmrc is not read: the sandbox hides it from the image. Do without it, or ask the user to do this.',
      ),
    );
    expect(await text(session, 'search_in_buffer', { pattern: 'token' })).toMatch(
      /^Found 0 matches of 'token' in \d+ files?$/,
    );
  });
});
