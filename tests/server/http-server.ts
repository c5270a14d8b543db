// The built server over HTTP: real clients of it, and requests that no client library would send.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import {
  Client,
  type ElicitRequestFormParams,
  type ElicitResult,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { type Era, NO_SYSTEMS, PROJECT, programWith, type TestWaits } from '../harness.ts';
import { until } from './processes.ts';

export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

export interface HttpRequest {
  method?: string;
  path?: string;
  /** Replace the usual ones; undefined takes one out. */
  headers?: Record<string, string | undefined>;
  body?: string | Buffer;
}

export interface HttpClientOptions {
  name?: string;
  onQuestion?: (question: ElicitRequestFormParams) => ElicitResult | Promise<ElicitResult>;
}

export class HttpServer {
  readonly process: ChildProcessWithoutNullStreams;
  readonly exited: Promise<number | null>;
  stdout = '';
  stderr = '';

  constructor(
    args: readonly string[] = NO_SYSTEMS,
    env: Record<string, string | undefined> = {},
    waits?: TestWaits,
  ) {
    const program = programWith(waits);
    const words = [program.file, 'serve', '--http', '0', ...args];
    this.process = spawn(process.execPath, words, {
      cwd: PROJECT,
      env: { ...process.env, ...program.env, ...env },
    });
    this.process.stdin.end();
    this.process.stdout.on('data', (chunk: Buffer) => {
      this.stdout += chunk;
    });
    this.process.stderr.on('data', (chunk: Buffer) => {
      this.stderr += chunk;
    });
    this.exited = once(this.process, 'exit').then(([code]) => code as number | null);
  }

  get pid(): number {
    return this.process.pid ?? -1;
  }

  /** Resolves when the server listens. */
  async listening(): Promise<this> {
    await until('the line with the URL', 60_000, () => {
      if (this.process.exitCode !== null) throw new Error(`The server ended; it wrote: ${this.stderr}`);
      return this.stdout.includes('\n');
    });
    return this;
  }

  get url(): URL {
    const [, url = ''] = /MCP over HTTP is at (\S+)\. /.exec(this.stdout) ?? [];
    return new URL(url);
  }

  get token(): string {
    const [, file = ''] = /Its token is in (\S+)\.\n/.exec(this.stdout) ?? [];
    return readFileSync(file, 'utf8').trim();
  }

  /** Returns a connected client of ERA. */
  async client(
    era: Era,
    { name = 'live-lisp-test', onQuestion }: HttpClientOptions = {},
  ): Promise<HttpClient> {
    let noteStream = () => {};
    const streamOpen = new Promise<void>((resolve) => {
      noteStream = resolve;
    });
    const transport = new StreamableHTTPClientTransport(this.url, {
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        if (init?.method === 'GET') noteStream();
        return response;
      },
      requestInit: { headers: { authorization: `Bearer ${this.token}` } },
    });
    const client = new HttpClient(
      { name, version: '1.0.0' },
      {
        versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' },
        capabilities: onQuestion ? { elicitation: { form: {} } } : {},
      },
    );
    if (onQuestion)
      client.setRequestHandler('elicitation/create', async ({ params }) =>
        onQuestion(params as ElicitRequestFormParams),
      );
    await client.connect(transport);
    // A client of the legacy era opens the stream for notifications beside its first calls. Notifications before that are
    // lost.
    if (era === 'legacy') await streamOpen;
    return client;
  }

  /** Sends a request, and resolves with the status of its answer, whose rest is not waited for: it can be a stream without
   *  an end. */
  async begun(sent: HttpRequest): Promise<number> {
    const answer = await this.#sent(sent);
    answer.destroy();
    return answer.statusCode ?? 0;
  }

  /** Sends a request, and resolves with its whole answer. Calls ON_BEGIN at the beginning of the answer. */
  async send(sent: HttpRequest, onBegin = () => {}): Promise<HttpAnswer> {
    const answer = await this.#sent(sent);
    onBegin();
    let text = '';
    for await (const part of answer.setEncoding('utf8')) text += part;
    return { status: answer.statusCode ?? 0, headers: answer.headers, text };
  }

  #sent({
    method = 'POST',
    path = this.url.pathname,
    headers = {},
    body,
  }: HttpRequest): Promise<IncomingMessage> {
    const usual = {
      authorization: `Bearer ${this.token}`,
      accept: 'application/json, text/event-stream',
      ...(body !== undefined && {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
      }),
    };
    const all = Object.entries({ ...usual, ...headers }).filter(([, value]) => value !== undefined);
    return new Promise((resolve, reject) => {
      const { hostname, port } = this.url;
      const sent = request({ hostname, port, path, method, headers: Object.fromEntries(all) }, resolve);
      sent.on('error', reject);
      sent.end(body);
    });
  }

  /** Sends MESSAGE as JSON. Calls ON_BEGIN at the beginning of the answer. */
  post(
    message: unknown,
    headers: Record<string, string | undefined> = {},
    onBegin = () => {},
  ): Promise<HttpAnswer> {
    return this.send({ body: JSON.stringify(message), headers }, onBegin);
  }

  /** Begins a session of the legacy era, and resolves with its id. */
  async session(): Promise<string> {
    const clientInfo = { name: 'raw', version: '1.0.0' };
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    const { headers } = await this.post({ jsonrpc: '2.0', id: 'begin', method: 'initialize', params });
    return String(headers['mcp-session-id']);
  }

  /** Writes OCTETS on a connection. ALL resolves with all that the server wrote when it has ended that. */
  opened(octets: string): { socket: Socket; all: Promise<string> } {
    const socket = connect(Number(this.url.port), this.url.hostname);
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk;
    });
    socket.on('error', () => {});
    socket.write(octets);
    return { socket, all: once(socket, 'close').then(() => text) };
  }

  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<number | null> {
    this.process.kill(signal);
    return this.exited;
  }
}

export class HttpClient extends Client {
  /** Evaluates FORM, and resolves with the text of the answer. */
  async eval(form: string, options: object = {}): Promise<string> {
    return this.text('eval_form', { form }, options);
  }

  /** Calls the tool NAME, and resolves with its own text. */
  async text(name: string, args: Record<string, unknown>, options: object = {}): Promise<string> {
    const result = await this.callTool({ name, arguments: args }, { timeout: 600_000, ...options });
    return (result.content as { text: string }[])[0]?.text ?? '';
  }
}

/** Returns the JSON of ANSWER's body: of its last event when that is a stream. */
export function jsonOf({ text }: HttpAnswer): {
  id?: unknown;
  result?: unknown;
  error?: { code: number; message: string };
} {
  const events = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => data);
  return JSON.parse(events.at(-1) ?? text);
}
