// Random texts of any characters.

import fc, { type Arbitrary, type StringConstraints } from 'fast-check';

/** Any code point but halves of pairs. */
const CHARACTER = fc
  .oneof(
    fc.integer({ min: 0, max: 0x7f }),
    fc.integer({ min: 0x80, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0x10ffff }),
  )
  .map((code) => String.fromCodePoint(code));

/** Returns texts of any characters, as long as CONSTRAINTS say. To make the unit `binary` of fc.string takes a second. */
export function anyText(constraints: Omit<StringConstraints, 'unit'> = {}): Arbitrary<string> {
  return fc.string({ ...constraints, unit: CHARACTER });
}
