// Tools as functions: code gets all of the data, in the shapes that docs/calling-tools.md tells, and conditions.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bad, PROJECT } from '../harness.ts';
import { within } from '../load.ts';
import { BUILT_IN } from '../names.ts';
import { sharedFolder, sharedSession, withSession } from '../shared.ts';
import { CALLS } from './calls.ts';

const PAGE = readFileSync(join(PROJECT, 'docs', 'calling-tools.md'), 'utf8');
const root = sharedFolder();
root.put('notes.txt', 'one\ntwo one\n');
root.put('code.lisp', '(defvar cl-user::*from-file* 1)\n');
root.put('long.txt', 'a b\n'.repeat(150_000));
const session = sharedSession(
  { args: ['--root', root.path, '--heap', '2GB', '--eval-timeout', '600'] },
  `(progn
    (defvar *many* (make-package :many-symbols)) (dotimes (i 2500) (export (intern (format nil "SYMBOL-~4,'0D" i) *many*) *many*))
    (defun wanted () 1) (dotimes (i 300) (eval (list 'defun (intern (format nil "CALLER-~3,'0D" i)) '() '(wanted))))
    (defun data (key &rest call) (gethash key (apply #'live-lisp:call-tool call)))
    (defun object (&rest all) (let ((it (make-hash-table :test 'equal))) (loop while all do (setf (gethash (pop all) it) (pop all))) it))
    (defun told (&rest call)
      (handler-case (apply #'live-lisp:call-tool call)
        (live-lisp:tool-error (e) (list (type-of e) (live-lisp:tool-error-tool e) (live-lisp:tool-error-message e)))))
    (defun keys (value)
      (typecase value
        (hash-table (loop for key being the hash-keys of value using (hash-value inner) collect key append (keys inner)))
        (cons (loop for each in value append (keys each))))))`,
);

describe('all of it', () => {
  test('S2.21 C13 without limit code gets every row, and what it asks for with one', async () => {
    const call = '"rows" "list_package_symbols" :package "many-symbols"';
    expect(await session.eval(`(length (data ${call}))`)).toBe('2500');
    expect(await session.eval(`(mapcar #'second (data ${call} :limit 2 :offset 2498))`)).toBe(
      '("SYMBOL-2498" "SYMBOL-2499")',
    );
    expect(await session.eval('(length (data "rows" :who-calls :name "wanted"))')).toBe('300');
    expect(await session.eval('(length (data "rows" :who-calls :name "wanted" :limit 7))')).toBe('7');
    const found = await session.eval(
      '(let ((all (live-lisp:call-tool :apropos-search :pattern ""))) (= (gethash "total" all) (length (gethash "rows" all))))',
    );
    expect(found).toBe('T');
    expect(await session.text('who_calls', { name: 'wanted' })).toMatch(
      /CALLER-199\n {2}\.\.\.\nNote: 300 callers; limit and offset reach the rest\.$/,
    );
  });

  test('S2.21 texts, matches, tools, evaluations and records are whole too', async () => {
    expect(await session.eval('(length (data "text" :read-file :path "long.txt"))')).toBe('599999');
    expect(await session.eval('(length (data "text" :read-file :path "long.txt" :limit 10))')).toBe('39');
    expect(await session.eval('(length (data "matches" :search-in-buffer :pattern "a"))')).toBe('150001');
    expect(await session.eval(`(length (data "tools" :search-tools))`)).toBe(String(BUILT_IN.length));
    await session.eval('(dotimes (i 30) (live-lisp:call-tool :eval-form :form "1"))');
    for (const call of ['"evaluations" :get-repl-history', '"calls" :get-audit-log']) {
      expect(Number(await session.eval(`(length (data ${call}))`))).toBeGreaterThan(30);
      expect(await session.eval(`(length (data ${call} :limit 3))`)).toBe('3');
    }
  });

  test('S2.21 of tens of thousands of rows too, in linear time; of too many nothing', async () => {
    await session.eval(`(let ((package (make-package :very-many)))
      (dotimes (i 60000) (export (intern (format nil "SYMBOL-~D" i) package) package)))`);
    const form = '(length (data "rows" :list-package-symbols :package "very-many"))';
    expect(await within(4000, () => session.eval(form))).toBe('60000');
    root.put('many.txt', 'q\n'.repeat(250_001));
    expect(await session.eval('(third (told :search-in-buffer :pattern "q" :buffer "many.txt"))')).toBe(
      '"There are 250001 rows, but Lisp code gets at most 250000 at once. Ask for fewer, or read them in parts with limit and offset."',
    );
  });

  test('S2.21 a file that is too large for that is read in parts only', async () => {
    root.put('huge.txt', 'a line of it\n'.repeat(1_400_000));
    expect(await session.eval('(third (told :read-file :path "huge.txt" :start-line 5))')).toMatch(
      /^"huge\.txt is too large to read at once; lines 5 to \d+ fit\. Read it in parts with start_line and limit\."$/,
    );
    expect(await session.eval('(length (data "text" :read-file :path "huge.txt" :limit 1000))')).toBe(
      '12999',
    );
    expect(await session.eval('(length (data "text" :read-file :path "huge.txt" :end-line 10))')).toBe('129');
  });

  test('S2.21 a limit is checked as for a client', async () => {
    expect(await session.eval('(third (told :who-calls :name "car" :limit 2001))')).toBe(
      `"Parameter 'limit' must be at most 2000, not 2001."`,
    );
  });

  test('what is too long for the wire is an error, and the image lives on', async () => {
    await session.eval(`(let ((long (make-package :long-names)))
      (dotimes (i 200) (intern (make-string 60000 :initial-element (code-char (+ 1000 i))) long)))`);
    const call = '(third (told :list-package-symbols :package "long-names" :access "internal"))';
    expect(await session.eval(`(values ${call} (delete-package :long-names))`)).toMatch(
      /The answer is too large: it takes \d+ octets; the limit is 67108864\. Ask for less in one call\."\nT$/,
    );
    expect(await session.eval('(length (data "rows" :who-calls :name "wanted"))')).toBe('300');
  });
});

