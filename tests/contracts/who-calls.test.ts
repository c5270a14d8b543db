// S3 on the fixture: exact texts.

import { expect, test } from 'vitest';
import { sharedFixture } from '../oracle.ts';

const fixture = sharedFixture();
const { session } = fixture;

const HELPER_CALLERS = `Functions that call APP::HELPER:

  APP::APPLY-SYM
  APP::CLOSURE-MAKER
  APP::GREET
  APP::MANY-TIMES
  APP::THING
  APP::(SETF THING)`;

function callers(name: string, more: Record<string, unknown> = {}): Promise<string> {
  return session.text('who_calls', { name, ...more });
}

/** Returns the contract's text for NAME with these CALLERS. */
function callersText(name: string, ...rows: string[]): string {
  return `Functions that call ${name}:\n\n${rows.map((row) => `  ${row}`).join('\n')}`;
}

test("S3.1 C2 the definition is the contract's", async () => {
  const { tools } = await session.client.listTools();
  const tool = tools.find(({ name }) => name === 'who_calls');
  expect(tool?.description).toBe(
    "Find all functions that call a given function. Uses SBCL's cross-reference database to discover callers.",
  );
  expect(tool?.inputSchema.type).toBe('object');
  expect(tool?.inputSchema.required).toEqual(['name']);
  expect(tool?.inputSchema.properties).toMatchObject({
    name: { type: 'string', description: 'Function name to find callers of' },
    package: { type: 'string', description: 'Package name (defaults to CL-USER)' },
  });
});

test.each(['who_calls', 'who-calls'])('S3.7 C1 C2 %s lists the callers of HELPER', async (name) => {
  expect(await session.text(name, { name: 'helper', package: 'APP' })).toBe(HELPER_CALLERS);
});

test.each([
  ['HELPER', 'APP'],
  ['helper', 'APPLICATION'],
  ["#'helper", 'APP'],
  ['app::helper', undefined],
  ['APP::HELPER', 'P1'],
  ['application::|HELPER|', undefined],
])('S3.2 %s in %s is APP::HELPER', async (name, home) => {
  expect(await callers(name, home === undefined ? {} : { package: home })).toBe(HELPER_CALLERS);
});

test('S3.2 C14 bars keep the case of a name, and are not shown', async () => {
  expect(await callers('|foo Bar|', { package: 'APP' })).toBe(
    callersText('APP::foo Bar', 'APP::CALLS-MIXED'),
  );
  expect(await callers('app::|foo Bar|')).toBe(callersText('APP::foo Bar', 'APP::CALLS-MIXED'));
});

test.each([
  ['(setf thing)', 'APP'],
  ['(SETF app::thing)', undefined],
  ['APP::(SETF THING)', undefined],
  ["#'app::(setf |THING|)", 'CL-USER'],
])('S3.2 %s in %s is the setf function, which has callers of its own', async (name, home) => {
  expect(await callers(name, home === undefined ? {} : { package: home })).toBe(
    callersText('APP::(SETF THING)', 'APP::CALLS-SETF-THING'),
  );
});

test('S3.2 a setf function with a name in bars has its own callers too', async () => {
  expect(await callers('(setf |foo Bar|)', { package: 'APP' })).toBe(
    callersText('APP::(SETF foo Bar)', 'APP::CALLS-SETF-MIXED'),
  );
});

test('S3.3 without a package the name is looked for in CL-USER', async () => {
  await session.eval(
    '(cl-user::progn (defun cl-user::target-here () 1) (defun cl-user::calls-it () (cl-user::target-here)))',
  );
  expect(await callers('target-here')).toBe(
    callersText('COMMON-LISP-USER::TARGET-HERE', 'COMMON-LISP-USER::CALLS-IT'),
  );
  expect(await callers('helper')).toBe('Symbol HELPER not found in package CL-USER (status: NIL)');
});

test('S3.3 C9 a symbol that the package inherits or imports reports its home package', async () => {
  // SBCL as upstream builds it keeps no cross references to CL, which the answer then says.
  const [first = ''] = (await callers('mapcar')).split('\n');
  expect(['Functions that call COMMON-LISP::MAPCAR:', 'No callers found for COMMON-LISP::MAPCAR']).toContain(
    first,
  );
  expect(await callers('borrowed', { package: 'APP' })).toBe('No callers found for APP.LIB::BORROWED');
  expect(await callers('lent', { package: 'APP' })).toBe('No callers found for APP.LIB::LENT');
});

test.each([
  ['nonexistent', 'NONEXISTENT'],
  ['|', 'No Such'],
  ['~a', '~a'],
])('S3.4 C9 %j in the unknown package %j: the package is told, as typed', async (name, home) => {
  expect(await callers(name, { package: home })).toBe(`Package ${home} not found`);
});

