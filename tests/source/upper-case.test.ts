// Names in upper case, as SBCL's reader interns them.

import { expect, test } from 'vitest';
import { upperCase } from '../../src/source/lexer.ts';
import { sharedSession } from '../shared.ts';

const session = sharedSession();

test.each(['ähnlich', 'straße', 'ασ', 'ας', 'ας-αςβ', 'ǆ-ǅ-Ǆ', 'ﬁn', 'ſ', 'ı-İ', 'ªº', '\u{10428}a', 'µ'])(
  '%s',
  async (name) => {
    const codes = await session.eval(`(map 'list #'char-code (symbol-name (read-from-string "${name}")))`);
    expect(codes).toBe(`(${[...upperCase(name)].map((char) => char.codePointAt(0)).join(' ')})`);
  },
);
