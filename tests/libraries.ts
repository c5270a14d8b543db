// The Lisp libraries that tests use: Debian's packages of them.

/** The folder in which Debian's packages put the sources of libraries. */
export const SOURCES = '/usr/share/common-lisp/source';

/** Declares that a test file uses the systems NAMES, and returns NAMES. scripts/setup.sh installs what is declared so. */
export function libraries<Name extends string>(...names: Name[]): Name[] {
  return names;
}
