/** Converts between UTF-16 indices, lines and columns, characters, and octets of a source file. */

/** A 1-based `line` and `column`, in code points. `text` is the trimmed line, or a part of a long one. */
export interface SourcePosition {
  line: number;
  column: number;
  text: string;
}

/** Maximum number of UTF-16 units of a line in a SourcePosition. Of a longer line, only a part is given. */
const LONG = 1000;
/** The part of a line that is longer than LONG begins this number of UTF-16 units before the column. */
const BEFORE = 100;

/** The text of a source file. Finds the starts of its lines once, so that later conversions are fast. */
export class SourceText {
  readonly text: string;
  readonly file: string | undefined;
  /** Start of each line, as a UTF-16 index. */
  readonly #starts: readonly number[];
  /** Start of each line, as a number of octets. The same array as #starts when every character has one octet. */
  readonly #octets: readonly number[];
  /** Indices of the surrogate pairs; computed on first use. */
  #pairs: readonly number[] | undefined;

  /** TEXT must include the byte order mark of the file, because SBCL counts it in positions. FILE is the path of the
   * file, if TEXT is from a file, and ENCODING the encoding of the file. */
  constructor(text: string, encoding: 'UTF-8' | 'Latin-1' = 'UTF-8', file?: string) {
    this.text = text;
    this.file = file;
    this.#starts = lineStarts(text);
    const singleOctets = encoding === 'Latin-1' || Buffer.byteLength(text) === text.length;
    this.#octets = singleOctets ? this.#starts : lineOctets(text, this.#starts);
  }

  /** Returns the index of the first character that begins at or after OCTET. SBCL 2.2.9 reports positions in octets. */
  indexOfOctet(octet: number): number {
    const line = lastUpTo(this.#octets, octet);
    let index = this.#starts[line] ?? 0;
    const remaining = octet - (this.#octets[line] ?? 0);
    if (this.#octets === this.#starts) return Math.min(index + remaining, this.text.length);
    for (let octets = 0; octets < remaining && index < this.text.length; ) {
      const code = this.text.codePointAt(index) ?? 0;
      octets += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
      index += code < 0x10000 ? 1 : 2;
    }
    return index;
  }

  /** Returns the UTF-16 index of the character with the 0-based NUMBER. */
  indexOfCharacter(number: number): number {
    let index = number;
    for (const pair of this.#twoUnits()) {
      if (pair >= index) break;
      index++;
    }
    return Math.min(index, this.text.length);
  }

  /** Returns the 0-based number of the character at INDEX. A surrogate pair counts as one character, as in SBCL. */
  characterOf(index: number): number {
    return index - this.#pairsBefore(index);
  }

  /** Returns the 1-based line of the character at INDEX. */
  lineAt(index: number): number {
    return lastUpTo(this.#starts, index) + 1;
  }

  positionAt(index: number): SourcePosition {
    const line = lastUpTo(this.#starts, index);
    const start = this.#starts[line] ?? 0;
    const end = this.#starts[line + 1] ?? this.text.length;
    const column = index - start + 1 - (this.#pairsBefore(index) - this.#pairsBefore(start));
    const from = end - start > LONG ? Math.max(start, index - BEFORE) : start;
    return { line: line + 1, column, text: this.text.slice(from, Math.min(end, from + LONG)).trim() };
  }

  #pairsBefore(index: number): number {
    const pairs = this.#twoUnits();
    const first = pairs[0];
    return first === undefined || first >= index ? 0 : lastUpTo(pairs, index - 1) + 1;
  }

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

/** Returns the index of the last number in SORTED that is at most LIMIT. SORTED is ascending and begins with 0. */
export function lastUpTo(sorted: readonly number[], limit: number): number {
  let low = 0;
  for (let high = sorted.length; high - low > 1; ) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) <= limit) low = middle;
    else high = middle;
  }
  return low;
}
