// Encodes and decodes the messages on the connection to the agent: four octets of length, then ASCII JSON.

import { CallError } from '../../errors.ts';
import { isDeeper } from '../../json.ts';

/** Maximum number of octets in a frame. A longer frame means that the peer is broken. */
export const FRAME_LIMIT = 64 * 1024 * 1024;

/** Maximum nesting of the values in a request, because the Lisp code that reads them has a limited stack. */
export const DEPTH_LIMIT = 100;

/** Version of the protocol, which every change of the messages raises. The agent sends its own version in its
 *  greeting, and both must be equal. */
export const PROTOCOL_VERSION = 3;

export type Message = { [key: string]: unknown };

/** The lowest UTF-16 code unit to escape. From this one on, units are not printable ASCII. JSON.stringify
 *  already escapes units below the space. */
const FIRST_ESCAPED = 0x7f;
const TO_ESCAPE = /[\u007f-\uffff]/;
const DIGITS = Buffer.from('0123456789abcdef');
const BACKSLASH = 0x5c;
const SMALL_U = 0x75;

/** Returns MESSAGE as a frame. Characters outside printable ASCII are escaped, so that the agent can read it
 *  in any locale. */
export function encodeFrame(message: Message): Buffer {
  const json = JSON.stringify(message);
  const first = json.search(TO_ESCAPE);
  const length = first < 0 ? json.length : escapedLength(json, first);
  const frame = Buffer.allocUnsafe(4 + length);
  frame.writeUInt32BE(length, 0);
  if (first < 0) frame.write(json, 4, 'latin1');
  else writeEscaped(json, frame);
  return frame;
}

/** Returns the length of JSON in octets after escaping, which turns one code unit into six octets. FIRST is
 *  the index of the first unit to escape. */
function escapedLength(json: string, first: number): number {
  let length = json.length;
  for (let index = first; index < json.length; index++) {
    if (json.charCodeAt(index) >= FIRST_ESCAPED) length += 5;
  }
  return length;
}

/** Writes JSON, escaped, into FRAME after the four octets of length. It is a loop, because `replace` with a
 *  function would take seconds for a long text. */
function writeEscaped(json: string, frame: Buffer): void {
  let at = 4;
  for (let index = 0; index < json.length; index++) {
    const unit = json.charCodeAt(index);
    if (unit < FIRST_ESCAPED) {
      frame[at++] = unit;
      continue;
    }
    frame[at++] = BACKSLASH;
    frame[at++] = SMALL_U;
    for (let shift = 12; shift >= 0; shift -= 4) frame[at++] = DIGITS[(unit >> shift) & 15] as number;
  }
}

/** Returns the frame of the request with this ID for the operation OP. Throws a CallError when ARGS are too
 *  large or too deep. */
export function requestFrame(id: number, op: string, args: object, follow = false): Buffer {
  // The arguments of a tool can have DEPTH_LIMIT levels, and begin two levels deep in ARGS.
  if (isDeeper(args, DEPTH_LIMIT + 2)) {
    throw new CallError(`The arguments are nested more than ${DEPTH_LIMIT} levels deep. Nest them less.`);
  }
  const frame = encodeFrame({ id, op, args, ...(follow && { follow }) });
  if (frame.length <= FRAME_LIMIT) return frame;
  throw new CallError(
    `The arguments are too large: they take ${frame.length} octets, and the image takes ${FRAME_LIMIT} at most. Put the text into a file and load that.`,
  );
}

/** Decodes messages from a stream of chunks, which can be split anywhere. */
export class FrameReader {
  readonly #head = Buffer.alloc(4);
  #headFill = 0;
  /** The incomplete frame; undefined before its length is complete. */
  #body: Buffer | undefined;
  #bodyFill = 0;

  /** Adds CHUNK and returns the complete messages. Throws when a frame is no valid message. */
  push(chunk: Buffer): Message[] {
    // A chunk is nearly always exactly one frame, which is parsed without a copy.
    if (this.#isFrame(chunk)) return [parseMessage(chunk, 4)];
    const messages: Message[] = [];
    let at = 0;
    while (at < chunk.length) {
      at += this.#body === undefined ? this.#takeHead(chunk, at) : this.#takeBody(this.#body, chunk, at);
      if (this.#body !== undefined && this.#bodyFill === this.#body.length) {
        messages.push(parseMessage(this.#body, 0));
        this.#body = undefined;
      }
    }
    return messages;
  }

  #isFrame(chunk: Buffer): boolean {
    return (
      this.#headFill === 0 &&
      this.#body === undefined &&
      chunk.length > 4 &&
      chunk.readUInt32BE(0) === chunk.length - 4
    );
  }

  /** Copies octets of a frame's length from CHUNK, from index AT on, into #head. Returns the number of copied
   *  octets. */
  #takeHead(chunk: Buffer, at: number): number {
    const count = chunk.copy(this.#head, this.#headFill, at);
    this.#headFill += count;
    if (this.#headFill < 4) return count;
    const length = this.#head.readUInt32BE(0);
    if (length > FRAME_LIMIT) throw new Error(`a frame of ${length} octets is over the limit`);
    // The system provides memory only when it is written. So an agent that announces long frames without
    // sending them cannot exhaust it.
    this.#body = Buffer.allocUnsafe(length);
    this.#headFill = 0;
    this.#bodyFill = 0;
    return count;
  }

  #takeBody(body: Buffer, chunk: Buffer, at: number): number {
    const count = chunk.copy(body, this.#bodyFill, at);
    this.#bodyFill += count;
    return count;
  }
}

function parseMessage(octets: Buffer, start: number): Message {
  const value: unknown = JSON.parse(octets.toString('latin1', start));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('a frame is not a JSON object');
  }
  return value as Message;
}
