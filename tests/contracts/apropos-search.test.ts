// S0 on the fixture and on COMMON-LISP: exact texts.

import { expect, test } from 'vitest';
import { expectOracle, searchText, sharedFixture } from '../oracle.ts';

const fixture = sharedFixture();
const { session } = fixture;

const TYPES = ['function', 'macro', 'variable', 'class', 'generic-function'];

function search(args: Record<string, unknown>) {
  return session.text('apropos_search', args);
}

/** Returns the names that a search in CL lists, as NAME [LABEL]. */
async function standardNames(args: Record<string, unknown>): Promise<string[]> {
  const text = await search({ package: 'CL', limit: 1000, ...args });
  return [...text.matchAll(/^ {2}COMMON-LISP::(.*)$/gm)].map(([, name]) => name ?? '');
}

test("S0.1 C2 the definition is the contract's", async () => {
  const { tools } = await session.client.listTools();
  const tool = tools.find(({ name }) => name === 'apropos_search');
  expect(tool?.description).toBe(
    'Search for symbols matching a pattern. Returns symbol names, types, and packages. Useful for discovering available functions, variables, and classes.',
  );
  expect(tool?.inputSchema.type).toBe('object');
  expect(tool?.inputSchema.required).toEqual(['pattern']);
  expect(tool?.inputSchema.properties).toMatchObject({
    pattern: { type: 'string', description: 'Search pattern (case-insensitive substring)' },
    package: { type: 'string', description: 'Limit search to this package (optional)' },
    type: {
      type: 'string',
      description: 'Filter by type: function, macro, variable, class, generic-function',
      enum: TYPES,
    },
  });
});

test.each(['apropos_search', 'apropos-search'])('S0.2 C1 C2 %s finds MapCar in any case', async (name) => {
  expect(await session.text(name, { pattern: 'MapCar', package: 'CL' })).toBe(
    "Found 1 symbol matching 'MapCar':\n\n  COMMON-LISP::MAPCAR [FUNCTION]",
  );
});

test('S0.3 the pattern may stand anywhere in the name', async () => {
  const names = await standardNames({ pattern: 'car' });
  expect(names).toContain('CAR [FUNCTION]');
  expect(names).toContain('MAPCAR [FUNCTION]');
  expect(names).not.toContain('NTHCDR [FUNCTION]');
});

test.each(['~a', '.*', 'c?r', '\\*'])('S0.4 %j is plain text: nothing in CL has it', async (pattern) => {
  expect(await search({ pattern, package: 'CL' })).toBe(`Found 0 symbols matching '${pattern}':\n\n`);
});

test('S0.4 a star in the pattern is a star in the name', async () => {
  expect(await search({ pattern: '*print-b', package: 'CL' })).toBe(
    "Found 1 symbol matching '*print-b':\n\n  COMMON-LISP::*PRINT-BASE* [VARIABLE]",
  );
});

test('S0.5 C12 the empty pattern matches all 978 symbols of CL', async () => {
  const text = await search({ pattern: '', package: 'CL' });
  expect(text.split('\n').slice(0, 4)).toEqual([
    "Found 978 symbols matching '':",
    '',
    '  COMMON-LISP::&ALLOW-OTHER-KEYS [SYMBOL]',
    '  COMMON-LISP::&AUX [SYMBOL]',
  ]);
});

test('S0.6 without a package only external symbols are searched', async () => {
  expect(await search({ pattern: 'closure-maker' })).toBe("Found 0 symbols matching 'closure-maker':\n\n");
  expect(await search({ pattern: 'facade-only' })).toBe(
    "Found 1 symbol matching 'facade-only':\n\n  APP.FACADE::FACADE-ONLY [SYMBOL]",
  );
});

test('S0.6 keywords are external symbols too', async () => {
  expect(await session.eval(':one-rare-keyword')).toBe(':ONE-RARE-KEYWORD');
  expect(await search({ pattern: 'one-rare-keyword' })).toBe(
    "Found 1 symbol matching 'one-rare-keyword':\n\n  KEYWORD::ONE-RARE-KEYWORD [VARIABLE]",
  );
});

