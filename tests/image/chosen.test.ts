// Which image a server works in: its own, or one of a person that serves. Through a real client.

import { chmodSync, existsSync } from 'node:fs';
import type { Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Served, servedSince } from '../../src/image/wire/served.ts';
import { run } from '../cli/run.ts';
import {
  bad,
  good,
  PROJECT,
  type Session,
  type StartOptions,
  startSession,
  type TestFolder,
  temporaryFolder,
} from '../harness.ts';
import { gone, imageOf, until } from '../server/processes.ts';
import { described, listen, publish, type ServingSbcl, servingPlace, startServing } from './served.ts';

const LINE = `(load "${join(PROJECT, 'lisp', 'attach.lisp')}")`;

let place: ReturnType<typeof servingPlace>;
let root: TestFolder;
let sessions: Session[];
let images: ServingSbcl[];

beforeEach(() => {
  place = servingPlace();
  root = temporaryFolder();
  sessions = [];
  images = [];
});
afterEach(async () => {
  for (const session of sessions) await session.close();
  for (const image of images) await image.kill();
  place.remove();
  root.remove();
});

/** Starts a server over the root with ARGS. */
async function start(args: string[] = [], more: StartOptions = {}): Promise<Session> {
  const session = await startSession({
    args: ['--root', root.path, ...args],
    ...more,
    env: { LIVE_LISP_SERVING: place.path, ...more.env },
  });
  sessions.push(session);
  return session;
}

async function serve(name = 'sbcl-1', workspace = root.path): Promise<ServingSbcl> {
  const image = await startServing(place.path, name, workspace);
  images.push(image);
  return image;
}

const called = ({ name, lisp, pid }: Served) => `${name} (${lisp}, pid ${pid})`;
const works = (served: Served) =>
  `This server works in the image ${called(served)}, which serves ${served.workspace}; live-lisp never ends it.`;
const PID = '(sb-posix:getpid)';
const evaluate = (session: Session, form: string) => session.call('eval_form', { form });

