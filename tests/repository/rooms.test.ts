// docs/architecture.md says which room of the backend may use which; the packages and the files of lisp/ do not do
// otherwise. Only lisp/base/sbcl*.lisp touches what SBCL does not document.

import { expect, test } from 'vitest';
import { filesOf, textOf } from './files.ts';
import { boundNames, codeOf, definedNames, topLevelForms, usedNames } from './lisp.ts';

/** What SBCL's manual describes; what these packages export may be used anywhere. */
const DOCUMENTED = [
  'sb-ext',
  'sb-thread',
  'sb-gray',
  'sb-mop',
  'sb-alien',
  'sb-sys',
  'sb-posix',
  'sb-bsd-sockets',
];

/** The files that are of no room: what builds the backend, its life, and that in an image of somebody else. */
const WHOLE = [
  'attach',
  'attached',
  'attaching',
  'boot',
  'closed',
  'command',
  'internals',
  'kept-backend',
  'line',
  'main',
  'probed',
].map((name) => `lisp/${name}.lisp`);

/** Functions of the C library, which are no internals of SBCL. `,name` stands for getrlimit and setrlimit. */
const C_LIBRARY = [
  '"memmem"',
  '"getpagesize"',
  '"madvise"',
  '"nice"',
  '"umask"',
  '"mmap"',
  '"access"',
  '"utime"',
  '"prctl"',
  '"recv"',
  '"shutdown"',
  ',name',
];

