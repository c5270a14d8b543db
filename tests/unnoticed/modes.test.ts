// Whatever else a server and its image do meanwhile, a program does what it does in a plain SBCL. `make test` tries every
// fortieth probe so, `make check-unnoticed` each of them.

import { beforeAll, expect, test } from 'vitest';
import type { Caller } from '../harness.ts';
import { attachedCaller } from '../image/attached-sbcl.ts';
import { sandboxTest } from '../sandbox/namespaces.ts';
import {
  everyNthProbe,
  inOurs,
  inPlain,
  MAIN_THREAD,
  type Mode,
  type Outcome,
  type Probe,
  probes,
} from './outcomes.ts';

const some = everyNthProbe(40, probes());
const forms = some.map(({ form }) => form);
let plain: Outcome[];

beforeAll(async () => {
  plain = await inPlain(forms);
});

/** Fails unless probes have in an image that runs them as MODE says what they have in a plain SBCL, or what is EXPECTED
 *  instead; those of ALIKE, rows of docs/differences.md, too. */
async function expectUnnoticed(
  mode: Mode,
  { alike = [], expected = plain }: { alike?: readonly string[]; expected?: Outcome[] } = {},
): Promise<void> {
  const ours = await inOurs(forms, mode);
  const seen = ({ row, in: where }: Probe, outcome: Outcome | undefined) => {
    if (row === undefined || alike.includes(row)) return outcome;
    return where === 'output' ? outcome?.reported : undefined;
  };
  const outcomes = (all: Outcome[]) => some.map((probe, number) => [probe.form, seen(probe, all[number])]);
  expect(outcomes(ours)).toEqual(outcomes(expected));
}

sandboxTest('in the sandbox', () => expectUnnoticed({ args: ['--sandbox', 'on'] }));

test('in the main thread', () => expectUnnoticed(MAIN_THREAD, { alike: ['main-thread'] }));

test('while another thread holds an error', async () => {
  const begin = async (session: Caller) => {
    const held = await session.eval('(error "Held.")', { on_error: 'hold' });
    expect(held).toContain('Held as error 1');
    return async () => {
      expect(await session.text('debug', { error: 1, end: true })).toBe(
        'Ended error 1 and the call that it stopped.',
      );
    };
  };
  await expectUnnoticed({ begin });
});

test('in an image that was built again', async () => {
  const begin = async (session: Caller) => {
    // Probes count the symbols of CL-USER, and have this one too.
    await session.eval('(defun x (x) x)');
    await session.call('restart_image', {});
    return async () => expect(await session.eval('(x 5)')).toBe('5');
  };
  await expectUnnoticed({ args: ['--allow', 'restart_image'], begin });
});

test('in an image that somebody else runs', async () => {
  // What the backend loads there to listen on a socket.
  const expected = await inPlain(forms, ['(require :sb-bsd-sockets)', '(require :sb-posix)']);
  await expectUnnoticed({ opens: attachedCaller }, { expected });
});
