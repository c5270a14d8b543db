// Whatever a configuration holds and however it is laid out, an entry goes in and out, and all else stays.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { apply, withdraw } from '../../src/install/edit.ts';
import type { Setting } from '../../src/install/settings.ts';

const LAUNCH = { node: '/bin/node', args: ['/x/live-lisp.js'] };
const ENTRY: Setting = {
  kind: 'entry',
  file: 'file',
  format: 'jsonc',
  path: ['mcpServers', 'live-lisp'],
  entry: ({ node, args }) => ({ command: node, args }),
};
const PERMISSION: Setting = {
  kind: 'permission',
  file: 'file',
  files: ['file'],
  format: 'jsonc',
  path: ['permissions', 'allow'],
  words: ['mcp__live-lisp__who_calls', 'mcp__live-lisp__read_file'],
};

// Not a quote alone: as a key, JSON.parse of Node 24 (V8 13.6) takes it for a backslash when an object had one there.
const word = fc.constantFrom('a', 'b, c', '// d', '/* e */', '{', ']', '"q"', 'é', '\\', '');
const inner = fc.dictionary(word, fc.oneof(word, fc.integer(), fc.array(word, { maxLength: 3 })), {
  maxKeys: 3,
});
const config = fc.record(
  {
    a: word,
    mcpServers: inner,
    permissions: fc.record({ allow: fc.array(word, { maxLength: 3 }) }),
    z: inner,
  },
  { requiredKeys: [] },
);
const layout = fc.constantFrom<string | number | undefined>(undefined, 2, 4, '\t');

/** Returns DATA as JSON in a LAYOUT, with a comment behind each line when COMMENTED. */
function laidOut(data: unknown, indent: string | number | undefined, commented: boolean): string {
  const text = JSON.stringify(data, null, indent);
  return commented ? `${text.replaceAll('\n', ' // { mine, "x": [\n')} // end` : text;
}

test.each([ENTRY, PERMISSION])('$kind', async (setting) => {
  const property = fc.asyncProperty(config, layout, fc.boolean(), async (data, indent, commented) => {
    const before = laidOut(data, indent, commented);
    const { standing, text } = await apply(setting, before, LAUNCH);
    expect(standing).toBe('absent');
    expect((await apply(setting, text, LAUNCH)).standing).toBe('same');
    const after = (await withdraw(setting, text ?? '', before)) ?? '';
    const bare = after.replaceAll(/ \/\/ (?:\{ mine, "x": \[|end)/g, '');
    expect(JSON.parse(bare)).toEqual(data);
    expect(after.length - bare.length).toBe(before.length - laidOut(data, indent, false).length);
  });
  await fc.assert(property, { numRuns: 100 });
});
