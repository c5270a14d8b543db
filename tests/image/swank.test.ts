// An image whose Swank or Slynk stays open is found through that, and loads the backend.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { TIMES } from '../../src/image/wire/times.ts';
import { findThroughSwank } from '../../src/images.ts';
import { run } from '../cli/run.ts';
import { NO_SYSTEMS, PROJECT, type Session, startSession, temporaryFolder } from '../harness.ts';
import { libraries } from '../libraries.ts';
import { until } from '../server/processes.ts';
import { servingPlace, startServing } from './served.ts';
import { type Listener, listenAs, listenAsSwank, message, type OpenSwank, startSwank } from './swank.ts';

libraries('swank');

const LINE = `(load "${join(PROJECT, 'lisp', 'attach.lisp')}")`;

let place: ReturnType<typeof servingPlace>;
const open: OpenSwank[] = [];

beforeAll(() => {
  place = servingPlace();
});
afterAll(async () => {
  for (const swank of open) await swank.kill();
  place.remove();
});

/** Starts a Swank with MORE, which ends with the tests. */
async function start(more: Parameters<typeof startSwank>[1] = {}): Promise<OpenSwank> {
  const swank = await startSwank(place.path, more);
  open.push(swank);
  return swank;
}

async function within(url: string, work: (session: Session) => Promise<void>): Promise<void> {
  const session = await startSession({
    args: [...NO_SYSTEMS, '--image', url],
    env: { LIVE_LISP_SERVING: place.path },
  });
  await work(session).finally(() => session.close());
}

