// Tests that would hurt whoever runs them: what a test does, what it is called, and what it does to its framework.

import type { Group, HostileCase } from '../case.ts';

const SECONDS = 1;

/** Returns a case in which run_tests runs a test of RT whose body is FORM. AFTER is evaluated when it is defined. */
function testing(
  what: Omit<HostileCase, 'tool' | 'before' | 'form'> & { form: string; after?: string },
  more: Record<string, unknown> = {},
): HostileCase {
  const { form, after = '', ...rest } = what;
  return {
    seconds: SECONDS,
    ...rest,
    form: 'bad',
    before: `(require :sb-rt) (sb-rt:rem-all-tests) (sb-rt:deftest bad ${form} 1) (sb-rt:deftest good 1 1) ${after}`,
    tool: { name: 'run_tests', args: { test: '$', timeout: SECONDS, ...more } },
  };
}

/** How the answer begins when the limit of the run ended the test BAD. */
const CUT =
  /^bad: 1 of 1 test fails \(\d+\.\d s\)\.\n {2}BAD: did not end: the run was interrupted after \d+\.\d s, past its limit/;

/** Prints as an error. */
const UNPRINTABLE = '(defclass odd () ()) (defmethod print-object ((odd odd) stream) (error "No print."))';

export const TESTS: Group = {
  title: 'Tests that run_tests runs',
  cases: [
    testing({ name: 'a test that loops', form: '(loop)', says: CUT }),
    testing({
      name: 'a test that makes its framework another',
      form: '(progn (defun sb-rt::do-entry (entry &optional stream) (declare (ignore entry stream)) (error "Mine.")) 1)',
      says: /^bad: 1 test passes/,
      succeeds: true,
      spoils: true,
    }),
    testing({
      name: 'a framework whose results cannot be read',
      form: '2',
      after: '(defun sb-rt::name (entry) (error "No name of ~A." (type-of entry)))',
      says: /^No framework has a test or suite bad\. Nothing ran\.$/,
      spoils: true,
    }),
    testing({
      name: 'a value that cannot be printed',
      form: "(make-instance 'odd)",
      after: UNPRINTABLE,
      says: /^bad: 1 of 1 test fails[\s\S]* {2}BAD: \(make-instance 'odd\) = #<odd: printing it signalled simple-error>, wanted 1/,
    }),
    testing({
      name: 'a test that runs itself',
      form: "(sb-rt:do-test 'bad)",
      // SBCL itself can lose the image to a recursion that conses.
      says: /^bad: \d+ of \d+ tests? fails?/,
      image: 'either',
      seconds: 3,
    }),
    testing(
      {
        name: 'a test with an odd name',
        form: '1',
        after: '(sb-rt:deftest |a "b" (c\\\\d ; ~S λ| 1 2)',
        says: /^CL-USER: 1 of 3 tests fails? \(\d+\.\d s\)\.\n {2}a "b" \(c\\d ; ~S λ: 1 = 1, wanted 2/,
      },
      { package: 'CL-USER', test: undefined },
    ),
  ],
};
