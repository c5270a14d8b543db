// What the process writes past its backend: what is told of it, and the reason for which the runtime gave up.

import { describe, expect, test } from 'vitest';
import { RawOutput } from '../../src/image/process/raw-output.ts';

const fatal = (reason: string, pid = 7) => `fatal error encountered in SBCL pid ${pid} tid 8:\n${reason}\n\n`;

const HEAP_TABLE = `Heap exhausted during allocation: 491520 bytes available, 800016 requested.
        Immobile Object Counts
 Gen layout fdefn symbol   code  Boxed   Cons    Raw   Code  SmMix  Mixed  LgRaw LgCode  LgMix Waste%       Alloc        Trig   Dirty GCs Mem-age
  0      0      0      0      0      0      1      0      0      0      0      0      0    850    2.5    27200544     5368709       -   0  0.0000
  6    730  15690  26670  17517    350    139     41      3     14      9      0      0     58    2.2    19673712     2000000       1   0  0.0000
Tot    730  15690  26670  17518    356    147     43      3     15     13      0      0  15783    2.4   523217584 [97.5% of 536870912 max]
GC control variables:
   *GC-INHIBIT* = false
   *GC-PENDING* = true
   *STOP-FOR-GC-PENDING* = false
`;

/** The same of SBCL 2.6.7. */
const NEWER_HEAP_TABLE = `Heap exhausted during allocation: 4280778752 bytes available, 8796093022224 requested.
     | Immobile Objects |
 Gen layout symbol   code  Boxed   Cons    Raw   Code  SmMix  Mixed  LgRaw LgCode  LgMix Waste%       Alloc        Trig   Dirty GCs Mem-age
  0      0      0      1      1      4      1      1      1     12      0      0      0   41.3      384752    43002216       -   1  0.0000
Tot    778  24148  20461    239    136      8      4     12     25      0      0      9    4.8    13511744 [0.3% of 4294967296 max]
GC control variables:
   *GC-INHIBIT* = false
   *GC-PENDING* = in progress
   *STOP-FOR-GC-PENDING* = false
Collection trigger variables:
   dynamic_space_size = 4294967296
   bytes_allocated = 13511744
   auto_gc_trigger = 227927900
   bytes_consed_between_gcs = 214748364
`;

const REGISTERS = ` tid 25867 CPU state (SIGILL received): PC=7f9c19cd8267 Flags={IF ZF PF}
              rax              rcx              rdx              rbx              rsp              rbp              rsi              rdi
                0     7F9C19CD8267             CA16                8     7F9C198FF968     7F9C198FF980                4             650B
                              xmm0                              xmm1                              xmm2                              xmm3
  00000000000000000000000000000000  00007F9C198FFD9000007F9C19900060  00000000000000000000000000000000  00000000000000000000000000000000
sigmask=
`;

function heard(...chunks: string[]): RawOutput {
  const raw = new RawOutput();
  for (const chunk of chunks) raw.add('stderr', chunk);
  return raw;
}

describe('the reason', () => {
  test.each([
    ['Heap exhausted, game over.', 'Heap exhausted, game over'],
    ['Control stack exhausted, fault: 0x7f62a035fcf8, PC: 0x52a0045f', 'Control stack exhausted'],
    ['Unhandled SIGILL at 0x7f9c19cd8267.', 'Unhandled SIGILL'],
    ['Losing @ 0x1002f00003', 'Losing'],
    ['x'.repeat(300), 'x'.repeat(100)],
  ])('%s', (reason, reported) => {
    expect(heard(fatal(reason)).fatal).toBe(reported);
  });

  test('comes in any pieces, with the rest of the output in between, and taken meanwhile', () => {
    const raw = new RawOutput();
    for (const piece of fatal('GC invariant lost, file "a.c", line 1')) {
      raw.add('stderr', piece);
      raw.add('stdout', 'other words\n');
      raw.take();
    }
    expect(raw.fatal).toBe('GC invariant lost, file "a.c", line 1');
  });

  test('is kept when much else comes', () => {
    expect(heard(fatal('told to'), 'much\n'.repeat(10_000)).fatal).toBe('told to');
  });

  test('is the first of a process that failed again while it reported, and of the last process', () => {
    expect(heard(fatal('first'), fatal('second')).fatal).toBe('first');
    expect(heard(fatal("a child's", 6), fatal('first'), fatal('second')).fatal).toBe('first');
  });

  test('is what was corrupt when that ends it, and only then', () => {
    const warning =
      'CORRUPTION WARNING in SBCL pid 7 tid 8:\nMemory fault at 0x10 (pc=0x1, fp=0x2, sp=0x3) tid 8\nThe integrity of this image is possibly compromised.\n';
    expect(heard(`${warning}Exiting.\n`).fatal).toBe('Memory fault');
    expect(heard(`${warning}Continuing with fingers crossed.\n`).fatal).toBeUndefined();
  });

  test('is no older table, and nothing on stdout', () => {
    expect(heard(HEAP_TABLE).fatal).toBeUndefined();
    const raw = new RawOutput();
    raw.add('stdout', fatal('told to'));
    expect(raw.fatal).toBeUndefined();
  });
});

describe('what is told', () => {
  const frame = (n: number) => `${String(n).padStart(4)}: fp=0x7f4b30fb7980 pc=0x52b4fb27 CL-USER::DEEP\n`;
  const frames = (count: number) => Array.from({ length: count }, (_, n) => frame(n)).join('');

  test.each([
    ['the tables of the heap', HEAP_TABLE],
    ['those of a newer SBCL', NEWER_HEAP_TABLE],
    ['the registers', REGISTERS],
    ['the warning of a full stack', 'INFO: Control stack guard page unprotected\n'],
  ])('not %s, however it is cut', (_, text) => {
    for (const size of [1, 7, 100, 10_000]) {
      const raw = new RawOutput();
      for (const piece of text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []) {
        raw.add('stderr', piece);
        expect(raw.take()).toBe('');
      }
    }
  });

  test('variables of a program, which it writes as the runtime does, but elsewhere', () => {
    expect(heard(`${NEWER_HEAP_TABLE}done\n   heap = 3\n`).take()).toBe('done\n   heap = 3\n');
    expect(heard('My variables:\n   heap = 3\n').take()).toBe('My variables:\n   heap = 3\n');
  });

  test('the first ten frames', () => {
    expect(heard(fatal('told to'), frames(100)).take()).toBe(`${fatal('told to')}${frames(10)}`);
  });

  test('all else, also what has no newline yet, once', () => {
    const raw = heard('a line\nand 10: more');
    expect([raw.take(), raw.take()]).toEqual(['a line\nand 10: more', '']);
    raw.add('stdout', ' still\n');
    expect(raw.take()).toBe(' still\n');
  });

  test('the end of much', () => {
    expect(heard(`${'line\n'.repeat(10_000)}end`).take()).toBe(`${'line\n'.repeat(1600)}end`.slice(-8000));
    expect(heard('x'.repeat(50_000)).take()).toBe('x'.repeat(8000));
  });
});
