// Restarts that the load before tests takes: a changed structure is loaded anew, and tests that fail still fail.

import { beforeAll, expect, test } from 'vitest';
import { LIBRARIES_AS_COMPILED } from '../harness.ts';
import { libraries } from '../libraries.ts';
import { sharedFolder, sharedSession } from '../shared.ts';
import { write } from './workspaces.ts';

libraries('fiveam');

const root = sharedFolder();
const program = (slots: string) => `(defpackage :parts (:use :cl))
(in-package :parts)
(defstruct part ${slots})
(defmethod size ((p part)) (part-size p))
(5am:def-suite all)
(5am:in-suite all)
(5am:test sized (5am:is (= 1 (size (make-part :size 1)))))
(5am:test goes-on (cerror "Go on." "Not this."))
`;

beforeAll(() => {
  write(root.path, {
    'parts.lisp': program('size'),
    'parts.asd': `(defsystem "parts" :depends-on ("fiveam") :components ((:file "parts"))
  :perform (test-op (o c) (uiop:symbol-call :fiveam :run! (uiop:find-symbol* :all :parts))))
`,
  });
});
const session = sharedSession({ args: ['--root', root.path, ...LIBRARIES_AS_COMPILED] });

test('a restart is taken in the load, which is done once more, and not in a test', async () => {
  const before = await session.text('run_tests');
  expect(before).toContain('parts: 1 of 2 tests fails');
  write(root.path, { 'parts.lisp': program('name size') });
  const text = await session.text('run_tests', { restarts: ['CONTINUE'] });
  expect(text).toContain(
    'Took the restart CONTINUE: attempt to redefine the STRUCTURE-OBJECT class PARTS::PART',
  );
  expect(text.split('\n').slice(0, 2)).toEqual([
    expect.stringMatching(/^parts: 1 of 2 tests fails \(/),
    '  GOES-ON parts.lisp:8: SIMPLE-ERROR: Not this.',
  ]);
});
