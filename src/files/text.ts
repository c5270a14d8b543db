// Converts the octets of a file to text and back: UTF-8 or else Latin-1, with its byte order mark and its line ends.

import { CallError } from '../errors.ts';

/** The text of a file, without its byte order mark, and facts about how the file stores it. */
export interface FileText {
  text: string;
  encoding: 'UTF-8' | 'Latin-1';
  bom: boolean;
}

const BYTE_ORDER_MARK = '\ufeff';

/** Returns the text that BYTES encode. If PARTIAL is true, leaves out an incomplete character at the end. */
export function decode(bytes: Uint8Array, partial = false): FileText {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, {
      stream: partial,
    });
    const bom = text.startsWith(BYTE_ORDER_MARK);
    return { text: bom ? text.slice(1) : text, encoding: 'UTF-8', bom };
  } catch {
    return { text: Buffer.from(bytes).toString('latin1'), encoding: 'Latin-1', bom: false };
  }
}

/** Returns the octets that encode a text. Throws a CallError that names the file NAME when the encoding lacks a
 * character of the text. */
export function encode({ text, encoding, bom }: FileText, name: string): Buffer {
  const surrogate = /\p{Surrogate}/u.exec(text)?.[0];
  if (surrogate !== undefined) {
    throw new CallError(
      `The text for ${name} has an unpaired surrogate (U+${surrogate.charCodeAt(0).toString(16).toUpperCase()}), which no file can hold.`,
    );
  }
  if (encoding === 'UTF-8') return Buffer.from((bom ? BYTE_ORDER_MARK : '') + text);
  const foreign = /[^\0-\xff]/u.exec(text)?.[0];
  if (foreign === undefined) return Buffer.from(text, 'latin1');
  throw new CallError(
    `${name} is in Latin-1, which has no ${foreign}. Write the whole file with write_file, which makes it UTF-8.`,
  );
}

/** Returns the kind of a file that begins with BYTES and cannot be read as text; undefined when it can. As in git, a
 * file is binary when its first 8192 octets contain a NUL. */
export function binaryKind(bytes: Uint8Array): 'UTF-16 text' | 'a binary file' | undefined {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return 'UTF-16 text';
  return bytes.subarray(0, 8192).includes(0) ? 'a binary file' : undefined;
}

/** The line ends of a text; undefined when the text has no line end. */
export type LineEnds = 'LF' | 'CRLF' | 'mixed LF and CRLF' | undefined;

/** Returns the kind of the line ends in TEXT. */
export function lineEnds(text: string): LineEnds {
  let [breaks, pairs] = [0, 0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
    breaks += 1;
    if (text[at - 1] === '\r') pairs += 1;
  }
  if (breaks === 0) return undefined;
  return pairs === 0 ? 'LF' : pairs === breaks ? 'CRLF' : 'mixed LF and CRLF';
}

type Unusual =
  | 'Latin-1'
  | 'byte order mark'
  | 'CRLF line ends'
  | 'mixed LF and CRLF line ends'
  | 'no newline at the end';

/** Returns descriptions of how a file stores its text, where this is unusual. The usual way is UTF-8 without a byte
 * order mark, with LF at the end of each line. */
export function unusualStorage(
  { encoding, bom }: Omit<FileText, 'text'>,
  ends: LineEnds,
  endsWithNewline: boolean,
): Unusual[] {
  return [
    encoding !== 'UTF-8' && encoding,
    bom && ('byte order mark' as const),
    ends !== undefined && ends !== 'LF' && (`${ends} line ends` as const),
    !endsWithNewline && ('no newline at the end' as const),
  ].filter((part) => part !== false);
}

/** Returns the lines of TEXT without their line ends. Line ends are LF and CRLF, or only END if it is given. */
export function linesOf(text: string, end?: '\n'): string[] {
  // This is eight times as fast as splitting by a regular expression.
  const lines = end === undefined ? text.replaceAll('\r\n', '\n').split('\n') : text.split(end);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