describe('a client', () => {
  test('is told how the image was found; a new one behind the port is found anew, and the person is left alone', async () => {
    const first = await start({ before: ['(defvar cl-user::*mine* 7)', '(in-package :swank)'] });
    await within(first.url, async (session) => {
      const { text, notices } = await session.call('eval_form', { form: '(list *mine* *package*)' });
      expect(text).toBe('(7 #<PACKAGE "COMMON-LISP-USER">)');
      expect(notices.join()).toContain(`This server works in the image sbcl-${first.sbcl.pid} (SBCL `);
      expect(await session.text('image_status')).toContain(
        `, run by the user, found through Swank at 127.0.0.1:${first.address.port}. It has served `,
      );
      first.sbcl.stdin?.write('(progn (print (list :package (package-name *package*))) (finish-output))\n');
      await until('the package', 60_000, () => first.printed().includes('(:PACKAGE "SWANK")'));
      await first.kill();
      const second = await start({ port: first.address.port });
      expect(await session.eval('(sb-posix:getpid)')).toBe(`${second.sbcl.pid}`);
    });
    expect(open.at(-1)?.sbcl.exitCode).toBe(null);
  });

  test('of two that ask at once each gets the image; after its stop nothing is loaded into it again', async () => {
    const { url, sbcl } = await start();
    await within(url, (one) =>
      within(url, async (other) => {
        const pids = await Promise.all([one, other].map((session) => session.eval('(sb-posix:getpid)')));
        expect(pids).toEqual([`${sbcl.pid}`, `${sbcl.pid}`]);
        sbcl.stdin?.write('(live-lisp:stop)\n');
        await until('its end', 60_000, () => !existsSync(join(place.path, `sbcl-${sbcl.pid}.json`)));
        const { text, isError } = await one.call('eval_form', { form: '1' });
        expect([isError, text.replace(/\(SBCL [^,]*,/, '(SBCL,')]).toEqual([
          true,
          `Somebody has stopped live-lisp in the image sbcl-${sbcl.pid} (SBCL, pid ${sbcl.pid}), in which this session worked, so live-lisp was not loaded again. Ask the user to enter this line in its REPL, then call again: ${LINE}`,
        ]);
      }),
    );
  });
});

test('the doctor says how it is found, also through a Swank that reads only plain forms, or why not', async () => {
  const { url, sbcl } = await start({ before: ['(setf swank/rpc::*validate-input* t)'] });
  const doctor = async (image: string) =>
    (await run(['doctor', ...NO_SYSTEMS, '--image', image], { LIVE_LISP_SERVING: place.path })).stdout
      .split('\n')
      .filter((line) => line.includes('your own images'))
      .join()
      .replace(/\(SBCL [^,]*,/, '(SBCL,');
  expect(await doctor(url)).toBe(
    `ok   your own images: live-lisp uses sbcl-${sbcl.pid} (SBCL, pid ${sbcl.pid}), which serves ${PROJECT} and was found through Swank at ${url.replace('swank://', '')}`,
  );
  expect(await doctor('slynk://127.0.0.1:1')).toBe(
    'FAIL your own images: slynk://127.0.0.1:1 cannot be reached, so nothing was run: connect ECONNREFUSED 127.0.0.1:1. Ask the user to evaluate (slynk:create-server :port 1 :dont-close t) in their image, or to correct the port in --image, then call again.',
  );
});

/** Returns why no image is found through LISTENER, whose Lisp has the times MORE. Its URL is URL there. */
async function why({ address, url }: Pick<Listener, 'address' | 'url'>, more: Partial<typeof TIMES> = {}) {
  const found = findThroughSwank(address, place.path, { ...TIMES, ...more })();
  return found.then(
    () => 'found',
    (error) => String(error.message).replaceAll(url, 'URL').replaceAll(`${address.port}`, 'PORT'),
  );
}

test('a Swank that is taken for Slynk says that it lacks what Slynk has', async () => {
  const { address, url } = await start();
  const taken = { address: { ...address, kind: 'slynk' as const }, url: url.replace('swank', 'slynk') };
  expect(await why(taken)).toMatch(
    /^URL does not behave like Slynk, so nothing was run\. It answered with an error: "Package SLYNK does not exist\..*"\. Ask the user whether it is Swank, and to correct --image\.$/,
  );
});

test('a secret is said, and a wrong one is doubted', async () => {
  const home = temporaryFolder();
  const file = join(home.path, '.slime-secret');
  writeFileSync(file, 'open sesame\nmore\n');
  const setHome = `(sb-posix:setenv "HOME" "${home.path}" 1)`;
  const swank = await start({ before: [LINE, setHome] });
  const own = process.env['HOME'];
  try {
    process.env['HOME'] = home.path;
    expect(await why(swank)).toBe('found');
    writeFileSync(file, 'close sesame\n');
    const wrong = await listenAs((socket) => socket.once('data', () => socket.destroy()));
    expect(await why(wrong)).toBe(
      `URL closed the connection before it answered, so nothing was run. It may be something other than Swank, or expect a secret other than the one in ${file}. Ask the user which is true, then call again.`,
    );
    wrong.close();
  } finally {
    process.env['HOME'] = own;
    home.remove();
  }
});

/** What Swank 2.27 says of the Lisp in which it is, with MORE. */
const INFO = ({
  pid = process.pid as number | string,
  type = 'SBCL',
  version = '2.2.9.debian',
  features = ':64-bit :sb-thread',
} = {}) =>
  message(
    `(:return (:ok (:pid ${pid} :style :spawn :encoding (:coding-systems ("utf-8-unix")) :lisp-implementation (:type "${type}" :name "x" :version "${version}" :program nil) :features (${features}) :version "2.27")) 1)`,
  );
const returned = (value: string, number: number) => message(`(:return (:ok ${value}) ${number})`);

/** Returns what answers the messages of a server by ANSWERS in turn, and puts OUTCOME into the file by which the loading
 *  thread tells how it ended. */
function answers(given: string[], outcome?: string): (text: string) => string {
  const left = [...given];
  return (text) => {
    const [, output] = /native-namestring \\"([^"]*\/output)\\"/.exec(text) ?? [];
    if (output !== undefined && outcome !== undefined) writeFileSync(output, outcome);
    return left.shift() ?? '';
  };
}