test('S0.7 with a package internal symbols are found as well', async () => {
  expect(await search({ pattern: 'help', package: 'APP' })).toBe(
    "Found 1 symbol matching 'help':\n\n  APP::HELPER [FUNCTION]",
  );
  expect(await search({ pattern: 'greet', package: 'APP' })).toBe(
    "Found 1 symbol matching 'greet':\n\n  APP::GREET [GENERIC-FUNCTION]",
  );
});

test('S0.8 an imported symbol shows its home package', async () => {
  expect(await search({ pattern: 'borrowed', package: 'APP' })).toBe(
    "Found 1 symbol matching 'borrowed':\n\n  APP.LIB::BORROWED [FUNCTION]",
  );
});

test.each(['nonexistent', 'CL:', '~a', '|CL|', '\ud800'])(
  'S0.9 C8 C9 the unknown package %j is echoed as typed, and is no error',
  async (name) => {
    expect(await session.call('apropos_search', { pattern: 'foo', package: name })).toEqual({
      text: `Package ${name} not found`,
      notices: [],
      isError: false,
    });
  },
);

test('S0.9 the exact name of a package is preferred to its upper case', async () => {
  expect(await search({ pattern: '', package: 'Mixed' })).toBe(
    "Found 1 symbol matching '':\n\n  Mixed::EXACT-SPELLING [SYMBOL]",
  );
  expect(await search({ pattern: '', package: 'mixed' })).toBe(
    "Found 1 symbol matching '':\n\n  MIXED::UPPER-SPELLING [SYMBOL]",
  );
  expect(await search({ pattern: 'help', package: 'app' })).toBe(
    "Found 1 symbol matching 'help':\n\n  APP::HELPER [FUNCTION]",
  );
});

test('S0.9 nicknames work, and local ones in the package that has them', async () => {
  const found = "Found 1 symbol matching 'help':\n\n  APP::HELPER [FUNCTION]";
  expect(await search({ pattern: 'help', package: 'APPLICATION' })).toBe(found);
  expect(await search({ pattern: 'help', package: 'short' })).toBe('Package short not found');
  await session.eval('(in-package "APP.CLIENT")');
  expect(await search({ pattern: 'help', package: 'short' })).toBe(found);
  await session.eval('(cl:in-package "COMMON-LISP-USER")');
});

test.each(['FUNCTION', '~a'])('S0.10 C8 the type %j is invalid, which is no error', async (type) => {
  expect(await session.call('apropos_search', { pattern: 'foo', type })).toEqual({
    text: `Invalid type: ${type}. Valid types: function, macro, variable, class, generic-function`,
    notices: [],
    isError: false,
  });
});

test('S0.11 an unknown package is told before an invalid type', async () => {
  expect(await search({ pattern: 'foo', package: 'NONEXISTENT', type: 'bogus' })).toBe(
    'Package NONEXISTENT not found',
  );
  expect(await search({ pattern: 'foo', package: 'APP', type: 'bogus' })).toMatch(/^Invalid type: bogus\./);
});

test.each(['', null])('S0.11 %j as package or type counts as absent', async (absent) => {
  const pattern = 'apply-sym';
  expect(await search({ pattern, package: absent, type: absent })).toBe(
    "Found 1 symbol matching 'apply-sym':\n\n  APP::APPLY-SYM [FUNCTION]",
  );
});

test('S0.12 C12 the macros of CL with def in their names are 18', async () => {
  const text = await search({ pattern: 'def', type: 'macro', package: 'CL' });
  const names =
    'DEFCLASS DEFCONSTANT DEFGENERIC DEFINE-COMPILER-MACRO DEFINE-CONDITION DEFINE-METHOD-COMBINATION DEFINE-MODIFY-MACRO DEFINE-SETF-EXPANDER DEFINE-SYMBOL-MACRO DEFMACRO DEFMETHOD DEFPACKAGE DEFPARAMETER DEFSETF DEFSTRUCT DEFTYPE DEFUN DEFVAR';
  const rows = names.split(' ').map((name) => `COMMON-LISP::${name} [MACRO]`);
  expect(rows.length).toBe(18);
  expect(text).toBe(searchText('def', rows));
});

