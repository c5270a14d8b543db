// Files that would hurt an editor: other encodings and line ends, odd syntax, large forms, what changes meanwhile.

import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { APPROVE, sharedWorkspace } from '../files/sessions.ts';
import { libraries } from '../libraries.ts';
import { within } from '../load.ts';
import { ownSession } from '../shared.ts';

libraries('named-readtables');

const at = sharedWorkspace();
beforeEach(() => {
  at.questions.length = 0;
  at.human = () => APPROVE;
});

function edit(...edits: object[]): Promise<string> {
  return at.answer('edit_definitions', { edits });
}

function bytes(path: string): string {
  return readFileSync(join(at.root, path), 'latin1');
}

const NEW = '(defun f ()\n  2)';

describe('bytes outside stay as they are', () => {
  test.each<[string, string | Buffer, string]>([
    [
      'CRLF, which new lines get',
      '(a)\r\n(defun f () 1)\r\n(b)\r\n',
      '(a)\r\n(defun f ()\r\n  2)\r\n(b)\r\n',
    ],
    ['mixed line ends', '(a)\n(defun f () 1)\r\n(b)\n', '(a)\n(defun f ()\n  2)\r\n(b)\n'],
    ['a byte order mark', '\ufeff(defun f () 1)\n', '\xef\xbb\xbf(defun f ()\n  2)\n'],
    [
      'Latin-1',
      Buffer.from('; caf\xe9\n(defun f () 1) ; \xe8', 'latin1'),
      '; caf\xe9\n(defun f ()\n  2) ; \xe8',
    ],
    [
      'characters beyond 16 bits',
      '"😀" (defun f () "🙂") "😀"\n',
      '"\xf0\x9f\x98\x80" (defun f ()\n  2) "\xf0\x9f\x98\x80"\n',
    ],
    [
      'comments with quotes and parentheses',
      '#| ( " |# ; )"|\n(defun f () 1)#|(|#',
      '#| ( " |# ; )"|\n(defun f ()\n  2)#|(|#',
    ],
    [
      'characters that look like syntax',
      '(a #\\( #\\" #\\; #\\|)(defun f () 1)',
      '(a #\\( #\\" #\\; #\\|)(defun f ()\n  2)',
    ],
    [
      '#. which nobody evaluates',
      '#.(error "No.")\n(defun f () #.(error "No."))',
      '#.(error "No.")\n(defun f ()\n  2)',
    ],
    [
      'dollars, which replacing could take for patterns',
      "$& $1 (defun f () 1) $'",
      "$& $1 (defun f ()\n  2) $'",
    ],
  ])('%s', async (_, content, expected) => {
    at.put('kept.lisp', content);
    expect(await edit({ definition: 'f', path: 'kept.lisp', text: NEW })).toMatch(/^Changed kept\.lisp: /);
    expect(bytes('kept.lisp')).toBe(expected);
  });
});

test('a system is found by its name, and a method of a function of the language', async () => {
  at.put('shop.asd', '(defsystem "my-shop"\n  :components ())\n');
  expect(await edit({ definition: '"my-shop"', old: '()', new: '((:file "shop"))' })).toBe(
    'Changed shop.asd: lines 1-2, +1 −1. It has 1 top-level form now.',
  );
  at.put('print.lisp', '(defmethod print-object ((it shape) stream)\n  (list it stream))\n');
  const definition = '(defmethod cl:print-object ((a shape) b))';
  expect(await edit({ definition, old: 'list it', new: 'list' })).toBe(
    'Changed print.lisp: lines 1-2, +1 −1. It has 1 top-level form now.',
  );
});

test('nothing stays interned, and nothing is evaluated', async () => {
  at.put('kept.lisp', '(defun f () 1)');
  const text = '(defun f () (never-interned-1 :never-interned-2 #.(defun never-run ())))';
  expect(await edit({ definition: 'f', path: 'kept.lisp', text })).toMatch(/^Changed/);
  const form =
    '(list (find-symbol "NEVER-INTERNED-1") (find-symbol "NEVER-INTERNED-2" :keyword) (fboundp (quote never-run)))';
  expect(await at.answer('eval_form', { form })).toBe('(NIL NIL NIL)');
});

