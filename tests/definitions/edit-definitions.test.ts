// What edit_definitions changes, what it leaves as it is, and what it refuses before a human is asked.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { APPROVE, sharedWorkspace } from '../files/sessions.ts';

const SHOP = `(defpackage :ed (:use :cl))
(in-package :ed)

;;; Shapes

;; A shape.
(defclass shape () ((name :accessor shape-name)))

(defgeneric area (shape))

(defclass circle (shape) ((r :reader r)))
(defmethod area ((shape circle)) ; pi r2
  (* pi (r shape) (r shape)))

(defmethod area :around ((shape shape))
  (abs (call-next-method)))

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defun helper (x)
    (list x x))
  (defun other (y) y))

#+sbcl (defun on-sbcl () 1)
#-sbcl (defun on-sbcl () 2)

(defun (setf place) (new x) (setf (car x) new))
(defvar *count* 0) (defvar *other* 1)
(defun twice () 1)
(defun twice () 2)
(defun last-one () 'end)
`;

const at = sharedWorkspace();
beforeAll(async () => {
  at.put('shop.lisp', SHOP);
  at.put('shop.asd', '(defsystem "my-shop"\n  :components ())\n');
  await at.answer('load_file', { path: 'shop.lisp' });
});
beforeEach(() => {
  at.questions.length = 0;
  at.human = () => APPROVE;
  at.put('shop.lisp', SHOP);
});

function edit(...edits: object[]): Promise<string> {
  return at.answer('edit_definitions', { edits, package: 'ed' });
}

function shop(): string {
  return readFileSync(join(at.root, 'shop.lisp'), 'latin1');
}

/** Expects that EDITS make of the file what replacing OLD by NEW makes of it, and returns the answer. */
async function expectChange(old: string, put: string, ...edits: object[]): Promise<string> {
  expect(SHOP).toContain(old);
  const answer = await edit(...edits);
  expect([answer, shop()]).toEqual([
    expect.stringMatching(/^Changed shop.lisp/),
    SHOP.replace(old, () => put),
  ]);
  return answer;
}

describe('a definition', () => {
  test('is replaced', async () => {
    const answer = await expectChange("(defun last-one () 'end)", "(defun last-one ()\n  'start)", {
      definition: 'last-one',
      text: "(defun last-one ()\n  'start)\n",
    });
    expect(answer).toBe('Changed shop.lisp: lines 30-31, +2 −1. It has 15 top-level forms now.');
  });

  test.each([
    [
      'a method by its specializers',
      '(defmethod area (circle))',
      '(r shape) (r shape)',
      '(expt (r shape) 2)',
    ],
    ['a method as it stands', '(defmethod area :around ((shape shape)))', 'abs', '1+'],
    ['one within another form', 'helper', '(list x x)', '(list x)'],
    ['a setf function', '(setf place)', 'car', 'cdr'],
  ])('%s is found', async (_, definition, old, put) => {
    await expectChange(old, put, { definition, old, new: put });
  });
});

describe('what is inserted', () => {
  test.each([[';; A shape.\n'], ['#| A shape,\n   #| with words, |#\n; of many lines |#\n;; And more.\n']])(
    'before stands above the comment %j',
    async (comment) => {
      const text = SHOP.replace(';; A shape.\n', comment);
      at.put('shop.lisp', text);
      await edit({ definition: 'shape', op: 'before', text: '(defun new ())' });
      expect(shop()).toBe(text.replace(comment, `(defun new ())\n\n${comment}`));
    },
  );
  test.each([
    ['a string', '(defvar *doc* "\n; (defun x ())")\n'],
    ['a string that a feature leaves out', '#-sbcl (defvar *doc* "\n; (defun x ())")\n'],
  ])('before stays below %s whose last line looks like a comment', async (_, above) => {
    const put = (below: string) => `(in-package :ed)\n${above}${below}\n`;
    at.put('odd.lisp', put('; Of below.\n(defun below () 1)'));
    await edit({ definition: 'below', path: 'odd.lisp', op: 'before', text: '(defun new ())' });
    expect(readFileSync(join(at.root, 'odd.lisp'), 'latin1')).toBe(
      put('(defun new ())\n; Of below.\n(defun below () 1)'),
    );
  });
  test('before stands below a comment that an empty line keeps apart', async () => {
    const text = SHOP.replace(';; A shape.\n', '#| All of it. |#\n\n;; A shape.\n');
    at.put('shop.lisp', text);
    await edit({ definition: 'shape', op: 'before', text: '(defun new ())' });
    expect(shop()).toBe(text.replace(';; A shape.', '(defun new ())\n\n;; A shape.'));
  });
  test('after stands below the comment', async () => {
    await expectChange('(r shape) (r shape)))\n', '(r shape) (r shape)))\n\n(defun new ())\n', {
      definition: '(defmethod area (circle))',
      op: 'after',
      text: '(defun new ())',
    });
  });
  test('in another form is as far to the right', async () => {
    await expectChange('  (defun other', '  (defun new ())\n  (defun other', {
      definition: 'other',
      op: 'before',
      text: '(defun new ())',
    });
  });
});

