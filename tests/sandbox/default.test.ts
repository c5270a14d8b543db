// What code cannot do where nobody says how it is locked in: change what programs outside obey, see keys, reach other
// programs. The network and the folders for temporary files are shared.

import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { recordsFolder } from '../../src/paths.ts';
import type { Session } from '../harness.ts';
import { until } from '../server/processes.ts';
import { Listener, lispString, outsideFolder, shell, startSandboxed, workspace } from './cell.ts';
import { sandboxTest as test } from './namespaces.ts';

const place = workspace();
/** A home that is not in a folder for temporary files, which code writes in. */
const home = outsideFolder();
const mark = `live-lisp-test-${process.pid}`;
const socket = join(tmpdir(), `${mark}-socket`);
/** A folder for temporary files in the one that all share. */
const nested = mkdtempSync(join('/tmp', 'live-lisp-test-'));
const listeners: Listener[] = [];
let session: Session;

/** What is a secret, by its path in the home. */
const SECRETS = [
  '.ssh/id_ed25519',
  '.gnupg/private-keys-v1.d/key',
  '.aws/credentials',
  '.config/gcloud/credentials.db',
  '.kube/config',
  '.docker/config.json',
  '.netrc',
  '.npmrc',
  '.git-credentials',
  '.config/gh/hosts.yml',
  '.pgpass',
  '.local/share/keyrings/login.keyring',
  '.mozilla/firefox/logins.json',
  '.claude/.credentials.json',
  '.bash_history',
  '.cache/huggingface/token',
  '.codex/history.jsonl',
  '.subversion/auth/svn.simple/key',
  '.slime-secret',
  '.sly-secret',
  '.emacs.d/server/server',
  '.Xauthority',
  '.erlang.cookie',
  '.local/share/jupyter/runtime/kernel.json',
  'named/Xauthority',
  'moved/config/gh/hosts.yml',
  'moved/codex/auth.json',
  'named/kubeconfig',
];
/** Variables by which programs find their secrets elsewhere, and one that says that there are none. */
const ELSEWHERE = {
  XDG_CONFIG_HOME: join(home.path, 'moved', 'config'),
  CODEX_HOME: join(home.path, 'moved', 'codex'),
  KUBECONFIG: `/nowhere:${join(home.path, 'named', 'kubeconfig')}`,
  XAUTHORITY: join(home.path, 'named', 'Xauthority'),
  PIP_CONFIG_FILE: '/dev/null',
  AZURE_CONFIG_DIR: home.path,
};
const SECRET = 'what-nobody-may-know';

/** Returns what the file at PATH holds after it was written with its folders. */
function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function git(folder: string, ...words: string[]): void {
  const who = ['-c', 'user.name=test', '-c', 'user.email=test@example.org'];
  execFileSync('git', ['-C', folder, ...who, ...words], { stdio: 'pipe' });
}

/** Makes repositories: of the workspace, of a folder in it, and one beside it that a worktree in it belongs to. */
function makeRepositories(): void {
  const beside = join(dirname(place.root), 'beside');
  for (const folder of [place.root, join(place.root, 'vendor', 'lib'), beside]) {
    mkdirSync(folder, { recursive: true });
    git(folder, 'init', '-q');
  }
  git(beside, 'commit', '-q', '--allow-empty', '-m', 'First');
  git(beside, 'worktree', 'add', '-q', join(place.root, 'tree'));
  git(place.root, 'commit', '-q', '--allow-empty', '-m', 'First');
  git(place.root, 'worktree', 'add', '-q', join(place.root, 'own-tree'));
}

/** Returns all files below FOLDER with what they hold. */
function contents(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => `${path}: ${readFileSync(path, 'latin1')}`);
}

/** Returns all that code must not change. */
function unwritable(): string[] {
  const own = ['.git', '.mcp.json', '.envrc', 'tree/.git', 'own-tree/.git', 'vendor/lib/.git'].map((name) =>
    join(place.root, name),
  );
  return [...own, join(dirname(place.root), 'beside', '.git'), home.path].flatMap((path) =>
    statSync(path).isDirectory() ? contents(path) : [readFileSync(path, 'utf8')],
  );
}

