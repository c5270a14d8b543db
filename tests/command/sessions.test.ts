// How a command finds the session of a workspace, starts one, and never uses a foreign or dead one.

import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sessionsIn } from '../../src/door/sessions.ts';
import { type TestFolder, temporaryFolder } from '../harness.ts';
import { until } from '../server/processes.ts';
import { Shell } from './shell.ts';

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

/** Announces this process as a session by FACTS. The socket answers the first data of a connection by ANSWER. */
function plant(facts: object, answer?: string): Promise<void> {
  return shell.announce(facts, (socket) => answer && socket.once('data', () => socket.end(answer)));
}

const facts = (changes: object = {}) => shell.facts(changes);

describe('without a session', () => {
  test('a command starts one in the background, says so once, and stop ends it', async () => {
    const first = await shell.run(['eval', '(defvar *x* 1)']);
    expect(first).toMatchObject({ code: 0, stdout: '*X*\n' });
    const [pid] = await shell.sessions();
    expect(first.stderr).toBe(
      `live-lisp: Started a session for ${shell.workspace} (process ${pid}). It ends 30 minutes after its last call, or with live-lisp stop.\n`,
    );
    expect(await shell.run(['eval', '*x*'])).toEqual({ code: 0, stdout: '1\n', stderr: '' });
    expect(await shell.run(['stop'])).toEqual({
      code: 0,
      stdout: `Stopped the session ${pid} of ${shell.workspace}.\n`,
      stderr: '',
    });
    expect(await shell.sessions()).toEqual([]);
    expect((await shell.run(['stop'])).stderr).toBe(`live-lisp: No session serves ${shell.workspace}.\n`);
  });

  test('the workspace is the repository around the folder of the command', async () => {
    const inner = join(shell.workspace, 'src', 'deep');
    mkdirSync(inner, { recursive: true });
    const { stderr } = await shell.run(['eval', '1'], { cwd: inner });
    expect(stderr).toMatch(`Started a session for ${shell.workspace} `);
  });

  test('commands at once start one', async () => {
    const forms = Array.from({ length: 4 }, (_, number) => `(list ${number} (+ ${number} 1))`);
    const ran = await Promise.all(forms.map((form) => shell.run(['eval', form])));
    expect(ran.map(({ stdout }) => stdout)).toEqual(forms.map((_, number) => `(${number} ${number + 1})\n`));
    expect((await shell.sessions()).length).toBe(1);
    expect(ran.filter(({ stderr }) => stderr.includes('Started a session for ')).length).toBe(1);
  });

  test('a session that a user starts keeps commands from starting another until they find it', async () => {
    mkdirSync(shell.sessionsFolder, { recursive: true, mode: 0o700 });
    const lock = `starting-${Buffer.from(shell.workspace).toString('base64url').slice(-100)}`;
    const events: string[] = [];
    const watcher = watch(shell.sessionsFolder, (_, file) => void events.push(file ?? ''));
    const { pid } = await shell.session();
    const found = `session-${pid}.json`;
    const isFree = () => events.includes(found) && events.lastIndexOf(lock) > events.indexOf(found);
    await until('the end of the lock', 60_000, isFree);
    watcher.close();
    expect(events.indexOf(found)).toBeGreaterThan(events.indexOf(lock));
    expect(existsSync(join(shell.sessionsFolder, lock))).toBe(false);
  });

  test('a session that a user starts while another one starts ends, and names that one', async () => {
    await shell.announce(shell.facts(), (socket) => socket.resume());
    const name = Buffer.from(shell.workspace).toString('base64url').slice(-100);
    const lock = join(shell.sessionsFolder, `starting-${name}`);
    // A running process that does not start the session itself.
    writeFileSync(lock, String(process.ppid));
    const changes = new Set([statSync(shell.sessionsFolder).mtimeMs]);
    const ran = shell.run(['session', '--root', shell.workspace]);
    // Each attempt to take the lock makes and removes an entry in the folder. The second change is after the attempt.
    await until('the wait for the lock', 60_000, async () => {
      changes.add(statSync(shell.sessionsFolder).mtimeMs);
      return changes.size > 2;
    });
    rmSync(lock);
    expect(await ran).toEqual({
      code: 1,
      stdout: '',
      stderr: `live-lisp: Another process has just started a session for ${shell.workspace} (process ${process.pid}), so this process ends. Use that session, or end it with live-lisp stop and run this command again.\n`,
    });
    expect(readdirSync(shell.sessionsFolder).filter((file) => file.startsWith('starting-'))).toEqual([]);
  });

  test.each([
    ['of a process that is gone', String(2 ** 22 + 1), 0],
    ['without an owner', '', 0],
    ['of a process id that has another process by now', String(process.pid), 3600],
    ['whose time is in the future', String(process.pid), -10 * 24 * 3600],
  ])('commands at once that find a lock %s start one', async (_, owner, age) => {
    mkdirSync(shell.sessionsFolder, { recursive: true, mode: 0o700 });
    const name = Buffer.from(shell.workspace).toString('base64url').slice(-100);
    const lock = join(shell.sessionsFolder, `starting-${name}`);
    writeFileSync(lock, owner);
    utimesSync(lock, Date.now() / 1000 - age, Date.now() / 1000 - age);
    const ran = await Promise.all(Array.from({ length: 2 }, () => shell.run(['eval', '1'])));
    expect(ran.map(({ code, stdout }) => [code, stdout])).toEqual(ran.map(() => [0, '1\n']));
    const [pid, ...more] = await shell.sessions();
    expect(more).toEqual([]);
    expect(readdirSync(shell.sessionsFolder).sort()).toEqual([
      `session-${pid}.json`,
      `session-${pid}.socket`,
    ]);
  });

  test('none starts where it would not be found', async () => {
    const linked = new Shell(folder.path, { LIVE_LISP_SERVING: join(folder.path, 'linked') });
    const sessions = join(folder.path, 'linked', 'sessions');
    mkdirSync(join(folder.path, 'linked'), { mode: 0o700 });
    symlinkSync(folder.path, sessions);
    expect(await linked.run(['eval', '1'])).toEqual({
      code: 4,
      stdout: '',
      stderr: `live-lisp: Sessions cannot be kept in ${sessions} (it is a link, which is not followed). Make it a folder that you can write to, or name another in LIVE_LISP_SERVING.\n`,
    });
    const long = join(folder.path, 'x'.repeat(120));
    const far = await new Shell(folder.path, { LIVE_LISP_SERVING: long }).run(['eval', '1']);
    expect(far.code).toBe(4);
    expect(far.stderr).toMatch(
      /^live-lisp: The session for .* did not start: live-lisp: The session's socket cannot be opened: the path .*\.socket is longer than the \d+ octets of a Unix socket; name a shorter folder in LIVE_LISP_SERVING\n$/,
    );
    expect(readdirSync(join(long, 'sessions'))).toEqual([]);
  });

  test('a folder of sessions that cannot be made is named', async () => {
    const file = folder.put('taken', '');
    const ran = await new Shell(folder.path, { LIVE_LISP_SERVING: file }).run(['eval', '1']);
    expect(ran).toMatchObject({ code: 4, stdout: '' });
    expect(ran.stderr).toMatch(
      /^live-lisp: Sessions cannot be kept in \/.*\/taken\/sessions \(ENOTDIR: .*\)\. Make it a folder that you can write to, or name another in LIVE_LISP_SERVING\.\n$/,
    );
  });

  test.each([[['status', '--deep']], [['call', 'eval_form', '{"fom":"1"}']]])(
    'the wrong words %j start none',
    async (words) => {
      expect(await shell.run(words)).toMatchObject({ code: 2, stdout: '' });
      expect(existsSync(shell.sessionsFolder)).toBe(false);
    },
  );

  test('a folder that is not there is no workspace', async () => {
    for (const name of ['none', 'ws/file']) {
      writeFileSync(join(shell.workspace, 'file'), '');
      const root = join(folder.path, name);
      expect(await shell.run(['eval', '1', '--root', root])).toEqual({
        code: 2,
        stdout: '',
        stderr: `live-lisp: There is no folder ${root}. Name the folder of a project: --root DIR.\n`,
      });
    }
  });

  test('one that cannot start is reported, and the next command tries again', async () => {
    const broken = new Shell(folder.path, { LIVE_LISP_REPLAY: 'maybe' });
    const ran = await broken.run(['eval', '1']);
    expect(ran).toMatchObject({ code: 4, stdout: '' });
    expect(ran.stderr).toBe(
      `live-lisp: The session for ${shell.workspace} did not start: live-lisp: --replay must be on or off, not maybe.\n`,
    );
    expect((await shell.run(['eval', '1'])).stdout).toBe('1\n');
  });

  test('a home is too wide for a workspace', async () => {
    const home = mkdtempSync(join(tmpdir(), 'live-lisp-home-'));
    const at = new Shell(folder.path, { HOME: home });
    const ran = await at.run(['eval', '1'], { cwd: home });
    expect(ran).toEqual({
      code: 2,
      stdout: '',
      stderr: `live-lisp: ${home} is or contains the home folder, so it cannot be a workspace. Run this in the folder of a project, or name that folder: --root DIR.\n`,
    });
  });
});

