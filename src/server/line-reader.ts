// Splits chunks of stdin into lines, and limits the length of a line.

/** Maximum number of octets in a line. Longer lines are skipped. */
export const LINE_OCTETS_LIMIT = 64 * 1024 * 1024;

const NEWLINE = 10;
const FIRST_SIZE = 4096;

/** A line, or the size of a line that was skipped because it is too long. */
export type Line = { octets: Buffer } | { skippedOctets: number };

export class LineReader {
  /** Contains the beginning of the incomplete line. Only the first #fill octets are valid. */
  #buffer: Buffer = Buffer.alloc(0);
  #fill = 0;
  /** Number of octets of the incomplete line, including those that were dropped. */
  #size = 0;

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
    const [octets, size] = [this.#buffer.subarray(0, this.#fill), this.#size];
    this.#clearBuffer();
    this.#size = 0;
    return size > LINE_OCTETS_LIMIT ? { skippedOctets: size } : { octets };
  }

  /** Adds a copy of PART to the incomplete line. A reference to PART would keep the whole chunk in memory. The buffer
   * grows to twice the needed size, so that it is rarely copied. */
  #append(part: Buffer): void {
    this.#size += part.length;
    if (this.#size > LINE_OCTETS_LIMIT) {
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

  #clearBuffer(): void {
    this.#buffer = Buffer.alloc(0);
    this.#fill = 0;
  }
}