describe('conditions', () => {
  test.each([
    [':who-calls :name "car" :package "nope"', 'who_calls', 'Package nope not found'],
    [':who-calls :name "nope"', 'who_calls', 'Symbol NOPE not found in package CL-USER (status: NIL)'],
    [
      ':who-references :name "nope"',
      'who_references',
      'Symbol NOPE not found in package CL-USER (status: NIL)',
    ],
    [
      ':describe-symbol :symbol "nope"',
      'describe_symbol',
      'Symbol NOPE not found in package CL-USER (status: NIL)',
    ],
    [
      ':function-arglist :symbol "nope"',
      'function_arglist',
      'Symbol NOPE not found in package CL-USER (status: NIL)',
    ],
    [':apropos-search :pattern "x" :package "nope"', 'apropos_search', 'Package nope not found'],
    [
      ':apropos-search :pattern "x" :type "bogus"',
      'apropos_search',
      'Invalid type: bogus. Valid types: function, macro, variable, class, generic-function',
    ],
    [':list-package-symbols :package "nope"', 'list_package_symbols', 'Package nope not found'],
    [':class-slots :class "nope"', 'class_slots', 'Symbol NOPE not found in package CL-USER (status: NIL)'],
    [':class-hierarchy :class "x" :package "nope"', 'class_hierarchy', 'Package nope not found'],
    [':eval-form :form "1" :package "nope"', 'eval_form', 'Package nope not found'],
    [':macroexpand-form :form "1" :package "nope"', 'macroexpand_form', 'Package nope not found'],
    [':compile-form :form "1" :package "nope"', 'compile_form', 'Package nope not found'],
  ])('S2.21 C8 %s is an error with the text of the contract', async (call, tool, text) => {
    expect(await session.eval(`(let ((*print-pretty* nil)) (prin1-to-string (told ${call})))`)).toBe(
      JSON.stringify(`(LIVE-LISP:TOOL-ERROR "${tool}" "${text}")`),
    );
  });

  test('S2.11 C20 a dangerous tool signals APPROVAL-REQUIRED, whose restart goes on with a value', async () => {
    const call = '(live-lisp:call-tool :write-file :path "new.txt" :content "x")';
    expect(await session.call('eval_form', { form: call })).toEqual(
      bad(`Error: Tool write_file is dangerous and needs a human's approval, which code cannot request. Nothing was done. Call write_file directly, not from code, so that a human can be asked.
Type: LIVE-LISP::APPROVAL-REQUIRED

Restarts (none was invoked; the call was ended):
  USE-VALUE: Return a value instead of calling write_file.

Frames:
  0: (LIVE-LISP:CALL-TOOL :WRITE-FILE :PATH "new.txt" :CONTENT ...)`),
    );
    const instead = `(handler-bind ((live-lisp:approval-required
      (lambda (c) (use-value (list (live-lisp:tool-error-tool c) (typep c 'live-lisp:tool-error)))))) ${call})`;
    expect(await session.eval(instead)).toBe('("write_file" T)');
    const typed = `(with-input-from-string (in "(* 6 7)")
      (let ((*query-io* (make-two-way-stream in (make-broadcast-stream))))
        (handler-bind ((live-lisp:approval-required
                         (lambda (c) (invoke-restart-interactively (find-restart 'use-value c)))))
          ${call})))`;
    expect(await session.eval(typed)).toBe('42');
    expect(await session.eval('(probe-file "new.txt")')).toBe('NIL');
  });

  test('what a human allowed in advance runs from code, and what they want to be asked about does not', async () => {
    await withSession(
      {
        args: ['--root', root.path, '--allow', 'write_file', '--ask', 'cautious', '--allow', 'eval_form'],
      },
      async (other) => {
        const write =
          '(values (gethash "bytes" (live-lisp:call-tool :write-file :path "allowed.txt" :content "xy")))';
        expect(await other.eval(write)).toBe('2');
        const load =
          '(handler-case (live-lisp:call-tool :load-file :path "code.lisp") (live-lisp:approval-required (e) (live-lisp:tool-error-tool e)))';
        expect(await other.eval(load)).toBe('"load_file"');
      },
    );
  });

  test.each([
    [
      '(sb-sys:without-interrupts (told :who-calls :name "car"))',
      'Code that runs without interrupts, such as within WITHOUT-INTERRUPTS or in a function given to INTERRUPT-THREAD, cannot wait for a tool; call the tool outside.',
    ],
    [
      '(sb-sys:without-gcing (told :who-calls :name "car"))',
      'Code within WITHOUT-GCING cannot wait for a tool; call the tool outside.',
    ],
  ])('%s is refused, because nobody could end it', async (form, text) => {
    expect(await session.eval(`(third ${form})`)).toBe(`"${text}"`);
    expect(await session.eval('(values (data "kept" :who-calls :name "wanted"))')).toBe('T');
  });
});

