// S3: long answers, SBCL's own functions, macros, and the places of calls.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FIXTURES } from '../harness.ts';
import { libraries } from '../libraries.ts';
import { keepsReferencesToCl, pageText, sharedFixture, WITHOUT_XREFS } from '../oracle.ts';

libraries('alexandria');

const fixture = sharedFixture();
const { session } = fixture;

const SOURCE = readFileSync(join(FIXTURES, 'app.lisp'), 'utf8').split('\n');

function callers(args: Record<string, unknown>): Promise<string> {
  return session.text('who_calls', args);
}

/** Returns the line that must stand under a caller for the place of TEXT in the line that contains WITHIN. */
function site(within: string, text = within): string {
  const index = SOURCE.findIndex((line) => line.includes(within));
  const line = SOURCE[index] ?? '';
  return `    fixtures/app.lisp:${index + 1}:${line.indexOf(text) + 1}  ${line.trim()}`;
}

/** Checks that TEXT lists ROWS, the callers of NAME that the oracle gave, from OFFSET on, and says that there are more. */
function expectPage(text: string, name: string, rows: string[], offset: number, limit: number): void {
  const more = offset + limit < rows.length;
  const [list = ''] = text.split(/\n\n(?:Other places|Possible callers)/);
  const [, total = '0'] = /\nNote: (\d+) callers; limit and offset reach the rest\.$/.exec(text) ?? [];
  const shown = list.replace(/\nNote: .*$/s, '').replace(/\n {2}\.\.\.$/, '');
  const expected = pageText(rows, offset, limit).replace(/\n {2}\.\.\.$/, '');
  expect(shown).toBe(`Functions that call ${name}:\n\n${expected}`);
  if (more) expect(Number(total)).toBeGreaterThanOrEqual(rows.length);
}

test('S3.13 C13 of hundreds of callers 200 are listed and the true count is told', async () => {
  await session.eval('(defpackage :many (:use :cl))');
  const program = `(progn
    (defun many::called () 1)
    (eval (cons 'progn (loop for number below 700
                             collect (list 'defun (intern (format nil "CALLER-~D" number) :many) '() '(many::called)))))
    700)`;
  expect(await session.eval(program, { timeout: 60 })).toMatch(/^700/);
  const [rows = []] = await fixture.callers(["'many::called"]);
  expect(rows.length).toBe(700);
  expectPage(await callers({ name: 'many::called' }), 'MANY::CALLED', rows, 0, 200);
});

test('S3.13 C13 car has thousands of callers, where SBCL keeps references to CL', async () => {
  const [rows = []] = await fixture.callers(["'car"]);
  const kept = await keepsReferencesToCl(session);
  expect(rows.length > 500).toBe(kept);
  const text = await callers({ name: 'car', package: 'CL' });
  expect(text.includes('\nNote: this SBCL records no cross references')).toBe(!kept);
  if (kept) expectPage(text, 'COMMON-LISP::CAR', rows, 0, 200);
});

test.each([
  ["'mapcar", 'mapcar', 'CL', 'COMMON-LISP::MAPCAR'],
  ["'sb-impl::%intern", '%intern', 'SB-IMPL', 'SB-INT::%INTERN'],
  ["'(setf app::thing)", '(setf thing)', 'APP', 'APP::(SETF THING)'],
])(
  'S3.13 C13 S3.9 limit and offset reach all callers of %s that SBCL knows',
  async (form, name, home, shown) => {
    const [rows = []] = await fixture.callers([form]);
    // Newer SBCLs come without cross references of their own code.
    expect(rows.length > 0 || !home.startsWith('APP')).toBe(true);
    for (let offset = 0; offset < rows.length; offset += 150) {
      expectPage(await callers({ name, package: home, offset, limit: 150 }), shown, rows, offset, 150);
    }
  },
);

test('S3.13 C13 the largest limit lists whole lines, and going on after them reaches every caller', async () => {
  const [expected = []] = await fixture.callers(["'many::called"]);
  const seen: string[] = [];
  for (let more = true; more; ) {
    const text = await callers({ name: 'many::called', offset: seen.length, limit: 2000 });
    const [block = ''] = text.split(/\n\n(?:Other places|Possible callers)|\nNote: this SBCL/);
    const lines = block.split('\n').slice(2);
    more = block.includes('\nNote: ');
    const rows = more ? lines.slice(0, -2) : lines;
    expect(rows.find((row, index) => row !== `  ${expected[seen.length + index]}`)).toBeUndefined();
    expect(rows.length).toBeGreaterThan(0);
    seen.push(...rows);
  }
  expect(seen.length).toBe(expected.length);
});

test.each([{ limit: 0 }, { sites: 'yes' }])(
  'C8 C13 %j is an error that names the parameter',
  async (more) => {
    const { text, isError } = await session.call('who_calls', { name: 'car', package: 'CL', ...more });
    expect(isError).toBe(true);
    expect(text).toContain(`'${Object.keys(more)[0]}'`);
  },
);

test('S3.12 alexandria calls mapcar once it is loaded, and the answer says where SBCL keeps no cross references to CL', async () => {
  const find = async () => {
    const text = await callers({ name: 'mapcar', package: 'CL', limit: 1000 });
    return text.split('\n').filter((line) => line === '  ALEXANDRIA::MAPPEND');
  };
  const kept = await keepsReferencesToCl(session);
  expect(await find()).toEqual([]);
  expect(await session.text('load_system', { system: 'alexandria' })).toMatch(/^Loaded system alexandria/);
  expect(await find()).toEqual(kept ? ['  ALEXANDRIA::MAPPEND'] : []);
  const text = await callers({ name: 'mapcar', package: 'CL', limit: 1000 });
  expect(text.includes('keeps no')).toBe(!kept);
});

