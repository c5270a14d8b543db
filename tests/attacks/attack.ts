// What an attack is, and how what became of attacks is kept for docs/develop/attacks.md.

import { join } from 'node:path';
import { writeMeasured } from '../measured.ts';

/** One attack. TRY returns what went wrong, or undefined when it came to nothing. */
export interface Attack {
  name: string;
  try: () => Promise<string | undefined>;
}

/** Attacks of one kind, and what became of each. */
export interface Section {
  title: string;
  rows: { name: string; breach?: string }[];
}

const FILE = join(import.meta.dirname, 'result.json');

/** Writes how many attacks SECTIONS have, and those that did harm, to the file that scripts/attacks.mjs reads. */
export async function writeSections(sections: readonly Section[]): Promise<void> {
  const counted = sections.map(({ title, rows }) => ({
    title,
    count: rows.length,
    failed: rows.filter(({ breach }) => breach !== undefined),
  }));
  await writeMeasured(FILE, { sections: counted });
}

/** Returns what went wrong when TEXT, the answer of an attack, should have none of what FORBIDDEN matches. */
export function unless(forbidden: RegExp, text: string): string | undefined {
  const [found] = forbidden.exec(text) ?? [];
  return found === undefined ? undefined : `the answer has ${found}`;
}
