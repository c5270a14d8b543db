// Decides how records are written and read as lines, and how much of a long text they keep.

import { createHash } from 'node:crypto';

/** Returns the time now as records have it. */
export function now(): string {
  return new Date().toISOString();
}

/** Returns the object that the line TEXT is, or undefined when a crash cut it. */
export function parseLine<Line extends object>(
  text: string,
  isLine: (value: Line) => boolean,
): Line | undefined {
  try {
    const value = JSON.parse(text) as Line;
    return typeof value === 'object' && value !== null && isLine(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns TEXT; a long one by its first LIMIT characters and its digest, which tells whether another is the same. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const digest = createHash('sha256').update(text).digest('hex');
  return `${text.slice(0, limit)}[... ${text.length - limit} more characters, SHA-256 of all ${digest}]`;
}
