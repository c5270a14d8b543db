// Finds the library manager for images: Quicklisp, qlot or ocicl, if one of these is set up.

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../paths.ts';

export interface LibraryManager {
  name: 'qlot' | 'Quicklisp' | 'ocicl';
  /** Lisp file to load for the use of the manager. */
  file: string;
}

/** Returns the library managers of the workspace ROOT and then those of the user. */
export function libraryManagers(
  root: string,
  environment: NodeJS.ProcessEnv = process.env,
): LibraryManager[] {
  const home = environment['HOME'] ?? homedir();
  const data = environment['XDG_DATA_HOME'] ?? join(home, '.local', 'share');
  const usual: LibraryManager[] = [
    { name: 'qlot', file: join(root, '.qlot', 'setup.lisp') },
    { name: 'Quicklisp', file: join(home, 'quicklisp', 'setup.lisp') },
    { name: 'Quicklisp', file: join(home, '.quicklisp', 'setup.lisp') },
    { name: 'ocicl', file: join(data, 'ocicl', 'ocicl-runtime.lisp') },
  ];
  return usual.filter(({ file }) => existsSync(file));
}

/** The user's choice of a library manager. `auto` means the first manager that is set up. */
export type Libraries = 'auto' | 'none' | Lowercase<LibraryManager['name']>;

/** Returns the library manager for images of the workspace ROOT under the user's choice LIBRARIES; undefined
 *  for none. */
export function libraryManager({
  libraries,
  root,
}: {
  libraries: Libraries;
  root: string;
}): LibraryManager | undefined {
  if (libraries === 'none') return;
  return libraryManagers(root).find(({ name }) => libraries === 'auto' || name.toLowerCase() === libraries);
}

/** The folders of Quicklisp that images in a sandbox may change. Quicklisp runs its other files at each
 *  start, also outside of a sandbox, so these are protected. */
const QUICKLISP = ['dists', 'local-projects', 'cache', 'tmp'];

/** Returns the folders outside the workspace in which the manager installs libraries. Creates missing
 *  ones. */
export function libraryFolders({ name, file }: LibraryManager): string[] {
  if (name !== 'Quicklisp') return [];
  const folders = QUICKLISP.map((each) => join(dirname(file), each));
  return folders.filter((folder) => {
    try {
      makeFolder(folder);
      return true;
    } catch {
      return false; // Then no image can install a library there.
    }
  });
}
