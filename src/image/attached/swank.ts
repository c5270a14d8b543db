// A client of Swank and Slynk, the servers of SLIME and SLY: connects, and has them evaluate forms. A message
// is its length in octets, as six hexadecimal digits, and then a list in Lisp syntax.

import { connect, type Socket } from 'node:net';

/** A Swank or Slynk on this machine. */
export interface SwankAddress {
  kind: 'swank' | 'slynk';
  host: string;
  port: number;
}

/** A value that Swank sends: a symbol or number as its text, a string, or a list. */
export type Datum = string | { string: string } | Datum[];

/** The error when Swank cannot be reached, does not answer, or answers with an error. */
export class SwankError extends Error {
  /** The kind of failure:
   *  unreachable: the connection could not be made;
   *  closed: the other side closed the connection;
   *  silent: no answer came in time;
   *  foreign: the other side does not speak Swank's protocol;
   *  unreadable: Swank could not read a form;
   *  aborted: the evaluation of a form failed. */
  readonly why: 'unreachable' | 'closed' | 'silent' | 'foreign' | 'unreadable' | 'aborted';

  /** DETAIL is the message of the error, such as what the other side sent. */
  constructor(why: SwankError['why'], detail = '') {
    super(detail);
    this.why = why;
  }
}

/** Maximum number of octets of a message. The largest usual message has the indentation of all macros. */
const MESSAGE_LIMIT = 4 * 1024 * 1024;
/** Number of digits of the length before a message. */
const HEAD = 6;
/** Maximum nesting of lists in a message. */
const DEPTH_LIMIT = 100;

/** Connects to the Swank at an address, and calls WORK with a function that evaluates a form there. Closes
 *  the connection when WORK has ended. SECRET is sent first, if given. Throws a SwankError, also when all
 *  this takes longer than LIMIT_MS milliseconds. */
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

/** A connection, over which one form at a time is evaluated. */
class SwankConnection {
  readonly #socket: Socket;
  /** The received part of a message that is not complete yet: its chunks, and their number of octets. */
  #chunks: Buffer[] = [];
  #size = 0;
  /** How many octets must have been received before they can be parsed: those of the length, and once the
   *  length is known those of the whole message. */
  #needed = HEAD;
  /** Number of the last form that was sent. */
  #number = 0;
  /** Settles what the caller waits for now: the connection, or the value of the last form. */
  #settle: { resolve: (value: Datum) => void; reject: (error: Error) => void } | undefined;
  #failure: Error | undefined;
  /** Resolves when the connection is established. */
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
    this.#socket.write(octets.length.toString(16).padStart(HEAD, '0'));
    this.#socket.write(octets);
  }

  /** Closes the connection. ERROR rejects what the caller waits for, and each later evaluation. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#settle?.reject(this.#failure);
    this.#socket.destroy();
  }

  /** Resolves with the value of FORM, which Swank evaluates in the package COMMON-LISP-USER. */
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
    // Joins the chunks only when they are complete: a long message comes in many chunks.
    while (this.#failure === undefined && this.#size >= this.#needed) {
      const [only = chunk] = this.#chunks;
      this.#parse(this.#chunks.length === 1 ? only : Buffer.concat(this.#chunks));
    }
  }

  /** Parses the length or, when the length is known, the complete message at the start of RECEIVED. */
  #parse(received: Buffer): void {
    const end = this.#needed;
    if (end === HEAD) {
      this.#chunks = [received];
      this.#needed += this.#lengthIn(received);
      if (this.#needed > HEAD) return;
    }
    const rest = received.subarray(end);
    this.#chunks = [rest];
    this.#size = rest.length;
    this.#needed = HEAD;
    const text = received.toString('utf8', HEAD, end);
    if (/^\((?::return|:ping|:reader-error|:debug) /.test(text)) this.#dispatch(readDatum(text), text);
  }

  /** Returns the length in the first octets of RECEIVED. Closes the connection, and returns Infinity, when
   *  there is no valid length. */
  #lengthIn(received: Buffer): number {
    const head = received.toString('latin1', 0, HEAD);
    const length = /^[0-9a-f]{6}$/i.test(head) ? Number.parseInt(head, 16) : Number.NaN;
    if (length <= MESSAGE_LIMIT) return length;
    const seen = Number.isNaN(length)
      ? `it says ${shownStart(received)}`
      : `it announces a message of ${length} octets`;
    this.fail(new SwankError('foreign', seen));
    return Number.POSITIVE_INFINITY;
  }

  #dispatch(message: Datum | undefined, text: string): void {
    const [kind, first, second, third] = Array.isArray(message) ? message : [];
    if (kind === ':ping') this.send(`(:emacs-pong ${String(first)} ${String(second)})`);
    else if (kind === ':reader-error') this.fail(new SwankError('unreadable', stringOf(second)));
    // The form has entered SLIME's debugger, which ends with the connection.
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

/** Returns the first line of OCTETS, shortened and in quotes, for the text of an error. */
function shownStart(octets: Buffer): string {
  const line = octets
    .toString('latin1', 0, 40)
    .split(/[\r\n]/, 1)
    .join();
  return JSON.stringify(line.replace(/[^ -~]/g, '?'));
}

/** Returns the characters of VALUE if it is a string, else ''. */
export function stringOf(value: Datum | undefined): string {
  return typeof value === 'object' && !Array.isArray(value) ? value.string : '';
}

/** Returns the value of KEY in LIST, a property list; undefined when LIST does not have it. */
export function memberOf(list: Datum | undefined, key: string): Datum | undefined {
  if (!Array.isArray(list)) return undefined;
  const index = list.findIndex((each, at) => at % 2 === 0 && each === key);
  return index < 0 ? undefined : list[index + 1];
}

/** Parses TEXT as one value. Returns undefined when TEXT is incomplete, or nested more than DEPTH_LIMIT
 *  deep. */
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

/** Returns the index of the quote that ends the string in TEXT whose first character is at START. */
function stringEnd(text: string, start: number): number {
  let at = start;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}
