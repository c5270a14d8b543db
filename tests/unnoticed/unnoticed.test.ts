// What runs in the image of the server does what it does in a plain SBCL, but for the rows of docs/differences.md.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { PROJECT } from '../harness.ts';
import { inOurs, inPlain, type Outcome, type Probe, probes } from './outcomes.ts';

const all = probes();
const forms = all.map(({ form }) => form);
let compared: { probe: Probe; plain: Outcome; ours: Outcome }[];

beforeAll(async () => {
  const [plain, ours] = await Promise.all([inPlain(forms), inOurs(forms)]);
  compared = all.map((probe, number) => {
    const [expected, received] = [plain[number], ours[number]];
    if (expected === undefined || received === undefined) throw new Error(`no outcome of ${probe.form}`);
    return { probe, plain: expected, ours: received };
  });
});

/** Returns the rows of docs/differences.md by name. */
function documentedRows(): string[] {
  const page = readFileSync(join(PROJECT, 'docs', 'differences.md'), 'utf8');
  return [...page.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, row = '']) => row);
}

describe('in an image of the server', () => {
  test('there are hundreds of probes, each of which ends in a plain SBCL', () => {
    expect(all.length).toBeGreaterThan(300);
    expect(compared.filter(({ plain }) => plain.told === 'not told').map(({ probe }) => probe.form)).toEqual(
      [],
    );
  });

  test('a form has the values, conditions and output that it has in a plain SBCL', () => {
    const same = compared.filter(({ probe }) => probe.row === undefined);
    expect(same.map(({ probe, ours }) => ({ form: probe.form, ...ours }))).toEqual(
      same.map(({ probe, plain }) => ({ form: probe.form, ...plain })),
    );
  });

  test('a form that differs in its output alone has the same values and conditions', () => {
    const same = compared.filter(({ probe }) => probe.in === 'output');
    expect(same.map(({ probe, ours }) => ({ form: probe.form, told: ours.told }))).toEqual(
      same.map(({ probe, plain }) => ({ form: probe.form, told: plain.told })),
    );
  });

  // On another SBCL not each of the forms need differ.
  test('each row has a form that differs', () => {
    const unlike = ({ probe, plain, ours }: (typeof compared)[number]) =>
      probe.in === 'outcome' ? plain.told !== ours.told : plain.output !== ours.output;
    const rows = new Set(compared.filter(unlike).flatMap(({ probe }) => probe.row ?? []));
    expect([...rows].sort()).toEqual(documentedRows().sort());
  });

  test('what differs is what docs/differences.md lists', () => {
    const rows = new Set(all.flatMap(({ row }) => row ?? []));
    expect([...rows].sort()).toEqual(documentedRows().sort());
  });
});