describe('with sessions', () => {
  test('of two workspaces within each other, the innermost around the command is used', async () => {
    const inner = join(shell.workspace, 'inner');
    mkdirSync(inner);
    await shell.session();
    await shell.run(['eval', '(defvar *where* :outer)']);
    const root = ['--root', inner];
    await shell.run(['eval', '1', ...root]); // The outer one serves it.
    expect((await shell.sessions()).length).toBe(1);
    const child = shell.start(['session', ...root]);
    await until('two sessions', 60_000, async () => (await shell.sessions()).length === 2);
    expect((await shell.run(['eval', '*where*'], { cwd: inner })).code).toBe(1);
    expect((await shell.run(['eval', '*where*'])).stdout).toBe(':OUTER\n');
    child.kill();
  });

  test('two of the same workspace are both named, and --session chooses', async () => {
    const [one, other] = [await shell.session(), await shell.session()];
    const ran = await shell.run(['eval', '1']);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toMatch(
      new RegExp(
        `^live-lisp: Several sessions serve ${shell.workspace}:\n\\d+ .*\n\\d+ .*\nName one by its process id: --session \\d+\\.\n$`,
      ),
    );
    for (const { pid } of [one, other]) expect(ran.stderr).toContain(`\n${pid}  since `);
    expect((await shell.run(['eval', '1', '--session', String(other.pid)])).stdout).toBe('1\n');
  });

  test("a client's session is used, and stop leaves it", async () => {
    const client = shell.start(['serve', '--root', shell.workspace]);
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
    client.stdin?.write(
      `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta: meta } })}\n`,
    );
    await until('the session', 60_000, async () => (await shell.sessions()).length === 1);
    expect(await shell.run(['eval', '(+ 1 2)'])).toEqual({ code: 0, stdout: '3\n', stderr: '' });
    expect((await shell.run(['stop'])).stderr).toBe(
      `live-lisp: The session ${client.pid} of ${shell.workspace} was not stopped: it serves an MCP client, and ends with that client.\n`,
    );
    client.stdin?.end();
    await until('the end', 60_000, async () => (await shell.sessions()).length === 0);
  });

  test("a server's over HTTP is used, and stop leaves it", async () => {
    const server = shell.start(['serve', '--root', shell.workspace, '--http', '0']);
    await until('the session', 60_000, async () => (await shell.sessions()).length === 1);
    expect(await shell.run(['eval', '(+ 1 2)'])).toEqual({ code: 0, stdout: '3\n', stderr: '' });
    expect((await shell.run(['stop'])).stderr).toBe(
      `live-lisp: The session ${server.pid} of ${shell.workspace} was not stopped: it serves MCP clients over HTTP. To end it: kill ${server.pid}.\n`,
    );
    server.kill();
    await until('the end', 60_000, async () => (await shell.sessions()).length === 0);
  });

  test('what is no session of ours is not used', async () => {
    await plant(facts(), 'HTTP/1.1 400 Bad Request\r\n\r\n');
    expect((await shell.run(['eval', '1'])).stderr).toMatch(
      `live-lisp: The session ${process.pid} of ${shell.workspace} does not answer.`,
    );
  });

  test('no command waits for one that hangs', async () => {
    const hung = await shell.session();
    hung.kill('SIGSTOP');
    const [ran, stopped] = await Promise.all([shell.run(['eval', '1']), shell.run(['stop'])]);
    expect(ran).toEqual({
      code: 4,
      stdout: '',
      stderr: `live-lisp: The session ${hung.pid} of ${shell.workspace} does not answer. End it: live-lisp stop, or, if it hangs, kill -9 ${hung.pid}. The next command starts a new one.\n`,
    });
    expect(stopped).toEqual({
      code: 4,
      stdout: '',
      stderr: `live-lisp: The session ${hung.pid} of ${shell.workspace} was not stopped: it does not answer. If it hangs, end its process with kill -9.\n`,
    });
  });

  test('one that was killed leaves nothing that a later one minds', async () => {
    const child = await shell.session();
    // Before its parent knows, its process id is still in use.
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    expect((await shell.run(['eval', '1'])).stdout).toBe('1\n');
    const left = readdirSync(shell.sessionsFolder).filter((name) => name.startsWith(`session-${child.pid}.`));
    expect(left).toEqual([]);
  });
});

