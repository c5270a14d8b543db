// Records with random damage: what is intact is read, and what is added later is whole.

import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AuditLog } from '../../src/records/audit-log.ts';
import { ReplHistory } from '../../src/records/repl-history.ts';
import { cases, PATIENCE_MS } from '../long.ts';
import { sharedFolder } from '../shared.ts';

const folder = sharedFolder();

/** What can become of a file: cut off, bits changed, NULs, a giant line, part of a character, lines of others. */
type Damage =
  | { kind: 'cut'; at: number }
  | { kind: 'flip'; at: number; bit: number }
  | { kind: 'nul'; at: number; count: number }
  | { kind: 'append'; octets: Uint8Array };

const fraction = fc.double({ min: 0, max: 0.999, noNaN: true });
const damage: fc.Arbitrary<Damage> = fc.oneof(
  fc.record({ kind: fc.constant('cut' as const), at: fraction }),
  fc.record({ kind: fc.constant('flip' as const), at: fraction, bit: fc.integer({ min: 0, max: 7 }) }),
  fc.record({ kind: fc.constant('nul' as const), at: fraction, count: fc.integer({ min: 1, max: 40 }) }),
  fc.record({
    kind: fc.constant('append' as const),
    octets: fc.oneof(
      fc.uint8Array({ maxLength: 30 }),
      fc
        .constantFrom(
          '{"id":"x"}\n',
          'null\n',
          '[]\n',
          '\n\n',
          '{"event":"end","id":{}}\n',
          '\u00e9'.repeat(3),
          'x'.repeat(100_000),
          '[['.repeat(3000),
        )
        .map((text) => Buffer.from(text)),
      fc.constant(Buffer.from([0xe2, 0x82])),
    ),
  }),
);

/** Does DAMAGE to the file at PATH, as nobody does who knows its lines. */
function harm(path: string, done: Damage): void {
  const octets = readFileSync(path);
  const at = 'at' in done ? Math.floor(done.at * octets.length) : 0;
  if (done.kind === 'append') {
    appendFileSync(path, done.octets);
    return;
  }
  if (done.kind === 'cut') {
    writeFileSync(path, octets.subarray(0, at));
    return;
  }
  if (done.kind === 'nul') octets.fill(0, at, Math.min(at + done.count, octets.length));
  else if (octets.length > 0) octets[at] = (octets[at] ?? 0) ^ (1 << done.bit);
  writeFileSync(path, octets);
}

/** Returns the lines of the file at PATH that are as they were in BEFORE. */
function intact(path: string, before: string[]): Set<string> {
  const lines = new Set(readFileSync(path, 'utf8').split('\n'));
  return new Set(before.filter((line) => lines.has(line)));
}

/** Returns the line that was just added to the file at PATH. */
function lastLine(path: string): string {
  return readFileSync(path, 'utf8').split('\n').at(-2) ?? '';
}

const historyPath = join(folder.path, 'history.jsonl');
const auditPath = join(folder.path, 'audit.jsonl');
const histories = [new ReplHistory(historyPath), new ReplHistory(historyPath)] as const;

test(
  'the history keeps every intact line, and those of servers beside it',
  () => {
    fc.assert(
      fc.property(
        fc.array(damage, { maxLength: 6 }),
        fc.array(fc.string(), { minLength: 1, maxLength: 5 }),
        (harms, forms) => {
          const path = historyPath;
          rmSync(path, { force: true });
          const [one, other] = histories;
          const written: string[] = [];
          forms.forEach((form, index) => {
            const history = index % 2 === 0 ? one : other;
            history.add({ form: `${index} ${form}`, milliseconds: index });
            const damaged = harms[index];
            written.push(lastLine(path));
            if (damaged) harm(path, damaged);
          });
          one.add({ form: 'last', milliseconds: 1 });
          const read = [...other.newestFirst()].map((each) => JSON.stringify(each));
          expect(JSON.parse(read[0] ?? '')).toMatchObject({ form: 'last' });
          for (const line of intact(path, written)) expect(read).toContain(JSON.stringify(JSON.parse(line)));
        },
      ),
      cases(60),
    );
  },
  PATIENCE_MS,
);

test(
  'the audit log keeps every call whose lines are intact, and the next is whole',
  () => {
    fc.assert(
      fc.property(fc.array(damage, { maxLength: 6 }), (harms) => {
        const path = auditPath;
        rmSync(path, { force: true });
        const [one, other] = [new AuditLog(path, '/root'), new AuditLog(path, '/root')];
        const begun: string[] = [];
        harms.forEach((harmed, index) => {
          const call = {
            tool: `tool_${index}`,
            level: 'cautious',
            args: { n: index },
            caller: 'client',
          } as const;
          const log = index % 2 === 0 ? one : other;
          const end = log.begin(call, 'level');
          begun.push(lastLine(path));
          if (index % 3 === 0) end({ success: true, milliseconds: 1 });
          harm(path, harmed);
          if (index % 3 === 1) end({ success: false, error: 'x'.repeat(5000), milliseconds: 1 });
        });
        one.begin(
          { tool: 'last', level: 'cautious', args: {}, caller: 'code' },
          'level',
        )({ success: true, milliseconds: 2 });
        const read = [...other.newestFirst()];
        expect(read[0]).toMatchObject({ tool: 'last', end: { success: true, milliseconds: 2 } });
        const ids = read.map(({ id }) => id);
        for (const line of intact(path, begun))
          expect(ids).toContain((JSON.parse(line) as { id: string }).id);
      }),
      cases(60),
    );
  },
  PATIENCE_MS,
);
