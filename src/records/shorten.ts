// Decides how records are written and read as lines, and how much of a long text they keep.

import { createHash } from 'node:crypto';

/** The second that a text was made of last, and that text: calls come many in a second. */
let second = Number.NaN;
let secondText = '';

/** Returns the time AT, in whole milliseconds, as records have it. */
export function timeText(at: number): string {
  const milliseconds = at % 1000;
  if (at - milliseconds !== second) {
    second = at - milliseconds;
    secondText = new Date(second).toISOString().slice(0, -4);
  }
  return `${secondText}${String(milliseconds).padStart(3, '0')}Z`;
}

/** What each field of a line must be; `?` marks those that may be absent. Other fields do not matter. */
type Fields = Readonly<Record<string, 'string' | 'string?' | 'number' | 'boolean' | readonly string[]>>;

/** A check of what a line holds, made once: a log has many lines. */
export type Shape = (value: Record<string, unknown>) => boolean;

/** Returns the check that a line has FIELDS. */
export function shapeOf(fields: Fields): Shape {
  const checks = Object.entries(fields).map(([key, wanted]) => {
    if (typeof wanted !== 'string') {
      return (value: Record<string, unknown>) => wanted.some((each) => each === value[key]);
    }
    const [type, optional] = [wanted.replace('?', ''), wanted.endsWith('?')];
    return (value: Record<string, unknown>) =>
      typeof value[key] === type || (optional && value[key] === undefined);
  });
  return (value) => checks.every((check) => check(value));
}

/** Returns the object that the line TEXT is, or undefined when a crash cut it, or it has none of SHAPES. */
export function parseLine<Line extends object>(text: string, ...shapes: Shape[]): Line | undefined {
  try {
    const value = (JSON.parse(text) ?? {}) as Record<string, unknown>;
    return shapes.some((has) => has(value)) ? (value as Line) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns how long TEXT is and its digest, which tells whether another is the same. */
export function digestText(text: string): string {
  const digest = createHash('sha256').update(text).digest('hex');
  return `[${text.length} characters, SHA-256 ${digest}]`;
}

/** Returns TEXT; a long one by its first LIMIT characters and its digest, which tells whether another is the same. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const digest = createHash('sha256').update(text).digest('hex');
  return `${text.slice(0, limit)}[... ${text.length - limit} more characters, SHA-256 of all ${digest}]`;
}
