// Runs verbs of the command line as a shell does, in sessions of a test's own.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { connectTo, sessionsIn } from '../../src/door/sessions.ts';
import { programWith, SERVER, type TestWaits } from '../harness.ts';
import { until } from '../server/processes.ts';

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** A workspace with the sessions that commands of a test use. */
export class Shell {
  readonly workspace: string;
  readonly serving: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #waits: TestWaits | undefined;
  readonly #sessions: ChildProcess[] = [];
  readonly #servers: Server[] = [];

  /** FOLDER is a folder of the test's own. The environment of all commands has ENV. What is started has WAITS. */
  constructor(folder: string, env: Record<string, string> = {}, waits?: TestWaits) {
    this.workspace = join(folder, 'ws');
    this.serving = join(folder, 'serving');
    mkdirSync(this.workspace, { recursive: true });
    mkdirSync(join(this.workspace, '.git'), { recursive: true });
    this.#env = { ...process.env, LIVE_LISP_SERVING: this.serving, ...env };
    this.#waits = waits;
  }

  get sessionsFolder(): string {
    return join(this.serving, 'sessions');
  }

  /** Runs live-lisp with WORDS in the workspace, or in CWD, with INPUT on standard input, to its end. */
  run(
    words: readonly string[],
    { input = '', cwd = this.workspace }: { input?: string | Buffer; cwd?: string } = {},
  ): Promise<Ran> {
    return new Promise((resolve) => {
      const options = { cwd, env: this.#env, maxBuffer: 1 << 26 };
      const child = execFile(process.execPath, [SERVER, ...words], options, (_, stdout, stderr) => {
        resolve({ code: child.exitCode ?? -1, stdout, stderr });
      });
      child.stdin?.end(input);
    });
  }

  /** Runs LINE of a shell in the workspace, in which `live-lisp` is the program. */
  line(line: string): Promise<Ran> {
    const program = `live-lisp() { '${process.execPath}' '${SERVER}' "$@"; }`;
    return new Promise((resolve) => {
      const options = { cwd: this.workspace, env: this.#env };
      const words = ['-c', `${program}\n${line}`];
      const child = execFile('bash', words, options, (_, stdout, stderr) => {
        resolve({ code: child.exitCode ?? -1, stdout, stderr });
      });
      child.stdin?.end();
    });
  }

  /** Runs live-lisp with WORDS in a terminal, and types each of KEYS once the terminal shows the text before it.
   *  Resolves with the exit code and what was shown. */
  async terminal(words: readonly string[], keys: readonly [shown: string, typed: string][]) {
    const quoted = [process.execPath, SERVER, ...words].map((word) => `'${word}'`).join(' ');
    const child = spawn('script', ['-qfec', quoted, '/dev/null'], { cwd: this.workspace, env: this.#env });
    const left = [...keys];
    let shown = '';
    const type = () => {
      for (let next = left[0]; next && shown.includes(next[0]); next = left[0]) {
        child.stdin.write(next[1]);
        left.shift();
      }
    };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
      type();
    });
    type();
    const code = await new Promise((resolve) => child.on('close', resolve));
    return { code, shown };
  }

  /** Starts live-lisp with WORDS, and returns its process. */
  start(words: readonly string[]): ChildProcess {
    const { file, env } = programWith(this.#waits);
    return spawn(process.execPath, [file, ...words], {
      cwd: this.workspace,
      env: { ...this.#env, ...env },
    });
  }

  /** Starts a session of the workspace with FLAGS, and resolves when commands find it. */
  async session(...flags: string[]): Promise<ChildProcess> {
    const child = this.start(['session', '--root', this.workspace, ...flags]);
    this.#sessions.push(child);
    await until('a session', 60_000, async () => (await this.sessions()).includes(child.pid ?? -1));
    return child;
  }

  /** Resolves with the process ids of the sessions that can be connected to. */
  async sessions(): Promise<number[]> {
    const running: number[] = [];
    for (const session of sessionsIn(this.sessionsFolder)) {
      const connection = await connectTo(session);
      connection?.destroy();
      if (connection !== undefined) running.push(session.pid);
    }
    return running;
  }

  /** Returns the data with which this process would announce a session of the workspace, with CHANGES. */
  facts(changes: object = {}): object {
    return { pid: process.pid, workspace: this.workspace, started: 1, version: '0.1.0', ...changes };
  }

  /** Announces a session of the process PID by FACTS. This process serves its socket: SERVE gets each connection. */
  async announce(facts: object, serve: (socket: Socket) => void, pid = process.pid): Promise<void> {
    mkdirSync(this.sessionsFolder, { recursive: true, mode: 0o700 });
    chmodSync(this.serving, 0o700);
    const name = join(this.sessionsFolder, `session-${pid}`);
    writeFileSync(`${name}.json`, JSON.stringify(facts));
    const server = createServer(serve);
    this.#servers.push(server);
    await new Promise<void>((resolve) => server.listen(`${name}.socket`, resolve));
  }

  /** Closes the sockets of announced sessions. */
  closeAnnounced(): void {
    for (const server of this.#servers.splice(0)) server.close();
  }

  /** Ends all sessions. */
  async end(): Promise<void> {
    this.closeAnnounced();
    for (const pid of await this.sessions()) if (pid !== process.pid) kill(pid);
    for (const child of this.#sessions) child.kill('SIGKILL');
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch {}
}