describe('what cannot be read yet is noted', () => {
  test('a symbol or a package that is not there', async () => {
    at.put('kept.lisp', '(defun f () 1)');
    expect(await edit({ definition: 'f', path: 'kept.lisp', text: '(defun f () (no-such-package:g))' })).toBe(
      `Changed kept.lisp: line 1, +1 −1. It has 1 top-level form now.

Note: kept.lisp:1 cannot be read yet: Package NO-SUCH-PACKAGE does not exist.`,
    );
    at.put('kept.lisp', '(in-package :no-such-package)\n(defun f () 1)');
    expect(await edit({ definition: 'f', path: 'kept.lisp', text: NEW })).toBe(
      `Changed kept.lisp: lines 2-3, +2 −1. It has 2 top-level forms now.

Note: there is no package NO-SUCH-PACKAGE in the image, so names in kept.lisp were not looked up.`,
    );
  });

  test('what no reader takes, elsewhere in the file', async () => {
    at.put('kept.lisp', '(defun f () 1)\n(defun g () #<a>)\n');
    expect(await edit({ definition: 'f', path: 'kept.lisp', text: NEW })).toBe(
      `Changed kept.lisp: lines 1-2, +2 −1. It has 2 top-level forms now.

Note: the reader of the image stops at kept.lisp:3, so only the syntax was checked after that. The reader reports: illegal sharp macro character: #\\<`,
    );
  });
});

describe('it refuses', () => {
  const HUMAN_ASKED = 1;
  async function refused(message: string | RegExp, ...edits: object[]): Promise<void> {
    const answer = await edit(...edits);
    if (typeof message === 'string') expect(answer).toBe(`failed: ${message}`);
    else expect(answer).toMatch(message);
    expect(at.questions).toEqual([]);
  }

  test('a reader macro that is not there, in what is edited', async () => {
    at.put('kept.lisp', '(defun f () 1)');
    await refused(
      'kept.lisp:1 could not be read: no dispatch function defined for #\\?. Nothing was changed.',
      { definition: 'f', path: 'kept.lisp', text: '(defun f () #?"a")' },
    );
  });

  test('other syntax than the text shows', async () => {
    await at.answer('eval_form', {
      form: '(set-macro-character #\\$ (lambda (s c) (declare (ignore c)) (read-line s) nil))',
    });
    at.put('kept.lisp', '(a)\n$ (defun f () 1)\n(b)\n');
    await refused(
      'From line 2 on, the image reads kept.lisp differently from live-lisp. Nothing was changed. If the file has its own readtable, edit the file with propose_file_edit.',
      { definition: 'f', path: 'kept.lisp', text: NEW },
    );
    await at.answer('eval_form', { form: '(setf *readtable* (copy-readtable nil))' });
  });

  test('files that are no text, read-only, outside, or not there', async () => {
    at.put('binary.lisp', Buffer.from([40, 0, 41]));
    chmodSync(at.put('only.lisp', '(defun f ())'), 0o444);
    mkdirSync(join(at.root, 'folder.lisp'));
    const one = (path: string) => ({ definition: 'f', path, text: NEW });
    await refused('binary.lisp is a binary file, which this tool does not change.', one('binary.lisp'));
    await refused(
      'only.lisp is not writable (mode 444); nothing was written. Ask the user to make it writable.',
      one('only.lisp'),
    );
    await refused('folder.lisp is a directory. Give the path of a file.', one('folder.lisp'));
    await refused(`There is no file none.lisp. Relative paths start at ${at.root}.`, one('none.lisp'));
    await refused(
      /^failed: Path \.\.\/outside\/secret\.txt is outside the workspace/,
      one('../outside/secret.txt'),
    );
  });

  test('text that the encoding of the file has not', async () => {
    at.put('latin.lisp', Buffer.from('; \xe9\n(defun f ())', 'latin1'));
    await refused(
      'latin.lisp is in Latin-1, which has no €. Write the whole file with write_file, which makes it UTF-8.',
      { definition: 'f', path: 'latin.lisp', text: '(defun f () "€")' },
    );
  });

  test('what was changed while the human looked at it', async () => {
    const file = at.put('kept.lisp', '(defun f () 1)');
    at.human = () => {
      writeFileSync(file, '(defun f () 3)');
      return APPROVE;
    };
    expect(await edit({ definition: 'f', path: 'kept.lisp', text: NEW })).toBe(
      'failed: What edit_definitions would do has changed since it was approved, so nothing was done. Call it again to ask anew.',
    );
    expect([bytes('kept.lisp'), at.questions.length]).toEqual(['(defun f () 3)', HUMAN_ASKED]);
  });
});

test('edits of one definition that are made at once: one is made, and others are refused', async () => {
  const refused =
    /^failed: (?:once\.lisp changed while this call|The files changed while these edits|What edit_definitions would do is no longer)/;
  for (let round = 0; round < 10; round += 1) {
    at.put('once.lisp', '(defun f () 1)');
    const calls = [2, 3, 4, 5].map((n) =>
      edit({ definition: 'f', path: 'once.lisp', text: `(defun f () ${n})` }),
    );
    const answers = await Promise.all(calls);
    const made = answers.filter((answer) => answer.startsWith('Changed once.lisp'));
    expect(made.length, answers.join('\n')).toBeGreaterThan(0);
    expect(answers.filter((answer) => !made.includes(answer) && !refused.test(answer))).toEqual([]);
  }
});

