// What a question says besides the diff, word for word.

import { beforeAll, beforeEach, expect, test } from 'vitest';
import { fileDiffOf } from '../../src/files/diff.ts';
import { decode } from '../../src/files/text.ts';
import type { RenameFacts } from '../../src/image/wire/operations.ts';
import type { RenamePlan } from '../../src/tools/renaming/plan.ts';
import { renameNotes } from '../../src/tools/renaming/rename-text.ts';
import { DENY, sharedWorkspace } from '../files/sessions.ts';

const at = sharedWorkspace({ args: ['--replay', 'off'] });
beforeAll(() => {
  at.human = () => DENY;
});
beforeEach(() => void at.questions.splice(0));

test('a file that has that content already is told as that', async () => {
  at.put('same.txt', 'one\n');
  await at.answer('write_file', { path: 'same.txt', content: 'one\n' });
  expect(at.questions).toEqual([
    `Approve write_file (dangerous)? no change, in same.txt
File same.txt has exactly this content already.
All of it: FILE`,
  ]);
});

test('a file that is stored in an unusual way is told as that', async () => {
  await at.answer('write_file', { path: 'odd.txt', content: '\ufeffone\r\ntwo' });
  expect(at.questions).toEqual([
    `Approve write_file (dangerous)? new file, +2 \u22120, in odd.txt
It has 2 lines, byte order mark, CRLF line ends, no newline at the end.
+one
+two
All of it: FILE`,
  ]);
});

test('marks at the beginning of a line do not make its sign another one', async () => {
  at.put('marks.lisp', '\u030d\u0329(check-rights)\n\u0336(keep)\n');
  await at.answer('write_file', { path: 'marks.lisp', content: '\u0336(keep)\n' });
  expect(at.questions).toEqual([
    `Approve write_file (dangerous)? line 1, +0 \u22121, in marks.lisp
-<U+030D><U+0329>(check-rights)
All of it: FILE`,
  ]);
});

test('of a file that changes as a whole, all lines are told as replaced', () => {
  const text = (word: string) =>
    decode(
      Buffer.from(
        Array.from({ length: 40_000 }, (_, index) => `${word}${(index * 7919) % 40_009}\n`).join(''),
      ),
    );
  const change = fileDiffOf('n', text('a'), text('b'));
  expect(change.text.slice(0, 3).map(String)).toEqual([
    'File n, line 1, +40000 \u221240000:',
    '@@ -1,40000 +1,40000 @@',
    '-a0',
  ]);
});

test('a tool without arguments is told as that', async () => {
  await at.session.eval(`(live-lisp:register-tool live-lisp:*agent-q-registry*
    (live-lisp:define-tool "bare" "Does it." '() :safety-level :dangerous :handler (lambda (args) args)))`);
  await at.answer('bare', {});
  expect(at.questions).toEqual([
    `Approve bare (dangerous, defined by code in the image, not by live-lisp)?
It takes no arguments.
All of it: FILE`,
  ]);
});

test('a rename shows what is true before the name that it was given', async () => {
  at.put('a.lisp', '(defpackage :forged (:use :cl))\n(in-package :forged)\n(defun thing () 1)\n');
  await at.session.call('load_file', { path: 'a.lisp' });
  const to = '|x: 1 file, +1 \u22121, then load\nAll of it: /tmp/evil\n-(defun \u05d0|';
  await at.answer('rename_symbol', { name: 'forged::thing', to });
  expect(at.questions).toEqual([
    `Approve rename_symbol (dangerous)? 1 file, +3 \u22121, then load: rename
\u2026 FORGED::THING to "x: 1 file, +1 <U+2212>1, then load<U+000A>All of it:
\u2026 /tmp/evil<U+000A>-(defun \u2066\u05d0\u2069", in a.lisp
-(defun thing () 1)
+(defun |x: 1 file, +1 \u22121, then load
+All of it: /tmp/evil
+-(defun \u2066\u05d0\u2069| () 1)
All of it: FILE`,
  ]);
});

test('the end of an image tells how many calls and variables go, and that nothing comes back', async () => {
  const names = Array.from({ length: 21 }, (_, index) => `*v${index}*`);
  for (const name of names) await at.session.eval(`(progn (defvar ${name} 1) (setf ${name} 2))`);
  const running = at.session.call('eval_form', { form: '(sleep 600)' });
  await at.answer('restart_image', {});
  const [first, goesOn, calls, none, fresh, ...variables] = (at.questions[0] ?? '').split('\n');
  expect([first, goesOn, calls, none, fresh]).toEqual([
    'Approve restart_image (dangerous)? all values, threads, open files and',
    '\u2026 connections of the image are lost',
    '1 running call is ended.',
    'Nothing is rebuilt, because the server was started with --replay off.',
    'The Lisp image is ended and a fresh one started.',
  ]);
  const reported = names.slice(0, 20).map((name) => `COMMON-LISP-USER::${name.toUpperCase()}`);
  expect(variables.join('\n').replaceAll('\n\u2026 ', ' ')).toBe(
    `Variables that were set (21, the first 20): ${reported.join(', ')}.\nAll of it: FILE`,
  );
  await at.answer('interrupt', {});
  await running;
});

test('a rename tells what goes with it, what it leaves, and what it breaks', () => {
  const facts = {
    renamings: [
      { from: 'A::X', to: 'Y' },
      { from: 'A::MAKE-X', to: 'MAKE-Y' },
    ],
  };
  const plan = {
    wanted: { keywords: false, prose: false },
    kept: [
      { at: 'a.lisp:1', why: 'package definition' },
      { at: 'a b.lisp:2', why: 'prose' },
      { at: 'a.lisp:3', why: 'prose' },
      { at: 'a.lisp:4', why: 'prose' },
      { at: 'a.lisp:5', why: 'string' },
      { at: 'a.lisp:6', why: 'keyword' },
      { at: 'a.lisp:7', why: 'word of LOOP' },
      { at: 'a.lisp:8', why: 'unknown package' },
    ],
    merged: ['a.lisp:9'],
    outside: Array.from({ length: 21 }, (_, index) => `/lib/${index}.lisp:1`),
    unreadFrom: ['a.lisp:11'],
    unread: ['b.lisp'],
    unfinished: true,
  };
  const notes = renameNotes(facts as RenameFacts, plan as unknown as RenamePlan).map(String);
  const outside = plan.outside.slice(0, 20).join(', ');
  expect(notes).toEqual([
    'With it: A::MAKE-X to MAKE-Y.',
    'Not changed, 1 in a package definition that computes its options (check whether it names the symbol): a.lisp:1.',
    'Not changed, 3 in comments, strings and other texts (text: true changes them): "a b.lisp":2, a.lisp:3,4.',
    'Not changed, 1 in strings that can name it: a.lisp:5.',
    'Not changed, 1 keywords of that name (keywords: true changes its keyword parameters and initargs): a.lisp:6.',
    'Not changed, 1 as a word of LOOP: a.lisp:7.',
    'Not changed, 1 in packages that are not loaded: a.lisp:8.',
    'Places that already have the new name, and will refer to the renamed symbol: a.lisp:9.',
    `Uses that will break, because their files cannot be written: ${outside} and 1 more.`,
    'Not searched, because unreadable from these lines on: a.lisp:11.',
    'Not searched, because unreadable or too large: b.lisp.',
    'The workspace is too large to search all files that are not loaded.',
  ]);
});
