// Paths of an image elsewhere: translated by its maps, and told as those of the image where no map has them. Through a
// real client, with an image in another root.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { FarPaths } from '../../src/image/wire/far-paths.ts';
import { bad, type Session, startSession, type TestFolder, temporaryFolder } from '../harness.ts';
import { sandboxTest } from '../sandbox/namespaces.ts';
import { otherRoot } from './command-options.ts';

describe('the translation', () => {
  const maps = [
    { here: '/shop/lib', there: '/opt/lib' },
    { here: '/shop', there: '/srv/shop' },
  ];
  const paths = () => new FarPaths('there', maps, () => undefined);

  test('goes both ways, by the first map that fits at whole names', () => {
    const both = [
      ['/shop', '/srv/shop'],
      ['/shop/a.lisp', '/srv/shop/a.lisp'],
      ['/shop/lib/b.lisp', '/opt/lib/b.lisp'],
      ['there:/srv/shopping', '/srv/shopping'],
      ['there:/etc/x', '/etc/x'],
    ] as const;
    for (const [here, there] of both) {
      expect(paths().there(here)).toBe(there);
      expect(paths().here(there)).toBe(here);
    }
    expect(paths().there('/shopping')).toBe('/shopping');
    expect(paths().there('relative')).toBe('relative');
  });

  test('has no file of this machine outside the folders of its maps', () => {
    expect(paths().here('/srv/shop/../../etc/passwd')).toBe('there:/srv/shop/../../etc/passwd');
    expect(paths().here('/srv/shop/..')).toBe('there:/srv/shop/..');
    expect(paths().here('/srv/shop/..a')).toBe('/shop/..a');
  });

  test('says a name of this machine that was sent as it is in the same way when it comes back', () => {
    const sent = paths();
    expect(sent.here('/other/x.lisp')).toBe('there:/other/x.lisp');
    expect(sent.there('/other/x.lisp')).toBe('/other/x.lisp');
    expect(sent.here('/other/x.lisp')).toBe('/other/x.lisp');
  });

  test('finds the paths of answers, and leaves texts and data of the program alone', () => {
    const message = {
      id: 5,
      condition: { text: '/srv/shop', frames: [{ call: '/srv/shop', file: '/srv/shop/a.lisp' }] },
      value: ['/srv/shop/', '/etc/x', '/', 'a'],
      output: { file: '/srv/shop' },
      data: { path: '/srv/shop' },
    };
    expect(paths().message(message)).toEqual({
      ...message,
      condition: { text: '/srv/shop', frames: [{ call: '/srv/shop', file: '/shop/a.lisp' }] },
      value: ['/shop/', 'there:/etc/x', '/', 'a'],
    });
    expect(paths().message({ value: '/srv/shop' })).toEqual({ value: '/srv/shop' });
  });
});

describe('the flag --map', () => {
  const read = (...args: string[]) => readConfig(['--image', 'b=sbcl', ...args], {});

  test('has a folder here and its name there', () => {
    const { imageCommand } = read('--map', `b:${import.meta.dirname}=/srv/app/`, '--map', 'b:.=/');
    expect(imageCommand?.maps).toEqual([
      { here: import.meta.dirname, there: '/srv/app' },
      { here: process.cwd(), there: '/' },
    ]);
  });

  test.each(['c:.=/srv', 'b:.=srv', 'b:=/srv'])('%s is refused', (text) => {
    expect(() => read('--map', text)).toThrow(
      `--map must be b:LOCAL=REMOTE (a local folder and its absolute path where the image runs), such as b:.=/srv/app, not ${text}.`,
    );
  });

  test('needs a folder that is there, and an image', () => {
    expect(() => read('--map', 'b:/no/such=/srv')).toThrow(
      '--map b:/no/such=/srv needs an existing directory before =; /no/such is not one.',
    );
    expect(() => readConfig(['--map', 'b:.=/srv'], {})).toThrow(
      '--map is for an image elsewhere: give --image NAME=COMMAND, too.',
    );
  });
});