test('S3.4 C9 an unknown prefix is told as typed', async () => {
  expect(await callers('no-such::helper')).toBe('Package no-such not found');
});

test.each([
  [{ name: 'nonexistent' }, 'Symbol NONEXISTENT not found in package CL-USER (status: NIL)'],
  [{ name: 'nope', package: 'app' }, 'Symbol NOPE not found in package app (status: NIL)'],
  [{ name: '|nope|', package: 'APP' }, 'Symbol nope not found in package APP (status: NIL)'],
  [
    { name: 'foo bar', package: 'APP' },
    'Symbol FOO BAR not found in package APP (status: NIL)\nDid you mean APP::foo Bar?',
  ],
  [{ name: 'cl:nope' }, 'Symbol NOPE not found in package cl (status: NIL)'],
  [{ name: '(setf nope)' }, 'Symbol NOPE not found in package CL-USER (status: NIL)'],
  [{ name: 'straße' }, 'Symbol STRAßE not found in package CL-USER (status: NIL)'],
  [{ name: '' }, 'Symbol  not found in package CL-USER (status: NIL)'],
  [{ name: '~a' }, 'Symbol ~A not found in package CL-USER (status: NIL)'],
])('S3.5 S3.14 C8 C9 C16 %j is a symbol that is not there', async (args, text) => {
  expect(await session.call('who_calls', args)).toEqual({ text, notices: [], isError: false });
});

test('S3.6 nil in CL is a symbol that exists', async () => {
  expect((await callers('nil', { package: 'CL' })).split('\n')[0]).toBe(
    'No callers found for COMMON-LISP::NIL',
  );
});

test('S3.6 a symbol that is there but names nothing exists', async () => {
  expect((await callers('old', { package: 'APP' })).split('\n')[0]).toBe('No callers found for APP::OLD');
});

test('S3.8 S3.14 a function that nobody calls', async () => {
  const args = { name: 'my-unused-function', package: 'MY-PACKAGE' };
  expect(await session.call('who_calls', args)).toEqual({
    text: 'No callers found for MY-PACKAGE::MY-UNUSED-FUNCTION',
    notices: [],
    isError: false,
  });
});

test('S3.9 C10 callers are sorted by name, then package, and those of one name in two packages both stay', async () => {
  expect(await callers('shared-target', { package: 'APP' })).toBe(
    callersText('APP::SHARED-TARGET', 'P2::BAR', 'P1::FOO', 'P2::FOO'),
  );
});

test('S3.9 C10 C14 the order is by name in code points, whatever the package', async () => {
  expect(await callers('popular', { package: 'APP' })).toBe(
    callersText('APP::POPULAR', 'COMMON-LISP::PRINT-OBJECT', 'APP::UPPER-CALLER', 'APP::lower caller'),
  );
});

test('S3.10 methods are one line, and a setf function stands after the function of its name', async () => {
  const rows = (await callers('helper', { package: 'APP' })).split('\n').slice(2);
  expect(rows.filter((row) => row.includes('GREET'))).toEqual(['  APP::GREET']);
  expect(rows.slice(-2)).toEqual(['  APP::THING', '  APP::(SETF THING)']);
});

test('S3.10 a method of a setf function is shown by the setf function', async () => {
  await session.eval(
    '(defun app::setf-target () 1) (defmethod (setf app::place) (new (old string)) (app::setf-target))',
  );
  expect(await callers('app::setf-target')).toBe(callersText('APP::SETF-TARGET', 'APP::(SETF PLACE)'));
});