/** Returns the rows below the heading `Rooms of the backend`: what each room may use. */
function readTable(): Map<string, string[]> {
  const [, section = ''] = textOf('docs/architecture.md').split(/^## Rooms of the backend$/m);
  const rows = [...(section.split(/^## /m)[0] ?? '').matchAll(/^\| `([^`]+)` *\|[^|]*\| (.+?) *\|$/gm)];
  return new Map(
    rows.map(([, room = '', cell = '']) => [room, [...cell.matchAll(/`([^`]+)`/g)].map(([, n = '']) => n)]),
  );
}

/** Returns the rooms in the order in which live-lisp.asd loads them, each with its files. */
function readOrder(): { room: string; files: string[] }[] {
  const [backend = ''] = textOf('lisp/live-lisp.asd').split('(:file "main")');
  const modules = backend.split('(:module ').slice(1);
  return modules.map((module) => {
    const [room = '', ...files] = [...module.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name);
    return { room, files: files.map((file) => `lisp/${room}/${file}.lisp`) };
  });
}

interface Room {
  uses: string[];
  exports: string[];
}

/** Returns what the package of ROOM uses of other rooms and what it exports, as the file at PATH defines it. */
function readPackage(room: string, path: string): Room {
  const forms = topLevelForms(textOf(path)).filter(({ elements }) => elements[0] === 'defpackage');
  const form = forms.find(({ elements }) => elements[1]?.toLowerCase() === `"live-lisp.${room}"`);
  const clause = (key: string) =>
    form?.elements.filter((element) => element.startsWith(`(${key}`)).join(' ') ?? '';
  const names = (text: string) => [...text.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name.toLowerCase());
  return {
    uses: names(clause(':use')).flatMap((name) => (name.startsWith('live-lisp.') ? [name.slice(10)] : [])),
    exports: names(clause(':export')),
  };
}

const TABLE = readTable();
const ORDER = readOrder();
const ROOMS = ORDER.map(({ room }) => room);
const PACKAGES = new Map(ROOMS.map((room) => [room, readPackage(room, `lisp/${room}/package.lisp`)]));
PACKAGES.set('main', readPackage('backend', 'lisp/main.lisp'));

/** Returns the words of TEXT, in lower case, that can be names. */
function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().split(/[^\w*+/%-]+/));
}
/** The words of the code of each file, and those of what uses the rooms besides. */
const WORDS = new Map(filesOf('lisp', '.lisp').map((path) => [path, wordsOf(codeOf(textOf(path)))]));
const OTHERS = wordsOf([...filesOf('tests', '.ts'), ...filesOf('bench', '.lisp')].map(textOf).join('\n'));

/** Returns, as lines for a message, the names that a file of FILES uses and a later one defines. */
function usedTooEarly(files: { path: string; text: string }[]): string[] {
  return files.flatMap(({ path, text }, index) => {
    const used = usedNames(text);
    const own = new Set([...definedNames(text), ...boundNames(text)]);
    return files
      .slice(index + 1)
      .flatMap((later) =>
        [...definedNames(later.text)]
          .filter((name) => used.has(name) && !own.has(name))
          .map((name) => `${path}: ${name} of ${later.path}`),
      );
  });
}

/** Returns, as lines for a message, the names that more than one of FILES defines: the last one would hold for all. */
function definedTwice(files: { path: string; text: string }[]): string[] {
  return files.flatMap(({ path, text }, index) => {
    const names = definedNames(text);
    return files
      .slice(index + 1)
      .flatMap((later) =>
        [...definedNames(later.text)]
          .filter((name) => names.has(name))
          .map((name) => `${name} of ${path} and ${later.path}`),
      );
  });
}

/** Returns what TEXT touches of SBCL that is not documented. */
function internalsIn(text: string): string[] {
  const code = codeOf(text);
  const packages = [...code.matchAll(/(?<![\w-])(sb-[a-z0-9]+)(::?)[^\s()]+/gi)]
    .filter(([, home = '', colons]) => colons === '::' || !DOCUMENTED.includes(home.toLowerCase()))
    .map(([found]) => found);
  const foreign = [...text.matchAll(/find-foreign-symbol-address|extern-alien\s+(\S+)/g)]
    .filter(([, name]) => name === undefined || !C_LIBRARY.includes(name))
    .map(([found]) => found);
  return [...packages, ...foreign];
}

test('every room has its row and its folder, and loads each of its files', () => {
  expect([...TABLE.keys()]).toEqual([...ROOMS, 'main']);
  const listed = [...ORDER.flatMap(({ files }) => files), ...WHOLE];
  expect(listed.sort()).toEqual(filesOf('lisp', '.lisp'));
});

test('a room uses only what its row names, and only rooms that are loaded before it', () => {
  for (const [index, room] of [...ROOMS, 'main'].entries()) {
    const row = TABLE.get(room) ?? [];
    expect([...(PACKAGES.get(room)?.uses ?? [])].sort(), room).toEqual([...row].sort());
    expect(
      row.filter((other) => !ROOMS.slice(0, index).includes(other)),
      room,
    ).toEqual([]);
  }
});

test('no room reaches into the package of another', () => {
  const reached = filesOf('lisp', '.lisp').flatMap((path) =>
    [...codeOf(textOf(path)).matchAll(/live-lisp\.[^\s()]*|[^\s()]+::[^\s()]*/gi)].map(
      ([found]) => `${path}: ${found}`,
    ),
  );
  expect(reached).toEqual([]);
});

test('a room exports what it defines and what another uses, and nothing else', () => {
  for (const { room, files } of ORDER) {
    const defined = new Set(files.flatMap((path) => [...definedNames(textOf(path))]));
    const exported = PACKAGES.get(room)?.exports ?? [];
    expect(
      exported.filter((name) => !defined.has(name)),
      room,
    ).toEqual([]);
    const outside = [...WORDS].filter(([path]) => !files.includes(path) && !path.endsWith('/package.lisp'));
    const isUsed = (name: string) => OTHERS.has(name) || outside.some(([, words]) => words.has(name));
    const unused = exported.filter((name) => !isUsed(name));
    expect(unused, room).toEqual([]);
  }
});

test('no file uses what a later one of its room defines', () => {
  const wrong = ORDER.flatMap(({ files }) =>
    usedTooEarly(files.map((path) => ({ path, text: textOf(path) }))),
  );
  expect(wrong).toEqual([]);
});

test('no two files of a room define the same name', () => {
  const wrong = ORDER.flatMap(({ files }) =>
    definedTwice(files.map((path) => ({ path, text: textOf(path) }))),
  );
  expect(wrong).toEqual([]);
});

test('only the door to SBCL touches what SBCL does not document', () => {
  const wrong = filesOf('lisp', '.lisp')
    .filter((path) => !/^lisp\/base\/sbcl(?:-[a-z]+)?\.lisp$/.test(path))
    .flatMap((path) => internalsIn(textOf(path)).map((found) => `${path}: ${found}`));
  expect(wrong).toEqual([]);
});

test('the measure sees what is wrong', () => {
  const early = '(defun f (x) "Uses (later)." (later x) *late* #\'fun (box-lid x) ; (comment))';
  const late = `(defun later (x) x) (sb-ext:defglobal *late* 1) (defmacro fun () 1) (defun comment () 1)
    (defstruct (box (:constructor make-box (lid))) "A box." (lid nil :type list) key)`;
  const files = [
    { path: 'a', text: early },
    { path: 'b', text: late },
  ];
  expect(usedTooEarly(files)).toEqual(['a: later of b', 'a: *late* of b', 'a: fun of b', 'a: box-lid of b']);
  expect(usedTooEarly([...files].reverse())).toEqual([]);
  expect(definedTwice([...files, { path: 'c', text: '(defvar *late* 2)' }])).toEqual(['*late* of b and c']);
  expect([...definedNames(late)]).toEqual(
    expect.arrayContaining(['box', 'box-p', 'make-box', 'box-lid', 'box-key']),
  );
  const text = `(sb-ext:gc) "sb-c::string" sb-kernel:x (sb-ext::y) (extern-alien "n_gcs" int) (extern-alien "memmem" int)`;
  expect(internalsIn(text)).toEqual(['sb-kernel:x', 'sb-ext::y', 'extern-alien "n_gcs"']);
});
