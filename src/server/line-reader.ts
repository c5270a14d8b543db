// Splits chunks of stdin into lines, and limits the length of a line.

/** Maximum number of octets in a line. Longer lines are skipped. */
export const LINE_OCTETS_LIMIT = 64 * 1024 * 1024;

const NEWLINE = 10;
const FIRST_SIZE = 4096;

/** How many octets are kept of the beginning and of the end of a skipped line. */
const END_SIZE = 500;

/** A line; or, for a skipped line, its size and its two ends. */
export type Line = { octets: Buffer } | { skippedOctets: number; ends: [string, string] };

export class LineReader {
  /** The beginning of the line that is being received. Only the first #fill octets are valid. */
  #buffer: Buffer = Buffer.alloc(0);
  #fill = 0;
  /** How many octets of this line have arrived, including the octets that were not kept. */
  #size = 0;
  /** The two ends of this line, once the line is too long. */
  #ends: [Buffer, Buffer] | undefined;

  /** Adds CHUNK and returns the lines that are now complete. */
  push(chunk: Buffer): Line[] {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      lines.push(this.#line(chunk.subarray(start, end)));
      start = end + 1;
    }
    this.#append(chunk.subarray(start));
    return lines;
  }

  #line(last: Buffer): Line {
    if (this.#size === 0 && last.length <= LINE_OCTETS_LIMIT) return { octets: last };
    this.#append(last);
    const [octets, size, ends] = [this.#buffer.subarray(0, this.#fill), this.#size, this.#ends];
    this.#clearBuffer();
    this.#size = 0;
    this.#ends = undefined;
    return ends ? { skippedOctets: size, ends: [`${ends[0]}`, `${ends[1]}`] } : { octets };
  }

  /** Adds PART to the current line. Copies PART, because a reference would keep the whole chunk in memory.
   *  The buffer grows to twice the needed size, so that few copies are made. */
  #append(part: Buffer): void {
    this.#size += part.length;
    if (this.#size > LINE_OCTETS_LIMIT) {
      this.#appendEnds(part);
      this.#clearBuffer();
      return;
    }
    if (this.#size > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(FIRST_SIZE, 2 * this.#size));
      this.#buffer.copy(larger, 0, 0, this.#fill);
      this.#buffer = larger;
    }
    part.copy(this.#buffer, this.#fill);
    this.#fill = this.#size;
  }

  #appendEnds(part: Buffer): void {
    const before = this.#buffer.subarray(0, this.#fill);
    const [first, last] = this.#ends ?? [
      Buffer.concat([before.subarray(0, END_SIZE), part.subarray(0, END_SIZE)]),
      before,
    ];
    this.#ends = [
      Buffer.from(first.subarray(0, END_SIZE)),
      Buffer.concat([last.subarray(-END_SIZE), part.subarray(-END_SIZE)]).subarray(-END_SIZE),
    ];
  }

  #clearBuffer(): void {
    this.#buffer = Buffer.alloc(0);
    this.#fill = 0;
  }
}
