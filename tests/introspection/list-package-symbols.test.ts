// list_package_symbols: what a package is, and which symbols it has.

import { beforeAll, describe, expect, test } from 'vitest';
import { prepare, sharedLooks } from './looks.ts';

const session = sharedLooks();
beforeAll(async () => {
  await prepare(session, '(defpackage "SMALL" (:use) (:export "OUT"))');
  await prepare(session, '(progn (defvar small::in 1) (defmacro small:out () nil))');
});

function list(name: string, more: Record<string, unknown> = {}): Promise<string> {
  return session.text('list_package_symbols', { package: name, ...more });
}

/** Returns the blocks of symbols of TEXT, without what the package is. */
function blocks(text: string): string {
  return text.slice(text.indexOf('\n\n') + 2);
}

test('C14 names, uses, shadowing symbols, counts, documentation, then the external symbols', async () => {
  const [, internal = ''] = /(\d+) internal/.exec(await list('LOOKS')) ?? [];
  const counted = await session.eval(
    '(let ((n 0)) (do-symbols (s :looks n) (when (eq :internal (nth-value 1 (find-symbol (symbol-name s) :looks))) (incf n))))',
  );
  expect(internal).toBe(counted);
  expect(await list('LOOKS')).toBe(`Package LOOKS
Nicknames: LKS, LOOK
Local nicknames: B for LOOKS.BASE
Uses: COMMON-LISP, LOOKS.BASE
Shadowing symbols: LOOKS::SEARCH
Symbols: 5 external, ${internal} internal, 979 inherited
Documentation: Things to look at.

External symbols (5):

  *UNIT* [VARIABLE]
  AREA [GENERIC-FUNCTION]
  LOOKS.BASE::NAMED [CLASS]
  SHAPE [CLASS]
  WITH-UNIT [MACRO]`);
});

test.each(['LOOKS.BASE', '#:looks.base'])('%s is found, and says who uses it', async (name) => {
  expect((await list(name)).split('\n').slice(0, 3)).toEqual([
    'Package LOOKS.BASE',
    'Uses: COMMON-LISP',
    'Used by: LOOKS',
  ]);
});

test('CL is locked, and its 978 symbols are counted', async () => {
  const lines = (await list('CL')).split('\n');
  expect(lines[0]).toBe('Package COMMON-LISP');
  expect(lines[1]).toBe('Nicknames: CL');
  expect(lines).toContain('Locked: redefining its symbols is an error unless it is unlocked.');
  expect(lines).toContain('Symbols: 978 external, 0 internal, 0 inherited');
});

describe('access', () => {
  const HEAD = 'Package SMALL\nSymbols: 1 external, 1 internal, 0 inherited\n\n';
  const EXTERNAL = 'External symbols (1):\n\n  OUT [MACRO]';
  const INTERNAL = 'Internal symbols (1):\n\n  IN [VARIABLE]';

  test.each([
    [{}, EXTERNAL],
    [{ access: 'internal' }, INTERNAL],
  ])('%j', async (more, text) => {
    expect(await list('small', more)).toBe(HEAD + text);
  });

  test('a symbol that is inherited by two ways is counted once, one that is shadowed not at all', async () => {
    await prepare(
      session,
      '(progn (defpackage "TWO.WAYS" (:use "LOOKS" "LOOKS.BASE") (:shadow "AREA")) (intern "X" "TWO.WAYS"))',
    );
    expect(await list('two.ways')).toContain(
      '\nSymbols: 0 external, 2 internal, 6 inherited\n\nNo external symbols.',
    );
  });
});

test('C15 a symbol is listed with all that it names, and conditions as such', async () => {
  await prepare(
    session,
    `(defpackage "MANY" (:use) (:export "BOTH" "CND" "KIND" "PLACE" "BARE" "ROW"))
     (progn (cl:defun many:both ()) (cl:defvar many:both 1) (cl:defclass many:both () ())
       (cl:define-condition many:cnd () ()) (cl:deftype many:kind (n) n) (cl:defsetf many:place many::put)
       (cl:defstruct (many:row (:type cl:list)) many::one))`,
  );
  expect(
    blocks(await list('many'))
      .split('\n')
      .slice(2),
  ).toEqual([
    '  BARE [SYMBOL]',
    '  BOTH [FUNCTION, CLASS, VARIABLE]',
    '  CND [CONDITION]',
    '  KIND [TYPE]',
    '  PLACE [SETF EXPANDER]',
    '  ROW [TYPED STRUCTURE]',
  ]);
  expect(blocks(await list('many', { type: 'variable' })).split('\n')[2]).toBe('  BOTH [VARIABLE]');
  expect(await session.text('apropos_search', { pattern: 'both', package: 'MANY' })).toBe(
    "Found 1 symbol matching 'both':\n\n  MANY::BOTH [FUNCTION]",
  );
});