describe('an image that serves the workspace', () => {
  test('is worked in by several servers, each with a session of its own, and outlives them', async () => {
    const { served, sbcl } = await serve();
    const first = await start();
    expect(await evaluate(first, PID)).toEqual({
      text: `${served.pid}`,
      notices: [works(served)],
      isError: false,
    });
    expect(await evaluate(first, PID)).toEqual(good(`${served.pid}`));
    const second = await start();
    const [slow, ...fast] = await Promise.all([
      evaluate(first, '(progn (in-package :keyword) (setf cl:*print-base* 2) (cl:sleep 0.5) 5)'),
      evaluate(second, '(list 5 (package-name *package*))'),
    ]);
    expect(slow.text).toMatch(/^101/);
    expect(fast.map(({ text }) => text)).toEqual(['(5 "COMMON-LISP-USER")']);
    expect(await second.text('eval_form', { form: '(list * 5)' })).toBe('((5 "COMMON-LISP-USER") 5)');
    // A call of the first that ends with its server, and one of the second that goes on.
    const left = evaluate(first, '(cl:sleep 60)').catch(() => {});
    const kept = evaluate(second, '(progn (sleep 2) (princ "kept") :done)');
    await until('its start', 60_000, async () => /sleep 60/i.test(await first.text('image_status')));
    await first.close();
    await left;
    expect((await kept).text).toBe(':DONE\n\nOutput:\nkept');
    // The connection breaks, and the image stays.
    await evaluate(second, '(defvar *there* 1)');
    const descriptor = '(sb-sys:fd-stream-fd (live-lisp.base::channel-out live-lisp.base::*channel*))';
    const shutDown = '(sb-alien:extern-alien "shutdown" (function sb-alien:int sb-alien:int sb-alien:int))';
    const { text } = await evaluate(second, `(sb-alien:alien-funcall ${shutDown} ${descriptor} 2)`);
    expect(text).toMatch(/^Error: The connection to the Lisp image was lost during this call: /);
    expect(await evaluate(second, '*there*')).toEqual({
      text: '1',
      notices: [
        'The connection to the Lisp image was lost: the image or its backend closed the connection. A new one is open; check whether the image still holds what you need.',
      ],
      isError: false,
    });
    await second.close();
    expect([sbcl.exitCode, sbcl.signalCode]).toEqual([null, null]);
  });

  test('is told by image_status, and restart_image is refused', async () => {
    const { served } = await serve();
    // A status that comes late on a busy machine says that the image does not react.
    const session = await start([], { waits: { image: { status: 60_000 } } });
    const whose = `The image is ${called(served)}, run by the user. It has served ${root.path} since ${servedSince(served)}; live-lisp neither restarts nor ends it. Code in it runs in no sandbox, so it can do all that the user can.`;
    const before = (await session.text('image_status')).split('\n');
    expect(before[0]).toBe(
      'live-lisp is not connected to a Lisp image; the next call that needs one connects.',
    );
    expect(before.at(-1)).toBe(
      'The image was not found yet; the user runs it, and live-lisp neither restarts nor ends it. Code in it runs in no sandbox, so it can do all that the user can.',
    );
    await evaluate(session, '1');
    const status = await session.text('image_status');
    expect(status.split('\n')).toEqual([
      'The Lisp image is ready, and no call runs.',
      expect.stringMatching(/^SBCL \S+; current package COMMON-LISP-USER$/),
      expect.stringMatching(
        /^Memory: heap \d+ MB of \d+ MB; garbage collections took \S+ s; server \d+ MB resident$/,
      ),
      expect.stringMatching(/^Threads: /),
      expect.stringMatching(/^(?:Less with this SBCL: .*|The image is .*)$/),
      ...(status.includes('Less with this SBCL') ? [whose] : []),
    ]);
    expect(status.split('\n').at(-1)).toBe(whose);
    const again = await session.text('image_status');
    expect(again.split('\n').at(-1)).toBe(`The image is ${called(served)}.`);
    expect(await session.call('restart_image')).toEqual(
      bad(
        `The user runs this image, so live-lisp does not restart it. To end a call in it, use the tool interrupt. For a fresh image, ask the user to restart it, and then to enter this line in its REPL: ${LINE}`,
      ),
    );
  });

  test('is taken when it begins to serve before a call has used the own one, which is ended', async () => {
    const session = await start();
    const own = await imageOf(session.pid);
    const { served } = await serve();
    expect(await evaluate(session, PID)).toEqual({
      text: `${served.pid}`,
      notices: [works(served)],
      isError: false,
    });
    await gone(own, 60_000);
  });

  test('is told once, and not taken, when calls have used the own one', async () => {
    const session = await start(['--no-sandbox']);
    expect(await evaluate(session, '(defvar *mine* 1)')).toEqual(good('*MINE*'));
    const { served } = await serve();
    const note = `Note: the image ${called(served)} serves ${root.path} now. This server keeps its own image, because calls have already used it. To use the other image, start a new session of the client.`;
    expect(await evaluate(session, '*mine*')).toEqual({ text: '1', notices: [note], isError: false });
    expect(await evaluate(session, '*mine*')).toEqual(good('1'));
  });

  test('is looked for anew when it has gone, and the answers say so', async () => {
    const first = await serve();
    const session = await start();
    await evaluate(session, '(defvar *there* 1)');
    const call = session.call('eval_form', { form: '(loop (sleep 0.01))' });
    await until('its start', 60_000, async () => /busy/.test(await session.text('image_status')));
    await first.kill();
    const lost = 'the image or its backend closed the connection';
    expect((await call).text).toBe(
      `Error: The connection to the Lisp image was lost during this call: ${lost}. The next call tries to reconnect.`,
    );
    expect((await session.text('image_status')).split('\n')[0]).toBe(
      `The connection to the Lisp image was lost: ${lost}. The next call that needs the image tries to reconnect.`,
    );
    const none = bad(
      `The image ${called(first.served)}, in which this session worked, no longer serves, and no other image serves this workspace, so nothing was run. This session does not continue in a new image, because a new one would lack the old image's definitions and values. For a new image, ask the user to start the server with --image own. Ask the user to enter this line in the image's REPL, then repeat the call. The line: ${LINE}`,
    );
    expect(await evaluate(session, '1')).toEqual(none);
    expect(await evaluate(session, '1')).toEqual(none);
    expect(existsSync(join(place.path, 'sbcl-1.json'))).toBe(false);
    const { served } = await serve('sbcl-2');
    expect(await evaluate(session, '(boundp (quote *there*))')).toEqual({
      text: 'NIL',
      notices: [
        `The image ${called(first.served)} is gone: ${lost}. This server works in the image ${called(served)}, which serves ${root.path}. It may lack definitions of the lost image: load or define again what you need.`,
      ],
      isError: false,
    });
  });
});

