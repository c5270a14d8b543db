// Decides how messages become octets on the channel to the agent: four octets of length, then ASCII JSON.

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

/** Cuts a stream of chunks, split anywhere, into messages. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #size = 0;

  /** Takes CHUNK and returns the messages that are complete now. Throws when a frame is no valid message. */
  push(chunk: Buffer): Message[] {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    const messages: Message[] = [];
    for (let body = this.#takeFrame(); body !== undefined; body = this.#takeFrame()) {
      messages.push(parseMessage(body));
    }
    return messages;
  }

  #takeFrame(): Buffer | undefined {
    if (this.#size < 4) return undefined;
    const head = this.#first(4);
    const length = head.readUInt32BE(0);
    if (length > FRAME_LIMIT) throw new Error(`a frame of ${length} octets is over the limit`);
    if (this.#size < 4 + length) return undefined;
    const all = this.#first(4 + length);
    const rest = all.subarray(4 + length);
    this.#chunks = rest.length > 0 ? [rest] : [];
    this.#size = rest.length;
    return all.subarray(4, 4 + length);
  }

  /** Returns a buffer that holds at least the first COUNT octets; the chunks are joined only when needed. */
  #first(count: number): Buffer {
    const [first] = this.#chunks;
    if (first && first.length >= count && this.#chunks.length === 1) return first;
    if (first && first.length >= count && count === 4) return first;
    const all = Buffer.concat(this.#chunks);
    this.#chunks = [all];
    return all;
  }
}

function parseMessage(body: Buffer): Message {
  const value: unknown = JSON.parse(body.toString('latin1'));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('a frame is not a JSON object');
  }
  return value as Message;
}
