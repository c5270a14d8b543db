// Where the lists of a file are that SBCL means by numbers: as its reader saw them when the file was compiled, loaded as source,
// or read again. An oracle of its own, over macro characters, says where they begin.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { Written } from '../callers/written.ts';
import { LIBRARIES_AS_COMPILED, PROJECT, startSession } from '../harness.ts';
import { libraries, SOURCES } from '../libraries.ts';

const ORACLE = join(PROJECT, 'tests', 'source', 'oracle.lisp');
const NASTY = join(PROJECT, 'tests', 'source', 'nasty.lisp');
libraries('alexandria', 'cl-ppcre');

/** How a file gets into an image that knows its places then. FASL is a file to make. */
const WAYS = {
  compiled: (fasl: string) => `(compile-file file :output-file "${fasl}")`,
  'read again': () => '(funcall live-lisp.jobs::**reads-spans** file)',
} as const;

// The other servers of this file load what this one has compiled.
const written = new Written(LIBRARIES_AS_COMPILED);
beforeAll(async () => {
  await written.session.eval(`(load "${ORACLE}")`);
});

/** Returns the numbers in each line that FORM prints, NaN for each that is not known. */
async function printed(form: string): Promise<number[][]> {
  const file = written.path('printed');
  const printing = `(with-open-file (*standard-output* "${file}" :direction :output :if-exists :supersede) ${form})`;
  const { text, isError } = await written.session.call('eval_form', { form: `(progn ${printing} :printed)` });
  expect(isError, text).toBe(false);
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.flatMap((line) => (line.startsWith('form') ? [line.split(' ').slice(1).map(Number)] : []));
}

/** Returns where the lists of each form of FILE begin, as is known of it once it got into the image in a WAY. */
function known(file: string, way: keyof typeof WAYS): Promise<number[][]> {
  return printed(`(let ((file "${file}") (*package* *package*))
    (remhash file live-lisp.jobs::**spans**)
    (let ((*standard-output* (make-broadcast-stream)) (*error-output* (make-broadcast-stream)))
      ${WAYS[way](written.path('made.fasl'))})
    (loop for spans across (live-lisp.jobs::file-spans-forms (live-lisp.jobs::spans-known file nil))
          do (format t "form~{ ~A~}~%" (loop for index below (length spans) by 2 collect (aref spans index)))))`);
}

/** Holds what is known of FILE against the oracle, and returns how many lists both have. */
async function compared(file: string, way: keyof typeof WAYS): Promise<number> {
  const oracle = await printed(`(let ((*package* *package*)) (position-oracle:report-file "${file}"))`);
  const found = await known(file, way);
  let agreed = 0;
  for (const [form, [, ...starts]] of oracle.entries())
    for (const [number, start] of starts.entries()) {
      if (Number.isNaN(start)) continue;
      expect([form, number, found[form]?.[number]]).toEqual([form, number, start]);
      agreed++;
    }
  return agreed;
}

test('the lists of a file of every construct, read again', async () => {
  written.write('nasty.lisp', readFileSync(NASTY, 'utf8'));
  expect(await compared(written.path('nasty.lisp'), 'read again')).toBeGreaterThan(300);
});

test.each(['compiled', 'read again'] as const)('the lists of files of libraries, %s', async (way) => {
  for (const system of ['alexandria', 'cl-ppcre']) await written.session.text('load_system', { system });
  for (const file of ['alexandria/alexandria-1/macros.lisp', 'cl-ppcre/scanner.lisp'])
    expect(await compared(join(SOURCES, file), way)).toBeGreaterThan(300);
});

test.each([
  ['compiled', 'load_file', (file: string) => ({ path: file })],
  ['loaded as source', 'eval_form', (file: string) => ({ form: `(load "${file}")` })],
] as const)('calls behind characters of several octets, in a file that was %s', async (_, tool, args) => {
  written.write(
    'octets.lisp',
    `;;; ←←←← the octets of this comment are more than its characters 😀😀😀😀
(defun callee (x) x) ; déjà vu (callee 0)
#+no-such-feature
(defun caller (y) (callee y))
(defun caller (y)
  (let ((first '(callee 1)) (é (callee "é")))
    #-sbcl (callee 2)
    (list first é (callee \`(x ,(callee y))))))
`,
  );
  await written.session.call(tool, args(written.path('octets.lisp')));
  const sites = await written.sitesOf('COMMON-LISP-USER::CALLER', 'callee');
  expect(sites.map((site) => site.split('  ')[0])).toEqual([
    'octets.lisp:6:32',
    'octets.lisp:8:19',
    'octets.lisp:8:32',
  ]);
});

test('a call in a file that was changed after its system came from fasls, and before anybody asked', async () => {
  written.write('later.asd', '(defsystem "later" :components ((:file "later-file")))\n');
  const file = '(defun later-callee (x) x)\n\n(defun later-caller (y)\n  (list y\n    (later-callee y)))\n';
  written.write('later-file.lisp', file);
  const load = { system: 'later' };
  await written.session.text('load_system', load);
  const session = await startSession({ args: ['--root', written.path('.'), ...LIBRARIES_AS_COMPILED] });
  await session.text('load_system', load);
  written.write('later-file.lisp', `;; A line more.\n${file}`);
  const text = await session.text('who_calls', { name: 'later-callee', sites: true });
  await session.close();
  expect(text.split('\n')).toContain(
    '    later-file.lisp:6:5  (later-callee y))) (the file has changed since it was loaded; this form has not)',
  );
});

test('a macro character that never ends, met in a file that is read again, costs one call', async () => {
  written.write('endless.asd', '(defsystem "endless" :components ((:file "endless-file")))\n');
  written.write(
    'endless-file.lisp',
    '(defun endless-callee (x) (car x))\n(defun endless-caller ($) (list (endless-callee $)))\n',
  );
  await written.session.text('load_system', { system: 'endless' });
  const session = await startSession({
    args: ['--root', written.path('.'), ...LIBRARIES_AS_COMPILED],
  });
  await session.text('load_system', { system: 'endless' });
  await session.eval('(set-macro-character #\\$ (lambda (stream char) stream char (loop)))');
  const first = await session.text('eval_form', { form: '(endless-caller 5)', timeout: 3 });
  const second = await session.text('eval_form', { form: '(endless-caller 5)' });
  await session.close();
  expect(first).toMatch(/^Error: Interrupted after \d+\.\d s, past the limit of this call/);
  expect(second).toContain('(COMMON-LISP-USER::ENDLESS-CALLER 5)  endless-file.lisp:2:1 (within this form)');
});
