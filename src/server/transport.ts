// Reads messages as lines from stdin, writes messages as lines to stdout, and limits the buffers of both. Replaces the
// SDK's transport, which silently drops lines that are not JSON and ends the connection when its buffer has 10 MB. This
// transport reports such lines and accepts longer lines. It also accepts a call with null `arguments`, which the SDK
// refuses, as a call without arguments.

import type { Readable, Writable } from 'node:stream';
import {
  type JSONRPCMessage,
  type JSONRPCNotification,
  ProtocolErrorCode,
  parseJSONRPCMessage,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/server';
import { OUTPUT_KEY } from '../door/outcome.ts';
import { messageOf } from '../errors.ts';
import { membersOf } from '../json.ts';
import { LINE_OCTETS_LIMIT, type Line, LineReader } from './line-reader.ts';
import { isTooDeep, TOO_DEEP } from './nesting.ts';

/** While unread output and unanswered requests together have more octets than this, no input is read. The limit is
 * high, because a client that sends more than this before it reads anything would wait for ever. */
const BUFFER_LIMIT = 128 * 1024 * 1024;
/** While the output has more unread octets than this, notifications are dropped. */
const NOTIFICATION_LIMIT = 1024 * 1024;
/** Milliseconds for the running calls to answer after the end of stdin. */
const LAST_ANSWERS_MS = 600;
/** Maximum number of times that the wait of LAST_ANSWERS_MS is repeated while calls wait for an image to start. All
 * waits together take as long as the time limit for the start of an image. */
const STARTING_ROUNDS = 100;
/** Milliseconds to write the answers of the calls that were ended after LAST_ANSWERS_MS. */
const WRITTEN_MS = 100;

/** `stdin` and `stdout` can also be the two directions of a socket; see door.ts. */
interface StdioOptions {
  stdin: Readable;
  stdout: Writable;
  /** Reports what is wrong with a message, in one line. */
  complain: (line: string) => void;
  /** Called once, after the first answer. */
  onFirstAnswer: () => void;
  /** True while calls wait for an image to start. */
  starting: () => boolean;
  /** Milliseconds for the running calls to answer after the end of stdin, instead of LAST_ANSWERS_MS. */
  lastAnswersMs?: number | undefined;
  /** Called when calls still run LAST_ANSWERS_MS after the end of stdin. Ends these calls, so that each one is
   * answered. */
  onOverdue: () => Promise<void>;
  /** Maximum number of buffered octets, instead of BUFFER_LIMIT. */
  bufferLimit?: number;
}

export class StdioTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onerror?: (error: Error) => void;
  onclose?: () => void;
  readonly #options: StdioOptions;
  readonly #lines = new LineReader();
  /** Maps the id of each unanswered request to the length of its line, in UTF-16 units. */
  readonly #unanswered = new Map<string | number, number>();
  /** The length of the lines of all unanswered requests together, in UTF-16 units. */
  #unansweredLength = 0;
  #answered = false;
  #ended = false;
  #closed = false;
  /** Resolves the promise of `waitForAnswers`. */
  #allAnswered: () => void = () => {};

  constructor(options: StdioOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { stdin, stdout } = this.#options;
    stdin.on('data', (chunk: Buffer) => this.#receive(chunk));
    for (const event of ['end', 'close', 'error']) stdin.on(event, () => this.#end());
    stdout.on('drain', () => this.#resumeReading());
    stdout.on('error', () => void this.close());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { stdout } = this.#options;
    if (this.#closed) return;
    const isNotification = 'method' in message && !('id' in message);
    if (isNotification && hasOutput(message)) {
      // Output of a call must not be dropped. So the call waits until this output is written.
      await new Promise((resolve) => stdout.write(serializeMessage(message), resolve));
      return;
    }
    if (isNotification && stdout.writableLength > NOTIFICATION_LIMIT) return;
    // The stream preserves the order of messages, so this need not wait for the write.
    stdout.write(serializeMessage(message), () => this.#sent(message));
  }

  #sent(message: JSONRPCMessage): void {
    if (!this.#answered) setImmediate(this.#options.onFirstAnswer);
    this.#answered = true;
    if ('id' in message && !('method' in message) && message.id !== undefined) this.#settle(message.id);
    if (this.#ended && this.#unanswered.size === 0) void this.close();
  }

  /** Resolves when every request is answered, or after MS milliseconds. */
  async waitForAnswers(ms: number): Promise<void> {
    if (this.#closed || this.#unanswered.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#allAnswered = resolve;
      setTimeout(resolve, ms);
    });
  }

  /** Calls `onclose`. The owner of the transport has set it to a function that ends the process or the socket. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.onclose?.();
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#unanswered.size === 0) void this.close();
    else this.#waitForLastAnswers(STARTING_ROUNDS);
  }

  /** Waits LAST_ANSWERS_MS for answers, then ends the unanswered calls. While calls wait for an image to start, waits
   * again, up to ROUNDS times. */
  #waitForLastAnswers(rounds: number): void {
    const wasStarting = this.#options.starting();
    setTimeout(() => {
      // A call whose image started during this wait needs a wait of its own.
      if (rounds > 0 && (wasStarting || this.#options.starting())) this.#waitForLastAnswers(rounds - 1);
      else void this.#endOverdue();
    }, this.#options.lastAnswersMs ?? LAST_ANSWERS_MS);
  }

  async #endOverdue(): Promise<void> {
    if (this.#closed) return;
    await this.#options.onOverdue();
    await this.waitForAnswers(WRITTEN_MS);
    await this.close();
  }

  #receive(chunk: Buffer): void {
    for (const line of this.#lines.push(chunk)) this.#handleLine(line);
    if (this.#isOverLimit()) this.#options.stdin.pause();
  }

  #isOverLimit(): boolean {
    const { stdout, bufferLimit = BUFFER_LIMIT } = this.#options;
    return stdout.writableLength + this.#unansweredLength > bufferLimit;
  }

  #resumeReading(): void {
    if (!this.#isOverLimit()) this.#options.stdin.resume();
  }

  /** Removes the request ID from the unanswered ones, because it is answered or needs no answer any more. */
  #settle(id: string | number): void {
    this.#unansweredLength -= this.#unanswered.get(id) ?? 0;
    this.#unanswered.delete(id);
    if (this.#unanswered.size === 0) this.#allAnswered();
    this.#resumeReading();
  }

  #handleLine(line: Line): void {
    if ('skippedOctets' in line) {
      this.#options.complain(
        `A line of ${line.skippedOctets} octets was skipped; the limit is ${LINE_OCTETS_LIMIT}.`,
      );
      return;
    }
    const text = line.octets.toString('utf8').trim();
    if (text !== '') this.#handleMessage(text);
  }

  #handleMessage(text: string): void {
    let message: JSONRPCMessage;
    try {
      const value: unknown = JSON.parse(text);
      if (isTooDeep(value, text.length)) {
        this.#passOver(text, 'is nested too deep', `it is ${TOO_DEEP}`);
        return;
      }
      message = parseJSONRPCMessage(value);
    } catch (error) {
      const problem =
        error instanceof SyntaxError ? `is not JSON (${messageOf(error)})` : 'is not a JSON-RPC message';
      this.#passOver(text, problem, NO_REQUEST);
      return;
    }
    if ('method' in message && 'id' in message) {
      if (this.#unanswered.has(message.id)) {
        // With two requests of the same id, an answer could belong to either.
        const why = `a request with the id ${JSON.stringify(message.id)} is not answered yet, so nothing was done. Send this one with another id.`;
        this.#refuse(message.id, why);
        return;
      }
      this.#unanswered.set(message.id, text.length);
      this.#unansweredLength += text.length;
    } else if ('method' in message && message.method === 'notifications/cancelled') {
      this.#settle(message.params?.['requestId'] as string | number); // The SDK does not answer a cancelled request.
    }
    if ('method' in message && message.params?.['arguments'] === null) delete message.params['arguments'];
    this.onmessage?.(message);
  }

  /** Complains about TEXT, a line with PROBLEM. Refuses it for the reason WHY when it is a request. */
  #passOver(text: string, problem: string, why: string): void {
    this.#options.complain(
      `A line on stdin ${problem}; it was skipped: ${text.slice(0, 80)}`.replace(/\s+/g, ' '),
    );
    const id = requestId(text);
    if (id !== undefined) this.#refuse(id, why);
  }

  /** Refuses a request with ID for the reason WHY. Does not use `send`, which would count an unanswered request with
   * this ID as answered. */
  #refuse(id: string | number, why: string): void {
    const error = { code: ProtocolErrorCode.InvalidRequest, message: `Invalid request: ${why}` };
    if (!this.#closed) this.#options.stdout.write(serializeMessage({ jsonrpc: '2.0', id, error }));
  }
}

/** Returns true for a progress notification that has a part of a call's output. */
function hasOutput({ params }: JSONRPCNotification): boolean {
  return params?._meta?.[OUTPUT_KEY] !== undefined;
}

const NO_REQUEST =
  'it does not have the form that MCP requires, so nothing was done. Correct it and send it again.';

/** Returns the id of the request in TEXT, which is an invalid message; undefined when it has no valid id. */
function requestId(text: string): string | number | undefined {
  const { id, method } = membersOf(text);
  return method !== undefined && (typeof id === 'string' || Number.isInteger(id))
    ? (id as string | number)
    : undefined;
}
