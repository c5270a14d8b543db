// What other programs, other users and odd machines can do to the socket of a session and to the commands that use it.

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sessionsIn } from '../../src/door/sessions.ts';
import { SERVER, type TestFolder, temporaryFolder } from '../harness.ts';
import { until } from '../server/processes.ts';
import { sharedFolder } from '../shared.ts';
import { Shell } from './shell.ts';

/** The parameters of a request of a client that can ask, or cannot. */
const meta = (more: object = {}) => ({
  _meta: {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'attack', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
    ...more,
  },
});
const line = (message: unknown) => `${JSON.stringify(message)}\n`;
const request = (id: unknown, method: unknown, params: object = {}) =>
  line({ jsonrpc: '2.0', id, method, params: { ...meta(), ...params } });
const evaluation = (id: unknown, form: string) =>
  request(id, 'tools/call', { name: 'eval_form', arguments: { form } });

describe('the socket of a session', () => {
  const folder = sharedFolder();
  const shell = new Shell(folder.path);
  let path = '';

  beforeAll(async () => {
    const { pid } = await shell.session();
    path = join(shell.sessionsFolder, `session-${pid}.socket`);
    writeFileSync(join(shell.workspace, 'shop.lisp'), '(defun price (x) x)\n');
  });
  afterAll(() => shell.end());
  afterEach(async () => {
    expect(await sent([evaluation(1, '(list 1 2)')], /"id":1/, 60_000)).toContain('(1 2)');
  });

  /** Writes PARTS to a connection. Resolves with what came back within MS milliseconds, or before LAST came. */
  async function sent(parts: readonly (string | Buffer)[], last: RegExp, ms: number): Promise<string> {
    const socket = connect(path);
    let text = '';
    const ended = new Promise<void>((resolve) => {
      socket.on('close', resolve);
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        text += chunk;
        if (last.test(text)) resolve();
      });
    });
    for (const part of parts) socket.write(part);
    await Promise.race([ended, delay(ms)]);
    socket.destroy();
    return text;
  }

  test.each<[string, (string | Buffer)[]]>([
    ['random octets', [Buffer.from(Array.from({ length: 9000 }, (_, n) => (n * 7919) % 251))]],
    ['null', ['null\n']],
    ['lists in lists', [`${'['.repeat(100_000)}\n`]],
    ['a method that is an object', [request(1, { a: 1 })]],
    ['parameters that are a list', [line({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: [] })]],
    [
      'an interruption of what objects have',
      [
        evaluation(1, '1'),
        line({ jsonrpc: '2.0', method: 'live-lisp/interrupt', params: { requestId: '__proto__' } }),
      ],
    ],
    ['an answer to no question', [line({ jsonrpc: '2.0', id: 1, result: { action: 'accept' } })]],
  ])('takes %s, and serves others', async (_, parts) => {
    const socket = connect(path).on('error', () => {});
    for (const part of parts) socket.write(part);
    // The session closes its end when it has read all.
    socket.end().resume();
    await once(socket, 'close');
  });

  test('gives an unknown method an error, and a known one its answer, over the same connection', async () => {
    const answers = await sent([request(1, 'no/method'), evaluation(2, '(list 7)')], /"id":2/, 60_000);
    expect(answers).toMatch(/"id":1,"error"/);
    expect(answers).toContain('(7)');
  });

  test('refuses a second request with the id of one that runs', async () => {
    // The third comes to be read after the second, and so the first still runs then.
    const parts = [
      evaluation(1, "(loop until (get 'third 'came) do (sleep 0.01) finally (return :slept))"),
      evaluation(1, '(list 8)'),
      evaluation(3, "(setf (get 'third 'came) t)"),
    ];
    const answers = await sent(parts, /:SLEPT/, 60_000);
    expect(answers).toMatch(/a request with the id 1 is not answered yet/);
    expect(answers).not.toContain('(8)');
  });

  test('takes a client that has closed its half as gone, and ends its call', async () => {
    const form = "(setf (get 'half 'end) :begun (get 'half 'end) (progn (sleep 20) :done))";
    connect(path)
      .on('error', () => {})
      .end(evaluation(1, form));
    await until('the end of the call', 15_000, async () => {
      const { stdout } = await shell.run(['status']);
      return stdout.startsWith('The Lisp image is ready, and no call runs.');
    });
    expect((await shell.run(['eval', "(get 'half 'end)"])).stdout).not.toBe(':DONE\n');
  });

  test('does not end a call of another connection that has the same id', async () => {
    const form = "(loop initially (setf (get 'call 'runs) t) until (get 'call 'ends) do (sleep 0.01))";
    const running = sent([evaluation(1, `${form} :slept`)], /"id":1/, 60_000);
    await until('the call', 60_000, async () =>
      (await sent([evaluation(1, "(get 'call 'runs)")], /"id":1/, 60_000)).includes('"T"'),
    );
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    const interrupted = { jsonrpc: '2.0', method: 'live-lisp/interrupt', params: { requestId: 1 } };
    await sent([request(5, 'server/discover'), line(cancelled), line(interrupted)], /"id":5/, 60_000);
    await sent([evaluation(6, "(setf (get 'call 'ends) t)")], /"id":6/, 60_000);
    expect(await running).toContain(':SLEPT');
  });

  test('takes no approval that answers no question of its own', async () => {
    const edits = [{ path: 'shop.lisp', op: 'replace', text: '(defun price (x) (* 2 x))' }];
    const call = { name: 'edit_definitions', arguments: { edits } };
    const canAsk = meta({ 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } });
    const asked = await sent([request(1, 'tools/call', { ...call, ...canAsk })], /\n/, 60_000);
    const { requestState } = JSON.parse(asked).result;
    const yes = { approval: { action: 'accept', content: { decision: 'approve' } } };
    const forged: object[] = [
      { inputResponses: yes },
      { inputResponses: yes, requestState: 'AAAA' },
      { inputResponses: yes, requestState: `${requestState}x` },
      {
        inputResponses: { ...yes, approval: { action: 'accept', content: { decision: 'yes' } } },
        requestState,
      },
    ];
    for (const more of forged)
      await sent([request(2, 'tools/call', { ...call, ...canAsk, ...more })], /\n/, 60_000);
    const other = { ...call, arguments: { edits: [{ ...edits[0], text: '(defun price (x) 0)' }] } };
    await sent(
      [request(3, 'tools/call', { ...other, ...canAsk, inputResponses: yes, requestState })],
      /\n/,
      60_000,
    );
    expect(readFileSync(join(shell.workspace, 'shop.lisp'), 'utf8')).toBe('(defun price (x) x)\n');
  });

  test('takes ten thousand requests of a client that reads no answer', async () => {
    const socket = connect(path).on('error', () => {});
    socket.pause();
    for (let id = 1; id <= 10_000; id++) socket.write(request(id, 'no/method'));
    await delay(500);
    expect(await sent([evaluation(1, '(list 11)')], /"id":1/, 60_000)).toContain('(11)');
    socket.destroy();
  });

  test('a form of megabytes comes whole, and so does one with NULs', async () => {
    const input = `(length "${'\0y'.repeat(2_000_000)}")`;
    expect((await shell.run(['eval'], { input })).stdout).toBe('4000000\n');
  });
});

