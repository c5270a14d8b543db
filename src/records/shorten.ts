// Formats and parses the lines of records, and shortens long texts in them.

import { createHash } from 'node:crypto';

/** Cache of the last second that was formatted, as there are many calls in a second. */
let cachedSecond = Number.NaN;
let cachedText = '';

/** Returns the time AT, in whole milliseconds since 1970, as records write it. */
export function timeText(at: number): string {
  const milliseconds = at % 1000;
  if (at - milliseconds !== cachedSecond) {
    cachedSecond = at - milliseconds;
    cachedText = new Date(cachedSecond).toISOString().slice(0, -4);
  }
  return `${cachedText}${String(milliseconds).padStart(3, '0')}Z`;
}

/** The type of each field of a line, or its possible values; `?` marks optional fields. Other fields are ignored. */
type Fields = Readonly<Record<string, 'string' | 'string?' | 'number' | 'boolean' | readonly string[]>>;

/** A check of a line's fields, built once because a log has many lines. */
export type Shape = (value: Record<string, unknown>) => boolean;

/** Returns the check that a line has FIELDS. */
export function shapeOf(fields: Fields): Shape {
  const checks = Object.entries(fields).map(([key, expected]) => {
    if (typeof expected !== 'string') {
      return (value: Record<string, unknown>) => expected.some((allowed) => allowed === value[key]);
    }
    const [type, optional] = [expected.replace('?', ''), expected.endsWith('?')];
    return (value: Record<string, unknown>) =>
      typeof value[key] === type || (optional && value[key] === undefined);
  });
  return (value) => checks.every((check) => check(value));
}

/** Returns the object in the line TEXT; undefined when a crash cut it, or it fits none of SHAPES. */
export function parseLine<Line extends object>(text: string, ...shapes: Shape[]): Line | undefined {
  try {
    const value = (JSON.parse(text) ?? {}) as Record<string, unknown>;
    return shapes.some((fits) => fits(value)) ? (value as Line) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the length and digest of TEXT, by which equal texts can be recognized. */
export function digestText(text: string): string {
  const digest = createHash('sha256').update(text).digest('hex');
  return `[${text.length} characters, SHA-256 ${digest}]`;
}

/** Returns TEXT; a long one as its first LIMIT characters and its digest, by which equal texts can be recognized. */
export function truncate(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const digest = createHash('sha256').update(text).digest('hex');
  return `${text.slice(0, limit)}[... ${text.length - limit} more characters, SHA-256 of all ${digest}]`;
}
