/** Decides which line and column a place in a source file has, and how octets of the file become indices of its text. */

/** A place in a file: 1-based LINE and COLUMN (in code points), and that line without white space around it. Of a long line
 *  it is the part that begins a little before the place. */
export interface SourcePosition {
  line: number;
  column: number;
  text: string;
}

/** Units of a line that are shown whole, and those before the place in a longer one. */
const LONG = 1000;
const BEFORE = 100;

/** The text of a source file. Where its lines begin is found once, so that a place costs no more far down in it. */
export class SourceText {
  readonly text: string;
  /** The name of the file, when it is that of one. */
  readonly file: string | undefined;
  /** Where each line begins: UTF-16 indices, and octets of the file. In ASCII and Latin-1 they are the same. */
  readonly #starts: readonly number[];
  readonly #octets: readonly number[];
  /** Where the characters are that take two units; found when it is asked for. */
  #pairs: readonly number[] | undefined;

  /** Takes TEXT with its byte order mark, as SBCL does, and how the FILE stores it. */
  constructor(text: string, encoding: 'UTF-8' | 'Latin-1' = 'UTF-8', file?: string) {
    this.text = text;
    this.file = file;
    this.#starts = lineStarts(text);
    const singleOctets = encoding === 'Latin-1' || Buffer.byteLength(text) === text.length;
    this.#octets = singleOctets ? this.#starts : lineOctets(text, this.#starts);
  }

  /** Returns the index of the character that begins at OCTET of the file, or the next one; SBCL 2.2.9 records octets. */
  indexOfOctet(octet: number): number {
    const line = lastUpTo(this.#octets, octet);
    let index = this.#starts[line] ?? 0;
    const left = octet - (this.#octets[line] ?? 0);
    if (this.#octets === this.#starts) return Math.min(index + left, this.text.length);
    for (let octets = 0; octets < left && index < this.text.length; ) {
      const code = this.text.codePointAt(index) ?? 0;
      octets += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
      index += code < 0x10000 ? 1 : 2;
    }
    return index;
  }

  /** Returns the index of the character with NUMBER, from 0. */
  indexOfCharacter(number: number): number {
    let index = number;
    for (const pair of this.#twoUnits()) {
      if (pair >= index) break;
      index++;
    }
    return Math.min(index, this.text.length);
  }

  /** Returns the position of the character at INDEX. */
  positionAt(index: number): SourcePosition {
    const line = lastUpTo(this.#starts, index);
    const start = this.#starts[line] ?? 0;
    const end = this.#starts[line + 1] ?? this.text.length;
    const column = index - start + 1 - (this.#pairsBefore(index) - this.#pairsBefore(start));
    const from = end - start > LONG ? Math.max(start, index - BEFORE) : start;
    return { line: line + 1, column, text: this.text.slice(from, Math.min(end, from + LONG)).trim() };
  }

  /** Returns how many characters before INDEX take two units. */
  #pairsBefore(index: number): number {
    const pairs = this.#twoUnits();
    const first = pairs[0];
    return first === undefined || first >= index ? 0 : lastUpTo(pairs, index - 1) + 1;
  }

  /** Returns where the characters are that take two units. */
  #twoUnits(): readonly number[] {
    this.#pairs ??= [...this.text.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)].map((pair) => pair.index);
    return this.#pairs;
  }
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function lineOctets(text: string, starts: readonly number[]): number[] {
  let octets = 0;
  return starts.map((start, line) => {
    if (line > 0) octets += Buffer.byteLength(text.slice(starts[line - 1], start));
    return octets;
  });
}

/** Returns where in SORTED, which ascend from 0, the last number up to LIMIT is. */
export function lastUpTo(sorted: readonly number[], limit: number): number {
  let low = 0;
  for (let high = sorted.length; high - low > 1; ) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) <= limit) low = middle;
    else high = middle;
  }
  return low;
}