const asRoot = process.geteuid?.() === 0;

describe('a command', () => {
  let folder: TestFolder;
  let shell: Shell;

  beforeEach(() => {
    folder = temporaryFolder();
    shell = new Shell(folder.path);
  });
  afterEach(async () => {
    await shell.end();
    folder.remove();
  });

  const facts = (changes: object = {}) => shell.facts(changes);

  /** Announces this process as a session with FACTS, whose socket gives each line to SERVE. */
  function fake(
    serve: (socket: Socket, request: { id: number; method: string }) => void,
    changes: object = {},
    pid = process.pid,
  ): Promise<void> {
    const serveLines = (socket: Socket) => {
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        for (const each of String(chunk).trim().split('\n')) serve(socket, JSON.parse(each));
      });
    };
    return shell.announce(facts(changes), serveLines, pid);
  }

  const answer = (id: number, result: unknown) => line({ jsonrpc: '2.0', id, result });
  const ended = 'live-lisp: The session ended before it answered. The next command starts a new one.\n';
  const notUnderstood =
    "live-lisp: This version of live-lisp cannot read the session's answer. End the session: live-lisp stop. The next command starts a new one.\n";

  test.each<[string, (id: number) => string, string]>([
    ['a content of numbers', (id) => answer(id, { content: [1] }), notUnderstood],
    ['a question without choices', (id) => answer(id, { resultType: 'input_required' }), notUnderstood],
    ['an end of its connection', () => '', ended],
  ])('is not confused by a session that gives %s', async (_, text, stderr) => {
    await fake((socket, { id, method }) => {
      if (method === 'server/discover') socket.write(answer(id, {}));
      else socket.end(text(id));
    });
    expect(await shell.run(['eval', '1'])).toEqual({
      code: 4,
      stdout: '',
      stderr,
    });
  });

  test('says what a session of another version refuses', async () => {
    await fake((socket, { id }) =>
      socket.write(
        line({ jsonrpc: '2.0', id, error: { code: -32022, message: 'Unsupported protocol version' } }),
      ),
    );
    expect(await shell.run(['eval', '1'])).toEqual({
      code: 4,
      stdout: '',
      stderr: `live-lisp: The session ${process.pid} of ${shell.workspace} refuses this command (Unsupported protocol version). End it: live-lisp stop, or, if it hangs, kill -9 ${process.pid}. The next command starts a new one.\n`,
    });
  });

  test('uses a session whose process is not seen here, as from a container, and leaves its files', async () => {
    const pid = 2 ** 22 + 7;
    const path = join(shell.sessionsFolder, `session-${pid}`);
    const other = join(folder.path, 'other');
    await fake(() => {}, { pid, workspace: other }, pid);
    expect((await shell.run(['sessions'])).stdout).toMatch(`${pid}  since `);
    await shell.session();
    expect(lstatSync(`${path}.socket`).isSocket()).toBe(true);
    expect(readFileSync(`${path}.json`, 'utf8')).toContain(other);
  });

  test('says where it may not connect, as in a sandbox', async () => {
    await fake(() => {});
    const path = join(shell.sessionsFolder, `session-${process.pid}.socket`);
    chmodSync(path, 0);
    // The user root may connect all the same, unless it gives that up.
    const giveUp = asRoot ? 'setpriv --bounding-set=-dac_override,-dac_read_search' : 'env';
    expect(await shell.line(`${giveUp} '${process.execPath}' '${SERVER}' eval 1`)).toEqual({
      code: 4,
      stdout: '',
      stderr: `live-lisp: A session of ${shell.workspace} is registered, but the system does not let this process connect to it (EACCES, ${path}). If this process runs in a sandbox, allow network access and Unix sockets there, or run this command outside the sandbox.\n`,
    });
  });

  test('starts one where the one that was announced takes no connection', async () => {
    await fake(() => {});
    shell.closeAnnounced();
    expect((await shell.run(['eval', '1'])).stdout).toBe('1\n');
  });

  test('keeps its files to its user under a umask of 000', async () => {
    const ran = await shell.line('umask 000; live-lisp eval 1');
    expect(ran.stdout).toBe('1\n');
    expect(lstatSync(shell.sessionsFolder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(shell.sessionsFolder).filter((each) => each.endsWith('.json')))
      expect(lstatSync(join(shell.sessionsFolder, name)).mode & 0o777).toBe(0o600);
  });

  test('works in a folder whose name has a line break, and its session is not announced as two', async () => {
    const odd = join(folder.path, 'a\nb');
    mkdirSync(join(odd, '.git'), { recursive: true });
    const ran = await shell.run(['eval', '1'], { cwd: odd });
    expect([ran.code, ran.stdout]).toEqual([2, '']);
    expect(ran.stderr).toBe(
      `live-lisp: The name of ${JSON.stringify(odd)} has a control character, so no session can be found there. Rename the folder.\n`,
    );
  });

  test('works without HOME', async () => {
    const ran = await shell.line('unset HOME; live-lisp eval 1');
    expect(ran.stdout).toBe('1\n');
  });

  test('of a folder that was reached through a link uses the session of the real one', async () => {
    await shell.session();
    await shell.run(['eval', '(defvar *here* 5)']);
    symlinkSync(shell.workspace, join(folder.path, 'link'));
    expect((await shell.run(['eval', '*here*'], { cwd: join(folder.path, 'link') })).stdout).toBe('5\n');
  });

  describe('does not use', () => {
    const put = async (change: (name: string) => void) => {
      await fake(() => {});
      change(join(shell.sessionsFolder, `session-${process.pid}`));
      return sessionsIn(shell.sessionsFolder);
    };
    const nobody = 65534;

    test.each<[string, (name: string) => void]>([
      ['a file for a socket', (name) => [rmSync(`${name}.socket`), writeFileSync(`${name}.socket`, '')]],
      [
        'a link to a socket',
        (name) => {
          execFileSync('mv', [`${name}.socket`, `${name}.elsewhere`]);
          symlinkSync(`${name}.elsewhere`, `${name}.socket`);
        },
      ],
      ['a pipe for a file', (name) => [rmSync(`${name}.json`), execFileSync('mkfifo', [`${name}.json`])]],
      ['facts in a list', (name) => writeFileSync(`${name}.json`, JSON.stringify([facts()]))],
      [
        'a pid that is no whole number',
        (name) => writeFileSync(`${name}.json`, JSON.stringify(facts({ pid: process.pid + 0.5 }))),
      ],
      ...(asRoot
        ? ([
            ['a file of another user', (name) => chownSync(`${name}.json`, nobody, nobody)],
            ['a socket of another user', (name) => chownSync(`${name}.socket`, nobody, nobody)],
            ['a folder of another user', () => chownSync(shell.sessionsFolder, nobody, nobody)],
          ] as [string, (name: string) => void][])
        : []),
    ])('%s', async (_, change) => {
      expect(await put(change)).toEqual([]);
    });
  });
});
