// An image that somebody else runs is reached through `live-lisp dial`: the contract of images holds there, and nothing
// ends with the server or the way to it but that way.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AttachedImage } from '../../src/image/attached/attached-image.ts';
import { commandConnector } from '../../src/images.ts';
import { run } from '../cli/run.ts';
import { bad, NO_SYSTEMS, SERVER, type Session, startSession, temporaryFolder } from '../harness.ts';
import { imageContract } from '../image-contract.ts';
import { runs, until } from '../server/processes.ts';
import { described, listen, publish, type ServingSbcl, servingPlace, startServing } from './served.ts';
import { sshOf, startSshd, type TestSshd } from './sshd.ts';

const folder = temporaryFolder();
let place: ReturnType<typeof servingPlace>;
let image: ServingSbcl;
let server: TestSshd;

beforeAll(async () => {
  place = servingPlace();
  image = await startServing(place.path, 'sbcl-1', '/srv/shop');
  server = await startSshd(folder.path);
});
afterAll(async () => {
  await image.kill();
  server.stop();
  place.remove();
  folder.remove();
});

/** The words that run `live-lisp dial` over ssh, as on another machine. */
const dialWords = (name = '') =>
  `${server.ssh} env LIVE_LISP_SERVING=${place.path} ${process.execPath} ${SERVER} dial ${name}`.trim();

imageContract(async (connections) => {
  const command = { name: 'there', words: dialWords().split(' '), maps: [] };
  const { find, options } = commandConnector(command, folder.path);
  return new AttachedImage({ find, ...options, limitMs: 60_000, ...connections });
});

describe('a client', () => {
  const called = () => `there:sbcl-1 (SBCL 2.2.9, pid ${image.served.pid})`;

  async function within(command: string, work: (session: Session) => Promise<void>): Promise<void> {
    const session = await startSession({ args: [...NO_SYSTEMS, '--image', `there=${command}`] });
    await work(session).finally(() => session.close());
  }

  test('is told whose image it is; that outlives the server, and is not restarted', async () => {
    await within(dialWords('sbcl-1'), async (session) => {
      const { text, notices } = await session.call('eval_form', { form: '(defvar *dialled* 5)' });
      expect(text).toBe('*DIALLED*');
      expect(notices.join()).toContain(called());
      expect(await session.text('image_status')).toContain(
        `The image is ${called()}, run by the user. It has served `,
      );
      expect((await session.call('restart_image', {})).text).toContain(
        'The user runs this image, so live-lisp does not restart it. To end a call in it, use the tool interrupt. For a fresh image, ask the user to restart it, and then to enter this line in its REPL: the one that live-lisp attach prints there',
      );
    });
    await within(dialWords(), async (session) => {
      expect(await session.eval('*dialled*')).toBe('5');
    });
    expect(image.sbcl.exitCode).toBe(null);
  });

  test('is told that the way was lost, and the next call goes a new way', () =>
    within(dialWords(), async (session) => {
      // Before the first call nothing is connected, and nothing has failed.
      await until('the end of the start', 60_000, async () =>
        (await session.text('image_status')).startsWith(
          'live-lisp is not connected to a Lisp image; the next call that needs one connects.\n',
        ),
      );
      expect(await session.eval('(defvar *way* 1)')).toBe('*WAY*');
      const first = await sshOf(session.pid);
      const call = session.call('eval_form', { form: '(sleep 60)' });
      await until('its start', 60_000, async () =>
        (await session.text('image_status')).includes('1 call runs'),
      );
      process.kill(first, 'SIGTERM');
      expect((await call).text).toBe(
        'Error: The connection to the Lisp image was lost during this call: its command exited with code 255. The next call tries to reconnect.',
      );
      expect(await session.eval('*way*')).toBe('1');
      await until('the end of the first', 60_000, () => !runs(first));
    }));

  test('is told what does not serve', () =>
    within(dialWords('sbcl-2'), async (session) => {
      expect(await session.call('eval_form', { form: '1' })).toEqual(
        bad(
          `The image there did not start: its command exited with code 1.\nIts last output:\n  live-lisp: No image with the name sbcl-2 serves on this machine. These do: sbcl-1 (SBCL 2.2.9, pid ${image.served.pid}) in /srv/shop.\nThe command: ${dialWords('sbcl-2')}\nThe last line of its output gives the reason: ask the user to fix that, or correct --image there=... Then call again.`,
        ),
      );
    }));
});

describe('the command', () => {
  const dial = (path: string, ...words: string[]) => run(['dial', ...words], { LIVE_LISP_SERVING: path });

  test('says that nothing serves', async () => {
    expect(await dial(join(folder.path, 'none'))).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'live-lisp: No image serves on this machine. In the REPL of an image, enter the line that live-lisp attach prints. Then dial again.\n',
    });
  });

  test('says what serves when there are several', async () => {
    const other = publish(place.path, described(place.path, 'sbcl-3', { workspace: '/srv/other' }));
    const socket = await listen(other.socket);
    const { code, stderr } = await dial(place.path);
    socket.close();
    rmSync(join(place.path, 'sbcl-3.json'));
    const names = [image.served, other].map(
      (served) => `${served.name} (SBCL 2.2.9, pid ${served.pid}) in ${served.workspace}`,
    );
    expect([code, stderr]).toEqual([
      1,
      `live-lisp: Several images serve on this machine: ${names.join(', ')}. Name one: live-lisp dial NAME.\n`,
    ]);
  });

  test('takes one name', async () => {
    expect((await dial(place.path, 'a', 'b')).stderr).toBe(
      'live-lisp: The command dial takes no b; see live-lisp --help.\n',
    );
  });

  test('ends with the end of its input', async () => {
    const { code, stdout } = await dial(place.path, 'sbcl-1');
    expect([code, stdout.startsWith('LIVE-LISP-DIALS {"name":"sbcl-1",')]).toEqual([0, true]);
  });
});
