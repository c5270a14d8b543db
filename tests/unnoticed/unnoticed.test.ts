// What runs in the image of the server does what it does in a plain SBCL, but for the rows of docs/differences.md.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { PROJECT } from '../harness.ts';
import { libraries } from '../libraries.ts';
import {
  everyNthProbe,
  inOurs,
  inOurTest,
  inPlain,
  inPlainTest,
  type Mode,
  type Outcome,
  observing,
  type Probe,
  probes,
} from './outcomes.ts';

libraries('fiveam');

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
    expect(
      compared.filter(({ plain }) => plain.reported === 'not told').map(({ probe }) => probe.form),
    ).toEqual([]);
  });

  test('a form has the values, conditions and output that it has in a plain SBCL', () => {
    const same = compared.filter(({ probe }) => probe.row === undefined);
    expect(same.map(({ probe, ours }) => ({ form: probe.form, ...ours }))).toEqual(
      same.map(({ probe, plain }) => ({ form: probe.form, ...plain })),
    );
  });

  test('a form that differs in its output alone has the same values and conditions', () => {
    const same = compared.filter(({ probe }) => probe.in === 'output');
    expect(same.map(({ probe, ours }) => ({ form: probe.form, reported: ours.reported }))).toEqual(
      same.map(({ probe, plain }) => ({ form: probe.form, reported: plain.reported })),
    );
  });

  // On another SBCL not each of the forms need differ.
  test('each row has a form that differs', () => {
    const unlike = ({ probe, plain, ours }: (typeof compared)[number]) =>
      probe.in === 'outcome' ? plain.reported !== ours.reported : plain.output !== ours.output;
    const rows = new Set(compared.filter(unlike).flatMap(({ probe }) => probe.row ?? []));
    expect([...rows].sort()).toEqual(documentedRows().sort());
  });
});

/** Returns what is told of those of PROBED whose values and conditions are the same in a plain SBCL and in an image. */
const reported = (probed: readonly Probe[], outcomes: readonly Outcome[]) =>
  probed.flatMap((probe, number) =>
    probe.in === 'outcome' ? [] : [{ form: probe.form, reported: outcomes[number]?.reported }],
  );

/** Fails unless PROBED have in an image that runs them as MODE says the values and conditions that they have in a plain SBCL. */
async function expectReported(probed: readonly Probe[], mode: Mode): Promise<void> {
  const tried = probed.map(({ form }) => form);
  const [plain, ours] = await Promise.all([inPlain(tried), inOurs(tried, mode)]);
  expect(reported(probed, ours)).toEqual(reported(probed, plain));
}

describe('a form has the values and conditions that it has in a plain SBCL', () => {
  const watched = all.filter(({ form }) => form.includes('unnoticed::watched'));

  test('while observe records', () =>
    expectReported(everyNthProbe(20, all), observing({ functions: ['unnoticed:'] })));

  test('while observe records those calls for which a form is true, which signals', () => {
    const where = '(progn (signal "noticed") (warn "noticed") (error "noticed"))';
    const functions = ['unnoticed:', 'print-object', 'make-instance', 'initialize-instance'];
    return expectReported(watched, observing({ functions, where }));
  });

  test('in a test of FiveAM, within which checks fail', async () => {
    // FiveAM takes no checks of other threads.
    const probed = watched.filter(({ form }) => !form.includes('make-thread'));
    const tested = probed.map(({ form }) => form);
    const [plain, ours] = await Promise.all([inPlainTest(tested), inOurTest(tested)]);
    expect(plain.filter((outcome) => outcome.reported === 'not told')).toEqual([]);
    expect(reported(probed, ours)).toEqual(reported(probed, plain));
  });
});