test.each([
  ['print-object', 'generic-function', 'function'],
  ['print-base', 'variable', 'function'],
  ['file-stream', 'class', 'function'],
  ['with-open-file', 'macro', 'function'],
])('S0.12 %s is found as %s and not as %s', async (pattern, type, other) => {
  expect((await search({ pattern, type, package: 'CL' })).split('\n')[0]).toBe(
    `Found 1 symbol matching '${pattern}':`,
  );
  expect(await search({ pattern, type: other, package: 'CL' })).toBe(
    `Found 0 symbols matching '${pattern}':\n\n`,
  );
});

test('S0.13 C8 nothing found is the header with 0 and a blank line, and no error', async () => {
  expect(await session.call('apropos_search', { pattern: 'xyznonexistent' })).toEqual({
    text: "Found 0 symbols matching 'xyznonexistent':\n\n",
    notices: [],
    isError: false,
  });
});

test('S0.13 S0.14 C14 the header counts, and a line is two spaces, PACKAGE::NAME without bars, [TYPE]', async () => {
  expect(await search({ pattern: 'BAR', package: 'APP' })).toBe(
    "Found 1 symbol matching 'BAR':\n\n  APP::foo Bar [FUNCTION]",
  );
  expect(await search({ pattern: 'shape', package: 'APP' })).toBe(
    "Found 2 symbols matching 'shape':\n\n  APP::SHAPE-AND-MACRO [MACRO]\n  APP::SHAPE-AND-VARIABLE [CLASS]",
  );
});

test('S0.15 a symbol that two packages export is listed once', async () => {
  expect(await search({ pattern: 'shared-twice' })).toBe(
    "Found 1 symbol matching 'shared-twice':\n\n  APP::SHARED-TWICE [FUNCTION]",
  );
});

test('S0.15 C10 the order is by name, then by package', async () => {
  await session.eval(
    '(dolist (name \'("Z2" "B2" "A2")) (export (intern "SAME-NAME" (make-package name :use ())) name))',
  );
  expect(await search({ pattern: 'same-name' })).toBe(
    "Found 3 symbols matching 'same-name':\n\n  A2::SAME-NAME [SYMBOL]\n  B2::SAME-NAME [SYMBOL]\n  Z2::SAME-NAME [SYMBOL]",
  );
});

test('S0.16 C12 map in CL is these nine in this order', async () => {
  const names = ['MAP', 'MAP-INTO', 'MAPC', 'MAPCAN', 'MAPCAR', 'MAPCON', 'MAPHASH', 'MAPL', 'MAPLIST'];
  const rows = names.map((name) => `COMMON-LISP::${name} [FUNCTION]`);
  expect(await search({ pattern: 'map', package: 'CL' })).toBe(searchText('map', rows));
});

test('S0.18 the answer is one text', async () => {
  const { content } = await session.client.callTool({
    name: 'apropos_search',
    arguments: { pattern: 'map', package: 'CL' },
  });
  expect(content).toEqual([{ type: 'text', text: expect.stringMatching(/^Found \d+ symbols matching/) }]);
});

test('S0.20 C13 the empty pattern everywhere gives the true count and 200 lines', async () => {
  const [rows = []] = await fixture.rows([{ pattern: '' }]);
  const text = await search({ pattern: '' });
  expect(rows.length).toBeGreaterThan(5000);
  expect(text).toBe(searchText('', rows, 0, 200));
  expect(text.length).toBeLessThan(20_000);
});

test.each([{}, { pattern: null }, { pattern: 5 }])(
  'S0.21 C8 %j is an error that names the pattern',
  async (args) => {
    const { text, isError } = await session.call('apropos_search', args);
    expect(isError).toBe(true);
    expect(text).toContain("'pattern'");
  },
);

test('S0.5 S0.7 S0.12 whole packages and all types are as the contract computes them', async () => {
  const packages = [undefined, 'CL', 'APP', 'SB-EXT', 'KEYWORD', 'CL-USER'];
  const scopes = packages.map((name) => (name === undefined ? {} : { package: name }));
  await expectOracle(fixture, [
    ...scopes.map((scope) => ({ pattern: '', ...scope })),
    ...TYPES.map((type) => ({ pattern: '', type })),
    ...TYPES.map((type) => ({ pattern: '', type, package: 'APP' })),
  ]);
});
