// Prints the Lisp systems that tests declare with `libraries` (tests/libraries.ts), those of tests/**/*.long.ts only with
// the argument `long`. With --missing it prints the Debian packages of those that are not installed.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const TESTS = join(import.meta.dirname, '..', 'tests');
const SOURCES = '/usr/share/common-lisp/source';

/** Debian's package of a system is named `cl-` and the system, but for these. */
const PACKAGES = { clx: 'cl-clx-sbcl' };

/** Returns the systems that TEXT, a test file, declares. */
function declaredIn(text) {
  const calls = [...text.matchAll(/\blibraries\(([^)]*)\)/g)];
  return calls.flatMap(([, names]) => [...names.matchAll(/'([^']+)'/g)].map(([, name]) => name));
}

function declared(long) {
  const files = readdirSync(TESTS, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && (long || !name.endsWith('.long.ts')),
  );
  return [...new Set(files.flatMap((name) => declaredIn(readFileSync(join(TESTS, name), 'utf8'))))].sort();
}

/** Returns the names of the files below SOURCES. */
function installed() {
  if (!existsSync(SOURCES)) return new Set();
  return new Set(
    readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).map((name) => name.split('/').pop()),
  );
}

const systems = declared(process.argv.includes('long'));
if (process.argv.includes('--missing')) {
  const files = installed();
  const missing = systems.filter((name) => !files.has(`${name}.asd`));
  console.log(missing.map((name) => PACKAGES[name] ?? `cl-${name.replace(/^cl-/, '')}`).join(' '));
} else console.log(systems.join('\n'));
