// What load_system loads when a file was edited in the second in which another image compiled it.

import { utimesSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Session, startSession, temporaryFolder, warmCache } from '../harness.ts';

const SECOND = 1_700_000_000;
const root = temporaryFolder();
const cache = temporaryFolder();
let session: Session;
beforeAll(async () => {
  warmCache(cache.path);
  root.put('low.asd', '(defsystem "low" :components ((:file "low")))');
  root.put('high.asd', '(defsystem "high" :depends-on ("low"))');
  date(SECOND - 9, `${root.path}/low.asd`, `${root.path}/high.asd`);
  session = await startSession({
    args: ['--root', root.path, '--allow', 'restart_image', '--replay', 'off'],
    env: { XDG_CACHE_HOME: cache.path },
  });
});
afterAll(async () => {
  await session.close();
  root.remove();
  cache.remove();
});

/** Gives FILES the date SECOND, in seconds since 1970. */
function date(second: number, ...files: string[]): void {
  for (const file of files) utimesSync(file, second, second);
}

/** Has an image compile low.lisp, and edits that, all in one second. Then begins a new image. */
async function editInSecond(): Promise<void> {
  root.put('low.lisp', '(defun low () :old)');
  date(SECOND, `${root.path}/low.lisp`);
  await session.text('load_system', { system: 'low', force: true });
  const fasl = await session.eval(
    `(sb-ext:native-namestring (asdf:output-file 'asdf:compile-op (asdf:find-component "low" "low")))`,
  );
  root.put('low.lisp', '(defun low () :new)');
  date(SECOND, JSON.parse(fasl), `${root.path}/low.lisp`);
  await session.call('restart_image', { rebuild: 'none' });
}

test('load_system of what needs the edited one has the new text', async () => {
  await editInSecond();
  const system = 'high';
  expect(await session.text('load_system', { system })).toContain('Loaded system high');
  expect(await session.eval('(low)')).toBe(':NEW');
  expect(await session.text('load_system', { system })).toBe(
    'System high was loaded already, and none of its files has changed.',
  );
});

test('a load by a form has the old text, which load_system replaces', async () => {
  await editInSecond();
  await session.eval('(asdf:load-system "low")');
  expect(await session.eval('(low)')).toBe(':OLD');
  expect(await session.text('load_system', { system: 'low' })).toBe(
    'System low was loaded already; changed files were loaded again.',
  );
  expect(await session.eval('(low)')).toBe(':NEW');
});
