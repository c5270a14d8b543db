// Where describe_symbol says that things are defined: in files of any encoding, as they are now.

import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sharedFolder, sharedSession } from '../shared.ts';

const root = sharedFolder();
const session = sharedSession({ args: ['--root', root.path] });

/** Returns the places at which describe_symbol says that SYMBOL is defined. */
async function placesOf(symbol: string): Promise<string[]> {
  const text = await session.text('describe_symbol', { symbol });
  return [...text.matchAll(/Defined: (.*)/g)].map(([, place = '']) => place);
}

/** Compiles and loads a file NAME with OCTETS, which are in the external format FORMAT. */
async function load(name: string, octets: string | Buffer, format = ':utf-8'): Promise<void> {
  const path = JSON.stringify(join(root.path, name));
  root.put(name, octets);
  await session.eval(`(load (compile-file ${path} :external-format ${format}))`);
}

/** A function, a class, which has no offset on record, and the function LAST-NAME, with lines BEFORE that end with END. */
function source(name: string, before: string, end = '\n'): string {
  const forms = [`(defun ${name} () 1)`, `  (defclass ${name} () ())`, `(defun last-${name} () 1)`];
  return [before, before, forms[0], before, forms[1], forms[2], ''].join(end);
}

/** Checks that the places in the file FILE are those of the source of NAME. */
async function expectPlaces(name: string, file: string): Promise<void> {
  expect(await placesOf(name)).toEqual([`${file}:3:1`, `${file}:5:3`]);
  expect(await placesOf(`last-${name}`)).toEqual([`${file}:6:1`]);
}

test('finds functions and a class in a file of wide characters and CRLF', async () => {
  await load('wide.lisp', source('wide', '; 語 λ 😀 é', '\r\n'));
  await expectPlaces('wide', 'wide.lisp');
});

test('finds them among letters of Latin-1', async () => {
  await load('latin.lisp', Buffer.from(source('latin', `; ${'é'.repeat(30)}`), 'latin1'), ':latin-1');
  await expectPlaces('latin', 'latin.lisp');
});

test('finds them behind a byte order mark', async () => {
  const name = 'mark.lisp';
  root.put(name, `\ufeff${source('marked', '; é')}`);
  await session.text('load_file', { path: name });
  await expectPlaces('marked', name);
});

test('reads a file again that was edited meanwhile', async () => {
  const path = join(root.path, 'edited.lisp');
  await load('edited.lisp', source('edited', '; é'));
  await expectPlaces('edited', 'edited.lisp');
  writeFileSync(path, `; new\n${source('edited', ';')}`);
  utimesSync(path, new Date(), new Date(Date.now() + 5000));
  // A class has no offset on record, so its form is counted in the text that was loaded.
  expect((await placesOf('edited'))[1]).toBe(
    'edited.lisp:6:3 (the file has changed since it was loaded; this form has not)',
  );
});