let before: string[];

beforeAll(async () => {
  makeRepositories();
  put(join(place.root, '.mcp.json'), '{}');
  put(join(place.root, '.envrc'), 'true\n');
  put(join(place.root, 'evil', 'config'), '[core]\nfsmonitor = ./evil.sh\n');
  put(join(home.path, '.bashrc'), 'true\n');
  for (const path of SECRETS) put(join(home.path, path), SECRET);
  symlinkSync('/dev/null', join(home.path, '.mysql_history'));
  listeners.push(await Listener.open(socket), await Listener.open(`\0${mark}`));
  session = await startSandboxed(place.root, {
    args: [],
    env: { XDG_CACHE_HOME: place.cache, HOME: home.path, TMPDIR: nested, ...ELSEWHERE },
  });
  await session.eval('(require :sb-bsd-sockets)');
  before = unwritable();
});
afterAll(async () => {
  await session.close();
  for (const listener of listeners) listener.close();
  home.remove();
  rmSync(nested, { recursive: true, force: true });
  place.remove();
});

const REFUSED =
  /Read-only file system|Device or resource busy|Invalid cross-device link|Is a directory|cannot overwrite/;

describe('what programs outside obey cannot be changed', () => {
  test.each([
    'echo x > .git/hooks/pre-commit',
    'echo x >> .git/config',
    'mv .git taken',
    'mv evil/config .git/config',
    'git -c core.hooksPath=evil commit --allow-empty -m x',
    'echo x > .claude/settings.json',
    'mv -T evil .claude',
    'ln -sfn evil .codex',
    'mkdir .idea/runConfigurations',
    'echo x > .envrc',
    'echo x > .mcp.json',
    'mv -f evil/config .mcp.json',
    'echo x > vendor/lib/.git/config',
    'mv vendor/lib vendor/taken',
    'echo "gitdir: $PWD/evil" > tree/.git',
    'echo x > .git/worktrees/own-tree/config.worktree',
    'echo x >> ../beside/.git/config',
    'mv ../../$(basename $(dirname "$PWD")) ../../taken',
    'echo x >> ~/.bashrc',
    'ln -s ~ way-out; echo x > way-out/.profile',
    'echo x > /proc/self/root/$HOME/.bashrc',
    'mkdir -p ~/.config/autostart',
  ])('%s', async (command) => {
    expect(await shell(session, command)).toMatch(REFUSED);
    expect(unwritable()).toEqual(before);
  });

  test('in the folders of editors, agents and hooks', async () => {
    const folders =
      '.agents .claude .codex .cursor .devcontainer .gemini .github .hg .husky .idea .opencode .vscode .windsurf .zed';
    const command = `for each in ${folders}; do ls -d $each && touch $each/x && echo made; done 2>/dev/null`;
    expect(await shell(session, command)).toBe(`1 ${folders.replaceAll(' ', '\n')}`);
  });

  test.each([
    '(with-open-file (s ".git/config" :direction :output :if-exists :supersede) (print 1 s))',
    '(rename-file "evil/config" (merge-pathnames ".mcp.json"))',
  ])('in Lisp: %s', async (form) => {
    expect(await session.eval(form)).toMatch(/^Error: /);
    expect(unwritable()).toEqual(before);
  });

  test.each(['cache', 'state'])('nor what the server keeps in its %s', async (which) => {
    const base = which === 'cache' ? place.cache : String(process.env['XDG_STATE_HOME']);
    const answer = await shell(
      session,
      `cd ${base}/live-lisp && echo x > planted; mv ${base}/live-lisp ${base}/taken`,
    );
    expect(answer).toMatch(/planted: Read-only file system[\s\S]*(?:Read-only file system|busy)/);
    expect(existsSync(join(base, 'live-lisp', 'planted'))).toBe(false);
  });

  test('nor what servers that cannot write in a home keep in the folder for temporary files', async () => {
    const records = recordsFolder(nested);
    expect(statSync(records).mode & 0o777).toBe(0o700);
    expect(await shell(session, `echo x > ${records}/planted; mv ${records} ${records}-taken`)).toMatch(
      /planted: Read-only file system[\s\S]*(?:Read-only file system|busy)/,
    );
    expect(existsSync(records)).toBe(true);
  });

  test('and nothing stays of the names that were taken', async () => {
    const names = ['.claude', '.codex', '.gemini', '.vscode', '.idea', '.github', '.hg'];
    const { root, cache, remove } = workspace();
    const two = await Promise.all(
      [1, 2].map(() => startSandboxed(root, { args: [], env: { XDG_CACHE_HOME: cache } })),
    );
    await Promise.all(two.map((each) => each.eval('1')));
    expect(readdirSync(root)).toEqual(expect.arrayContaining(names));
    await two[0]?.close();
    await two[1]?.eval('(sb-ext:exit :abort t)');
    expect(await shell(two[1] as Session, 'echo x > .claude/settings.json')).toMatch(/Read-only/);
    git(root, 'init', '-q');
    await two[1]?.close();
    expect(readdirSync(root)).toEqual(['.git']);
    expect(readdirSync(join(root, '.git'))).toContain('HEAD');
    remove();
  });
});

