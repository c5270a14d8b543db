// A program that serves as an image does and then breaks its word: what it says ends no server, and is told as what it is.
// Through a real client.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeFrame, PROTOCOL_VERSION } from '../../src/image/wire/frames.ts';
import { type Answer, bad, PROJECT } from '../harness.ts';
import { FORGING } from '../say.ts';
import { sharedFolder, sharedSession } from '../shared.ts';
import { type Asked, type Behaviour, serveHostile } from './hostile-backend.ts';
import { servingPlace } from './served.ts';

const place = servingPlace();
const root = sharedFolder();
const session = sharedSession({
  args: ['--root', root.path, '--image', 'odd'],
  env: { LIVE_LISP_SERVING: place.path, ...FORGING },
  waits: { image: { greeting: 5000, frozenElsewhere: 1000 } },
});
let program: Awaited<ReturnType<typeof serveHostile>>;
beforeAll(async () => {
  program = await serveHostile(place.path, 'odd', root.path);
});
afterAll(() => {
  program.close();
  place.remove();
});

/** Resolves with the answer of a call, which may take TIMEOUT seconds, over a new connection to a program that behaves
 *  so. */
async function evaluated(behaviour: Behaviour, timeout = 600): Promise<Answer> {
  // This call is told that the connection before was lost, and makes none.
  program.behave({ greet: (socket) => socket.destroy() });
  await session.call('eval_form', { form: '1' });
  program.behave(behaviour);
  return session.call('eval_form', { form: '(+ 1 2)', timeout });
}

/** Returns the length of a frame, as it stands before the frame. */
function head(length: number): Buffer {
  const octets = Buffer.alloc(4);
  octets.writeUInt32BE(length);
  return octets;
}
/** Returns TEXT as a frame. */
const raw = (text: string) => Buffer.concat([head(Buffer.byteLength(text)), Buffer.from(text)]);
/** Returns the answer 3 to the request ID. */
const three = (id: number) => ({ id, values: [[{ text: '3' }]] });

const CLOSED = 'the image or its backend closed the connection';
const ENTER = `Ask the user to enter this line in the image's REPL, then repeat the call. The line: (load "${PROJECT}/lisp/attach.lisp")`;