describe('an image in another root', () => {
  let folder: TestFolder;
  let work: string;
  let library: string;
  let sessions: Session[];

  beforeEach(() => {
    folder = temporaryFolder();
    sessions = [];
    work = join(folder.path, 'work');
    library = join(folder.path, 'library');
    for (const path of [work, library]) mkdirSync(path);
    writeFileSync(join(work, 'far-shop.asd'), '(defsystem "far-shop" :components ((:file "shop")))\n');
    writeFileSync(
      join(work, 'shop.lisp'),
      "(defpackage :far-shop (:use :cl))\n(in-package :far-shop)\n\n(defun price (n)\n  (* n 3))\n\n(defun total (l)\n  (price (reduce #'+ l)))\n",
    );
    writeFileSync(
      join(library, 'library.lisp'),
      '(defpackage :far-library (:use :cl))\n(in-package :far-library)\n\n(defun first-of (x)\n  "What is first in X."\n  (car x))\n',
    );
  });
  afterEach(async () => {
    for (const session of sessions) await session.close();
    folder.remove();
  });

  /** Starts a server over the workspace whose image has the folders BOUND, with ARGS. */
  async function start(bound: Record<string, string>, args: string[] = []): Promise<Session> {
    const command = `${otherRoot(userInfo().homedir, bound).join(' ')}`;
    const session = await startSession({
      args: ['--root', work, '--image', `there=${command}`, ...args, '--allow', 'edit_definitions'],
    });
    sessions.push(session);
    return session;
  }

  const edit = (definition: string, text: string) => ({
    edits: [{ op: 'replace', definition, text }],
    load: true,
  });

  sandboxTest('has the files of a map: systems, places, edits and loads', async () => {
    const session = await start({ [work]: '/srv/shop' }, ['--map', `there:${work}=/srv/shop`]);
    expect(await session.text('load_system', { system: 'far-shop' })).toBe('Loaded system far-shop');
    expect(
      await session.eval(
        '(list (sb-posix:getcwd) (asdf:system-source-file "far-shop") (sb-introspect:definition-source-pathname (first (sb-introspect:find-definition-sources-by-name (quote far-shop::price) :function))))',
      ),
    ).toBe('("/srv/shop" #P"/srv/shop/far-shop.asd" #P"/srv/shop/shop.lisp")');
    expect(await session.eval('(list *default-pathname-defaults* (probe-file "shop.lisp"))')).toBe(
      '(#P"/srv/shop/" #P"/srv/shop/shop.lisp")',
    );
    expect(await session.text('read_definition', { name: 'far-shop::price' })).toBe(
      'shop.lisp:4-5  FAR-SHOP::PRICE [FUNCTION]\n\n(defun price (n)\n  (* n 3))',
    );
    const edited = await session.call(
      'edit_definitions',
      edit('far-shop::price', '(defun price (n)\n  (* n 4))'),
    );
    expect(edited.text).toMatch(/^Changed shop\.lisp: lines 4-5.*Loaded 1 form of shop\.lisp$/s);
    expect(readFileSync(join(work, 'shop.lisp'), 'latin1')).toContain('(* n 4)');
    expect(await session.eval('(far-shop::total (list 1 2))')).toBe('12');
    expect(await session.text('load_file', { path: 'shop.lisp' })).toBe('Loaded shop.lisp');
    expect(await session.eval("(far-shop::price 'a)")).toContain(
      '(FAR-SHOP::PRICE COMMON-LISP-USER::A)  shop.lisp:5:3',
    );
  });

  sandboxTest('gets the text of a file that it does not have, under the name of that', async () => {
    const session = await start({});
    expect(await session.text('load_file', { path: 'shop.lisp' })).toBe('Loaded shop.lisp');
    expect(await session.text('read_definition', { name: 'far-shop::total' })).toContain('shop.lisp:7-8');
    await session.call(
      'edit_definitions',
      edit('far-shop::price', '(defun price (n)\n  ;; dear\n  (* n 4))'),
    );
    expect(await session.eval('(far-shop::total (list 1 2))')).toBe('12');
    expect(await session.eval("(far-shop::price 'a)")).toContain(
      '(FAR-SHOP::PRICE COMMON-LISP-USER::A)  shop.lisp:6:3',
    );
    expect(await session.text('describe_symbol', { symbol: 'far-shop::total' })).toContain(
      'Defined: shop.lisp:8:1',
    );
    const restarted = await session.text('restart_image');
    expect(restarted).toContain(`1 file (${join(work, 'shop.lisp')})`);
    expect(await session.eval('(far-shop::total (list 1 2))')).toBe('12');
  });

  sandboxTest('tells its own files as such: they are read through it, and never edited', async () => {
    const session = await start({ [library]: '/srv/library' });
    // A file of this machine with that name is another one.
    await session.eval('(load "/srv/library/library.lisp")');
    expect(await session.text('read_definition', { name: 'far-library::first-of' })).toBe(
      'there:/srv/library/library.lisp:4-6  FAR-LIBRARY::FIRST-OF [FUNCTION]\n\n(defun first-of (x)\n  "What is first in X."\n  (car x))',
    );
    const refused = bad(
      'File tools cannot reach there:/srv/library/library.lisp, a file on the machine of the image there. eval_form can read and load it there. To edit it here, ask the user to start the server with --map there:LOCAL=REMOTE, where LOCAL is a folder here and REMOTE the same one there.',
    );
    expect(
      await session.call('edit_definitions', edit('far-library::first-of', '(defun first-of (x) x)')),
    ).toMatchObject({ text: refused.text, isError: true });
    const path = 'there:/srv/library/library.lisp';
    for (const tool of ['load_file', 'read_file'])
      expect(await session.call(tool, { path })).toMatchObject({ text: refused.text, isError: true });
  });
});
