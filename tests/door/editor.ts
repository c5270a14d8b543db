// An editor, as the server knows it: what connects to the socket of its session, and speaks JSON-RPC a line at a time.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { until } from '../server/processes.ts';

export interface Message {
  id?: number | null;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: { code: number; message: string };
}

/** Resolves with the path, without its end, of a server whose folder of images that serve is SERVING. */
export async function anySession(serving: string): Promise<string> {
  const folder = join(serving, 'sessions');
  const found = () =>
    existsSync(folder) ? readdirSync(folder).find((name) => name.endsWith('.json')) : undefined;
  const name = await until('the file of a server', 60_000, found);
  return join(folder, name.replace('.json', ''));
}

/** Resolves with the path, without its end, of the server PID whose folder of images that serve is SERVING. This folder
 *  can have the files of another server: a client of the modern era first starts one that it only asks what it can, and
 *  kills it when it does not end within a second. */
export async function sessionOf(serving: string, pid: number | undefined): Promise<string> {
  const path = join(serving, 'sessions', `session-${pid}`);
  await until(`the file of the server ${pid}`, 60_000, () => existsSync(`${path}.json`));
  return path;
}

/** What the server at PATH writes of itself. */
export function described(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(`${path}.json`, 'utf8')) as Record<string, unknown>;
}

export class Editor {
  readonly socket: Socket;
  readonly messages: Message[] = [];
  /** The files that it has unsaved changes of; undefined for an editor that never says. */
  unsaved: string[] | undefined = [];
  /** The unsaved texts that it sends when it is asked for them, by file. A file that is here need not be in `unsaved`. */
  readonly texts = new Map<string, string | Buffer>();
  /** Writes its answer to a request about unsaved changes itself, if set. */
  answerUnsaved: ((request: Message) => void) | undefined;
  #rest = '';
  #lastId = 0;
  /** Why it gets no more messages. */
  #end: string | undefined;

  constructor(path: string) {
    this.socket = connect(`${path}.socket`);
    this.socket.setEncoding('utf8');
    this.socket.on('error', ({ message }) => {
      this.#end = message;
    });
    this.socket.on('close', () => {
      this.#end ??= 'the connection was closed';
    });
    this.socket.on('data', (chunk: string) => {
      const lines = (this.#rest + chunk).split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) this.#receive(JSON.parse(line) as Message);
    });
  }

  #receive(message: Message): void {
    this.messages.push(message);
    if (message.method !== 'live-lisp/unsaved' || this.unsaved === undefined) return;
    if (this.answerUnsaved) this.answerUnsaved(message);
    else this.write(JSON.stringify({ id: message.id, result: this.#unsavedBelow(message.params ?? {}) }));
  }

  #unsavedBelow({ file, limit }: Record<string, unknown>): unknown {
    const asked = String(file);
    const isAsked = (path: string) => path === asked || path.startsWith(asked === '/' ? '/' : `${asked}/`);
    const files = [...this.texts].filter(([path]) => limit !== undefined && isAsked(path));
    if (files.length === 0) return this.unsaved?.includes(asked) || this.texts.has(asked);
    return files.map(([path, text]) => ({
      file: path,
      ...(Number(limit) > 0 && { octets: Buffer.from(text).toString('base64') }),
    }));
  }

  write(line: string): void {
    this.socket.write(`${line}\n`);
  }

  /** Resolves with the answer to the request METHOD. */
  async request(method: string, params: object = {}): Promise<Message> {
    const id = ++this.#lastId;
    this.write(JSON.stringify({ id, method, params }));
    return this.#until(`an answer to ${method}`, () =>
      this.messages.find((message) => message.id === id && message.method === undefined),
    );
  }

  /** Resolves with what LOOK finds. Throws, naming WHAT, when the connection ends before. */
  #until<T>(what: string, look: () => T | undefined): Promise<T> {
    return until(what, 60_000, () => {
      const ended = this.#end;
      const seen = look();
      if (seen === undefined && ended !== undefined) throw new Error(`There was never ${what}: ${ended}.`);
      return seen;
    });
  }

  /** The parameters of the messages METHOD so far. */
  reported(method: string): Record<string, unknown>[] {
    return this.messages.filter((message) => message.method === method).map(({ params = {} }) => params);
  }

  /** Resolves with the parameters of the message METHOD number COUNT. */
  async nth(method: string, count = 1): Promise<Record<string, unknown>> {
    return this.#until(`message ${count} ${method}`, () => this.reported(method)[count - 1]);
  }

  /** Answers the question number COUNT, and resolves with what the server says to that. */
  async answer(answer: { approve?: unknown; words?: unknown }, count = 1): Promise<unknown> {
    const { id } = await this.nth('live-lisp/asked', count);
    return (await this.request('live-lisp/answer', { id, ...answer })).result;
  }
}

/** Connects an editor to the server at PATH for the test that calls this, and resolves when it watches. */
export async function watchingEditor(path: string): Promise<Editor> {
  const editor = new Editor(path);
  onTestFinished(() => void editor.socket.destroy());
  await editor.request('live-lisp/watch', { editor: 'Emacs' });
  return editor;
}

/** Repeats CALL until no editor was too slow for it, as one can be on a busy machine. Resolves with its answer. */
export async function inTime<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  return until('an answer of the editor in time', 60_000, async () => {
    const answer = await call();
    return JSON.stringify(answer).includes('did not report in time') ? undefined : answer;
  });
}
