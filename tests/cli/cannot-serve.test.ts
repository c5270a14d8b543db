// A server that cannot start tells its client why, in the answer to the first request: no client shows its standard error.

import { expect, test } from 'vitest';
import { RawServer } from '../server/raw.ts';
import { sharedFolder } from '../shared.ts';
import { before } from './run.ts';

const folder = sharedFolder();

const NODE_18 =
  'This is Node 18.20.8, and live-lisp needs Node 20.19, 22.2 or newer: install one (https://nodejs.org) and start live-lisp with it.';
const OLD_NODE = before(
  "Object.defineProperty(process,'versions',{value:{...process.versions,node:'18.20.8'}})",
);

test.each<[string, { args: string[]; env?: Record<string, string> }, string, number]>([
  ['an old Node', { args: [], env: OLD_NODE }, NODE_18, 1],
  [
    'a wrong flag',
    { args: ['--bogus'] },
    'Unknown flag --bogus; see live-lisp --help. Put the options of a command after its name.',
    2,
  ],
  [
    'a root that is not there',
    { args: ['--root', '/nonexist'] },
    '--root must be an existing directory; /nonexist is not one.',
    2,
  ],
])('%s is told as an error of the protocol, and the server exits', async (_, how, why, code) => {
  const server = new RawServer({ ...how, cwd: folder.path });
  const reply = await server.send(server.greeting());
  expect(reply.error).toEqual({ code: -32000, message: `live-lisp cannot start: ${why}` });
  expect((await server.exited).code).toBe(code);
});