describe('a file that programs outside obey', () => {
  const fresh = workspace();
  let other: Session;
  beforeAll(async () => {
    put(join(fresh.root, '.envrc'), 'true\n');
    other = await startSandboxed(fresh.root, { args: [], env: { XDG_CACHE_HOME: fresh.cache } });
    await other.eval('1');
  });
  afterAll(async () => {
    await other.close();
    fresh.remove();
  });

  /** Evaluates FORM, and 1 until an answer has notices, which can be the first one. Returns these. */
  async function noticesOf(form: string): Promise<string[]> {
    const first = await other.call('eval_form', { form });
    if (first.notices.length > 0) return first.notices;
    return until('a notice', 10_000, async () => {
      const { notices } = await other.call('eval_form', { form: '1' });
      return notices.length > 0 && notices;
    });
  }

  test('cannot be changed where it was there', async () => {
    expect(await shell(other, 'echo x > .envrc')).toMatch(/Read-only file system/);
  });

  test.each(['.npmrc', 'opencode.json'])('is told of when it appears, once: %s', async (file) => {
    const make = (name: string) => `(with-open-file (s "${name}" :direction :output) (print 1 s))`;
    expect(await noticesOf(`${make(`ordinary${file}`)} ${make(file)}`)).toEqual([
      `Note: ${join(fresh.root, file)} is new. Programs outside of the sandbox take commands or settings from it, and code in the sandbox may have created it. Unless you created it with your own tools, ask the user to check it before anything else runs there.`,
    ]);
    expect((await other.call('eval_form', { form: '1' })).notices).toEqual([]);
  });

  test('is told of again when it appears again, also one that was there at the start', async () => {
    for (const file of ['.npmrc', '.envrc']) {
      rmSync(join(fresh.root, file));
      // Until the removal was noticed: what comes before that is a change of the old file.
      await other.eval('(sleep 1)');
      expect(await noticesOf(`(with-open-file (s "${file}" :direction :output) (print 1 s))`)).toEqual([
        expect.stringContaining(`Note: ${join(fresh.root, file)} is new.`),
      ]);
    }
  });

  test('is told of when it appears as a link that leads nowhere yet', async () => {
    rmSync(join(fresh.root, 'opencode.json'));
    await other.eval('(sleep 1)');
    expect(
      await noticesOf('(sb-ext:run-program "/bin/ln" (list "-s" "later/file" "opencode.json"))'),
    ).toEqual([expect.stringContaining(`Note: ${join(fresh.root, 'opencode.json')} is new.`)]);
  });

  test('cannot be changed by the next image', async () => {
    await other.eval('(sb-ext:exit :abort t)');
    expect(await shell(other, 'echo y > .npmrc')).toMatch(/Read-only file system/);
  });
});

