// Evaluates forms in another Lisp through Swank or Slynk, the servers of SLIME and SLY. A message consists of its
// length in octets, as six hexadecimal digits, and a list in Lisp syntax.

import { connect, type Socket } from 'node:net';

export interface SwankAddress {
  kind: 'swank' | 'slynk';
  host: string;
  port: number;
}

/** A value from Swank: the text of a symbol or a number, a string, or a list. */
export type Datum = string | { string: string } | Datum[];

/** Thrown when Swank cannot be reached, does not answer, or answers with an error. */
export class SwankError extends Error {
  /** unreachable: no connection could be made. closed: the other side closed the connection. silent: no answer came in
   * time. foreign: the other side does not use Swank's protocol. unreadable: Swank could not read a form. aborted: the
   * evaluation of a form failed. */
  readonly why: 'unreachable' | 'closed' | 'silent' | 'foreign' | 'unreadable' | 'aborted';

  /** DETAIL is the message of the error, for example a text from the other side. */
  constructor(why: SwankError['why'], detail = '') {
    super(detail);
    this.why = why;
  }
}

/** Maximum number of octets of a message. The largest usual message contains the indentation of all macros. */
const MESSAGE_LIMIT = 4 * 1024 * 1024;
const HEAD_OCTETS = 6;
const DEPTH_LIMIT = 100;

/** Connects to the Swank at an address, and calls WORK with a function that evaluates a form there. When WORK has
 * ended, closes the connection. If SECRET is given, sends it first. Throws a SwankError when this fails or takes more
 * than LIMIT_MS milliseconds. */
export async function withSwank<Value>(
  { host, port }: SwankAddress,
  { secret, limitMs }: { secret: string | undefined; limitMs: number },
  work: (evaluate: (form: string) => Promise<Datum>) => Promise<Value>,
): Promise<Value> {
  const socket = connect({ host, port });
  const connection = new SwankConnection(socket);
  const timer = setTimeout(() => connection.fail(new SwankError('silent')), limitMs);
  try {
    await connection.connected;
    if (secret !== undefined) connection.send(secret);
    return await work((form) => connection.evaluate(form));
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

/** A connection to Swank. It evaluates one form at a time. */
class SwankConnection {
  readonly #socket: Socket;
  /** The chunks of an incomplete message, and the number of octets in them. */
  #chunks: Buffer[] = [];
  #size = 0;
  /** Number of octets that must arrive before they are parsed: those of the length, and then those of the whole
   * message. */
  #needed = HEAD_OCTETS;
  /** The number of the last form. Swank repeats it in the answer to this form. */
  #number = 0;
  /** Settles the pending promise: first the one for the connection, later the one for the value of the last form. */
  #settle: { resolve: (value: Datum) => void; reject: (error: Error) => void } | undefined;
  #failure: Error | undefined;
  readonly connected: Promise<void>;

  constructor(socket: Socket) {
    this.#socket = socket;
    let isConnected = false;
    this.connected = new Promise((resolve, reject) => {
      this.#settle = { resolve: () => {}, reject };
      socket.on('connect', () => {
        isConnected = true;
        resolve();
      });
    });
    socket.on('data', (chunk) => this.#receive(chunk));
    socket.on('error', ({ message }) => {
      this.fail(new SwankError(isConnected ? 'closed' : 'unreachable', message));
    });
    socket.on('close', () => this.fail(new SwankError('closed')));
  }

  send(text: string): void {
    const octets = Buffer.from(text);
    this.#socket.write(octets.length.toString(16).padStart(HEAD_OCTETS, '0'));
    this.#socket.write(octets);
  }

  /** Closes the connection. The pending promise, and all later evaluations, are rejected with ERROR. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#settle?.reject(this.#failure);
    this.#socket.destroy();
  }

  /** Makes Swank evaluate FORM in the package COMMON-LISP-USER. Resolves with the value of FORM. */
  evaluate(form: string): Promise<Datum> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      if (this.#failure !== undefined) return reject(this.#failure);
      this.#number += 1;
      this.send(`(:emacs-rex ${form} "COMMON-LISP-USER" t ${this.#number})`);
    });
  }

  #receive(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    // A long message comes in many chunks. They are joined when it is complete, and not for each chunk.
    while (this.#failure === undefined && this.#size >= this.#needed) {
      const [only = chunk] = this.#chunks;
      this.#parse(this.#chunks.length === 1 ? only : Buffer.concat(this.#chunks));
    }
  }

  /** Parses RECEIVED. If it has only the length of a message, stores how many octets are needed, and waits for them.
   * Otherwise handles the complete message. */
  #parse(received: Buffer): void {
    const end = this.#needed;
    const isLengthUnknown = end === HEAD_OCTETS;
    if (isLengthUnknown) {
      this.#chunks = [received];
      this.#needed += this.#lengthIn(received);
      // A message of length 0 is complete already.
      if (this.#needed > HEAD_OCTETS) return;
    }
    const rest = received.subarray(end);
    this.#chunks = [rest];
    this.#size = rest.length;
    this.#needed = HEAD_OCTETS;
    const text = received.toString('utf8', HEAD_OCTETS, end);
    // Other messages, such as the long one with the indentation, need no answer and are not parsed.
    if (/^\((?::return|:ping|:reader-error|:debug) /.test(text)) this.#dispatch(readDatum(text), text);
  }

  /** Returns the length that the first octets of RECEIVED contain. If it is invalid, closes the connection and returns
   * Infinity. */
  #lengthIn(received: Buffer): number {
    const head = received.toString('latin1', 0, HEAD_OCTETS);
    const length = /^[0-9a-f]{6}$/i.test(head) ? Number.parseInt(head, 16) : Number.NaN;
    if (length <= MESSAGE_LIMIT) return length;
    const receivedText = Number.isNaN(length)
      ? `it says ${shownStart(received)}`
      : `it announces a message of ${length} octets`;
    this.fail(new SwankError('foreign', receivedText));
    return Number.POSITIVE_INFINITY;
  }

  /** Handles MESSAGE, which is TEXT as a value: (:return (:ok VALUE) NUMBER), (:return (:abort REASON) NUMBER),
   * (:ping THREAD TAG), (:reader-error FORM REASON) or (:debug THREAD LEVEL (REASON ...) ...). */
  #dispatch(message: Datum | undefined, text: string): void {
    const [kind, first, second, third] = Array.isArray(message) ? message : [];
    if (kind === ':ping') this.send(`(:emacs-pong ${String(first)} ${String(second)})`);
    else if (kind === ':reader-error') this.fail(new SwankError('unreadable', stringOf(second)));
    // The form has entered the debugger of SLIME, which ends only when the connection ends.
    else if (kind === ':debug')
      this.fail(new SwankError('aborted', stringOf(Array.isArray(third) ? third[0] : undefined)));
    else if (kind !== ':return' || !Array.isArray(first))
      this.fail(new SwankError('foreign', `it says ${shownStart(Buffer.from(text))}`));
    else if (second === String(this.#number)) this.#answer(first);
  }

  #answer([how, value = 'nil']: Datum[]): void {
    if (how === ':ok') this.#settle?.resolve(value);
    else this.fail(new SwankError('aborted', stringOf(value)));
  }
}

