// Decides over which file a human is asked: one in a folder of its own. Its server is its own too, or shared.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach } from 'vitest';
import { type Era, temporaryFolder } from '../harness.ts';
import { until } from './processes.ts';
import { RawServer, textOf } from './raw.ts';

export interface Started {
  server: RawServer;
  /** src/a.lisp, and what it holds now. */
  file: string;
  content: () => string;
}

const capabilities = { elicitation: { form: {} } };

/** Starts a server over the folder PATH with src/a.lisp, which holds `(a)`. */
async function launch(era: Era, args: string[], path: string): Promise<Started> {
  mkdirSync(join(path, 'src'));
  const file = join(path, 'src', 'a.lisp');
  writeFileSync(file, '(a)');
  const server = new RawServer({ era, args: ['--root', path, ...args], capabilities });
  await server.connect();
  return { server, file, content: () => readFileSync(file, 'utf8') };
}

/** Returns what the tests of a file start servers with. */
export function filesToApprove() {
  const ends: (() => unknown)[] = [];
  const endsOfAll: (() => unknown)[] = [];
  afterEach(() => Promise.all(ends.splice(0).map((end) => end())));
  afterAll(() => Promise.all(endsOfAll.splice(0).map((end) => end())));
  const open = async (era: Era, args: string[], last: (() => unknown)[]) => {
    const folder = temporaryFolder();
    const started = await launch(era, args, folder.path);
    last.push(() => started.server.kill().then(folder.remove));
    return started;
  };
  let shared: Promise<Started> | undefined;
  return {
    /** Starts a server over a new folder. Both are gone after the test. */
    start: (era: Era, args: string[] = []): Promise<Started> => open(era, args, ends),
    /** Returns a server of the modern era that the tests share, with src/a.lisp as at the start. No test may approve
     *  anything for the session of it. */
    share: async (): Promise<Started> => {
      shared ??= open('modern', [], endsOfAll);
      const started = await shared;
      writeFileSync(started.file, '(a)');
      return started;
    },
  };
}

/** Resolves when no question about src/a.lisp is open any more. */
export async function expired(server: RawServer): Promise<void> {
  const shows = async () =>
    textOf(await server.send(server.callLine('read_buffer', { buffer: 'src/a.lisp' })));
  await until(
    'the end of the time to answer',
    60_000,
    async () => !(await shows()).includes('waits for approval'),
  );
}
