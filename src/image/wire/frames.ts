// Decides how messages become octets on the channel to the agent: four octets of length, then ASCII JSON.

import { CallError } from '../../errors.ts';

/** Longer frames mean that the peer is broken. */
export const FRAME_LIMIT = 64 * 1024 * 1024;

/** How deep values may be nested: the agent's stack is bounded. */
export const DEPTH_LIMIT = 100;

/** Raised with every change of a message's meaning; the agent greets with its own. */
export const PROTOCOL_VERSION = 1;

export type Message = { [key: string]: unknown };

/** Whether VALUE is nested more than LEVELS deep. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels < 0 || Object.values(value).some((each) => isDeeper(each, levels - 1));
}

/** Returns the frame of MESSAGE. Everything outside printable ASCII is escaped, so no locale matters. */
export function encodeFrame(message: Message): Buffer {
  const json = JSON.stringify(message).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const frame = Buffer.allocUnsafe(4 + json.length);
  frame.writeUInt32BE(json.length, 0);
  frame.write(json, 4, 'latin1');
  return frame;
}

/** Returns the frame of the request ID for OP. Throws a CallError when ARGS are too large or too deep. */
export function requestFrame(id: number, op: string, args: object): Buffer {
  // Those of a tool stand two levels deep.
  if (isDeeper(args, DEPTH_LIMIT + 2)) {
    throw new CallError(`The arguments are nested more than ${DEPTH_LIMIT} levels deep; give them flatter.`);
  }
  const frame = encodeFrame({ id, op, args });
  if (frame.length <= FRAME_LIMIT) return frame;
  throw new CallError(
    `The arguments are too large: they take ${frame.length} octets on the wire to the image, of ${FRAME_LIMIT} at most. Put the text into a file and load that.`,
  );
}

/** Cuts a stream of chunks, split anywhere, into messages. */
export class FrameReader {
  readonly #head = Buffer.alloc(4);
  #headFill = 0;
  /** The frame whose head was read, and how much of it has come. */
  #body: Buffer | undefined;
  #bodyFill = 0;

  /** Takes CHUNK and returns the messages that are complete now. Throws when a frame is no valid message. */
  push(chunk: Buffer): Message[] {
    // Nearly always a chunk is one frame, and nothing has to be copied.
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

  /** Takes what CHUNK has AT of the length of a frame, and returns how many octets that is. */
  #takeHead(chunk: Buffer, at: number): number {
    const count = chunk.copy(this.#head, this.#headFill, at);
    this.#headFill += count;
    if (this.#headFill < 4) return count;
    const length = this.#head.readUInt32BE(0);
    if (length > FRAME_LIMIT) throw new Error(`a frame of ${length} octets is over the limit`);
    // Memory that was never written costs nothing, so no peer can use it up by announcing.
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