test("S3.10 SBCL's own transforms are left out unless asked for", async () => {
  const plain = await callers('lvar-type', { package: 'SB-C', limit: 2000 });
  const all = await callers('lvar-type', { package: 'SB-C', limit: 2000, internals: true });
  expect(plain).toMatch(/^Functions that call SB-C::LVAR-TYPE:\n\n {2}SB-C::/);
  expect(plain).not.toMatch(/#<|Other places/);
  // Newer SBCLs come without cross references of their own code, and do not know what these call.
  const [list = plain] = plain.split('\nNote: this SBCL keeps no');
  expect(all.startsWith(list)).toBe(true);
  if (all !== plain)
    expect(all.slice(list.length)).toMatch(
      /^\n\nOther places that call SB-C::LVAR-TYPE:\n\n {2}.*TRANSFORM/s,
    );
});

test('S3.10 the call of an inlined function is a call', async () => {
  expect(await callers('doubled', { package: 'APP' })).toBe(
    `${callersText('APP::DOUBLED', 'APP::CALLS-INLINED')}
Note: SBCL does not record where this function was put in line in top-level forms; search_in_buffer finds such forms.`,
  );
});

test('S3.11 a freshly compiled caller appears at once, and goes when it calls no more', async () => {
  const nobody = 'No callers found for APP::FRESH-TARGET';
  await session.eval('(defun app::fresh-target () 1)');
  expect(await callers('app::fresh-target')).toBe(nobody);
  await session.eval('(defun app::fresh-caller () (app::fresh-target))');
  expect(await callers('app::fresh-target')).toBe(callersText('APP::FRESH-TARGET', 'APP::FRESH-CALLER'));
  await session.eval('(defun app::fresh-caller () 2)');
  expect(await callers('app::fresh-target')).toBe(nobody);
});

test('S3.11 a caller that is undefined, and a method that is removed, go as well', async () => {
  const nobody = 'No callers found for APP::GOING-TARGET';
  await session.eval('(defun app::going-target () 1) (defun app::going () (app::going-target))');
  expect(await callers('app::going-target')).toBe(callersText('APP::GOING-TARGET', 'APP::GOING'));
  await session.eval("(fmakunbound 'app::going)");
  expect(await callers('app::going-target')).toBe(nobody);
  await session.eval('(defmethod app::going-method ((x string)) (app::going-target))');
  expect(await callers('app::going-target')).toBe(callersText('APP::GOING-TARGET', 'APP::GOING-METHOD'));
  await session.eval(
    "(remove-method #'app::going-method (find-method #'app::going-method '() (list (find-class 'string))))",
  );
  expect(await callers('app::going-target')).toBe(nobody);
});

test.each([{}, { package: 'APP' }, { name: null }, { name: 5 }, { name: ['helper'] }])(
  'S3.15 C8 %j is an error that names the parameter',
  async (args) => {
    const { text, isError } = await session.call('who_calls', args);
    expect(isError).toBe(true);
    expect(text).toContain("'name'");
  },
);

test.each([
  ['*level*', 'APP', 'APP::*LEVEL*', /variable/],
  ['person', 'APP', 'APP::PERSON', /class/],
  ['shape-and-variable', 'APP', 'APP::SHAPE-AND-VARIABLE', /class.*variable/],
  ['old', 'APP', 'APP::OLD', /not/],
  ['nil', 'CL', 'COMMON-LISP::NIL', /variable/],
  ['*print-base*', 'CL', 'COMMON-LISP::*PRINT-BASE*', /is a variable/],
  ['pi', 'CL', 'COMMON-LISP::PI', /is a constant variable/],
])('S3.16 S3.14 %s in %s is no function: a last line says what it is', async (name, home, shown, what) => {
  const { text, isError } = await session.call('who_calls', { name, package: home });
  const lines = text.split('\n');
  expect(isError).toBe(false);
  expect(lines[0]).toBe(`No callers found for ${shown}`);
  expect(lines.at(-1)).toMatch(/^Note: /);
  expect(lines.at(-1)).toMatch(what);
});

test('S3.16 who uses a variable stands before that line', async () => {
  await session.eval('(defun app::level-of () app::*level*)');
  expect(await callers('app::*level*')).toBe(`No callers found for APP::*LEVEL*

${await session.text('who_references', { name: 'app::*level*' })}
Note: APP::*LEVEL* is a variable, not a function.`);
  expect(await callers('app::*level*')).toContain('\n  APP::LEVEL-OF\n');
});

test('S3.16 the line of a class names the tool that lists what depends on it', async () => {
  expect(await callers('app::person')).toBe(
    'No callers found for APP::PERSON\nNote: APP::PERSON is a class, not a function. impact_of_change lists what depends on it.',
  );
});

test('S3.16 so does the line of a type that is no class', async () => {
  await session.eval("(deftype app::level () '(integer 0 9))");
  const advice = 'a type, not a function. impact_of_change lists what depends on it.';
  expect(await callers('app::level')).toBe(`No callers found for APP::LEVEL\nNote: APP::LEVEL is ${advice}`);
  expect(await session.text('impact_of_change', { name: 'app::level' })).toMatch(/^APP::LEVEL \[TYPE\]/);
});

test('S3.16 the line of a setf expander names the call that lists its users', async () => {
  await session.eval('(progn (defsetf app::place-of (x) (v) `(list ,x ,v)) nil)');
  expect(await callers('app::place-of')).toBe(
    'No callers found for APP::PLACE-OF\nNote: APP::PLACE-OF is a setf expander, not a function. who_calls of (setf APP::PLACE-OF) lists what uses it.',
  );
});

test('S3.16 a symbol macro is called that', async () => {
  await session.eval('(define-symbol-macro app::here app::*level*)');
  expect(await callers('app::here')).toMatch(
    /^No callers found for APP::HERE\n.*\nNote: APP::HERE is a symbol macro, not a function\.$/s,
  );
});

test.each(['if', 'print-object', 'mapcar'])(
  'S3.16 %s, which can be called, has no such line',
  async (name) => {
    expect(await callers(name, { package: 'CL', limit: 2000 })).not.toMatch(/not a function|not defined/);
  },
);
