// The codec of the wire to the backend: what goes in comes out, however the octets arrive.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeFrame, FRAME_LIMIT, FrameReader, type Message } from '../../src/image/wire/frames.ts';

/** Any JSON object, with any UTF-16 code units in its strings and keys. */
const anyString = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 })
  .map((units) => String.fromCharCode(...units));
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(null, true, false),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    anyString,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(anyString, tie('value'), { maxKeys: 4 }),
  ),
}));
const anyMessage = fc.dictionary(anyString, anyValue, { maxKeys: 5 }) as fc.Arbitrary<Message>;

/** Returns the frame with BODY, whatever that is. */
function frame(body: string | Buffer): Buffer {
  const octets = Buffer.from(body);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(octets.length);
  return Buffer.concat([head, octets]);
}

/** Returns OCTETS cut at the fractions CUTS. */
function split(octets: Buffer, cuts: number[]): Buffer[] {
  const ends = [...cuts.map((cut) => Math.floor(cut * octets.length)), octets.length].sort((a, b) => a - b);
  return ends.map((end, index) => octets.subarray(ends[index - 1] ?? 0, end));
}

describe('any message', () => {
  test('round trips', () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        const [back, ...rest] = new FrameReader().push(encodeFrame(message));
        expect(JSON.stringify(back)).toBe(JSON.stringify(message));
        expect(rest).toEqual([]);
      }),
    );
  });

  test('is printable ASCII behind its length', () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        const octets = encodeFrame(message);
        expect(octets.readUInt32BE(0)).toBe(octets.length - 4);
        expect(octets.subarray(4).every((octet) => octet >= 0x20 && octet < 0x7f)).toBe(true);
      }),
    );
  });

  test('arrives however it is split, and with others', () => {
    const fractions = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 6 }), fractions, (messages, cuts) => {
        const octets = Buffer.concat(messages.map(encodeFrame));
        const reader = new FrameReader();
        const back = split(octets, cuts).flatMap((chunk) => reader.push(Buffer.from(chunk)));
        expect(JSON.stringify(back)).toBe(JSON.stringify(messages));
      }),
    );
  });
});

describe('the reader', () => {
  test('takes a long message in many chunks', () => {
    const text = 'x'.repeat(8 * 1024 * 1024);
    const octets = encodeFrame({ text });
    const reader = new FrameReader();
    const back: Message[] = [];
    for (let at = 0; at < octets.length; at += 65_536)
      back.push(...reader.push(octets.subarray(at, at + 65_536)));
    expect(back).toHaveLength(1);
    expect(back[0]?.['text'] === text).toBe(true);
  });

  test('refuses a length over the limit before its body has come', () => {
    const head = Buffer.alloc(4);
    head.writeUInt32BE(FRAME_LIMIT + 1);
    expect(() => new FrameReader().push(head)).toThrow(
      `a frame of ${FRAME_LIMIT + 1} octets is over the limit`,
    );
    head.writeUInt32BE(0xffffffff);
    expect(() => new FrameReader().push(head)).toThrow('over the limit');
    head.writeUInt32BE(FRAME_LIMIT);
    expect(new FrameReader().push(head)).toEqual([]);
  });

  test.each(['', '{"a":1'])('refuses a body that is no JSON: %j', (body) => {
    expect(() => new FrameReader().push(frame(body))).toThrow(SyntaxError);
  });

  test.each(['null', '[{"id":1}]'])('refuses a body that is no object: %s', (body) => {
    expect(() => new FrameReader().push(frame(body))).toThrow('a frame is not a JSON object');
  });

  test('never throws anything but an Error, and never gives what is no object', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (octets) => {
        try {
          for (const message of new FrameReader().push(Buffer.from(octets)))
            expect(message).toBeTypeOf('object');
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
      }),
    );
  });
});
