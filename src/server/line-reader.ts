// Decides how chunks of stdin, split anywhere, become lines, and how long one can be.

/** Octets of one line; a longer one is passed over. */
export const LINE_LIMIT = 64 * 1024 * 1024;

const NEWLINE = 10;
const FIRST_SIZE = 4096;

/** Octets that are kept of each end of a line that is too long. */
const END_SIZE = 500;

/** A line, or of one that is too long its size and the ends. */
export type Line = { octets: Buffer } | { passedOver: number; ends: [string, string] };

export class LineReader {
  /** The beginning of a line whose end has not come, of which the first #fill octets count. */
  #kept: Buffer = Buffer.alloc(0);
  #fill = 0;
  /** Its octets that came, also those that are not kept. */
  #size = 0;
  /** Both ends of it, once it is too long. */
  #ends: [Buffer, Buffer] | undefined;

  /** Takes CHUNK and returns the lines that are complete now. */
  push(chunk: Buffer): Line[] {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      lines.push(this.#line(chunk.subarray(start, end)));
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
    return lines;
  }

  #line(last: Buffer): Line {
    if (this.#size === 0 && last.length <= LINE_LIMIT) return { octets: last };
    this.#keep(last);
    const [octets, size, ends] = [this.#kept.subarray(0, this.#fill), this.#size, this.#ends];
    this.#forget();
    this.#size = 0;
    this.#ends = undefined;
    return ends ? { passedOver: size, ends: [`${ends[0]}`, `${ends[1]}`] } : { octets };
  }

  /** Copies PART, as a chunk of one octet would hold much more; the room doubles, so that this stays cheap. */
  #keep(part: Buffer): void {
    this.#size += part.length;
    if (this.#size > LINE_LIMIT) {
      this.#keepEnds(part);
      this.#forget();
      return;
    }
    if (this.#size > this.#kept.length) {
      const larger = Buffer.allocUnsafe(Math.max(FIRST_SIZE, 2 * this.#size));
      this.#kept.copy(larger, 0, 0, this.#fill);
      this.#kept = larger;
    }
    part.copy(this.#kept, this.#fill);
    this.#fill = this.#size;
  }

  #keepEnds(part: Buffer): void {
    const before = this.#kept.subarray(0, this.#fill);
    const [first, last] = this.#ends ?? [
      Buffer.concat([before.subarray(0, END_SIZE), part.subarray(0, END_SIZE)]),
      before,
    ];
    this.#ends = [
      Buffer.from(first.subarray(0, END_SIZE)),
      Buffer.concat([last.subarray(-END_SIZE), part.subarray(-END_SIZE)]).subarray(-END_SIZE),
    ];
  }

  #forget(): void {
    this.#kept = Buffer.alloc(0);
    this.#fill = 0;
  }
}