describe('what is deleted', () => {
  test.each([
    ['last', 'last-one', "(defun last-one () 'end)\n", ''],
    ['with its feature', 'on-sbcl', '#+sbcl (defun on-sbcl () 1)\n', ''],
    ['in another form', 'other', '\n  (defun other (y) y)', ''],
    ['beside another', '*count*', '(defvar *count* 0) (', ' ('],
    ['between empty lines', 'area', '(defgeneric area (shape))\n\n', ''],
  ])('goes: %s', async (_, definition, old, put) => {
    await expectChange(old, put, { definition, op: 'delete' });
  });
});

describe('what is moved', () => {
  const SHAPE = '(defclass shape () ((name :accessor shape-name)))';
  const out = { definition: 'shape', op: 'delete' };

  test.each([[';; A shape.\n'], ['#| A shape,\n   #| with words, |#\n   of many lines |#\n']])(
    'takes its comment %j along, also into another file',
    async (comment) => {
      const [commented, rest] = [`${comment}${SHAPE}`, SHOP.replace(`;; A shape.\n${SHAPE}\n\n`, '')];
      at.put('shop.lisp', SHOP.replace(`;; A shape.\n${SHAPE}`, commented));
      await edit({ definition: 'last-one', op: 'after', text: SHAPE }, out);
      expect(shop()).toBe(`${rest}${commented}\n`);
      at.put('shop.lisp', SHOP.replace(`;; A shape.\n${SHAPE}`, commented));
      at.put('other.lisp', '(in-package :ed)\n');
      await edit(out, { path: 'other.lisp', text: `(defvar *new* 1)\n\n${SHAPE}` });
      expect(readFileSync(join(at.root, 'other.lisp'), 'latin1')).toBe(
        `(in-package :ed)\n\n(defvar *new* 1)\n\n${commented}\n`,
      );
      expect(shop()).toBe(rest);
    },
  );

  test('takes the lines of its comment as they stand to each other out of a form that is further right', async () => {
    const inner = '(defun inner () 1)';
    at.put('in.lisp', `(in-package :ed)\n(progn\n  #| One,\n     two |#\n  ${inner})\n(defvar *end* 1)\n`);
    await edit(
      { path: 'in.lisp', definition: 'inner', op: 'delete' },
      { path: 'in.lisp', definition: '*end*', op: 'before', text: inner },
    );
    expect(readFileSync(join(at.root, 'in.lisp'), 'latin1')).toBe(
      `(in-package :ed)\n(progn)\n#| One,\n   two |#\n${inner}\n(defvar *end* 1)\n`,
    );
  });

  test('leaves no comment behind that the new text has, too', async () => {
    const commented = `;; A shape.\n${SHAPE}`;
    await edit({ definition: 'last-one', op: 'after', text: commented }, out);
    expect(shop()).toBe(`${SHOP.replace(`${commented}\n\n`, '')}${commented}\n`);
  });

  test('leaves it where the new text has another, and where it is only deleted', async () => {
    await edit({ definition: 'last-one', op: 'after', text: `; Mine.\n${SHAPE}` }, out);
    expect(shop()).toBe(`${SHOP.replace(`${SHAPE}\n`, '')}; Mine.\n${SHAPE}\n`);
    at.put('shop.lisp', SHOP);
    await edit(out);
    expect(shop()).toBe(SHOP.replace(`${SHAPE}\n`, ''));
  });
});

