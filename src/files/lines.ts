// Reads a range of lines from a file. Does not read all of a large file.

import type { FileHandle } from 'node:fs/promises';
import { CallError } from '../errors.ts';
import type { OpenFile } from './folder.ts';
import { binaryKind, decode, type FileText, type LineEnds, lineEnds, linesOf } from './text.ts';

/** A file with at most this number of octets is read completely. Of a larger file, only the requested lines are read.
 * */
export const WHOLE_FILE_LIMIT = 16 * 1024 * 1024;
/** Of a file with more octets than WHOLE_FILE_LIMIT, the server reads this number, from the first requested line on. */
const WINDOW = 256 * 1024;
const CHUNK = 1024 * 1024;

/** Lines of a file, from line number `first` (1-based) on, and properties of the whole file. */
export interface Excerpt extends Omit<FileText, 'text'> {
  lines: string[];
  first: number;
  /** Number of lines in the file; undefined when the file was not read to its end. */
  total: number | undefined;
  bytes: number;
  ends: LineEnds;
  endsWithNewline: boolean;
}

/** Returns the lines of the file from line number FIRST (1-based) on. Of a file that is larger than WHOLE_FILE_LIMIT,
 * returns only lines in about WINDOW octets. If the file is not text, returns its kind as a string. Throws a CallError
 * when SIGNAL aborts. */
export async function readLines(
  { handle, stats }: OpenFile,
  first: number,
  signal?: AbortSignal,
): Promise<Excerpt | string> {
  const head = await readBytes(handle, 0, stats.size > WHOLE_FILE_LIMIT ? CHUNK : WHOLE_FILE_LIMIT);
  if (stats.size <= WHOLE_FILE_LIMIT) return linesIn(head, first);
  const kind = binaryKind(head);
  if (kind !== undefined) return kind;
  const start = await offsetOfLine(handle, first, signal);
  if (start === undefined) return excerpt(decode(head.subarray(0, 0)), [], first, { bytes: stats.size });
  const part = await readBytes(handle, start, WINDOW);
  const decoded = decode(part, part.length === WINDOW);
  const lines = linesOf(decoded.text);
  if (part.length < WINDOW) {
    return excerpt(decoded, lines, first, { total: first - 1 + lines.length, bytes: stats.size });
  }
  // The last line may be incomplete, so it is left out. If it is the only line, it is returned.
  if (lines.length > 1) lines.pop();
  return excerpt(decoded, lines, first, { bytes: stats.size });
}

/** Returns the lines from line number FIRST on, of a file with the content BYTES. If the file is not text, returns its
 * kind as a string. */
export function linesIn(bytes: Uint8Array, first: number): Excerpt | string {
  const kind = binaryKind(bytes);
  if (kind !== undefined) return kind;
  const decoded = decode(bytes);
  const lines = linesOf(decoded.text);
  return excerpt(decoded, lines.slice(first - 1), first, { total: lines.length, bytes: bytes.length });
}

function excerpt(
  { text, encoding, bom }: FileText,
  lines: string[],
  first: number,
  { total, bytes }: { total?: number; bytes: number },
): Excerpt {
  const endsWithNewline = text === '' || text.endsWith('\n');
  return { lines, first, total, bytes, encoding, bom, ends: lineEnds(text), endsWithNewline };
}

/** Returns at most COUNT octets of the file, from the offset START on. */
export async function readBytes(handle: FileHandle, start: number, count: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let remaining = count, at = start; remaining > 0; ) {
    const buffer = Buffer.allocUnsafe(Math.min(remaining, CHUNK));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
    if (bytesRead === 0) break;
    parts.push(buffer.subarray(0, bytesRead));
    at += bytesRead;
    remaining -= bytesRead;
  }
  return Buffer.concat(parts);
}

/** Returns the offset of line NUMBER (1-based) in the file; undefined when the file has fewer lines. */
async function offsetOfLine(
  handle: FileHandle,
  number: number,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  let line = 1;
  for (let start = 0; line < number; start += CHUNK) {
    if (signal?.aborted) throw new CallError(`The call was cancelled before line ${number} was found.`);
    const chunk = await readBytes(handle, start, CHUNK);
    if (chunk.length === 0) return undefined;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, end + 1)) {
      line += 1;
      if (line === number) return start + end + 1;
    }
  }
  return 0;
}
