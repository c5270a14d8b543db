// Names that are written between bars are told, found and checked like others.

import { beforeAll, describe, expect, test } from 'vitest';
import { sharedWorkspace } from '../files/sessions.ts';

const NAMES = ['two words', 'a::b', 'bar|in', 'paren)'];
const barred = (name: string) => `|${name.replace(/[\\|]/g, '\\$&')}|`;

const at = sharedWorkspace();
beforeAll(async () => {
  const forms = NAMES.map(barred).flatMap((name, index) => [
    `(defun ${name} (x) x)`,
    `(defun user-${index} () (${name} 1))`,
    `(defun (setf ${name}) (new x) (list new x))`,
    `(defun setter-${index} () (setf (${name} 1) 2))`,
    `(defmacro ${name.replace(/\|$/, ' macro|')} (x) x)`,
    `(defun macro-user-${index} () (${name.replace(/\|$/, ' macro|')} 1))`,
  ]);
  at.put('quoted.lisp', ['(defpackage :qn (:use :cl))', '(in-package :qn)', ...forms].join('\n'));
  await at.answer('load_file', { path: 'quoted.lisp' });
});

test('what follows a name is ignored in either case of letters', async () => {
  for (const symbol of ['car foo', 'CAR foo', 'cl:car)'])
    expect(await at.answer('describe_symbol', { symbol })).toMatch(/^COMMON-LISP::CAR \[FUNCTION\]/);
});

describe.each(NAMES.map((name, index) => [name, index] as const))('%j', (name, index) => {
  const line = 3 + index * 6;

  test('has the places of its calls', async () => {
    const calls = (asked: string) => at.answer('who_calls', { name: asked, package: 'qn', sites: true });
    expect(await calls(barred(name))).toContain(`QN::USER-${index}\n    quoted.lisp:${line + 1}:`);
    expect(await calls(`(setf ${barred(name)})`)).toContain(
      `QN::SETTER-${index}\n    quoted.lisp:${line + 3}:`,
    );
  });

  test.each(['', 'setf'])('has its calls checked: %s', async (setf) => {
    const asked = setf ? `(setf ${barred(name)})` : barred(name);
    const reported = await at.answer('impact_of_change', {
      name: asked,
      package: 'qn',
      lambda_list: '(x y z)',
    });
    expect(reported).toContain('Calls that no longer fit (1 of 1 call):');
    expect(reported).toContain(
      `QN::${setf ? 'SETTER' : 'USER'}-${index}  quoted.lisp:${line + (setf ? 3 : 1)}:`,
    );
  });

  test('has the uses of a macro checked', async () => {
    const asked = barred(`${name} macro`);
    const reported = await at.answer('impact_of_change', {
      name: asked,
      package: 'qn',
      lambda_list: '(x y z)',
    });
    expect(reported).toContain(`QN::MACRO-USER-${index}  quoted.lisp:${line + 5}:`);
    expect(reported).not.toContain('in an expansion');
  });

  test('is read from its file', async () => {
    const reported = await at.answer('read_definition', { name: barred(name), package: 'qn' });
    expect(reported).toContain(
      `quoted.lisp:${line}  QN::${name} [FUNCTION]\n\n(defun ${barred(name)} (x) x)`,
    );
  });
});
