// Prints where the tests of a room are, for `make test ROOM=...`; without an argument, those of each. The rooms are the folders
// of lisp/ and src/tools/.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const PROJECT = join(import.meta.dirname, '..');

const LOOK = ['contracts/apropos-', 'contracts/interning', 'contracts/lookup-package', 'contracts/who-calls'];

/** Where tests of a room are besides its own folder in tests/: the beginnings of their paths. */
const ELSEWHERE = {
  base: ['lisp/', 'image/broken-internals', 'image/fallbacks', 'image/start', 'image/wire-protocol'],
  buffer: ['files/'],
  debug: ['lisp-tools/on-error'],
  definitions: ['source/'],
  diff: ['files/diff', 'files/propose-file-edit'],
  evaluate: ['introspection/macroexpand-form'],
  execution: ['evaluate/', 'jobs/', 'recovery/restart'],
  introspection: [...LOOK, 'callers/'],
  journal: ['recovery/'],
  look: [...LOOK, 'callers/', 'introspection/'],
  renaming: ['source/renaming'],
  settings: ['evaluate/get-repl-history', 'records/', 'server/audit'],
  sources: ['agreement/', 'renaming/', 'definitions/read-definition'],
  tests: ['testing/'],
  tools: ['lisp-tools/'],
};

const folders = ['lisp', join('src', 'tools')].flatMap((folder) =>
  readdirSync(join(PROJECT, folder), { withFileTypes: true }).filter((entry) => entry.isDirectory()),
);
const rooms = [...new Set(folders.map(({ name }) => name))].sort();

/** Returns the beginnings of the paths of the tests of ROOM, with blanks between. */
function testsOf(room) {
  const own = existsSync(join(PROJECT, 'tests', room)) ? [`${room}/`] : [];
  return [...own, ...(ELSEWHERE[room] ?? [])].map((path) => `tests/${path}`).join(' ');
}

const [, , room] = process.argv;
if (room === undefined) for (const each of rooms) console.log(`${each}: ${testsOf(each)}`);
else if (rooms.includes(room)) console.log(testsOf(room));
else {
  console.error(`There is no room ${room}. Give one of ${rooms.join(', ')}.`);
  process.exit(1);
}
