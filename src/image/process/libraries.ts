// Decides where Quicklisp, qlot and ocicl are usually set up.

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export interface LibraryManager {
  name: 'qlot' | 'Quicklisp' | 'ocicl';
  /** The file that makes it available in an image. */
  file: string;
}

/** Returns the library managers that are set up for the workspace ROOT and the user, the workspace's first. */
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
