// Texts of hostile shapes, as files and as arguments, of 500 kB each.

import type { FileSession } from '../files/sessions.ts';
import type { Attack } from './attack.ts';
import { calling } from './reading.ts';
import { SHAPES } from './shapes.ts';

const SIZE = 500_000;

/** Returns the attacks on the session AT. */
export function growingAttacks(at: FileSession): Attack[] {
  return Object.entries(SHAPES).flatMap(([name, shape]) => {
    const file = `shape-${name.replace(/\W+/g, '-')}.lisp`;
    const text = shape(SIZE);
    at.put(file, text);
    const calls: [string, object][] = [
      ['propose_file_edit', { path: file, original: text.slice(0, 40), modified: 'x' }],
      ['write_file', { path: 'new.lisp', content: text }],
      ['read_definition', { path: file }],
      ['search_in_buffer', { buffer: file, pattern: text.slice(0, 300), code: true }],
    ];
    return calls.map(([tool, args]) => ({ name: `${tool}: ${name}`, try: () => calling(at, tool, args) }));
  });
}
