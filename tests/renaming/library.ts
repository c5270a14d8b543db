// Renames random functions of a copy of a library, and holds it against the library as it was, in a fresh SBCL.

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT, type Session, startSession, temporaryFolder, testSbcl } from '../harness.ts';
import { SOURCES } from '../libraries.ts';
import { fractionsFrom } from '../random.ts';

/** A library as Debian installs it: its folder, its systems (the first is tested), and the package of its functions. */
export interface Library {
  folder: string;
  systems: string[];
  package: string;
  /** Whether its tests are in files that are no Lisp. */
  text?: boolean;
}

/** What came of renames in a library. */
export interface Outcome {
  /** Old names and new ones. */
  renamed: [string, string][];
  /** Why others could not be renamed. */
  refused: string[];
  /** Answers that tell of anything but success. */
  troubled: string[];
  /** Warnings and results of tests, before and after. */
  before: string[];
  after: string[];
}

/** Renames COUNT functions of LIBRARY, chosen by SEED. */
export async function renameFunctions(library: Library, count: number, seed: number): Promise<Outcome> {
  const folder = temporaryFolder();
  const base = realpathSync(folder.path);
  const copy = join(base, 'copy', library.folder);
  mkdirSync(copy, { recursive: true });
  cpSync(join(SOURCES, library.folder), copy, { recursive: true, dereference: true });
  const outcome: Outcome = { renamed: [], refused: [], troubled: [], before: [], after: [] };
  try {
    outcome.before = reported(base, 'before', library);
    const session = await startSession({
      args: ['--root', join(base, 'copy'), '--replay', 'off', '--allow', 'rename_symbol'],
    });
    try {
      await renameIn(session, library, count, seed, outcome);
    } finally {
      await session.close();
    }
    outcome.after = withOldNames(reported(base, 'after', library), outcome.renamed);
    outcome.before = withOldNames(outcome.before, outcome.renamed);
    return outcome;
  } finally {
    folder.remove();
  }
}

async function renameIn(session: Session, library: Library, count: number, seed: number, outcome: Outcome) {
  const patient = { timeout: 900_000 };
  for (const system of library.systems) {
    const { text, isError } = await session.call('load_system', { system }, patient);
    if (isError) throw new Error(text);
  }
  for (const name of shuffled(await functionsOf(session, library.package), seed)) {
    if (outcome.renamed.length === count) return;
    const to = `new-${outcome.renamed.length}-name`;
    const call = { name: `|${name}|`, package: library.package, to, text: library.text === true };
    const { text, isError } = await session.call('rename_symbol', call, patient);
    if (isError && !text.startsWith('Renamed')) outcome.refused.push(`${name}: ${text}`);
    else outcome.renamed.push([name, to]);
    if (text.startsWith('Renamed') && (isError || /^ {4}(?:WARNING|ERROR)|keeps|Not removed/m.test(text)))
      outcome.troubled.push(`${name}: ${text}`);
  }
}

/** Returns the names of the functions and macros whose home is the package NAME. */
async function functionsOf(session: Session, name: string): Promise<string[]> {
  const form = `(let ((names '())) (do-symbols (s ${JSON.stringify(name)} (format t "~{~A~%~}" (sort names #'string<)))
    (when (and (eq (symbol-package s) (find-package ${JSON.stringify(name)})) (fboundp s)) (pushnew (symbol-name s) names :test #'equal))))`;
  const text = await session.eval(form);
  return text.split('\n').filter((line) => /^[^\s:"]+$/.test(line) && line !== 'NIL');
}

/** Returns ITEMS in an order that SEED decides. */
function shuffled(items: readonly string[], seed: number): string[] {
  const next = fractionsFrom(seed);
  return items
    .map((item) => ({ item, rank: next() }))
    .sort((one, other) => one.rank - other.rank)
    .map(({ item }) => item);
}

/** Returns what a fresh SBCL warns about when it loads LIBRARY from its copy in BASE, and what its tests say. */
function reported(base: string, when: string, { systems, folder }: Library): string[] {
  const script = join(PROJECT, 'tests', 'renaming', 'fresh.lisp');
  const copy = join(base, 'copy', folder);
  if (readdirSync(copy).length === 0) throw new Error(`There is no ${folder} in ${SOURCES}.`);
  const args = [
    '--noinform',
    '--no-userinit',
    '--disable-debugger',
    '--load',
    script,
    '--quit',
    '--end-toplevel-options',
  ];
  const { stdout, stderr, status } = spawnSync(
    testSbcl(),
    [...args, copy, join(base, `fasls-${when}`), ...systems],
    { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  );
  if (status !== 0) return [`FAILED ${stderr.slice(0, 2000)}`];
  return stdout
    .split('\n')
    .filter((line) => !/^;|^[\s.]*$|^[0-9A-F]{8,}:|seconds|bytes|cycles/.test(line))
    .map((line) =>
      line
        .replace(/\d+\.\d+/g, '')
        .replace(/\s+/g, ' ')
        .trim(),
    );
}

/** Returns LINES in upper case with the old names in the place of the new ones, in order. */
function withOldNames(lines: readonly string[], renamed: readonly [string, string][]): string[] {
  const changed = lines.map((line) => {
    let text = line.toUpperCase();
    for (const [from, to] of renamed) text = text.replaceAll(to.toUpperCase(), from.toUpperCase());
    return text;
  });
  return changed.sort();
}