describe('without asking anybody, it refuses', () => {
  afterAll(() => {
    expect(at.questions).toEqual([]);
  });

  const one = (definition: string, text: string) => ({ definition, text });
  test.each<[string, object[], string]>([
    ['no edits', [], "Parameter 'edits' is empty. Give at least one edit."],
    [
      'more than a person reads',
      Array(201).fill(one('area', '1')),
      "Parameter 'edits' has 201 edits, more than a person can look through. Give at most 200.",
    ],
    [
      'no definition',
      [{ text: '1' }],
      `edits[0]: Parameter 'definition' is missing. Give it; or 'path', 'old' and 'new'; or 'path' and 'text': the text is then appended to the file or, with op: "replace", replaces the definitions with the same names.`,
    ],
    [
      'two names',
      [one('area helper', '1')],
      "edits[0]: Parameter 'definition' names 2 definitions. Give an edit for each.",
    ],
    [
      'nothing',
      [one(' ', '1')],
      "edits[0]: Parameter 'definition' contains no name. Give symbols, or lists such as (setf area) or (defmethod area (circle)).",
    ],
    [
      'a part of a name',
      [one('(defmethod area (circle)', '1')],
      'edits[0]: (defmethod area (circle) is incomplete. Give a symbol or a whole list.',
    ],
    [
      'no name',
      [one('(area)', '1')],
      'edits[0]: (area) names no definition. Give a symbol, (setf area), or (defmethod area (circle)).',
    ],
    [
      'nothing to do',
      [{ definition: 'area' }],
      `edits[0]: Parameter 'text' is missing. Give 'text', or 'old' and 'new', or op: "delete".`,
    ],
    [
      'both ways',
      [{ definition: 'area', old: 'a', new: 'b', text: 'c' }],
      "edits[0]: Parameters 'old' and 'new' do not go with 'op' or 'text'. Give 'old' and 'new', or 'text'.",
    ],
    [
      'half of one',
      [{ definition: 'area', old: 'a' }],
      "edits[0]: Parameters 'old' and 'new' go together; one is missing.",
    ],
    [
      'an empty old',
      [{ definition: 'area', old: '', new: 'a' }],
      "edits[0]: Parameter 'old' is empty. Give the part of the definition to replace.",
    ],
    [
      'the same',
      [{ definition: 'area', old: 'a', new: 'a' }],
      "edits[0]: Parameters 'old' and 'new' are the same, so there is nothing to change.",
    ],
    [
      'delete with text',
      [{ definition: 'area', op: 'delete', text: 'a' }],
      'edits[0]: op: "delete" takes no text.',
    ],
    [
      'no form',
      [one('area', '; Nothing.')],
      'edits[0].text has no form. To remove a definition, give op: "delete".',
    ],
    [
      'what nobody defines',
      [one('nowhere', '(list)')],
      `edits[0]: no Lisp file of the workspace defines nowhere. Give 'path' or, to add nowhere, a neighbouring definition and op: "before" or "after".`,
    ],
    [
      'what the file does not define, with near names',
      [{ ...one('helpers', '(list)'), path: 'shop.lisp' }],
      'edits[0]: shop.lisp does not define helpers. Did you mean helper?',
    ],
    [
      'what is not there',
      [{ ...one('zzzzzz', '(list)'), path: 'shop.lisp' }],
      'edits[0]: shop.lisp does not define zzzzzz. read_definition with path lists what it defines.',
    ],
    [
      'two of the same name',
      [one('twice', '(list)')],
      `edits[0]: twice matches 2 definitions:
  shop.lisp:28  (defun twice)
  shop.lisp:29  (defun twice)
Give 'line', too.`,
    ],
    [
      'an open list, with what would close it',
      [one('last-one', "(defun last-one ()\n  (list 1\n  'end)\n")],
      `edits[0].text: the form that begins at line 1 does not end. Its indentation says that line 2 lacks ")" at its end. Repaired, that line is:
  (list 1)
Nothing was changed. Correct the text and call again.`,
    ],
    [
      'a parenthesis too many',
      [one('last-one', "(defun last-one ()\n  'end))")],
      `edits[0].text: the form that begins at line 1 ends too early. Its indentation says that line 2 has 1 ")" too many. Repaired, that line is:
  'end)
Nothing was changed. Correct the text and call again.`,
    ],
    [
      'an open string',
      [one('last-one', '(defun last-one ()\n  "end)')],
      'edits[0].text: the string that begins at line 2 does not end.\nNothing was changed. Correct the text and call again.',
    ],
    [
      'a part that leaves a list open',
      [{ definition: 'helper', old: '(list x x)', new: '(list x' }],
      `edits[0], the definition with new in place of old: the form that begins at line 1 does not end. Its indentation says that line 2 lacks ")" at its end. Repaired, that line is:
    (list x))
Nothing was changed. Correct the text and call again.`,
    ],
    [
      'a feature without a form',
      [one('last-one', '(list)\n#+sbcl')],
      'edits[0].text: the text from line 2 on is incomplete, and would absorb the next form. Nothing was changed.',
    ],
    [
      'an old that is not there',
      [{ definition: 'helper', old: '(list x y)', new: '(list x)' }],
      `edits[0].old was not found in (defun helper) at shop.lisp:19; nothing was changed. The most similar text is line 20:

20:     (list x x))

Give the exact text as parameter 'old'.`,
    ],
    [
      'an old that is twice there',
      [{ definition: 'helper', old: 'x', new: 'y' }],
      'edits[0].old occurs 3 times in (defun helper) at shop.lisp:19, at lines 19, 20; nothing was changed. Give more of the text around it, or all: true.',
    ],
    [
      'two edits of the same text',
      [one('helper', '(list)'), { definition: 'helper', old: 'list', new: 'cons' }],
      'edits[0] and edits[1] change the same text of shop.lisp; nothing was changed. Combine them into one edit.',
    ],
    [
      'what changes nothing',
      [one('last-one', "(defun last-one () 'end)")],
      'The files have this text already, so there is nothing to change.',
    ],
    [
      'what the reader can never read',
      [one('last-one', '(defun last-one () #\\Nonsense)')],
      'shop.lisp:30 could not be read: unrecognized character name: "Nonsense". Nothing was changed.',
    ],
  ])('%s', async (_, edits, message) => {
    expect([await edit(...edits), shop()]).toEqual([`failed: ${message}`, SHOP]);
  });
});
