// Speaks to a Swank or Slynk: has it evaluate forms. A message is six hexadecimal digits, which tell the number of its
// octets, and a list that Lisp can read.

import { connect, type Socket } from 'node:net';

/** A Swank or Slynk on this machine. */
export interface SwankAddress {
  kind: 'swank' | 'slynk';
  host: string;
  port: number;
}

/** A value as Swank writes it: a name or number as its characters, a string, or a list. */
export type Datum = string | { string: string } | Datum[];

/** What listens is not what was looked for. */
export class SwankError extends Error {
  readonly why: 'unreachable' | 'closed' | 'silent' | 'foreign' | 'unreadable' | 'aborted';

  /** WHY says what kind of failure it is, and DETAIL what was seen. */
  constructor(why: SwankError['why'], detail = '') {
    super(detail);
    this.why = why;
  }
}

/** Maximum number of octets of one message. The greatest that is usual tells an editor how macros are indented. */
const MESSAGE_LIMIT = 4 * 1024 * 1024;
/** Number of digits in front of a message. */
const HEAD = 6;
/** Maximum depth of lists in an answer. */
const DEPTH_LIMIT = 100;

/** Calls WORK with a function that has the Lisp at ADDRESS evaluate a FORM and returns its value. Closes the connection
 *  when WORK has ended. SECRET is what is said first, if it wants that. Rejects with a SwankError. LIMIT_MS is for all of
 *  it. */
export async function withSwank<Value>(
  { host, port }: SwankAddress,
  { secret, limitMs }: { secret: string | undefined; limitMs: number },
  work: (evaluate: (form: string) => Promise<Datum>) => Promise<Value>,
): Promise<Value> {
  const socket = connect({ host, port });
  const dialogue = new Dialogue(socket);
  const timer = setTimeout(() => dialogue.fail(new SwankError('silent')), limitMs);
  try {
    await dialogue.connected;
    if (secret !== undefined) dialogue.send(secret);
    return await work((form) => dialogue.evaluate(form));
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

class Dialogue {
  readonly #socket: Socket;
  /** What was received of the message that is not complete yet: chunks, and how many octets they have. */
  #chunks: Buffer[] = [];
  #size = 0;
  /** How many octets complete the head, or the message with its head once that is known. */
  #needed = HEAD;
  #number = 0;
  #settle: { resolve: (value: Datum) => void; reject: (error: Error) => void } | undefined;
  #failure: Error | undefined;
  /** Resolves once the connection is there. */
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
    socket.on('data', (chunk) => this.#take(chunk));
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

  /** Ends what is waited for with ERROR, and all that is asked later. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#settle?.reject(this.#failure);
    this.#socket.destroy();
  }

  evaluate(form: string): Promise<Datum> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      if (this.#failure !== undefined) return reject(this.#failure);
      this.#number += 1;
      this.send(`(:emacs-rex ${form} "COMMON-LISP-USER" t ${this.#number})`);
    });
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    // A message can come in many chunks, which are joined only when it is complete.
    while (this.#failure === undefined && this.#size >= this.#needed) {
      const [only = chunk] = this.#chunks;
      this.#next(this.#chunks.length === 1 ? only : Buffer.concat(this.#chunks));
    }
  }

  /** Heeds the head or the message with which RECEIVED begins, which is there as a whole. */
  #next(received: Buffer): void {
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
    if (/^\((?::return|:ping|:reader-error|:debug) /.test(text)) this.#heed(readDatum(text), text);
  }

  /** Returns the number of octets behind the head of RECEIVED. */
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

  #heed(message: Datum | undefined, text: string): void {
    const [kind, first, second, third] = Array.isArray(message) ? message : [];
    if (kind === ':ping') this.send(`(:emacs-pong ${String(first)} ${String(second)})`);
    else if (kind === ':reader-error') this.fail(new SwankError('unreadable', stringOf(second)));
    // Its debugger, which ends with the connection.
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

/** Returns the first characters of what was received, in quotes, for the text of an error. */
function shownStart(octets: Buffer): string {
  const line = octets
    .toString('latin1', 0, 40)
    .split(/[\r\n]/, 1)
    .join();
  return JSON.stringify(line.replace(/[^ -~]/g, '?'));
}

/** Returns the string that VALUE is, or '' when it is none. */
export function stringOf(value: Datum | undefined): string {
  return typeof value === 'object' && !Array.isArray(value) ? value.string : '';
}

/** Returns what follows the name KEY in LIST, a list of names and values. */
export function memberOf(list: Datum | undefined, key: string): Datum | undefined {
  if (!Array.isArray(list)) return undefined;
  const index = list.findIndex((each, at) => at % 2 === 0 && each === key);
  return index < 0 ? undefined : list[index + 1];
}

/** Returns the value that TEXT is; undefined when it is none, or too deep. */
export function readDatum(text: string): Datum | undefined {
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

/** Returns where the string in TEXT ends whose first character is at START. */
function stringEnd(text: string, start: number): number {
  let at = start;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}
