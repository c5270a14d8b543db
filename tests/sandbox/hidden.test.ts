// Code in the sandbox learns nothing by our tools of what the sandbox hides from it, though these read outside of it.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Session } from '../harness.ts';
import { lispString, startSandboxed, workspace } from './cell.ts';

const SECRET = 'what-only-the-outside-has';
const place = workspace();
const hidden = join(tmpdir(), `live-lisp-hidden-${process.pid}`);
const file = join(hidden, 'code.lisp');
let session: Session;

beforeAll(async () => {
  mkdirSync(hidden);
  const code = `(defun hidden-one () "${SECRET}")\n(defun hidden-two () (hidden-one)) ; ${SECRET}\n`;
  writeFileSync(file, code);
  writeFileSync(
    join(hidden, 'hidden.asd'),
    `(defsystem "hidden" :components ((:file "code"))) ; ${SECRET}\n`,
  );
  session = await startSandboxed(place.root, { env: { XDG_CACHE_HOME: place.cache } });
  // The same names, of files of its own in its own folder.
  await session.eval(`(progn
    (ensure-directories-exist ${lispString(file)})
    (flet ((put (file text)
             (with-open-file (out file :direction :output :if-exists :supersede) (write-string text out))))
      (put ${lispString(file)}
           ${lispString(code.replaceAll(SECRET, 'x'.repeat(SECRET.length)))})
      (put ${lispString(join(hidden, 'hidden.asd'))} "(defsystem \\"hidden\\" :components ((:file \\"code\\")))"))
    (asdf:load-asd ${lispString(join(hidden, 'hidden.asd'))})
    (asdf:load-system "hidden"))`);
});
afterAll(async () => {
  await session.close();
  place.remove();
  rmSync(hidden, { recursive: true });
});

const CALLS: [string, object, RegExp][] = [
  ['describe_symbol', { symbol: 'cl-user::hidden-one' }, /HIDDEN-ONE/],
  ['read_definition', { names: ['cl-user::hidden-one'] }, /no source/],
  ['read_definition', { path: file }, /is outside/],
  ['who_calls', { name: 'cl-user::hidden-one', sites: true }, /HIDDEN-TWO\n {4}no source/],
  ['impact_of_change', { name: 'cl-user::hidden-one' }, /HIDDEN-TWO/],
  ['read_file', { path: file }, /is outside/],
  ['read_file', { path: `/proc/${process.pid}/root${file}` }, /is outside/],
  ['read_file', { path: `/proc/${process.pid}/environ` }, /is outside/],
  ['search_in_buffer', { pattern: 'hidden', buffer: hidden }, /is outside/],
  [
    'load_file',
    { path: file },
    /is not read: the sandbox hides it from the image\. Put a copy into the workspace\./,
  ],
  ['load_file', { path: file, check: true }, /is not read: the sandbox hides it from the image\./],
  ['compare_image', { path: file }, /is not read: the sandbox hides it from the image\./],
  [
    'load_file',
    { path: '/proc/self/environ' },
    /is not read: it is in \/proc, \/sys or \/dev, not on a disk\./,
  ],
];

test.each(CALLS)('%s %j tells nothing of it', async (tool, args, text) => {
  const answer = await session.call(tool, { ...args });
  expect(answer.text).toMatch(text);
  expect(JSON.stringify(answer)).not.toContain(SECRET);
});

test('neither do these tools when code calls them', async () => {
  const forms = CALLS.map(([tool, args]) => {
    const words = Object.entries(args).map(
      ([key, value]) =>
        `:${key} ${Array.isArray(value) ? `'(${value.map((each) => lispString(String(each))).join(' ')})` : value === true ? 't' : lispString(String(value))}`,
    );
    return `(handler-case (call-tool "${tool}" ${words.join(' ')}) (error (e) (princ-to-string e)))`;
  });
  const text = await session.eval(
    `(labels ((told (x)
             (typecase x
               (hash-table (loop for each being the hash-values of x collect (told each)))
               (cons (mapcar #'told x))
               (t x))))
    (told (list ${forms.join('\n')})))`,
    { package: 'LIVE-LISP-USER' },
  );
  expect(text).toContain('HIDDEN-TWO');
  expect(text).not.toContain(SECRET);
});

test('nor does an image that is built again', async () => {
  await session.eval('(sb-ext:exit :abort t)');
  const text = await session.eval(`(list (fboundp 'hidden-one) (probe-file ${lispString(file)}))`);
  expect(text).not.toContain(SECRET);
});
