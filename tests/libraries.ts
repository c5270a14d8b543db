// The Lisp libraries that tests use: Debian's packages of them.

import { homedir } from 'node:os';
import { join } from 'node:path';

/** The folder in which Debian's packages put the sources of libraries. */
export const SOURCES = '/usr/share/common-lisp/source';

/** Declares that a test file uses the systems NAMES, and returns NAMES. scripts/setup.sh installs what is declared so. */
export function libraries<Name extends string>(...names: Name[]): Name[] {
  return names;
}

/** The folder into which scripts/setup.sh unpacks Debian's ASDF, which is newer than SBCL's own. */
export const NEWER_ASDF = join(
  process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'),
  'live-lisp-tests/usr/share/common-lisp/source/cl-asdf',
);
