// Decides how lines on stdin and stdout become messages. The SDK's own transport drops lines that are no JSON
// without a word and ends the connection at 10 MB; this one reports the first and takes longer lines. Null for
// the arguments of a call, which the SDK refuses, counts as none (S2.21).

import type { Readable, Writable } from 'node:stream';
import {
  deserializeMessage,
  type JSONRPCMessage,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/server';
import { messageOf } from '../errors.ts';

/** Octets of one line; a longer one is passed over. */
const LINE_LIMIT = 64 * 1024 * 1024;
/** How long calls may still be answered after stdin ended. */
const LAST_ANSWERS_MS = 600;

export interface StdioOptions {
  stdin: Readable;
  stdout: Writable;
  /** Reports, in one line, what was wrong with a message. */
  complain: (line: string) => void;
  /** Called once, after the first answer was written. */
  onFirstAnswer: () => void;
}

export class StdioTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onerror?: (error: Error) => void;
  onclose?: () => void;
  readonly #options: StdioOptions;
  readonly #unanswered = new Set<string | number>();
  #parts: Buffer[] = [];
  #size = 0;
  #answered = false;
  #ended = false;
  #closed = false;
  #allAnswered: () => void = () => {};

  constructor(options: StdioOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { stdin, stdout } = this.#options;
    stdin.on('data', (chunk: Buffer) => this.#receive(chunk));
    for (const event of ['end', 'close', 'error']) stdin.on(event, () => this.#end());
    stdout.on('error', () => void this.close());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) return;
    await new Promise<void>((resolve) => {
      this.#options.stdout.write(serializeMessage(message), () => resolve());
    });
    if (!this.#answered) setImmediate(this.#options.onFirstAnswer);
    this.#answered = true;
    if ('id' in message && !('method' in message) && message.id !== undefined) {
      this.#answeredOne(message.id);
    }
    if (this.#ended && this.#unanswered.size === 0) await this.close();
  }

  /** Resolves when every call has its answer, or after MS milliseconds. */
  async answers(ms: number): Promise<void> {
    if (this.#closed || this.#unanswered.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#allAnswered = resolve;
      setTimeout(resolve, ms);
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.onclose?.();
  }

  #answeredOne(id: string | number): void {
    this.#unanswered.delete(id);
    if (this.#unanswered.size === 0) this.#allAnswered();
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#unanswered.size === 0) void this.close();
    else setTimeout(() => void this.close(), LAST_ANSWERS_MS);
  }

  #receive(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      this.#keep(chunk.subarray(start, end));
      this.#takeLine();
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
  }

  #keep(part: Buffer): void {
    this.#size += part.length;
    if (this.#size <= LINE_LIMIT) this.#parts.push(part);
    else this.#parts = [];
  }

  #takeLine(): void {
    const size = this.#size;
    const line = Buffer.concat(this.#parts).toString('utf8').trim();
    this.#parts = [];
    this.#size = 0;
    if (size > LINE_LIMIT) {
      this.#options.complain(`A line of ${size} octets was passed over; the limit is ${LINE_LIMIT}.`);
    } else if (line !== '') this.#takeMessage(line);
  }

  #takeMessage(line: string): void {
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch (error) {
      const problem =
        error instanceof SyntaxError ? `is no JSON (${messageOf(error)})` : 'is no JSON-RPC message';
      this.#options.complain(
        `A line on stdin ${problem}; it was passed over: ${line.slice(0, 80)}`.replace(/\s+/g, ' '),
      );
      return;
    }
    if ('method' in message && 'id' in message) this.#unanswered.add(message.id);
    if (isCancellation(message)) this.#answeredOne(message.params.requestId); // It gets no answer.
    if ('method' in message && message.params?.['arguments'] === null) delete message.params['arguments'];
    this.onmessage?.(message);
  }
}

type Cancellation = JSONRPCMessage & { params: { requestId: string | number } };

function isCancellation(message: JSONRPCMessage): message is Cancellation {
  return (
    'method' in message &&
    message.method === 'notifications/cancelled' &&
    message.params?.['requestId'] !== undefined
  );
}