describe('what listens is not what was looked for', () => {
  const closed =
    'It may be something other than Swank, or expect a secret that this server lacks (there is no HOME/.slime-secret). Ask the user which is true, then call again.';
  const silent = `URL accepted the connection but did not answer in 0.4 s, so nothing was run. It may be busy, be something other than Swank, or expect a secret that this server lacks (there is no HOME/.slime-secret). Ask the user which is true, then call again.`;
  const foreign = (what: string) =>
    `URL is not Swank: ${what}. So nothing was run. Ask the user for the PORT in (swank:create-server :port PORT :dont-close t), and to start this server with --image swank://127.0.0.1:PORT.`;
  const says = (text: string) => listenAs((socket) => socket.write(text));
  const lisp = (version = '2.2.9.debian', type = 'SBCL') =>
    `The Lisp behind URL (${type} ${version}, pid ${process.pid})`;

  /** The times of a case that is over only when its time is. In the others a busy machine has more of it. */
  const SILENT = { greeting: 400 };

  test.each<[string, () => Promise<Listener>, string, Partial<typeof TIMES>?]>([
    [
      'it closes at once',
      () => listenAs((socket) => socket.end()),
      `URL closed the connection before it answered, so nothing was run. ${closed}`,
    ],
    ['it never answers', () => listenAs(() => {}), silent, SILENT],
    [
      'it says empty messages without end',
      () =>
        listenAs((socket) => {
          const more = () => {
            while (!socket.destroyed && socket.write('000000'.repeat(10_000))) {}
          };
          socket.on('drain', more);
          more();
        }),
      silent,
      SILENT,
    ],
    [
      'its greeting is that of ssh',
      () => says('SSH-2.0-OpenSSH_9.2p1\r\n'),
      foreign('it says "SSH-2.0-OpenSSH_9.2p1"'),
    ],
    [
      'it announces 10 MB',
      () => says(`989680${' '.repeat(9000)}`),
      foreign('it announces a message of 10000000 octets'),
    ],
    [
      'its answer has no end',
      () => says(message('(:return (:ok (1 2) 1')),
      foreign('it says "(:return (:ok (1 2) 1"'),
    ],
    [
      'its answer is too deep',
      () => says(message(`(:return ${'('.repeat(900_000)}`)),
      foreign(`it says "(:return ${'('.repeat(31)}"`),
    ],
    [
      'it aborts',
      () => says(message('(:return (:abort "No \\"way\\"\nout") 1)')),
      'URL does not behave like Swank, so nothing was run. It answered with an error: "No \\"way\\" out". Ask the user whether it is Slynk, and to correct --image.',
    ],
    [
      'its process is all that there are',
      () => says(INFO({ pid: -1 })),
      foreign('it did not tell its process id'),
    ],
    [
      'it is another Lisp',
      () => says(INFO({ type: 'Clozure\tCommon Lisp', version: '1.12' })),
      `${lisp('1.12', 'Clozure Common Lisp')} is not SBCL, and live-lisp works only in SBCL, so nothing was loaded into it. Ask the user to run the program in SBCL, or to start this server without --image URL.`,
    ],
    [
      'it is an SBCL too old',
      () => says(INFO({ version: '1.4.5' })),
      `${lisp('1.4.5')} cannot be used. SBCL 1.4.5 is too old: live-lisp needs 2.0.11 or newer. Ask the user to run the image in another SBCL (https://www.sbcl.org/platform-table.html).`,
    ],
    [
      'it is behind a tunnel',
      () => listenAsSwank(answers([INFO(), returned('nil', 2)])),
      `${lisp()} cannot read the files of this server, so nothing was loaded into it. It runs on another machine (as behind an ssh tunnel), in a container, or as another user. Ask the user to run live-lisp attach there, to enter the printed line in its REPL, and to start this server with --image NAME='ssh -T HOST live-lisp dial'.`,
    ],
    [
      'it serves elsewhere',
      () => listenAsSwank(answers([INFO(), returned('t', 2), returned('t', 3)], 'LIVE-LISP SERVES\n')),
      `${lisp()} has loaded live-lisp, but does not serve in SERVING. Ask the user to start this server and that Lisp with the same LIVE_LISP_SERVING. A Lisp in a container serves only there: reach it with --image NAME='docker exec -i CONTAINER live-lisp dial'.`,
    ],
    [
      'loading fails',
      () =>
        listenAsSwank(
          answers([INFO(), returned('t', 2), returned('t', 3)], '; noise\nLIVE-LISP FAILED No\nway.\n'),
        ),
      `${lisp()} could not load live-lisp: No way. Ask the user to fix that, then call again. This line in its REPL also loads live-lisp: ${LINE}`,
    ],
    [
      'loading hangs',
      () => listenAsSwank(answers([INFO(), returned('t', 2), returned('t', 3)])),
      `${lisp()} has not loaded live-lisp in 0.5 s. Ask the user what it is doing, and to enter this line in its REPL, then call again: ${LINE}`,
      { compile: 500 },
    ],
    [
      'its process ends meanwhile',
      () => listenAsSwank(answers([INFO({ pid: 2 ** 31 - 1 }), returned('t', 2), returned('t', 3)])),
      `The Lisp behind URL (SBCL 2.2.9.debian, pid ${2 ** 31 - 1}) could not load live-lisp: its process ended meanwhile. Ask the user to fix that, then call again. This line in its REPL also loads live-lisp: ${LINE}`,
    ],
  ])('%s', async (_, listen, text, times) => {
    const home = temporaryFolder();
    const own = process.env['HOME'];
    process.env['HOME'] = home.path;
    const listener = await listen();
    try {
      const reported = await why(listener, times);
      expect(reported.replaceAll(home.path, 'HOME').replaceAll(place.path, 'SERVING')).toBe(text);
    } finally {
      process.env['HOME'] = own;
      listener.close();
      home.remove();
    }
  });
});