test('S3.17 the uses of a macro stand in a block of their own', async () => {
  expect(await callers({ name: 'with-level', package: 'APP' })).toBe(`Other places that call APP::WITH-LEVEL:

  APP::ANOTHER-MACRO-USER (macro use)
  APP::MACRO-USER (macro use)
  COMMON-LISP::PRINT-OBJECT (macro use)
Note: SBCL does not record where top-level forms use a macro; search_in_buffer finds such forms.`);
});

test('C31 that uses of a function put in line are not known in top-level forms is said', async () => {
  await session.eval('(declaim (inline app::in-line-now)) (defun app::in-line-now (x) (list x))');
  expect(await callers({ name: 'in-line-now', package: 'APP' })).toBe(
    'No callers found for APP::IN-LINE-NOW',
  );
  await session.eval('(defun app::uses-in-line-now () (app::in-line-now 1))');
  expect(await callers({ name: 'in-line-now', package: 'APP' })).toBe(`Functions that call APP::IN-LINE-NOW:

  APP::USES-IN-LINE-NOW
Note: SBCL does not record where this function was put in line in top-level forms; search_in_buffer finds such forms.`);
});

test('S3.17 functions come first, then a blank line, the header, a blank line and the other places', async () => {
  await session.eval(
    '(defmacro app::was-function (x) x) (defun app::uses-as-macro () (app::was-function 1))',
  );
  await session.eval(
    "(fmakunbound 'app::was-function) (defun app::was-function (x) x) (defun app::calls-as-function () (app::was-function 1))",
  );
  expect(await callers({ name: 'was-function', package: 'APP' })).toBe(`Functions that call APP::WAS-FUNCTION:

  APP::CALLS-AS-FUNCTION

Other places that call APP::WAS-FUNCTION:

  APP::USES-AS-MACRO (macro use)`);
});

test('S3.8 S3.17 a macro that nobody uses has no callers', async () => {
  await session.eval('(defmacro app::unused-macro () nil)');
  expect(await callers({ name: 'unused-macro', package: 'APP' })).toBe(
    'No callers found for APP::UNUSED-MACRO',
  );
});

test('S3.18 sites puts file, line, column and text of each call under its caller', async () => {
  expect(
    await callers({ name: 'helper', package: 'APP', sites: true, limit: 2 }),
  ).toBe(`Functions that call APP::HELPER:

  APP::APPLY-SYM
${site("(mapcar #'helper list)", "#'helper")}
  APP::CLOSURE-MAKER
${site('(helper (list x y))')}
  ...
Note: 6 callers; limit and offset reach the rest.`);
});

test('S3.18 several calls in one function are several places, in the order of the file', async () => {
  const text = await callers({ name: 'helper', package: 'APP', sites: true, offset: 3, limit: 1 });
  expect(text.split('\n').slice(2, 7)).toEqual([
    '  APP::MANY-TIMES',
    site('(flet ((inner', '(helper y)'),
    site('(list (helper x)', '(helper x)'),
    site('(helper (helper x))'),
    site('(helper (helper x))', '(helper x)'),
  ]);
});

test('S3.18 S3.10 methods show their qualifiers and specializers beside the place', async () => {
  const text = await callers({ name: 'helper', package: 'APP', sites: true, offset: 2, limit: 1 });
  const lines = text.split('\n').slice(2, 6);
  expect(lines[0]).toBe('  APP::GREET');
  expect(lines[1]?.startsWith(site('(:method ((who integer)', '(helper who)'))).toBe(true);
  expect(lines[1]).toContain('COMMON-LISP::INTEGER');
  expect(lines[2]).toMatch(/^ {4}fixtures\/app\.lisp:\d+:3 {2}\(helper who\)\).*APP::PERSON/);
  expect(lines[2]).not.toContain('AROUND');
  expect(lines[3]).toMatch(
    /^ {4}fixtures\/app\.lisp:\d+:3 {2}\(helper \(call-next-method\)\)\).*AROUND.*APP::PERSON/,
  );
});

test('S3.18 S3.17 the use of a macro has its place too', async () => {
  const text = await callers({ name: 'with-level', package: 'APP', sites: true, limit: 1 });
  const line = SOURCE.findIndex((each) => each.includes('defun another-macro-user')) + 2;
  expect(text.split('\n').slice(2, 4)).toEqual([
    '  APP::ANOTHER-MACRO-USER (macro use)',
    `    fixtures/app.lisp:${line}:3  (with-level (list x)))`,
  ]);
});

test('S3.18 a caller that was only evaluated has no source', async () => {
  await session.eval('(defun app::target-of-none () 1) (defun app::sourceless () (app::target-of-none))');
  expect(
    await callers({ name: 'target-of-none', package: 'APP', sites: true }),
  ).toBe(`Functions that call APP::TARGET-OF-NONE:

  APP::SOURCELESS
    no source`);
});

test('S3.12 an SBCL without cross references to CL says so instead of "unused"', async () => {
  const redefine = `(sb-ext:without-package-locks (setf (fdefinition ${WITHOUT_XREFS}) (constantly t)))`;
  expect((await session.call('eval_form', { form: redefine })).isError).toBe(false);
  const lines = (await callers({ name: 'long-site-name', package: 'CL' })).split('\n');
  expect(lines[0]).toBe('No callers found for COMMON-LISP::LONG-SITE-NAME');
  expect(lines.at(-1)).toMatch(/^Note: this SBCL records no cross references/);
});
