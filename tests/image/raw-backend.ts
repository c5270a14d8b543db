// The backend of an SBCL, and what it says, message by message, as it stands on the wire.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { backendCommand } from '../../src/image/process/backend.ts';
import { FrameReader, type Message, requestFrame } from '../../src/image/wire/frames.ts';
import { cacheFolder } from '../../src/paths.ts';
import { PROJECT, testSbcl } from '../harness.ts';
import { until } from '../server/processes.ts';

const OPTIONS = {
  lispFolder: join(PROJECT, 'lisp'),
  cacheFolder: cacheFolder(),
  root: PROJECT,
  heapMb: 1024,
  trees: [],
};

/** Starts an SBCL with the backend. */
export function startRawBackend() {
  const { program, args, env } = backendCommand(testSbcl(), OPTIONS, true);
  const process = spawn(program, args, { cwd: PROJECT, env, stdio: ['ignore', 'ignore', 'inherit', 'pipe'] });
  const channel = process.stdio[3] as Duplex;
  const reader = new FrameReader();
  const said: Message[] = [];
  channel.on('data', (chunk: Buffer) => said.push(...reader.push(chunk)));
  return {
    pid: process.pid,
    /** Sends the request ID for OP with ARGS. */
    send: (id: number, op: string, args: object) => channel.write(requestFrame(id, op, args)),
    /** Returns the first message that IS says so of, once it has come, and takes it away. */
    take: (what: string, is: (message: Message) => boolean) =>
      until(what, 60_000, () => {
        const index = said.findIndex(is);
        return index === -1 ? undefined : said.splice(index, 1)[0];
      }),
    end: () => process.kill('SIGKILL'),
  };
}
