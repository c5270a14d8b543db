// The built server as a process that is spoken to in lines, for what a client library would never send.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Era, PROJECT, programWith, type TestWaits } from '../harness.ts';
import { until } from './processes.ts';

export interface Reply {
  id?: number | string;
  result?: { content?: { type: string; text: string }[]; isError?: boolean; [key: string]: unknown };
  error?: { code: number; message: string };
  method?: string;
  params?: { [key: string]: unknown };
}

export interface RawOptions {
  era?: Era;
  args?: string[];
  /** What the client says that it can do. */
  capabilities?: object;
  /** Added to this process's environment; undefined takes a variable out. */
  env?: Record<string, string | undefined>;
  cwd?: string;
  /** Shorter times than users have. */
  waits?: TestWaits;
  /** The words before those that start the server: a program that becomes it. */
  within?: string[];
}

/** How long an answer may take before the test fails. */
const PATIENCE_MS = 300_000;

export class RawServer {
  readonly process: ChildProcessWithoutNullStreams;
  readonly messages: Reply[] = [];
  readonly exited: Promise<{ code: number | null; signal: string | null; at: number }>;
  readonly #era: Era;
  readonly #capabilities: object;
  #stdout = '';
  #stderr = '';
  #nextId = 1;

  constructor(options: RawOptions = {}) {
    const {
      era = 'legacy',
      args = [],
      env = {},
      cwd = PROJECT,
      capabilities = {},
      waits,
      within = [],
    } = options;
    this.#era = era;
    this.#capabilities = capabilities;
    const program = programWith(waits);
    const [first = '', ...rest] = [...within, process.execPath, program.file, ...args];
    this.process = spawn(first, rest, {
      cwd,
      env: { ...process.env, ...program.env, ...env },
      stdio: 'pipe',
    });
    this.process.stdout.setEncoding('utf8').on('data', (text: string) => this.#take(text));
    this.process.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    this.process.stdin.on('error', () => {});
    this.exited = once(this.process, 'exit').then(([code, signal]) => ({
      code,
      signal,
      at: performance.now(),
    }));
  }

  get pid(): number {
    return this.process.pid ?? -1;
  }

  /** The lines on standard error so far. */
  get complaints(): string[] {
    return this.#stderr.split('\n').filter((line) => line !== '');
  }

  /** Writes TEXT as it is. */
  write(text: string | Buffer): void {
    this.process.stdin.write(text);
  }

  /** Ends the server's stdin. */
  end(): void {
    this.process.stdin.end();
  }

  /** Returns the request METHOD with PARAMS as a line, and its id. */
  request(method: string, params: object = {}): { id: number; line: string } {
    const id = this.#nextId++;
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': this.#capabilities,
    };
    const whole = this.#era === 'modern' ? { ...params, _meta: meta } : params;
    return { id, line: `${JSON.stringify({ jsonrpc: '2.0', id, method, params: whole })}\n` };
  }

  /** Returns the line that a client of this era sends first, and its id. */
  greeting(): { id: number; line: string } {
    if (this.#era === 'modern') return this.request('server/discover');
    const clientInfo = { name: 'raw', version: '1.0.0' };
    return this.request('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: this.#capabilities,
      clientInfo,
    });
  }

  /** Returns the line that calls the tool NAME, and its id. */
  callLine(name: string, args: unknown): { id: number; line: string } {
    return this.request('tools/call', { name, arguments: args });
  }

  /** Resolves with the answer to the request ID. */
  async answer(id: number | string): Promise<Reply> {
    return until(`an answer to ${id}`, PATIENCE_MS, () => this.messages.find((each) => each.id === id));
  }

  /** Sends a request made by one of the above and resolves with its answer. */
  async send({ id, line }: { id: number; line: string }): Promise<Reply> {
    this.write(line);
    return this.answer(id);
  }

  /** Evaluates FORM and resolves with the text of the answer. */
  async eval(form: string): Promise<string> {
    return textOf(await this.send(this.callLine('eval_form', { form })));
  }

  /** Greets, as every client does first. */
  async connect(): Promise<this> {
    await this.send(this.greeting());
    if (this.#era === 'legacy') this.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    return this;
  }

  /** Ends the server, whatever it does. */
  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.exited;
  }

  #take(text: string): void {
    this.#stdout += text;
    const lines = this.#stdout.split('\n');
    this.#stdout = lines.pop() ?? '';
    for (const line of lines) this.messages.push(JSON.parse(line) as Reply);
  }
}

/** Returns the text of the first content of REPLY. */
export function textOf(reply: Reply): string {
  return reply.result?.content?.[0]?.text ?? `no text: ${JSON.stringify(reply)}`;
}
