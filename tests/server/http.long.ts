// Many clients of one server over HTTP at once: no answer is lost, mixed up or doubled, and the memory does not grow.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERAS, NO_SYSTEMS } from '../harness.ts';
import { HttpServer } from './http-server.ts';

const CONNECTIONS = 50;
const CALLS = 200;

let server: HttpServer;
beforeAll(async () => {
  // A small heap is full of garbage after few calls, so growth behind that is no garbage.
  server = await new HttpServer(NO_SYSTEMS, { NODE_OPTIONS: '--max-old-space-size=80' }).listening();
});
afterAll(() => server.end());

/** Returns the resident memory of the server, in MB. */
function memory(): number {
  const [, kilobytes = ''] =
    /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

describe.each(ERAS)('in the %s era', (era) => {
  /** Calls CALLS times from each of CONNECTIONS clients at once. Resolves with how many answers each call got. */
  async function callFromAll(calls: number): Promise<number[]> {
    const answers = new Map<string, number>();
    const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => server.client(era)));
    await Promise.all(
      clients.map(async (client, index) => {
        for (let count = 0; count < calls; count++) {
          const answer = await client.eval(`(list ${index} ${count})`);
          if (answer === `(${index} ${count})`) answers.set(answer, (answers.get(answer) ?? 0) + 1);
        }
      }),
    );
    await Promise.all(clients.map((client) => client.close()));
    return [...answers.values()];
  }

  test(`${CONNECTIONS} clients get the answers to ${CALLS} calls each`, async () => {
    await callFromAll(20);
    const before = memory();
    expect(await callFromAll(CALLS)).toEqual(Array.from({ length: CONNECTIONS * CALLS }, () => 1));
    expect(memory() - before).toBeLessThan(40);
  });
});
