// Decides how records are written and read as lines, and how much of a long text they keep.

import { createHash } from 'node:crypto';

/** Returns the time now as records have it. */
export function now(): string {
  return new Date().toISOString();
}

/** What each field of a line must be; `?` marks those that may be absent. Other fields do not matter. */
export type Shape = Readonly<Record<string, 'string' | 'string?' | 'number' | 'boolean' | readonly string[]>>;

/** Returns the object that the line TEXT is, or undefined when a crash cut it, or it has none of SHAPES. */
export function parseLine<Line extends object>(text: string, ...shapes: Shape[]): Line | undefined {
  try {
    const value = JSON.parse(text) as Record<string, unknown> | null;
    return shapes.some((shape) => hasShape(value ?? {}, shape)) ? (value as Line) : undefined;
  } catch {
    return undefined;
  }
}

function hasShape(value: Record<string, unknown>, shape: Shape): boolean {
  return Object.entries(shape).every(([key, wanted]) => {
    const field = value[key];
    if (typeof wanted !== 'string') return typeof field === 'string' && wanted.includes(field);
    return typeof field === wanted.replace('?', '') || (field === undefined && wanted.endsWith('?'));
  });
}

/** Returns TEXT; a long one by its first LIMIT characters and its digest, which tells whether another is the same. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const digest = createHash('sha256').update(text).digest('hex');
  return `${text.slice(0, limit)}[... ${text.length - limit} more characters, SHA-256 of all ${digest}]`;
}
