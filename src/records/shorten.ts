// Formats and parses the lines of records, and shortens long texts in them.

import { digestOf } from '../files/digest.ts';

/** The fields of a line, each with its type or its possible values. `?` marks an optional field. Other fields
 *  are ignored. */
type Fields = Readonly<Record<string, 'string' | 'string?' | 'number' | 'boolean' | readonly string[]>>;

/** Returns whether a line has the right fields. A log has many lines, so this is built once. */
type LineShape = (value: Record<string, unknown>) => boolean;

/** Returns the LineShape for lines with FIELDS. */
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

/** Returns the object in the line TEXT; undefined when it is incomplete or fits none of SHAPES. */
export function parseLine<Line extends object>(text: string, ...shapes: LineShape[]): Line | undefined {
  try {
    const value = (JSON.parse(text) ?? {}) as Record<string, unknown>;
    return shapes.some((fits) => fits(value)) ? (value as Line) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the length and the digest of TEXT, to identify equal texts. */
export function digestText(text: string): string {
  const digest = digestOf(text);
  return `[${text.length} characters, SHA-256 ${digest}]`;
}

/** Returns TEXT if it has at most LIMIT characters. Otherwise returns its first LIMIT characters and a digest
 *  of all of it, to identify equal texts. */
export function truncate(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const digest = digestOf(text);
  return `${text.slice(0, limit)}[... ${text.length - limit} more characters, SHA-256 of all ${digest}]`;
}
