// The times that users have are those that the documents tell.

import { expect, test } from 'vitest';
import { TIMES } from '../../src/image/wire/times.ts';
import { textOf } from '../repository/files.ts';

/** Returns MS milliseconds as the documents write them. */
function seconds(ms: number): string {
  return `${ms / 1000} s`;
}

test.each([
  [
    'docs/recovery.md',
    `A form may take ${seconds(TIMES.rebuiltForm)}, and a file or a system ${seconds(TIMES.rebuiltLoad)}; a file that was not loaded to its end may take ${seconds(TIMES.rebuiltForm)}.`,
  ],
  ['docs/recovery.md', `After ${seconds(TIMES.rebuild)} nothing more is begun.`],
  ['docs/recovery.md', `the backend tries that for at most ${seconds(TIMES.probe)}.`],
  ['docs/recovery.md', `If two images in a row were lost within ${seconds(TIMES.soon)} of being ready`],
  [
    'docs/develop/wire-protocol.md',
    `interrupts at the job's limit, again after ${seconds(TIMES.again)}, and terminates after ${seconds(TIMES.terminate)}.`,
  ],
  [
    'docs/develop/wire-protocol.md',
    `That is so up to ${seconds(TIMES.collecting)}, and ${seconds(TIMES.collectingPerGb)} more for each GB`,
  ],
  ['docs/architecture.md', `asks the backend's reader thread and waits ${TIMES.status} ms for the answer.`],
])('%s says: %s', (path, sentence) => {
  expect(textOf(path).replace(/\s+/g, ' ')).toContain(sentence);
});

test('an image that does not let a call end is given up within the 2 s that docs/develop/robustness.md tells', () => {
  expect(TIMES.ask + TIMES.kill).toBeLessThan(2000);
});