describe('several images that serve the workspace', () => {
  /** Publishes an image NAME, whose socket listens and says nothing. */
  async function pretend(name: string, workspace: string): Promise<Served> {
    const served = publish(place.path, described(place.path, name, { workspace }));
    const server = await listen(served.socket);
    servers.push(server);
    return served;
  }

  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  test('are both named, and no call runs', async () => {
    const one = await pretend('sbcl-1', root.path);
    const other = await pretend('sbcl-2', join(root.path, 'src'));
    const session = await start();
    const text = [
      '2 images serve this workspace, so nothing was run. Ask the user to start this server with one of these flags, or to enter (live-lisp:stop) in all but one image:',
      `  --image sbcl-1: SBCL 2.2.9, pid ${one.pid}, in ${root.path} since ${servedSince(one)}`,
      `  --image sbcl-2: SBCL 2.2.9, pid ${other.pid}, in ${root.path}/src since ${servedSince(other)}`,
      '  --image own: an image of its own',
    ].join('\n');
    expect(await evaluate(session, '1')).toEqual(bad(text));
    expect(await session.call('image_status')).toEqual(bad(text));
    root.put('file', 'text');
    expect((await session.call('read_file', { path: 'file' })).isError).toBe(false);
    const { served } = await serve('sbcl-3');
    const chosen = await start(['--image', 'sbcl-3']);
    expect(await evaluate(chosen, PID)).toEqual({
      text: `${served.pid}`,
      notices: [works(served)],
      isError: false,
    });
  });

  test('are not in the way of an own image that was asked for', async () => {
    await pretend('sbcl-1', root.path);
    await pretend('sbcl-2', root.path);
    const session = await start(['--image', 'own', '--no-sandbox']);
    expect(await evaluate(session, '1')).toEqual(good('1'));
  });

  test('are listed by attach and the doctor, with what this folder would use', async () => {
    const env = { LIVE_LISP_SERVING: place.path };
    const attach = async () => (await run(['attach', '--root', root.path], env)).stdout.split('\n');
    const head = [
      'To have agents work in your own Lisp image, enter this line in its REPL, in SLIME, SLY or any other:',
      '',
      `  ${LINE}`,
      '',
      'To make every new image serve agents, put that line at the end of ~/.sbclrc. Or put the next line into the init file',
      'of Emacs, which then also shows you what agents do:',
      '',
      `  (progn (load "${join(PROJECT, 'emacs', 'live-lisp.el')}") (live-lisp-mode 1))`,
      '',
      'Agents then work in that image if its folder is the same as theirs, contains theirs, or is inside theirs. If their',
      'session has used another image already, start a new session. live-lisp never ends your image; (live-lisp:stop) ends',
      'the service.',
      '',
    ];
    const doctor = async () =>
      (await run(['doctor', '--root', root.path], env)).stdout
        .split('\n')
        .find((line) => /your own images/.test(line));
    expect(await attach()).toEqual([...head, 'No image serves now.', '']);
    expect(await doctor()).toBe(
      'ok   your own images: none serves this folder; live-lisp attach prints the line that makes one serve',
    );
    const one = await pretend('sbcl-1', root.path);
    const other = await pretend('sbcl-2', '/nowhere');
    const row = (served: Served) =>
      `  ${served.name}: SBCL 2.2.9, pid ${served.pid}, in ${served.workspace} since ${servedSince(served)}`;
    const rows = [
      `${row(one)}; used in this folder`,
      `${row(other)}; for other folders; here only with --image sbcl-2`,
    ];
    expect(await attach()).toEqual([...head, 'Images that serve now:', ...rows, '']);
    expect(await doctor()).toBe(
      `ok   your own images: ${called(one)} serves this folder, and is used unless --image own is given`,
    );
    const third = await pretend('sbcl-3', root.path);
    expect((await attach()).slice(-4, -1)).toEqual([
      `${row(one)}; one of 2 for this folder; --image sbcl-1 chooses it`,
      `${row(other)}; for other folders; here only with --image sbcl-2`,
      `${row(third)}; one of 2 for this folder; --image sbcl-3 chooses it`,
    ]);
    expect(await doctor()).toBe(
      `FAIL your own images: 2 serve this folder (${called(one)}, ${called(third)}), so no call runs; choose one with --image NAME, or --image own`,
    );
    chmodSync(place.path, 0o755);
    expect((await attach()).slice(-2, -1)).toEqual([
      `The folder ${place.path}, where serving images register, is not used: other users can reach it. Change that: chmod 700 ${place.path}`,
    ]);
  });
});

describe('an image that is named', () => {
  test('is awaited: each call looks for it', async () => {
    const other = await serve('sbcl-2', '/nowhere');
    const session = await start(['--image', 'mine']);
    const missing = (which: string) =>
      bad(
        `No image with the name mine serves, so nothing was run. ${which} Without the flag --image, the server takes the image that serves this workspace, whatever its name. Ask the user to enter this line in the image's REPL, then repeat the call. The line: ${LINE}`,
      );
    expect(await evaluate(session, '1')).toEqual(
      missing(`These serve now: ${called(other.served)}. Choose one with --image.`),
    );
    await other.kill();
    expect(await evaluate(session, '1')).toEqual(missing('No image serves now.'));
    // A home folder is too wide to be the workspace of all folders in it, but the name says what is meant.
    const { served } = await serve('mine', '/');
    expect(await evaluate(session, PID)).toEqual({
      text: `${served.pid}`,
      notices: [works(served)],
      isError: false,
    });
  });
});

test('an image in a folder that others can reach is not taken, and the first answer says why', async () => {
  await serve();
  chmodSync(place.path, 0o750);
  const session = await start(['--no-sandbox']);
  const note = `Note: The folder ${place.path}, where serving images register, is not used: other users can reach it. Change that: chmod 700 ${place.path}`;
  const { text, notices } = await evaluate(session, PID);
  expect(text).not.toBe(`${images[0]?.served.pid}`);
  expect(notices).toEqual([note]);
  expect((await evaluate(session, '1')).notices).toEqual([]);
});
