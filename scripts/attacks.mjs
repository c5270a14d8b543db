// Writes docs/develop/attacks.md from what the long run of the attacks found.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cell, measuredPage, table } from './measured-page.mjs';
import { PROJECT } from './session.mjs';

const { sections } = JSON.parse(readFileSync(join(PROJECT, 'tests', 'attacks', 'result.json'), 'utf8'));

function failuresText(failed) {
  if (failed.length === 0) return 'None did harm.';
  return table(
    ['attack', 'harm'],
    failed.map(({ name, breach }) => [cell(name), cell(breach)]),
  );
}

const total = sections.reduce((sum, { count }) => sum + count, 0);
const harmful = sections.flatMap(({ failed }) => failed);
const text = [
  '# Attacks',
  `\`make check-long\` makes ${total} attacks on the server; ${harmful.length} of them did harm when this page was written. An attack does harm if an answer contains something that it must not contain, if a ping takes more than 250 ms of the server's CPU time, if a file of the user is changed, or if code is executed. Hostile code in the image is the subject of [robustness.md](robustness.md). [SECURITY.md](../../SECURITY.md) lists what was found and fixed.`,
  ...sections.map(({ title, count, failed }) => `## ${title}\n\n${count} attacks. ${failuresText(failed)}`),
].join('\n\n');
await measuredPage('docs/develop/attacks.md', () => `${text}\n`);
