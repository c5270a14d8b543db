// Encodes and decodes the messages on the connection to the backend. A message is a frame: four octets with its length,
// and then ASCII JSON.

import { CallError } from '../../errors.ts';
import { isDeeper } from '../../json.ts';

/** Maximum number of octets in a frame. If a frame is longer, the peer is broken. */
export const FRAME_LIMIT = 64 * 1024 * 1024;

/** Maximum depth of nested values in a request. The Lisp code that reads them has a limited stack. */
export const DEPTH_LIMIT = 100;

/** The version of the server's protocol. Each change of the messages increments it. The backend sends the version of
 * its own protocol in its greeting. The two versions must be equal. */
export const PROTOCOL_VERSION = 3;

export type Message = { [key: string]: unknown };

/** The lowest UTF-16 code unit that must be escaped, because this unit and all higher ones are not printable ASCII.
 * JSON.stringify already escapes units below the space. */
const FIRST_ESCAPED = 0x7f;
const TO_ESCAPE = /[\u007f-\uffff]/;
const DIGITS = Buffer.from('0123456789abcdef');
const BACKSLASH = 0x5c;
const SMALL_U = 0x75;

/** Returns MESSAGE as a frame. Characters that are not printable ASCII are escaped, so that the backend can read the
 * frame in any locale. */
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

/** Returns the number of octets of JSON after escaping, which replaces one code unit by six octets. FIRST is the index
 * of the first unit that must be escaped. */
function escapedLength(json: string, first: number): number {
  let length = json.length;
  for (let index = first; index < json.length; index++) {
    if (json.charCodeAt(index) >= FIRST_ESCAPED) length += 5;
  }
  return length;
}

/** Writes JSON, escaped, to FRAME, after the four octets with the length. Uses a loop, because `replace` with a
 * function would take seconds for a long text. */
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

/** Returns the frame for request number ID, which asks for the operation OP with ARGS. If FOLLOW is true, the server
 * will take the output while the operation runs. Throws a CallError when ARGS are too large or nested too deeply. */
export function requestFrame(id: number, op: string, args: object, follow = false): Buffer {
  // The arguments of a tool may have DEPTH_LIMIT levels, and they are two levels deep in ARGS.
  if (isDeeper(args, DEPTH_LIMIT + 2)) {
    throw new CallError(`The arguments are nested more than ${DEPTH_LIMIT} levels deep. Nest them less.`);
  }
  const frame = encodeFrame({ id, op, args, ...(follow && { follow }) });
  if (frame.length <= FRAME_LIMIT) return frame;
  throw new CallError(
    `The arguments are too large: ${frame.length} octets, and the limit is ${FRAME_LIMIT}. Put the text into a file, and load that file.`,
  );
}

/** Decodes messages from a stream of chunks. A message can be split at any octet. */
export class FrameReader {
  readonly #head = Buffer.alloc(4);
  #headFill = 0;
  /** The incomplete frame; undefined while its length is incomplete. */
  #body: Buffer | undefined;
  #bodyFill = 0;

  /** Adds CHUNK, and returns the messages that are now complete. Throws when a frame is not a valid message. */
  push(chunk: Buffer): Message[] {
    // Nearly always, a chunk is exactly one frame, which can be parsed without a copy.
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

  /** Reads the length of a frame, or the part of it that is in CHUNK: copies at most four octets, from the index AT on,
   * to #head. Returns the number of copied octets. */
  #takeHead(chunk: Buffer, at: number): number {
    const count = chunk.copy(this.#head, this.#headFill, at);
    this.#headFill += count;
    if (this.#headFill < 4) return count;
    const length = this.#head.readUInt32BE(0);
    if (length > FRAME_LIMIT) throw new Error(`a frame of ${length} octets is over the limit`);
    // The system provides memory only when it is written. So a backend cannot exhaust the memory by announcing long
    // frames that it does not send.
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
