// To which systems a file belongs, by the text of an .asd file.

import { expect, test } from 'vitest';
import { systemsWith } from '../../src/source/systems.ts';
import { SourceText } from '../../src/source/text.ts';
import { TopLevelForms } from '../../src/source/top-level.ts';

const ASD = `(in-package :asdf-user)
(defsystem "one" :pathname "src/"
  :components ((:file "main")
               (:module parts :serial t :components ((:file "deep/part") (:static-file "words.txt")))
               (:module "flat" :pathname #p"" :components ((:file "beside" :depends-on ("main"))))
               (:file "renamed" :pathname "./sub/../other")
               #+no (:file "left-out")
               (:file "dotted.name")
               (:file "computed" :pathname #.(first *paths*))))
(asdf:defsystem #:One/Tests :components ((:test-file "tests/suite")))
(eval-when (:load-toplevel :execute) (defsystem :all :components ((:file "src/main") (:file #.*file*))))
(defsystem "inferred" :class :package-inferred-system :pathname "lib")
(defsystem "elsewhere" :pathname #.*folder* :components ((:file "main")))
(defsystem "above" :components ((:file "../up")))
`;

test.each([
  ['src/main.lisp', ['one', 'all']],
  ['src/parts/deep/part.lisp', ['one']],
  ['src/beside.lisp', ['one']],
  ['src/other.lisp', ['one']],
  ['tests/suite.lisp', ['one/tests']],
  ['lib/deep/thing.lisp', ['inferred/deep/thing']],
  ['../up.lisp', ['above']],
  ['src/renamed.lisp', []],
  ['src/left-out.lisp', []],
  ['main.lisp', []],
])('%s belongs to %j', (path, systems) => {
  expect(systemsWith(new TopLevelForms(new SourceText(ASD), new Set(['SBCL'])), path)).toEqual(systems);
});