test('the readtable counts that the file enters', async () => {
  // DEFREADTABLE of Debian 12 fails in SBCL 2.6.7, which keeps the characters of a readtable otherwise.
  await at.answer('load_system', { system: 'named-readtables' });
  at.put(
    'syntax.lisp',
    `(defpackage :dollars (:use :cl :named-readtables))
(in-package :dollars)
(let ((table (copy-readtable nil)))
  (set-macro-character #\\$ (lambda (in char) (declare (ignore char)) (list 'quote (read in t nil t))) nil table)
  (set-dispatch-macro-character #\\# #\\? (lambda (in &rest more) (declare (ignore more)) (read in t nil t)) table)
  (register-readtable 'dollars table))
`,
  );
  await at.answer('load_file', { path: 'syntax.lisp' });
  const text = (list: string) => `(defun f ()\n  ${list})\n`;
  const head = '(in-package :dollars)\n(eval-when (:compile-toplevel) (in-readtable dollars))\n';
  at.put('user.lisp', head + text('(list $a #?"b")'));
  const one = { definition: 'dollars::f', path: 'user.lisp' };
  expect(
    await at.answer('edit_definitions', { edits: [{ ...one, old: '"b"', new: '$(c d)' }], load: true }),
  ).toBe('Changed user.lisp: lines 3-4, +1 −1. It has 3 top-level forms now.\n\nLoaded 1 form of user.lisp');
  expect(await at.answer('eval_form', { form: '(dollars::f)' })).toBe('(DOLLARS::A (DOLLARS::C DOLLARS::D))');
  at.put('other.lisp', text('(list #?"b")'));
  expect(await edit({ definition: 'f', path: 'other.lisp', old: '"b"', new: '"c"' })).toBe(
    'failed: other.lisp:1 could not be read: no dispatch function defined for #\\?. Nothing was changed.',
  );
});

test('several files are one question, with one diff', async () => {
  at.put('one.lisp', '(defun f () 1)\n');
  at.put('sub/two.lisp', '(defun g () 1)\n');
  const answer = await edit(
    { definition: 'g', path: 'sub/two.lisp', old: '1', new: '2' },
    { definition: 'f', path: 'one.lisp', op: 'after', text: '(defun h () 3)' },
  );
  expect(answer).toBe(
    `Changed sub/two.lisp: line 1, +1 −1. It has 1 top-level form now.
Changed one.lisp: line 3, +2 −0. It has 2 top-level forms now.`,
  );
  expect(at.questions).toEqual([
    `Approve edit_definitions (dangerous)? 2 files, +3 −1, the first is
… sub/two.lisp
File sub/two.lisp, line 1, +1 −1:
-(defun g () 1)
+(defun g () 2)
File one.lisp, line 2, +2 −0:
+
+(defun h () 3)
All of it: FILE`,
  ]);
});

test('how a person allows edits of several files names each, or tells that a pattern can', async () => {
  const files = ['a.lisp', 'sub/b.lisp', 'c.lisp', 'd.lisp'];
  for (const path of files) at.put(path, '(defun f () 1)\n');
  const edits = files.map((path) => ({ definition: 'f', path, old: '1', new: '2' }));
  const session = await ownSession({ args: ['--root', at.root, '--allow', 'edit_definitions:a.lisp'] });
  const said = async (count: number) =>
    (await session.text('edit_definitions', { edits: edits.slice(0, count) })).replace(/^.* server: /, '');
  expect(await said(2)).toBe('--allow edit_definitions:a.lisp --allow edit_definitions:sub/b.lisp');
  expect(await said(4)).toBe('--allow edit_definitions:GLOB');
});

test('a form of 1 MB beside it, and in it, is no matter', async () => {
  const large = `(defvar *large* '(${'(list 1 "two" #\\3) '.repeat(56_000)}))\n`;
  at.put('large.lisp', `(defun f () 1)\n${large}(defun g () 2)\n`);
  const answer = await within(4000, () =>
    edit(
      { definition: 'g', path: 'large.lisp', text: '(defun g () 3)' },
      { definition: '*large*', path: 'large.lisp', text: '(defvar *large* nil)' },
    ),
  );
  expect(answer).toBe('Changed large.lisp: lines 2, 3, +2 −2. It has 3 top-level forms now.');
  expect(bytes('large.lisp')).toBe('(defun f () 1)\n(defvar *large* nil)\n(defun g () 3)\n');
});
