// What an attack is, and how what became of attacks is kept for docs/develop/attacks.md.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

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

/** Writes SECTIONS to the file that scripts/attacks.mjs reads. */
export function writeSections(sections: readonly Section[]): void {
  writeFileSync(FILE, `${JSON.stringify({ sections }, null, 2)}\n`);
}

/** Returns what went wrong when TEXT, the answer of an attack, should have none of what FORBIDDEN matches. */
export function unless(forbidden: RegExp, text: string): string | undefined {
  const [found] = forbidden.exec(text) ?? [];
  return found === undefined ? undefined : `the answer has ${found}`;
}
