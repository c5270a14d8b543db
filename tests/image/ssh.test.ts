// An SBCL that a real ssh starts is an image: on loopback, with a server and keys of the test.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bad, NO_SYSTEMS, type Session, startSession, temporaryFolder, testSbcl } from '../harness.ts';
import { runs, until } from '../server/processes.ts';
import { sshOf, startSshd, type TestSshd } from './sshd.ts';

const folder = temporaryFolder();
let server: TestSshd;

beforeAll(async () => {
  server = await startSshd(folder.path);
});
afterAll(() => {
  server.stop();
  folder.remove();
});

describe('a client', () => {
  /** Calls WORK with a session whose image COMMAND starts. */
  async function within(command: string, work: (session: Session) => Promise<void>): Promise<void> {
    const session = await startSession({ args: [...NO_SYSTEMS, '--image', `there=${command}`] });
    await work(session).finally(() => session.close());
  }

  test('is told that the key of the host is another one', () => {
    const known = `-o UserKnownHostsFile=${folder.path}/`;
    const ssh = server.sshWith(`${known}wrong -i ${folder.path}/key`).replace(`${known}known `, '');
    return within(`${ssh} sbcl`, async (session) => {
      const { text, isError } = await session.call('eval_form', { form: '1' });
      const [head, wrote, ...rest] = text.split('\n');
      expect([head, wrote, isError]).toEqual([
        'The image there did not start: its command exited with code 255.',
        'Its last output:',
        true,
      ]);
      expect(rest).toContain('  Host key verification failed.');
    });
  });

  test('is told when a terminal is in the way', () =>
    within(`${server.ssh.replace(' -T ', ' -tt ')} ${testSbcl()}`, async (session) => {
      expect(await session.call('eval_form', { form: '1' })).toEqual(
        bad(
          `The image there did not start: its command echoes its input, as a terminal or a program other than SBCL does.\nThe command: ${server.ssh.replace(' -T ', ' -tt ')} ${testSbcl()}\nLeave out options that ask for a terminal, such as -t or -it, and make sure that the command starts SBCL. Then call again.`,
        ),
      );
    }));

  test('is told in the call that the way was lost; the image there ends, and the next is built again', () =>
    within(`${server.ssh} ${testSbcl()}`, async (session) => {
      const pid = Number(await session.eval('(progn (defun kept () 7) (sb-posix:getpid))'));
      const ssh = await sshOf(session.pid);
      const call = session.call('eval_form', { form: '(sleep 60)' });
      await until('its start', 60_000, async () =>
        (await session.text('image_status')).includes('1 call runs'),
      );
      process.kill(ssh, 'SIGTERM');
      expect((await call).text).toBe(
        'Error: The Lisp image was lost during this call: its command exited with code 255. The next call gets a new image.',
      );
      expect(await session.eval('(kept)')).toBe('7');
      await until('the end of the image there', 60_000, () => !runs(pid));
    }));
});