function shownStart(octets: Buffer): string {
  const line = octets
    .toString('latin1', 0, 40)
    .split(/[\r\n]/, 1)
    .join();
  return JSON.stringify(line.replace(/[^ -~]/g, '?'));
}

/** Returns the characters of VALUE if it is a string; else ''. */
export function stringOf(value: Datum | undefined): string {
  return typeof value === 'object' && !Array.isArray(value) ? value.string : '';
}

/** Returns the value of KEY in the property list LIST; undefined when LIST does not have KEY. */
export function memberOf(list: Datum | undefined, key: string): Datum | undefined {
  if (!Array.isArray(list)) return undefined;
  const index = list.findIndex((each, at) => at % 2 === 0 && each === key);
  return index < 0 ? undefined : list[index + 1];
}

/** Parses TEXT as one value. Returns undefined when TEXT is incomplete, or when its lists are nested more than
 * DEPTH_LIMIT deep. */
function readDatum(text: string): Datum | undefined {
  const token = /\s*([()]|"|[^\s()"]+)/y;
  const open: Datum[][] = [[]];
  for (;;) {
    const [, found] = token.exec(text) ?? [];
    const list = open.at(-1) ?? [];
    if (found === undefined) return undefined;
    if (found === '(') {
      const inner: Datum[] = [];
      list.push(inner);
      open.push(inner);
    } else if (found === ')') open.pop();
    else if (found === '"') {
      const end = stringEnd(text, token.lastIndex);
      list.push({ string: text.slice(token.lastIndex, end).replace(/\\([\s\S])/g, '$1') });
      token.lastIndex = end + 1;
    } else list.push(found);
    if (open.length === 0 || open.length > DEPTH_LIMIT) return undefined;
    if (open.length === 1) return open[0]?.[0];
  }
}

function stringEnd(text: string, start: number): number {
  let at = start;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}
