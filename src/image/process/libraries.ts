// Finds the library manager that images use: Quicklisp, qlot or ocicl, if one of them is set up.

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../paths.ts';

export interface LibraryManager {
  name: 'qlot' | 'Quicklisp' | 'ocicl';
  /** The path of the Lisp file that sets up the manager. */
  file: string;
}

/** Returns the library managers that are set up: first those of the workspace ROOT, then those of the user. */
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

/** The library manager that the user has chosen. `auto` is the first one that is set up. */
export type Libraries = 'auto' | 'none' | Lowercase<LibraryManager['name']>;

/** Returns the library manager for images of the workspace ROOT. LIBRARIES is the user's choice. Returns undefined when
 * no manager is to be used. */
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

/** Folders of Quicklisp that images in a sandbox may change. Other files of Quicklisp are executed at each start, also
 * outside a sandbox, so they must be protected. */
const QUICKLISP = ['dists', 'local-projects', 'cache', 'tmp'];

/** Returns the folders outside the workspace in which the manager installs libraries. Creates those that do not
 * exist. */
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