describe('type', () => {
  test('chooses, and the counts are those of the chosen', async () => {
    expect(blocks(await list('LOOKS', { type: 'class' }))).toBe(
      'External symbols of type class (2):\n\n  LOOKS.BASE::NAMED [CLASS]\n  SHAPE [CLASS]',
    );
    expect(blocks(await list('small', { type: 'class', access: 'internal' }))).toBe(
      'No internal symbols of type class.',
    );
  });

  test('C8 another type is answered as by apropos_search, after the package', async () => {
    const answer = (text: string) => ({ text, notices: [], isError: false });
    expect(await session.call('list_package_symbols', { package: 'CL', type: 'bogus' })).toEqual(
      answer('Invalid type: bogus. Valid types: function, macro, variable, class, generic-function'),
    );
    expect(await session.call('list_package_symbols', { package: 'NOWHERE', type: 'bogus' })).toEqual(
      answer('Package NOWHERE not found'),
    );
  });
});

describe('long answers', () => {
  test('C13 limit and offset reach each symbol, and the true number is told', async () => {
    expect(blocks(await list('LOOKS', { limit: 1 }))).toBe(
      'External symbols (5):\n\n  *UNIT* [VARIABLE]\n  ...\nNote: 5 symbols; limit and offset reach the rest.',
    );
    expect(blocks(await list('LOOKS', { offset: 4 }))).toBe('External symbols (5):\n\n  WITH-UNIT [MACRO]');
    expect(blocks(await list('small', { offset: 2 }))).toBe(
      'External symbols (1):\n\nNote: there is only one, and none from offset 2 on.',
    );
  });

  test('C13 C10 all of CL can be read, in order', async () => {
    const seen: string[] = [];
    for (let offset = 0; offset < 978; offset += 300) {
      const rows = (await list('CL', { offset, limit: 300 })).match(/^ {2}\S+ \[.*$/gm) ?? [];
      seen.push(...rows);
    }
    expect(seen.length).toBe(978);
    expect(seen).toContain('  MAPCAR [FUNCTION]');
    const names = seen.map((row) => row.replace(/^ {2}(.*) \[.*$/, '$1'));
    expect(names).toEqual([...names].sort());
  });

  test('C13 many used and using packages, and shadowing symbols, are counted', async () => {
    await prepare(
      session,
      '(progn (make-package "BUSY" :use nil) (dotimes (i 150) (make-package (format nil "USER~3,\'0d" i) :use (quote ("BUSY"))) (shadow (format nil "SHADOW~3,\'0d" i) "BUSY")))',
    );
    const lines = (await list('busy')).split('\n');
    expect(lines[1]).toMatch(
      /^Used by: USER000, .*, USER099, \.\.\. \(150 in all; eval_form of \(package-used-by-list "BUSY"\) gives them\)$/,
    );
    expect(lines[2]).toMatch(
      /^Shadowing symbols: BUSY::SHADOW000, .*, BUSY::SHADOW099, \.\.\. \(150 in all; eval_form of \(package-shadowing-symbols "BUSY"\) gives them\)$/,
    );
  });
});

describe('odd packages', () => {
  test.each(['No Where', ''])('C8 C9 %j is not there', async (name) => {
    expect(await session.call('list_package_symbols', { package: name })).toEqual({
      text: `Package ${name} not found`,
      notices: [],
      isError: false,
    });
  });

  test('C14 names are shown raw, with a package where one may seem to be there, and what lost its home has none', async () => {
    await prepare(session, '(progn (make-package "Odd" :use nil) (make-package "LOST" :use nil))');
    await prepare(
      session,
      '(progn (intern "a b|c" "Odd") (intern "" "Odd") (intern "c::d" "Odd") (import (intern "GONE" "LOST") "Odd"))',
    );
    await prepare(session, '(progn (delete-package "LOST") nil)');
    expect(await list('Odd', { access: 'internal' })).toBe(`Package Odd
Symbols: 0 external, 4 internal, 0 inherited

Internal symbols (4):

  Odd:: [SYMBOL]
  #::GONE [SYMBOL]
  a b|c [SYMBOL]
  Odd::c::d [SYMBOL]`);
    expect(await list('lost')).toBe('Package lost not found');
  });
});
