// A file that is edited at random and loaded each time. What is told to differ is what differs from a fresh image that
// loads the last text. After forgetting nothing does.

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Session, startSession, temporaryFolder } from '../harness.ts';
import { LONG, PATIENCE_MS } from '../long.ts';
import { EVERYTHING, RANDOM_FILE } from './random-file.ts';

const root = temporaryFolder();
let edited: Session;
let fresh: Session;
beforeAll(async () => {
  const args = ['--root', root.path, '--allow', 'restart_image', '--replay', 'off'];
  [edited, fresh] = await Promise.all([startSession({ args }), startSession({ args })]);
});
afterAll(async () => {
  await Promise.all([edited.close(), fresh.close()]);
  root.remove();
});

function put(text: string): void {
  root.put('random.lisp', text);
}

async function load(session: Session, forget = false): Promise<string> {
  const { text, isError } = await session.call('load_file', {
    path: 'random.lisp',
    ...(forget && { forget }),
  });
  expect(isError, text).toBe(false);
  return text;
}

/** Returns all that the image of SESSION has of the package, by name. */
async function everything(session: Session): Promise<string[]> {
  const text: unknown = JSON.parse((await session.eval(EVERYTHING)).replace(/\n/g, '\\n'));
  return String(text).split('\n').filter(Boolean);
}

/** Returns the names that ONE has and OTHER has not, without their kinds and values. */
function namesBeyond(one: string[], other: string[]): Set<string> {
  const had = new Set(other);
  return new Set(
    one.filter((line) => !had.has(line)).flatMap((line) => line.match(/[A-Z0-9*+-]*\d[A-Z0-9*+-]*/g) ?? []),
  );
}

test(
  'what is told to differ is what differs, and forgetting ends it',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(RANDOM_FILE, { minLength: 2, maxLength: 4 }), async (texts) => {
        await Promise.all(
          [edited, fresh].map((session) => session.call('restart_image', { rebuild: 'none' })),
        );
        let reported = '';
        for (const text of texts) {
          put(text);
          reported = await load(edited);
        }
        await load(fresh);
        const [before, goal] = [await everything(edited), await everything(fresh)];
        const compared = await edited.text('compare_image', { path: 'random.lisp' });
        const said = `${texts.join('\n')}\n${reported}\n${compared}`;
        // Nothing is missing in the edited image.
        expect(
          goal.filter((line) => !before.includes(line) && !line.startsWith('bound')),
          said,
        ).toEqual([]);
        const agrees = before.join('\n') === goal.join('\n');
        expect(compared === 'The image and random.lisp agree.', said).toBe(agrees);
        expect(/In the image but no longer|Not set again/.test(reported), said).toBe(!agrees);
        // Whatever is told differs.
        const differing = namesBeyond(before, goal);
        const names = [...compared.matchAll(/RT::([^\s,;.()]+)/g)].map(([, name = '']) => name);
        expect(
          names.filter((name) => /\d/.test(name) && !differing.has(name)),
          said,
        ).toEqual([]);
        // The load before has listed all that goes, unless that is much.
        const forgotten = [await load(edited, true), await load(edited, true)];
        expect(forgotten[1], said).not.toContain('No definition of random.lisp was removed');
        const forgot = forgotten.join('\n');
        const after = await everything(edited);
        const values = (lines: string[]) => lines.filter((line) => !line.startsWith('bound'));
        expect(values(after), `${said}\n${forgot}`).toEqual(values(goal));
      }),
      { numRuns: LONG ? 300 : 1, endOnFailure: true },
    );
  },
  PATIENCE_MS,
);
