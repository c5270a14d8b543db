// Reads the lines of records, and shortens long texts in them.

import { digestOf } from '../files/digest.ts';

/** The fields that a line must have, each with its type or a list of its possible values. `?` marks an optional field.
 * Lines may have further fields. */
type Fields = Readonly<Record<string, 'string' | 'string?' | 'number' | 'boolean' | readonly string[]>>;

/** A check that returns true when the object in a line has the right fields. Each check is built only once, because a
 * log has many lines. */
type LineShape = (value: Record<string, unknown>) => boolean;

/** Returns a function that returns true when its argument, the object in a line, has FIELDS. */
export function lineShapeOf(fields: Fields): LineShape {
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

/** Returns the object in the line TEXT; undefined when the line is incomplete, or when the object matches none of
 * SHAPES. */
export function parseLine<Line extends object>(text: string, ...shapes: LineShape[]): Line | undefined {
  try {
    const value = (JSON.parse(text) ?? {}) as Record<string, unknown>;
    return shapes.some((fits) => fits(value)) ? (value as Line) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns a text with the length and the digest of TEXT, by which equal texts can be recognized. */
export function digestText(text: string): string {
  const digest = digestOf(text);
  return `[${text.length} characters, SHA-256 ${digest}]`;
}

/** Returns TEXT if it has at most LIMIT characters. Otherwise returns its first LIMIT characters, and a digest of TEXT,
 * by which equal texts can be recognized. */
export function truncate(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const digest = digestOf(text);
  return `${text.slice(0, limit)}[... ${text.length - limit} more characters, SHA-256 of all ${digest}]`;
}