describe('a program that serves, and instead of a greeting', () => {
  const odd = `The image odd (SBCL 2.2.9, pid ${process.pid})`;
  test.each<[string, Required<Behaviour>['greet'], string]>([
    ['closes in the middle of it', (socket) => socket.end(raw('{"hello":1}').subarray(0, 8)), CLOSED],
    [
      'says that it is an old backend',
      (socket) => socket.write(encodeFrame({ hello: 0, without: [], fallbacks: [] })),
      `its backend uses protocol version 0, not ${PROTOCOL_VERSION}`,
    ],
    [
      'says a version without end',
      (socket) => socket.write(encodeFrame({ hello: '9'.repeat(1_000_000) })),
      `its backend uses protocol version "${'9'.repeat(39)}, not ${PROTOCOL_VERSION}`,
    ],
    [
      'is a web server',
      (socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'),
      'its answers could not be understood (a frame of 1213486160 octets is over the limit)',
    ],
    ['fails', (socket) => socket.write(encodeFrame({ fault: 'It broke.' })), 'its backend failed: It broke'],
  ])('%s', async (_, greet, why) => {
    const answer = await evaluated({ greet: (socket) => void greet(socket) });
    expect(answer).toEqual(bad(`${odd} cannot be reached: ${why}. ${ENTER}`));
    expect(await session.text('image_status')).toContain(
      `live-lisp is not connected to a Lisp image; the next call that needs one connects. The last attempt failed: ${odd} cannot be reached: ${why}.`,
    );
  });

  test('says nothing', async () => {
    const answer = await evaluated({ greet: () => {} });
    expect(answer).toEqual(
      bad(
        `${odd} did not answer in time, so nothing was run; it may be busy. Call again later, or ask the user what it is doing. With the flag --image own this server works in an image of its own.`,
      ),
    );
  });
});

/** Returns what writes OCTETS instead of an answer. */
const writing = (octets: Buffer) => (asked: Asked) => void asked.socket.write(octets);
const notUnderstood = (why: string) => `its answers could not be understood (${why})`;

describe('a program that serves, and instead of an answer', () => {
  test.each<[string, (asked: Asked) => void, string, number?]>([
    [
      'closes in the middle of it',
      ({ id, socket }) => void socket.end(raw(JSON.stringify(three(id))).subarray(0, 20)),
      CLOSED,
    ],
    [
      'announces a frame that is an octet too long',
      writing(head(64 * 1024 * 1024 + 1)),
      notUnderstood('a frame of 67108865 octets is over the limit'),
    ],
    [
      'sends Lisp',
      writing(raw('(:value 3)')),
      notUnderstood(`Unexpected token '(', "(:value 3)" is not valid JSON`),
    ],
    ['sends a list', writing(raw('[1]')), notUnderstood('a frame is not a JSON object')],
    ['sends a number', writing(raw('3')), notUnderstood('a frame is not a JSON object')],
    ['sends null', writing(raw('null')), notUnderstood('a frame is not a JSON object')],
    ['nests without end', writing(raw('['.repeat(2_000_000))), notUnderstood('Unexpected end of JSON input')],
    [
      'says that it exits',
      ({ id, say, socket }) => {
        say({ exiting: true, id });
        socket.end();
      },
      'the image ended',
    ],
    [
      'says that it was stopped',
      ({ say }) => say({ stopped: true }),
      '(live-lisp:stop) disconnected live-lisp from it',
    ],
    [
      'says nothing',
      () => {},
      'a call could not be interrupted, so the connection to its image was closed',
      1,
    ],
    [
      'answers what nobody asked, without end',
      ({ socket }) => {
        const some = Buffer.concat(Array.from({ length: 100 }, () => raw('{"id":5,"values":[]}')));
        const timer = setInterval(() => socket.write(some), 5);
        socket.on('close', () => clearInterval(timer));
      },
      'a call could not be interrupted, so the connection to its image was closed',
      1,
    ],
  ])('%s', async (_, asked, why, timeout) => {
    const answer = await evaluated({ asked }, timeout);
    expect([answer.isError, answer.text]).toEqual([
      true,
      `Error: The connection to the Lisp image was lost during this call: ${why}. The next call tries to reconnect.`,
    ]);
    expect(await session.text('image_status')).toContain(
      `The connection to the Lisp image was lost: ${why}. The next call that needs the image tries to reconnect.`,
    );
  });

  test('nests deeply in an answer', async () => {
    const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const answer = await evaluated({
      asked: ({ id, socket }) => void socket.write(raw(`{"id":${id},"values":${nested}}`)),
    });
    expect(answer.text).toMatch(/^The image sent a malformed answer, so the call failed\. /);
  });
});

describe('a program that serves, and before its answer', () => {
  test.each<[string, (asked: Asked) => void]>([
    [
      'answers other requests',
      ({ id, say }) => {
        for (const other of [id + 1, id - 1, 0, -id, 1e300, null, String(id), [id]])
          say({ id: other, values: [[{ text: 'other' }]] });
      },
    ],
    [
      'names features that are none',
      ({ say }) => {
        say({ features: [1, {}, null] });
        say({ features: 'x' });
      },
    ],
    ['sends parts of other answers', ({ id, say }) => say({ id: id + 1, part: { test: 'x' } })],
    ['names a change that is none', ({ say }) => say({ job: {}, built: 5 })],
    ['leaves a tool call that it never made', ({ say }) => say({ call: 99, left: true })],
    [
      'registers a tool with the name of ours',
      ({ say }) => say({ call: 1, register: { name: 'eval_form', description: 'Mine.', parameters: [] } }),
    ],
    [
      'calls a tool that ends the image',
      ({ id, say }) => say({ call: 1, job: id, tool: 'restart_image', args: {} }),
    ],
  ])('%s', async (_, asked) => {
    const answer = await evaluated({
      asked: (request) => {
        if (request.op !== 'evaluate') return;
        asked(request);
        request.say(three(request.id));
      },
    });
    expect([answer.text, answer.isError]).toEqual(['3', false]);
  });

  test('sends the answer octet by octet, and then another', async () => {
    const answer = await evaluated({
      asked: ({ id, say, socket }) => {
        let rest = raw(JSON.stringify(three(id)));
        const timer = setInterval(() => {
          socket.write(rest.subarray(0, 1));
          rest = rest.subarray(1);
          if (rest.length > 0) return;
          clearInterval(timer);
          say({ id, values: [[{ text: '4' }]] });
        }, 1);
      },
    });
    expect([answer.text, answer.isError]).toEqual(['3', false]);
  });
});
