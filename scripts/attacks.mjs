// Writes docs/develop/attacks.md from what the long run of the attacks found.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cell, measuredPage, table } from './measured-page.mjs';
import { PROJECT } from './session.mjs';

const { sections } = JSON.parse(readFileSync(join(PROJECT, 'tests', 'attacks', 'result.json'), 'utf8'));

function failuresText(failed) {
  if (failed.length === 0) return 'None did harm.';
  return table(
    ['attack', 'what came of it'],
    failed.map(({ name, breach }) => [cell(name), cell(breach)]),
  );
}

const total = sections.reduce((sum, { count }) => sum + count, 0);
const harmful = sections.flatMap(({ failed }) => failed);
const text = [
  '# Attacks',
  `\`make check-long\` makes ${total} attacks on the server, and ${harmful.length} of them did harm when this page was written. Harm is an answer with what it must not have, a ping that takes more than 250 ms of the CPU of the server, a file of the user that was changed, or code that was run. Hostile code in the image is in [robustness.md](robustness.md), and what was found and mended in [SECURITY.md](../../SECURITY.md).`,
  ...sections.map(({ title, count, failed }) => `## ${title}\n\n${count} attacks. ${failuresText(failed)}`),
].join('\n\n');
await measuredPage('docs/develop/attacks.md', () => `${text}\n`);