test('a ping is answered', async () => {
  const heard: string[] = [];
  const listener = await listenAsSwank((text) => {
    heard.push(text);
    return heard.length === 1 ? message('(:ping 1 2)') : '';
  });
  const ended = why(listener);
  await until('the answer', 60_000, () => heard.length === 2);
  listener.close();
  await ended;
  expect(heard).toEqual(['(:emacs-rex (swank:connection-info) "COMMON-LISP-USER" t 1)', '(:emacs-pong 1 2)']);
});

// This dialogue is a recording, of Slynk 1.0.43 in SBCL 2.2.9, and no Slynk. Only the number of the process is another.
test('a recorded Slynk leads to the image that serves', async () => {
  const served = await startServing(place.path, 'sbcl-7', '/srv/shop');
  const said = JSON.parse(
    readFileSync(join(PROJECT, 'tests', 'image', 'slynk-recorded.json'), 'utf8'),
  ) as string[];
  const listener = await listenAsSwank(
    answers(said.map((text) => message(text.replace(':pid 17874 ', `:pid ${served.served.pid} `)))),
    'slynk',
  );
  expect(await findThroughSwank(listener.address, place.path)()).toEqual({
    ...served.served,
    through: `Slynk at 127.0.0.1:${listener.address.port}`,
  });
  listener.close();
  await served.kill();
});

test.each([
  [
    'swank://127.0.0.1',
    '--image swank://127.0.0.1:PORT needs the port of Swank, such as 4005, not swank://127.0.0.1.',
  ],
  [
    'swank://127.0.0.1:65536',
    '--image swank://127.0.0.1:PORT needs the port of Swank, such as 4005, not swank://127.0.0.1:65536.',
  ],
  [
    'swank://build:4005',
    "--image swank://build:4005 is not on this machine, and the connection to Swank is not encrypted; give --image NAME='ssh -T HOST live-lisp dial', or the host 127.0.0.1.",
  ],
])('--image %s is refused', (image, text) => {
  expect(() => readConfig(['--image', image], {})).toThrow(text);
});

test('the configuration has the address, which does not go with a sandbox that is required', () => {
  const image = ['--image', 'swank://localhost:4005'];
  expect(readConfig(image, {}).swank).toEqual({ kind: 'swank', host: 'localhost', port: 4005 });
  expect(() => readConfig([...image, '--sandbox', 'strict'], {})).toThrow(
    '--image swank://localhost:4005 is an image outside any sandbox, so it cannot be combined with --sandbox strict; leave one of them out.',
  );
});
