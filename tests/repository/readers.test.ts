// Only src/files/regular.ts opens files whose names come from outside; who else opens files is listed here, with what they
// open.

import { expect, test } from 'vitest';
import { filesOf, hitsIn, textOf } from './files.ts';

/** The functions of Node that open a file. */
const OPENER =
  /\b(?:readFile|readFileSync|open|openSync|openAsBlob|createReadStream|copyFile|copyFileSync|cp|cpSync)\b/g;

/** The files that import such a function, and why no name from outside leads there, or why it may. */
const ALLOWED: { readonly [path: string]: string } = {
  'src/files/regular.ts': 'the one way to read a file',
  'src/files/folder.ts': 'folders: O_DIRECTORY refuses all else',
  'src/files/copy.ts': 'new files only, in a folder of ours that is held open: O_EXCL',
  'src/files/write.ts': 'new files only: O_EXCL',
  'src/files/intents.ts': 'a new file and a folder of ours in the state folder',
  'src/files/together.ts': 'copies a file whose folder is held open and whose kind was checked',
  'src/code-cache.ts': 'the program itself',
  'src/doctor/set-up.ts': 'the audit log, to append to it: O_NONBLOCK',
  'src/page/page.ts': 'files of the page, of ours',
  'src/program.ts': 'package.json of ours',
  'src/image/process/backend.ts': 'the sources of the backend',
  'src/image/process/started-requests.ts': 'a new file: O_EXCL',
  'src/image/process/collecting.ts': 'the memory of a process that we started',
  'src/image/process/command.ts': 'the null device',
  'src/image/process/descendants.ts': 'the table of processes',
  'src/image/process/image-command.ts': 'the sources of the backend',
  'src/image/process/process-state.ts': 'the table of processes',
  'src/image/process/sbcl.ts': '/etc/os-release',
  'src/image/process/space.ts': 'our own limits',
  'src/image/process/starving.ts': 'the table of processes',
  'src/image/sandbox/system-calls.ts': 'a new file: O_EXCL',
  'src/command/command.ts': 'package.json of ours',
  'src/command/question.ts': 'the terminal',
  'src/command/sessions.ts': 'files of commands in a folder of this user alone',
  'src/temporary-folder.ts': 'folders: O_DIRECTORY refuses all else',
  'src/records/lines.ts': 'records of ours: O_NONBLOCK',
};

/** Returns the functions that open files which the file at PATH imports. */
function openersOf(path: string): string[] {
  const imports = [...textOf(path).matchAll(/^import \{([^}]*)\} from 'node:fs(?:\/promises)?';$/gm)];
  return imports.flatMap(([, names = '']) => names.match(OPENER) ?? []);
}

const SOURCES = filesOf('src', '.ts');

test('no other file opens one', () => {
  expect(SOURCES.filter((path) => openersOf(path).length > 0).sort()).toEqual(Object.keys(ALLOWED).sort());
});

test('no file takes these functions in another way', () => {
  const whole = /from '(?:node:)?fs(?:\/promises)?'|(?:import|require)\(\s*'(?:node:)?fs/g;
  const named = /^(?:import|\}) .*from 'node:fs(?:\/promises)?';$/gm;
  const star = /import (?:\*|\w+)[^{]* from '(?:node:)?fs/g;
  for (const path of SOURCES) {
    expect(hitsIn(path, whole).length, path).toBe(hitsIn(path, named).length);
    expect(hitsIn(path, star), path).toEqual([]);
  }
});
