// A session whose image is in the sandbox, what lies outside of it, and ways to try to get there.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Session, type StartOptions, startSession, temporaryFolder, warmCache } from '../harness.ts';

/** A folder that no sandbox hides, as those for temporary files are. It has a file `kept` and a `folder`. */
export function outsideFolder(): { path: string; remove: () => void } {
  const cache = join(homedir(), '.cache');
  mkdirSync(cache, { recursive: true });
  const path = mkdtempSync(join(cache, 'live-lisp-test-'));
  writeFileSync(join(path, 'kept'), 'kept');
  mkdirSync(join(path, 'folder'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** A workspace with a cache of its own, so that what is compiled in the sandbox can be looked at. In it is the compiled
 *  backend, unless it is to be EMPTY. */
export function workspace(empty?: 'empty'): { root: string; cache: string; remove: () => void } {
  const folder = temporaryFolder();
  const [root, cache] = [join(folder.path, 'root'), join(folder.path, 'cache')];
  mkdirSync(root);
  mkdirSync(cache);
  if (empty === undefined) warmCache(cache);
  return { root, cache, remove: folder.remove };
}

/** Starts a session over ROOT with the sandbox and the flags ARGS, whose images have a heap of the size HEAP. */
export function startSandboxed(
  root: string,
  { args = ['--sandbox', 'strict'], heap = '512MB', ...options }: StartOptions & { heap?: string } = {},
): Promise<Session> {
  return startSession({ ...options, args: [...args, '--root', root, '--heap', heap], cwd: root });
}

/** Has the image of SESSION run COMMAND in a shell, and returns the exit code and what that wrote. */
export async function shell(session: Session, command: string): Promise<string> {
  const form = `(let* ((code nil)
                       (text (with-output-to-string (out)
                               (setf code (sb-ext:process-exit-code
                                           (sb-ext:run-program "/bin/sh" (list "-c" ${lispString(command)})
                                                               :output out :error :output))))))
                  (format t "~D ~A" code text) (values))`;
  const text = await session.eval(form);
  return text.replace(/^[\s\S]*Output:\n/, '').trim();
}

/** Returns TEXT as Lisp reads it. */
export function lispString(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}

/** Listens at WHERE (a port of this machine, a path, or an abstract name after NUL) and counts who connects. */
export class Listener {
  readonly server: Server;
  visits = 0;

  private constructor(server: Server) {
    this.server = server;
    server.on('connection', (socket) => {
      this.visits += 1;
      socket.on('error', () => {}).end();
    });
  }

  static async open(where?: string): Promise<Listener> {
    const listener = new Listener(createServer());
    await new Promise<void>((resolve) => {
      if (where === undefined) listener.server.listen(0, '127.0.0.1', resolve);
      else listener.server.listen(where, resolve);
    });
    return listener;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  close(): void {
    this.server.close();
  }
}