describe('keys, tokens and passwords of the home are not there', () => {
  test('neither for code nor for a tool', async () => {
    for (const path of SECRETS) {
      expect(await shell(session, `cat ~/${path}; cat /proc/self/root${home.path}/${path}`), path).toMatch(
        /^1 (?:cat: .*(?:No such file|Permission denied)[^\n]*\n?){2}$/,
      );
      const answer = await session.call('read_file', { path: join(home.path, path) });
      expect(JSON.stringify(answer), path).not.toContain(SECRET);
    }
  });

  test('and a device that stands for none is a device', async () => {
    expect(await shell(session, 'echo x > /dev/null')).toBe('0');
  });

  test('and no search finds one', async () => {
    expect(await shell(session, `grep -r ${SECRET} ~ 2>/dev/null`)).toMatch(/^[12]$/);
  });
});

describe('no other program is reached', () => {
  /** Returns a form that makes the system call NUMBER with ARGS, and gives what it gives. */
  const call = (number: number, ...args: (number | string)[]) =>
    `(sb-alien:alien-funcall (sb-alien:extern-alien "syscall" (function sb-alien:long sb-alien:long ${args.map(() => 'sb-alien:long').join(' ')})) ${number} ${args.join(' ')})`;
  const connect = (kind: string, address: string) =>
    session.eval(
      `(let ((socket (make-instance 'sb-bsd-sockets:${kind} :type :stream))) (sb-bsd-sockets:socket-connect socket ${address}) :connected)`,
    );
  /** The numbers of calls on this processor. */
  const NUMBER =
    process.arch === 'arm64'
      ? { socket: 198, socketpair: 199, request_key: 218, keyctl: 219 }
      : { socket: 41, socketpair: 53, request_key: 249, keyctl: 250 };
  const pairOf = (kind: number) =>
    `(sb-alien:with-alien ((pair (array sb-alien:int 2))) ${call(NUMBER.socketpair, 1, kind, 0, '(sb-sys:sap-int (sb-alien:alien-sap pair))')})`;
  const NO_SOCKET = /^Error: .*Address family not supported by protocol/;

  test.each([
    ['a socket in the folder for temporary files', 'local-socket', socket],
    ['one without a file', 'local-abstract-socket', mark],
  ])('by %s', async (_, kind, address) => {
    expect(await connect(kind, lispString(address))).toMatch(NO_SOCKET);
    expect(listeners.map(({ visits }) => visits)).toEqual([0, 0]);
  });

  test.each([
    ['a Unix socket by the system call', call(NUMBER.socket, 1, 2, 0)],
    ['a pair that can be connected anew', pairOf(2)],
    ['a pair of the kind that counts as that', pairOf(3)],
    ['a ring of the kernel that makes sockets', call(425, 8, 0)],
    ['the other numbers of the same processor', call(0x40000000 + 41, 1, 1, 0)],
    ['the key ring of the session', call(NUMBER.keyctl, 0, -3, 0)],
    ['keys that are asked for', call(NUMBER.request_key, 0, 0, 0, -3)],
    ['a socket of the virtual machine', call(NUMBER.socket, 40, 1, 0)],
    ['a socket for ciphers of the kernel', call(NUMBER.socket, 38, 5, 0)],
  ])('by %s', async (_, form) => {
    expect(await session.eval(form)).toBe('-1');
  });

  test('pairs of sockets for its own processes are there', async () => {
    expect(await session.eval(pairOf(1))).toBe('0');
  });

  test('and none is seen, or told of', async () => {
    expect(await shell(session, 'ls /run; env | grep -E "^(SSH_AUTH|DBUS|XDG_RUNTIME)"')).not.toMatch(
      /dbus|docker|podman|user|SSH_AUTH|DBUS/,
    );
    expect(await shell(session, `kill -9 ${session.pid}; kill -9 ${process.pid}`)).toMatch(/No such process/);
  });
});