test.each([
  ['5', 'NIL', 'The call must be a property list with :ID, :NAME and :ARGUMENTS, not 5.'],
  [
    "'(:id 1 :arguments 7)",
    '1',
    'Its arguments must be an EQUAL hash table with strings as keys or a property list, not 7.',
  ],
  [
    "'(:id 1 :arguments (:x))",
    '1',
    'Its arguments must alternate names and values, but the last name has no value.',
  ],
])('S2.20 execute-tool-call of %s says what is wrong', async (call, id, error) => {
  const form = `(let ((result (live-lisp:execute-tool-call (live-lisp:get-tool "who_calls") ${call})))
    (values (live-lisp:tool-result-id result) (live-lisp:tool-result-success result)
            (live-lisp:tool-result-result result) (live-lisp:tool-result-error result)))`;
  expect(await session.eval(form)).toBe(`${id}\nNIL\nNIL\n"${error}"`);
});

describe('C7', () => {
  test('C7 the mark is on exactly the tools that code can call, and their data is as the page says', async () => {
    const marked = JSON.parse(await session.text('search_tools', { cemcpOnly: true, limit: 0 }));
    const names = marked.tools.map(({ name }: { name: string }) => name);
    expect(Object.keys(CALLS).sort()).toEqual(BUILT_IN.map(([name]) => name).sort());
    for (const [name, args] of Object.entries(CALLS)) {
      const form = `(let ((result (told "${name}" ${args})))
        (if (hash-table-p result) (remove-duplicates (keys result) :test #'string=) (list :refused (first result))))`;
      const keys = await session.eval(form);
      if (!names.includes(name)) {
        const why = name === 'restart_image' ? 'TOOL-ERROR' : 'APPROVAL-REQUIRED';
        expect([name, keys]).toEqual([name, `(:REFUSED LIVE-LISP:${why})`]);
        continue;
      }
      const row = `${PAGE.split('\n').find((line) => line.startsWith(`| \`${name}\``))}\`kind\``;
      const strange = [...keys.matchAll(/"([^"]*)"/g)].map(([, key]) => key);
      const inner = ['search_tools', 'get_audit_log', 'get_last_error'].includes(name);
      if (!inner) expect([name, strange.filter((key) => !row.includes(`\`${key}\``))]).toEqual([name, []]);
    }
  });

  test('C7 S1.5 search_tools says how code calls the tools with the mark', async () => {
    const answer = JSON.parse(await session.text('search_tools', { cemcpOnly: true, limit: 1 }));
    expect(answer.note).toBe(
      'Code in the image can call these tools: (live-lisp:call-tool "NAME" :parameter value ...) returns the data, in full if no limit is given. One eval_form that calls tools and filters their data costs fewer tokens than separate tool calls.',
    );
    expect(await session.text('describe_symbol', { symbol: 'live-lisp:call-tool' })).toContain(
      '(call-tool "who_calls" :name "foo" :limit 5)',
    );
    expect(session.client.getInstructions()).toContain('(live-lisp:call-tool "who_calls" :name "foo")');
  });
});

test('S2.21 the examples of the page run', async () => {
  const blocks = [...PAGE.matchAll(/```lisp\n(.*?)```/gs)].map(([, text = '']) => text);
  await session.eval('(defpackage :inventory (:use :cl) (:export #:used #:unused))');
  await session.eval('(defun used ()) (defun unused () (used))', { package: 'inventory' });
  expect(await session.eval(blocks[0] ?? '')).toBe('("UNUSED")');
  expect(await session.eval(blocks[1] ?? '')).toBe('(:NOT-WRITTEN "write_file")');
});
