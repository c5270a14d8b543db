// Methods that differ in the objects of their EQL specializers alone: tools tell each from the others.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { APPROVE, sharedWorkspace } from '../files/sessions.ts';

const at = sharedWorkspace();
beforeAll(() => {
  at.human = () => APPROVE;
});

const OBJECTS = ['#\\b', '#\\B', '#\\Space', ':end', "'end", '"x"', '#x1F', "'#:end", '*end*'];
const method = (object: string, value: string) => `(defmethod tok ((c (eql ${object}))) ${value})`;
const TOKENS = `(defpackage :eql-m (:use :cl))
(in-package :eql-m)
(defvar *end* (list 1))
${OBJECTS.map((object, each) => method(object, `${each}`)).join('\n')}
`;

beforeEach(() => at.put('tokens.lisp', TOKENS));

function change(definition: string, edit: object): Promise<string> {
  return at.answer('edit_definitions', { edits: [{ definition, path: 'tokens.lisp', ...edit }] });
}

function tokens(): string {
  return readFileSync(join(at.root, 'tokens.lisp'), 'utf8');
}

test.each(OBJECTS)('the method of %s is edited', async (object) => {
  const text = method(object, 'changed');
  expect(await change(`(defmethod eql-m::tok ((c (eql ${object}))))`, { text })).toContain('Changed');
  expect(tokens()).toBe(TOKENS.replace(new RegExp(`(?<= ${literally(object)}\\)\\)\\) )\\d+`), 'changed'));
});

test.each([
  ['(eql #\\space)', '#\\Space'],
  ['(EQL EQL-M::END)', "'end"],
])('%s is found though it is written another way', async (specializer, object) => {
  await change(`(defmethod eql-m::tok (${specializer}))`, { op: 'delete' });
  expect(tokens()).toBe(TOKENS.replace(new RegExp(`.* ${literally(object)}\\).*\n`), ''));
});

test.each(['#\\a', '2'])('where there is none of %s no other is edited', async (object) => {
  const only = `(in-package :eql-m)\n(defgeneric tok (c))\n\n${method('#\\b', '0')}\n`;
  at.put('tokens.lisp', only);
  expect(await change(`(defmethod eql-m::tok ((c (eql ${object}))))`, { op: 'delete' })).toBe(
    `failed: edits[0]: there is no such definition of eql-m::tok. Existing ones:
  tokens.lisp:4  (defmethod tok ((c (eql #\\b))))
Give one of these as 'definition', or its line as 'line'.`,
  );
  expect(tokens()).toBe(only);
});

test('of two that only their packages tell apart, one is meant as it stands', async () => {
  const [first, second] = ['(defmethod f ((s a::shape)) 1)', '(defmethod f ((s b::shape)) 2)'];
  at.put('tokens.lisp', `(in-package :eql-m)\n${first}\n${second}\n`);
  expect(await change('(defmethod eql-m::f (shape))', { op: 'delete' })).toBe(
    `failed: edits[0]: eql-m::f matches 2 definitions:
  tokens.lisp:2  (defmethod f ((s a::shape)))
  tokens.lisp:3  (defmethod f ((s b::shape)))
Give one of these as 'definition', or its line as 'line'.`,
  );
  await change('(defmethod f ((s b::shape)))', { op: 'delete' });
  expect(tokens()).toBe(`(in-package :eql-m)\n${first}\n`);
});

test('what is loaded is read, and found again in a file that has changed since', async () => {
  await at.answer('load_file', { path: 'tokens.lisp' });
  at.put('tokens.lisp', TOKENS.replace('(defvar', '\n\n(defvar'));
  const read = (object: string) =>
    at.answer('read_definition', { name: `(defmethod eql-m::tok ((c (eql ${object}))))` });
  expect(await read('#\\Space')).toContain('tokens.lisp:8  EQL-M::TOK ((EQL #\\ )) [METHOD]');
  expect(await read('#\\B')).toContain('tokens.lisp:7  EQL-M::TOK ((EQL #\\B)) [METHOD]');
  expect(await read(':end')).toContain('tokens.lisp:9  EQL-M::TOK ((EQL :END)) [METHOD]');
  expect(await read('#\\a')).toBe(
    'EQL-M::TOK has no such method: neither the image nor a Lisp file of the workspace has one. read_definition of EQL-M::TOK alone lists its methods.',
  );
});

/** Returns the pattern that matches TEXT. */
function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
