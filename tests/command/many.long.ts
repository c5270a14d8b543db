// Many connections to one session at once.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { SessionClient } from '../../src/command/client.ts';

import { connectTo, sessionsIn } from '../../src/door/sessions.ts';
import { temporaryFolder } from '../harness.ts';
import { Shell } from './shell.ts';

const CONNECTIONS = 50;
const CALLS = 200;

/** Returns the resident memory of the process PID in MB. */
function residentMb(pid: number): number {
  const [, kb = ''] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kb) / 1024;
}

test('50 connections of 200 calls each get their own answers, and memory stays', async () => {
  const folder = temporaryFolder();
  const shell = new Shell(folder.path);
  try {
    const child = await shell.session('--no-sandbox');
    const [session] = sessionsIn(shell.sessionsFolder);
    if (session === undefined) throw new Error('No session was found.');
    const connection = async (number: number) => {
      const socket = await connectTo(session);
      if (socket === undefined) throw new Error('The session takes no connection.');
      const client = new SessionClient(socket, { version: '0', canAsk: false, onProgress: () => {} });
      for (let call = 0; call < CALLS; call++) {
        const form = `(list ${number} ${call})`;
        const reply = await client.request('tools/call', { name: 'eval_form', arguments: { form } });
        // Notices can follow: that the call waited, or that others run long.
        const { content = [reply] } = Object(Object(reply).result) as { content?: unknown[] };
        expect(content[0]).toEqual({ type: 'text', text: `(${number} ${call})` });
      }
      client.end();
    };
    const all = () => Promise.all(Array.from({ length: CONNECTIONS }, (_, number) => connection(number)));
    await all();
    const before = residentMb(child.pid ?? 0);
    await all();
    expect(residentMb(child.pid ?? 0)).toBeLessThan(before * 1.3);
  } finally {
    await shell.end();
    folder.remove();
  }
});
