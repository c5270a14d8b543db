// What code in the sandbox cannot do: change anything outside the workspace, reach other processes or the network.

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { PROJECT, SERVER, type Session } from '../harness.ts';
import { runs } from '../server/processes.ts';
import { Listener, lispString, outsideFolder, shell, startSandboxed, workspace } from './cell.ts';
import { sandboxTest as test } from './namespaces.ts';

const place = workspace();
const outside = outsideFolder();
const secret = join(tmpdir(), `live-lisp-secret-${process.pid}`);
const name = `live-lisp-test-${process.pid}`;
const listeners: { [where: string]: Listener } = {};
let session: Session;

beforeAll(async () => {
  mkdirSync(secret);
  symlinkSync(outside.path, join(place.root, 'way-out'));
  listeners['port'] = await Listener.open();
  listeners['abstract'] = await Listener.open(`\0${name}`);
  listeners['workspace'] = await Listener.open(join(place.root, 'socket'));
  session = await startSandboxed(place.root, { env: { XDG_CACHE_HOME: place.cache, SSH_AUTH_SOCK: secret } });
});
afterAll(async () => {
  await session.close();
  for (const listener of Object.values(listeners)) listener.close();
  outside.remove();
  place.remove();
  rmSync(secret, { recursive: true });
});

/** Expects that what lies outside is as it was. */
function expectUnchanged(): void {
  expect(readdirSync(outside.path).sort()).toEqual(['folder', 'kept']);
  expect(readFileSync(join(outside.path, 'kept'), 'utf8')).toBe('kept');
}

test('it can change the workspace, and has a temporary folder', async () => {
  expect(await shell(session, 'echo text > made && cat made && cd "$TMPDIR" && echo t > t && cat t')).toBe(
    '0 text\nt',
  );
  expect(readFileSync(join(place.root, 'made'), 'utf8')).toBe('text\n');
  expect(existsSync(join(tmpdir(), 't'))).toBe(false);
});

describe('what lies outside the workspace cannot be changed', () => {
  test.each([
    ['echo x > OUT/new', /Read-only file system/],
    ['mv OUT/kept .', /Read-only file system/],
    ['chmod 777 OUT/kept', /Read-only file system/],
    ['ln OUT/kept hard', /Invalid cross-device link/],
    ['echo x > way-out/new', /Read-only file system/],
    ['echo x > /proc/self/cwd/way-out/new', /Read-only file system/],
    ['echo x > /proc/1/root/OUT/new', /Read-only file system|Permission denied/],
    ['ls /proc/1/cwd/', /Permission denied|^0 /],
    ['mount -o remount,rw /', /permission denied|must be superuser/],
    ['umount /tmp', /permission denied|must be superuser|not permitted|not mounted/],
    ['unshare -Urm sh -c "mount -o remount,bind,rw / && echo x > OUT/new"', /unshare failed/],
    ['nsenter -t 1 -m sh -c "echo x > OUT/new"', /Permission denied|not permitted|Read-only/],
    ['mknod disk b 254 0', /Operation not permitted/],
    ['test -w /proc/sys/kernel/core_pattern && echo writable', /^1$/],
    ['ls /dev | grep -E "^(vd|sd|nvme|mem|kmsg|loop)"', /^1$/],
    ['unset TMPDIR LIVE_LISP_FASL HOME; echo x > OUT/new', /Read-only file system/],
  ])('%s', async (command, answer) => {
    expect(await shell(session, command.replaceAll('OUT', outside.path))).toMatch(answer);
    expectUnchanged();
  });

  test('in Lisp', async () => {
    const text = await session.eval(`(delete-file ${lispString(join(outside.path, 'kept'))})`);
    expect(text).toMatch(/^Error: [\s\S]*Read-only file system/);
    expectUnchanged();
  });

  test('nor the program, its cache and its records', async () => {
    const cache = join(place.cache, 'live-lisp');
    const files = readdirSync(cache);
    const fasl = join(cache, files.find((each) => each.endsWith('.fasl')) ?? 'no fasl');
    const log = join(String(process.env['XDG_STATE_HOME']), 'live-lisp', 'audit.jsonl');
    for (const path of [fasl, log, SERVER, join(PROJECT, 'lisp', 'boot.lisp'), process.execPath]) {
      const { ino, size } = statSync(path);
      await shell(session, `rm -f ${path}; mkdir -p "$(dirname ${path})"; echo planted >> ${path}`);
      // What was recorded of this very call has come to the log.
      expect(statSync(path).ino).toBe(ino);
      if (path !== log) expect(statSync(path).size).toBe(size);
    }
    expect(readFileSync(log, 'utf8')).not.toMatch(/^planted/m);
    expect(await shell(session, `echo x > ${cache}/backend-planted.fasl`)).toMatch(/Read-only file system/);
    // The server itself may have kept its compiled code meanwhile.
    expect(readdirSync(cache).filter((each) => !files.includes(each) && !each.endsWith('.v8'))).toEqual([]);
    expect(readdirSync(cache)).toEqual(expect.arrayContaining(files));
  });
});

