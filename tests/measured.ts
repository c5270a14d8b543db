// Decides how what a long run measured gets to the file of which a page is made.

import { writeFileSync } from 'node:fs';

const LINES = new URL('../scripts/record-lines.mjs', import.meta.url).href;

/** Writes RESULT to FILE, with a line for each record. */
export async function writeMeasured(file: string, result: object): Promise<void> {
  const { recordLines } = (await import(LINES)) as { recordLines: (value: object) => string };
  writeFileSync(file, recordLines(result));
}
