// observe with mode heap: objects counted by class, and what changed.

import { expect, test } from 'vitest';
import { sharedProgram } from '../shared.ts';

const PROGRAM = `(defpackage :app (:use :cl))
(in-package :app)
(defclass visit () ((user :initarg :user)))
(defstruct box content)
(defvar *kept* '())
(defun keep (n) (dotimes (i n) (push (make-box :content (make-instance 'visit :user i)) *kept*)))
(defvar *go* t)
(defun churn () (loop while *go* for list = (loop for i below 500 collect (make-box :content (list i (make-string 50))))
                      do (setf (symbol-value 'scratch) list)))
`;

const session = sharedProgram('app', PROGRAM);

/** Returns what observe counts, with sizes and times as N. */
async function counted(args: Record<string, unknown>): Promise<string> {
  const text = await session.text('observe', { mode: 'heap', ...args });
  return text.replace(/[\d.]+ (bytes|[kMG]B|ms|s)\b/g, 'N').replace(/N in [\d,]+ objects/, 'N in N objects');
}

test('the first count of an image tells the largest classes; package asks for those of SBCL', async () => {
  expect(await counted({ limit: 2 })).toMatch(
    /^N in N objects after a garbage collection\.\n {2}[A-Z:-]+: [\d,]+, N\n {2}[A-Z:-]+: [\d,]+, N\n\.\.\. \d+ more; limit shows more$/,
  );
  expect(
    await counted({ form: '(defvar cl-user::*l* (make-hash-table))', package: 'sb-kernel', limit: 1 }),
  ).toContain('  SB-KERNEL::');
});

test('the classes of the program that grew while a form ran come first', async () => {
  expect(await counted({ form: '(keep 1000)', limit: 2 })).toMatch(
    /^N in N objects after a garbage collection, \+N since the count before form\.\n {2}APP::(VISIT|BOX): \+1,000, \+N \(now 1,000, N\)\n {2}APP::(VISIT|BOX): \+1,000, \+N \(now 1,000, N\)\n\.\.\. \d+ more; limit shows more\n\nValue: NIL$/,
  );
});

test('without a form, what changed since the last count is told', async () => {
  await counted({});
  await session.eval('(keep 10)');
  expect(await counted({ package: 'app' })).toMatch(
    /^N in N objects after a garbage collection, [+-]N since the count N before\.\n {2}APP::(VISIT|BOX): \+10, \+N \(now 1,010, N\)\n {2}APP::(VISIT|BOX): \+10, \+N \(now 1,010, N\)$/,
  );
  await session.eval('(setf *kept* nil)');
  expect(await counted({ package: 'app' })).toContain('  APP::VISIT: -1,010, -N (now 0, N)');
  expect(await counted({ package: 'app' })).toMatch(
    /since the count N before\.\nNo class has more instances or fewer\.$/,
  );
});

test('with seconds, what changes meanwhile is told', async () => {
  expect(await counted({ seconds: 0.05, package: 'app' })).toMatch(/No class has more instances or fewer\.$/);
});

test('garbage that threads make meanwhile is not counted', async () => {
  await session.eval("(dotimes (i 3) (sb-thread:make-thread #'churn))");
  for (let round = 0; round < 4; round++) {
    const text = await session.text('observe', { mode: 'heap', package: 'app', seconds: 0.05 });
    const boxes = /APP::BOX: .*now (\d+(,\d+)*)/.exec(text)?.[1] ?? '0';
    // Each of three threads keeps one list of 500, and makes another one.
    expect(Number(boxes.replaceAll(',', ''))).toBeLessThanOrEqual(4000);
  }
  await session.eval('(setf *go* nil)');
});

test('what cannot run is told, and the error of a form beside the counts', async () => {
  expect(await counted({ form: '(list' })).toContain('Nothing was evaluated.');
  expect(await counted({ form: '(error "No.")' })).toMatch(/^Error: No\.\n(.*\n)+\nN in N objects after/);
  expect(await session.text('observe', { mode: 'heap', functions: ['car'] })).toBe(
    "Parameter 'functions' works only in the modes calls and types; mode heap observes the whole program. Leave the parameter out. Nothing was done.",
  );
});

test('a heap of more than 512 MB is not counted', async () => {
  await session.eval("(progn (defvar *big* (make-array 540000000 :element-type '(unsigned-byte 8))) nil)");
  expect(await session.text('observe', { mode: 'heap' })).toBe(
    'The heap is too large to count the objects in it: 512 MB or more are in use. Use mode alloc instead. Nothing was done.',
  );
});