test('a first message that comes in two pieces is understood, and what it only mentions counts for nothing', async () => {
  const { pid } = await shell.session();
  const path = join(shell.sessionsFolder, `session-${pid}.socket`);
  const answerTo = async (...pieces: string[]) => {
    const socket = connect(path).setEncoding('utf8').setNoDelay();
    const [first = '', ...more] = pieces;
    socket.write(first);
    for (const piece of more) {
      await delay(100);
      socket.write(piece);
    }
    const [answer] = await once(socket, 'data');
    socket.destroy();
    return String(answer);
  };
  const watch = '{"jsonrpc":"2.0","id":1,"method":"live-lisp/watch","params":{"editor":"Emacs"}}\n';
  expect(await answerTo(watch.slice(0, 40), watch.slice(40))).toMatch(/"workspace"/);
  const params = {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: '"live-lisp/stop"', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  };
  const discover = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'server/discover', params });
  expect(await answerTo(`${discover}\n`)).toMatch(/"capabilities"/);
});

describe('a file that no session wrote is ignored', () => {
  test.each([
    ['of a process that is gone', { pid: 2 ** 22 + 1 }],
    ['with a relative workspace', { workspace: 'ws' }],
    ['with escape sequences', { workspace: '/tmp/\u001b[2J' }],
    ['with a line break', { version: '1\n2' }],
    ['with a text for a number', { started: '1' }],
  ])('%s', async (_, changes) => {
    await plant(facts(changes));
    expect(sessionsIn(shell.sessionsFolder)).toEqual([]);
  });

  test('half of it, a large one, a link, a folder, and one without a socket', async () => {
    mkdirSync(shell.sessionsFolder, { recursive: true, mode: 0o700 });
    const put = (name: string, text: string) => writeFileSync(join(shell.sessionsFolder, name), text);
    put(`session-${process.pid}.json`, JSON.stringify(facts()).slice(0, 40));
    put('session-1.json', ' '.repeat(1 << 20));
    put('elsewhere', JSON.stringify(facts()));
    symlinkSync('elsewhere', join(shell.sessionsFolder, 'session-2.json'));
    mkdirSync(join(shell.sessionsFolder, 'session-3.json'));
    expect(sessionsIn(shell.sessionsFolder)).toEqual([]);
    put(`session-${process.pid}.json`, JSON.stringify(facts()));
    expect(sessionsIn(shell.sessionsFolder)).toEqual([]);
  });

  test('in a folder that others can enter, or behind a link', async () => {
    await plant(facts());
    expect(sessionsIn(shell.sessionsFolder).length).toBe(1);
    chmodSync(shell.sessionsFolder, 0o755);
    expect(sessionsIn(shell.sessionsFolder)).toEqual([]);
    chmodSync(shell.sessionsFolder, 0o700);
    const link = join(folder.path, 'link');
    symlinkSync(shell.sessionsFolder, link);
    expect(sessionsIn(link)).toEqual([]);
  });
});