describe('other processes cannot be reached', () => {
  test('they are neither seen nor killed', async () => {
    expect(await shell(session, `kill -9 ${session.pid}; kill -9 ${process.pid}`)).toMatch(/No such process/);
    expect(runs(session.pid)).toBe(true);
    expect(
      Number(await shell(session, 'ls /proc | grep -c "^[0-9]*$"').then((text) => text.slice(2))),
    ).toBeLessThan(9);
  });

  test('nor traced', async () => {
    const trace = `(sb-alien:alien-funcall (sb-alien:extern-alien "ptrace" (function sb-alien:long sb-alien:int sb-alien:int sb-alien:long sb-alien:long)) 16 ${session.pid} 0 0)`;
    expect(await session.eval(trace)).toBe('-1');
  });

  test('there is no privilege, and none to gain', async () => {
    expect(await shell(session, 'grep -E "^(CapPrm|CapEff|CapBnd|NoNewPrivs)" /proc/self/status')).toMatch(
      /^0 CapPrm:\s0+\nCapEff:\s0+\nCapBnd:\s0+\nNoNewPrivs:\s1$/,
    );
  });

  test('no file of the server is open', async () => {
    const text = await shell(session, 'ls -l /proc/2/fd | sed 1d');
    expect(text.split('\n').map((line) => line.replace(/.*-> /, '').replace(/\d+/, 'N'))).toEqual(
      expect.arrayContaining(['/dev/null', 'socket:[N]']),
    );
    expect(text).not.toContain(PROJECT);
  });
});

describe('nothing outside listens', () => {
  const connect = (socket: string, address: string) =>
    session.eval(
      `(require :sb-bsd-sockets) (let ((socket (make-instance ${socket}))) (sb-bsd-sockets:socket-connect socket ${address}) :connected)`,
    );
  const tcp = "'sb-bsd-sockets:inet-socket :type :stream :protocol :tcp";
  const local = "'sb-bsd-sockets:local-socket :type :stream";

  test('on the network', async () => {
    expect(await connect(tcp, `#(127 0 0 1) ${listeners['port']?.port}`)).toMatch(
      /^Error: .*Connection refused/,
    );
    expect(await connect(tcp, '#(192 0 2 1) 80')).toMatch(/^Error: .*Network is unreachable/);
    expect(await shell(session, 'cat /proc/net/dev | sed 1,2d | cut -d: -f1')).toMatch(/^0 +lo$/);
  });

  test('at a socket in the workspace', async () => {
    const path = String(listeners['workspace']?.server.address());
    expect(await connect(local, lispString(path))).toMatch(/^Error: .*Address family not supported/);
    expect(listeners['workspace']?.visits).toBe(0);
  });

  test('at the abstract socket', async () => {
    const abstract = "'sb-bsd-sockets:local-abstract-socket :type :stream";
    expect(await connect(abstract, lispString(name))).toMatch(/^Error: .*Address family not supported/);
    expect(listeners['abstract']?.visits).toBe(0);
  });

  test('and nothing tells where it would', async () => {
    expect(await shell(session, 'env | grep -E "^(SSH_AUTH|DBUS|XDG_RUNTIME)"')).toBe('1');
    expect(await shell(session, 'find /run /var/tmp -type s')).toMatch(/^0$/);
  });

  test('unless it is not strict, and nothing else changes', async () => {
    const open = await startSandboxed(place.root, {
      args: ['--sandbox', 'on'],
      env: { XDG_CACHE_HOME: place.cache },
    });
    try {
      const text = await open.eval(
        `(require :sb-bsd-sockets) (let ((socket (make-instance ${tcp}))) (sb-bsd-sockets:socket-connect socket #(127 0 0 1) ${listeners['port']?.port}) :connected)`,
      );
      expect(text).toContain(':CONNECTED');
      expect(await shell(open, `echo x > ${outside.path}/new; kill -9 ${open.pid}`)).toMatch(
        /Read-only file system[\s\S]*No such process/,
      );
      expectUnchanged();
    } finally {
      await open.close();
    }
  });
});

test('a file that stands for bwrap or a root that became a link are not what code in the sandbox makes of them', async () => {
  const [bin, inner] = [join(place.root, 'bin'), join(place.root, 'inner')];
  mkdirSync(bin);
  writeFileSync(join(bin, 'bwrap'), `#!/bin/sh\ntouch ${outside.path}/fooled\n`, { mode: 0o755 });
  symlinkSync(outside.path, inner);
  const env = { PATH: `${bin}:${process.env['PATH']}`, XDG_CACHE_HOME: place.cache };
  const other = await startSandboxed(place.root, {
    args: ['--sandbox', 'strict', '--root', place.root, '--root', inner],
    env,
  });
  try {
    expect(await shell(other, `echo x > ${inner}/new`)).toMatch(/Read-only file system/);
    expectUnchanged();
  } finally {
    await other.close();
  }
});
