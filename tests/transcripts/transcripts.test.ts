// What tools answer in the usual, the empty, the over-long and the bad case, frozen as text. Those are left out that tests of
// their own hold word for word.

import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FIXTURES, type Session, startSession, temporaryFolder, warmCache } from '../harness.ts';
import { withoutFile } from '../said.ts';
import { until } from '../server/processes.ts';
import { CALLS, CASES } from './calls.ts';

let session: Session;
const cache = temporaryFolder();
warmCache(cache.path);
// The tools that write write into a copy.
const workspace = temporaryFolder();
const ROOT = join(workspace.path, 'root');
/** What the human, who approves all, was asked since the last answer. */
const asked: string[] = [];
beforeAll(async () => {
  cpSync(join(FIXTURES, 'transcripts'), ROOT, { recursive: true });
  // A cache of its own for ASDF, so that the systems are compiled here and warn.
  session = await startSession({
    args: ['--root', ROOT],
    env: { XDG_CACHE_HOME: cache.path, XDG_STATE_HOME: cache.path },
    onQuestion: ({ message }) => {
      asked.push(withoutFile(message));
      return { action: 'accept', content: { decision: 'approve' } };
    },
  });
});
afterAll(async () => {
  await session.close();
  cache.remove();
  workspace.remove();
});

/** Long arguments, and questions about them, are shown by their beginning. */
function briefly(text: string): string {
  return text.length > 600 ? `${text.slice(0, 600)} ... (${text.length} characters)` : text;
}

/** Returns TEXT with its runs of more than six lines of one shape, or of two by turns, as their beginning and how many more
 *  there are. The shape of a line is what it is without its numbers and single letters. */
function withoutRuns(text: string): string {
  const lines = text.split('\n');
  const shapes = lines.map((line) => line.replace(/\d+|\b[A-Z]\b|\bNIL\b *|[.x]{9,}/g, ''));
  const repeats = (at: number) =>
    shapes[at] !== '' && [1, 2].some((back) => shapes[at] === shapes[at - back]);
  const reported: string[] = [];
  for (let at = 0; at < lines.length; ) {
    let end = at;
    while (repeats(end)) end++;
    const kept = end - at > 6 ? at : Math.max(end, at + 1);
    reported.push(...lines.slice(at, kept));
    if (kept === at) reported.push(`(${end - at} more such lines)`);
    at = Math.max(end, at + 1);
  }
  return reported.join('\n');
}

/** How long a call ran differs from run to run, and where the fixtures are, from machine to machine. */
function stable(text: string): string {
  return text
    .replace(/(after|Rebuilt in) \d+\.\d s/g, '$1 N s')
    .replace(/(\d{4}-\d\d-\d\dT)?\d\d:\d\d:[\d.]+Z/g, 'TIME')
    .replace(/, of \d{4}-\d\d-\d\d/g, ', of DATE')
    .replace(/\d+\.\d s\)\.$/gm, 'N s).')
    .replace(/\b\d+(?:\.\d+)? (?:ns|µs|ms|s)(?=[,.:]|$)/gm, 'N ms')
    .replace(/after \d+ ms$/gm, 'after N ms')
    .replaceAll(cache.path, '/CACHE')
    .replaceAll(ROOT, '/ROOT');
}

test.each(Object.entries(CALLS))('%s', async (name, calls) => {
  const parts: string[] = [];
  // On a busy machine an image does not tell its status in the time that it has for that.
  await until('an image that reacts', 30_000, async () =>
    (await session.text('image_status')).includes(' is ready, '),
  );
  for (const kind of CASES) {
    for (const args of calls[kind] ?? []) {
      const { text, notices, isError } = await session.call(name, args);
      const head = `${kind}: ${name} ${briefly(JSON.stringify(args))}${isError ? '  (isError)' : ''}`;
      const questions = asked.splice(0).map((message) => `(asked) ${briefly(message)}`);
      parts.push(`${[head, ...questions, text, ...notices].join('\n')}\n`);
    }
  }
  await expect(withoutRuns(stable(parts.join('\n')))).toMatchFileSnapshot(`${name}.txt`);
});