describe('a refusal says what was refused and how a person allows it', () => {
  const lines = async (form: string) => (await session.call('eval_form', { form })).notices;

  test('a write outside', async () => {
    const file = join(home.path, 'new.txt');
    const writes = [place.root, tmpdir()].join(', ');
    expect(await lines(`(open ${lispString(file)} :direction :output)`)).toEqual([
      `Note: the sandbox refused a write in ${home.path}. Code in the image may write only in ${writes}. To allow it, the user can start the server with --write ${home.path} or with --no-sandbox.`,
    ]);
  });

  test('a write outside while a form is read', async () => {
    const file = join(home.path, 'new.txt');
    const { text, notices } = await session.call('compile_form', {
      form: `#.(open ${lispString(file)} :direction :output)`,
    });
    expect(text).toContain(
      `Error: form 1 cannot be read: Error opening #P${lispString(file)}: Read-only file system\n`,
    );
    expect(notices).toEqual([
      expect.stringMatching(/^Note: the sandbox refused a write in .*--write .*--no-sandbox\.$/),
    ]);
  });

  test('a write in what programs obey', async () => {
    expect(await lines('(open ".git/hooks/pre-commit" :direction :output)')).toEqual([
      `Note: the sandbox refused a write in ${join(place.root, '.git', 'hooks')}, because programs outside the sandbox take commands or settings from it. Change it outside of the image, or ask the user to start the server with --no-sandbox.`,
    ]);
  });

  test('a file that it hides', async () => {
    const note = (path: string) => [
      `Note: the sandbox hides ${path} from code in the image. Do without it, or ask the user for a copy in the workspace, or to start the server with --no-sandbox.`,
    ];
    const at = (path: string) => join(home.path, path);
    expect(await lines(`(open ${lispString(at('.pgpass'))})`)).toEqual(note(at('.pgpass')));
    expect(await lines(`(load ${lispString(at('.aws/credentials'))})`)).toEqual(note(at('.aws/credentials')));
    expect(await lines(`(open ${lispString(at('.aws/none'))})`)).toEqual([]);
  });

  test('a rename into or out of a folder with a repository in it, and one of that folder', async () => {
    put(join(place.root, 'vendor', 'lib', 'a'), 'a');
    const held = 'a folder with a repository, keys or settings of programs';
    expect(await lines('(rename-file "vendor/lib/a" (merge-pathnames "a"))')).toEqual([
      `Note: in the sandbox, each writable folder is a separate file system, and so is ${held}. Files cannot be renamed from one to another. Write the temporary file beside its target, or copy it and delete the original.`,
    ]);
    expect(await lines('(rename-file "vendor/" (merge-pathnames "taken/"))')).toEqual([
      `Note: in the sandbox, code cannot move or remove ${held}. Change its contents, or do this outside of the image.`,
    ]);
    expect(await lines(`(error "Device or resource busy")`)).toEqual([]);
  });

  test('a Unix socket', async () => {
    expect(await lines("(make-instance 'sb-bsd-sockets:local-socket :type :stream)")).toEqual([
      'Note: the sandbox refused a Unix socket, because it could lead to other programs of the user. Use TCP on 127.0.0.1, or ask the user to start the server with --no-sandbox.',
    ]);
  });
});

test('a folder that a person names with --write is written, and its repository is not', async () => {
  const other = outsideFolder();
  git(other.path, 'init', '-q');
  const open = await startSandboxed(place.root, {
    args: ['--write', other.path],
    env: { XDG_CACHE_HOME: place.cache },
  });
  try {
    expect(await shell(open, `cd ${other.path} && echo x > made && echo x > .git/hooks/x`)).toMatch(REFUSED);
    expect(readFileSync(join(other.path, 'made'), 'utf8')).toBe('x\n');
  } finally {
    await open.close();
    other.remove();
  }
});
