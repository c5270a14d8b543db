// S2.11, S2.12, C20 below the protocol: which calls run at once, which need a human, and what is recorded of them.

import { describe, expect, test } from 'vitest';
import type { Verdict } from '../../src/kernel/approval.ts';
import type { AuditTrail } from '../../src/kernel/audit.ts';
import { Executor, type ExecutorOptions } from '../../src/kernel/executor.ts';
import { ToolRegistry } from '../../src/kernel/registry.ts';
import { StandingApprovals } from '../../src/kernel/standing.ts';
import { defineTool, SAFETY_LEVELS, type ToolDefinition } from '../../src/kernel/tool.ts';
import { changedMeanwhile, noString } from '../said.ts';
import { type Probe, probe, VALID } from './tools.ts';

const DENIED = {
  success: false,
  error: 'Tool execution denied by user',
  notices: [],
  hint: expect.any(String),
};

/** Returns what a dangerous tool over a file that is FILE now has for its preview. */
function previewOver(file: { content: string }): NonNullable<ToolDefinition['preview']> {
  return async ({ symbol }) => ({ text: `write ${symbol}`, place: 'src/a.lisp', fingerprint: file.content });
}

function execute(one: Probe, options: ExecutorOptions = {}) {
  const registry = new ToolRegistry();
  registry.register(one.tool);
  const executor = new Executor(registry, options);
  return (args: unknown, verdict?: Verdict) => executor.execute('probe', args, {}, verdict);
}

function dangerous(preview?: ToolDefinition['preview']): Probe {
  return probe({ safetyLevel: 'dangerous', required: ['symbol'], ...(preview && { preview }) });
}

describe('the table', () => {
  const LEVELS = SAFETY_LEVELS.flatMap((level) =>
    (['dangerous', 'cautious'] as const).flatMap((ask) =>
      [false, true].map((standing) => ({ level, ask, standing })),
    ),
  );

  test.each(LEVELS)(
    'S2.11 C3 of $level under $ask, standing approval $standing',
    async ({ level, ask, standing }) => {
      const one = probe({ safetyLevel: level });
      const rules = new StandingApprovals(standing ? [{ tool: 'probe' }] : []);
      const outcome = await execute(one, { ask, standing: rules })({});
      const runs = standing || level === 'safe' || (level === 'cautious' && ask === 'dangerous');
      expect([outcome.success, one.runs.length]).toEqual([runs, runs ? 1 : 0]);
    },
  );
});

test('S2.11 of a dangerous tool, a call that only looks runs', async () => {
  const one = probe({ safetyLevel: 'dangerous', isReadOnly: ({ symbol }) => symbol === 'car' });
  for (const symbol of ['car', 'cdr']) await execute(one, { ask: 'cautious' })({ symbol });
  expect(one.runs).toHaveLength(1);
});

describe('approval', () => {
  test('S2.11 C20 with nobody to ask, the refusal names the flag; the outcome has the question', async () => {
    const one = dangerous(previewOver({ content: 'v1' }));
    const outcome = await execute(one)({ symbol: 'car' });
    expect(outcome).toMatchObject({
      success: false,
      error:
        "Tool probe is dangerous and needs a human's approval, and here nobody can be asked. Nothing was done. A person can allow it when they start the server: --allow probe:src/a.lisp",
      question: { args: { symbol: 'car' }, preview: { text: 'write car', fingerprint: 'v1' } },
    });
    expect(one.runs).toEqual([]);
  });

  test('S2.12 approved, it runs once', async () => {
    const one = dangerous(previewOver({ content: 'v1' }));
    const outcome = await execute(one)({ symbol: 'car' }, { kind: 'approved', fingerprint: 'v1' });
    expect([outcome.success, one.runs]).toEqual([true, [{ symbol: 'car' }]]);
  });

  test.each([{ kind: 'denied' }, {}, { kind: 'APPROVED' }])(
    'S2.12 %j is a denial: it does not run',
    async (verdict) => {
      const one = dangerous();
      expect(await execute(one)({ symbol: 'car' }, verdict as Verdict)).toEqual(DENIED);
      expect(one.runs).toEqual([]);
    },
  );

  test('S2.12 what was approved changed meanwhile: it does not run', async () => {
    const one = dangerous(previewOver({ content: 'v2' }));
    for (const verdict of [
      { kind: 'approved', fingerprint: 'v1' },
      { kind: 'modified', args: { symbol: 'cdr' }, fingerprint: 'v1' },
    ] as const) {
      expect(await execute(one)({ symbol: 'car' }, verdict)).toEqual({
        success: false,
        error: changedMeanwhile('probe'),
        notices: [],
      });
    }
    expect(one.runs).toEqual([]);
  });

  test('S2.12 changed arguments are what runs, after they were validated', async () => {
    const one = dangerous();
    const call = execute(one);
    const modified = (args: unknown): Verdict => ({ kind: 'modified', args });
    expect(await call({ symbol: 'car' }, modified({ symbol: 'cdr' }))).toMatchObject({ success: true });
    for (const [args, error] of [
      [{}, "Required parameter 'symbol' missing"],
      [{ symbol: 5 }, noString('symbol')],
      [{ symbol: 'a', more: 1 }, "Unknown parameter 'more'; probe takes symbol."],
      ['cdr', 'The arguments of probe must be an object, not a string.'],
    ]) {
      expect(await call({ symbol: 'car' }, modified(args))).toEqual({ success: false, error, notices: [] });
    }
    expect(one.runs).toEqual([{ symbol: 'cdr' }]);
  });

  test('S2.18 S2.11 wrong arguments are told before anybody is asked', async () => {
    const outcome = await execute(dangerous())({});
    expect(outcome).toEqual({
      success: false,
      error: "Required parameter 'symbol' missing",
      cause: 'usage',
      notices: [],
    });
  });

  test('what cannot be done anyway is told before anybody is asked', async () => {
    const one = dangerous(async () => {
      throw new Error('there is no such file');
    });
    const outcome = await execute(one)({ symbol: 'car' });
    expect(outcome).toEqual({ success: false, error: 'Tool error: there is no such file', notices: [] });
  });

  test('S2.12 what a human answers goes before what was allowed in advance', async () => {
    const one = dangerous(previewOver({ content: 'v2' }));
    const call = execute(one, { standing: new StandingApprovals([{ tool: 'probe' }]) });
    expect(await call({ symbol: 'car' }, { kind: 'denied' })).toEqual(DENIED);
    await call({ symbol: 'car' }, { kind: 'approved', fingerprint: 'v1' });
    expect(one.runs).toEqual([]);
    await call({ symbol: 'car' }, { kind: 'modified', args: { symbol: 'cdr' }, fingerprint: 'v2' });
    expect(one.runs).toEqual([{ symbol: 'cdr' }]);
  });

  test('an approval for the session begins when its own call runs, and not with changed arguments', async () => {
    const standing = new StandingApprovals();
    const file = { content: 'v2' };
    const call = execute(dangerous(previewOver(file)), { standing });
    const covered = () => standing.covers('probe', 'src/a.lisp');
    await call({ symbol: 'car' }, { kind: 'approved', fingerprint: 'v1', session: true });
    expect(covered()).toBe(false);
    await call({ symbol: 'car' }, { kind: 'approved', fingerprint: 'v2' });
    expect(covered()).toBe(false);
    await call({ symbol: 'car' }, { kind: 'approved', fingerprint: 'v2', session: true });
    expect(covered()).toBe(true);
    expect(await call({ symbol: 'car' })).toMatchObject({ success: true });
  });

  test('the handler is told which content was approved, or shown last', async () => {
    const seen: unknown[] = [];
    const tool = defineTool({
      ...VALID,
      safetyLevel: 'dangerous',
      preview: async ({ symbol }) => ({ text: '', place: 'a', fingerprint: `of ${symbol}` }),
      handler: (_, { fingerprint }) => seen.push(fingerprint),
    });
    const standing = new StandingApprovals([{ tool: 'probe' }]);
    const call = execute({ tool, runs: [] }, { standing });
    await call({ symbol: 'a' }, { kind: 'approved', fingerprint: 'of a' });
    await call({ symbol: 'a' }, { kind: 'modified', args: { symbol: 'b' }, fingerprint: 'of a' });
    await call({ symbol: 'c' });
    expect(seen).toEqual(['of a', 'of b', 'of c']);
  });

  test('what a human is shown hides nothing, and says how much is left out', async () => {
    const long = `${'a'.repeat(5000)}\u202e${'b'.repeat(995_000)}`;
    const one = dangerous(async () => ({ text: long, fingerprint: '' }));
    const outcome = await execute(one)({ symbol: 'car' });
    const shown = outcome.success ? '' : outcome.question?.preview.text;
    expect(shown).toMatch(
      /^Too long to show whole: 992008 characters in the middle are left out\.\n\na{4000}\[\.\.\. 992008 characters are not shown \.\.\.\]b{4000}$/,
    );
  });

  test.each(['src/**', 'a$(x)', 'a\nb'])(
    'C20 the place %j could mean others as a glob, so the refusal does not name it',
    async (place) => {
      const one = dangerous(async () => ({ text: '', place, fingerprint: '' }));
      const outcome = await execute(one)({ symbol: 'car' });
      expect(outcome).toMatchObject({ error: expect.stringMatching(/ --allow probe:GLOB$/) });
    },
  );

  test.each([
    ['src/**', 'src/a.lisp', true],
    ['src/**', 'src/deep/er/a.lisp', true],
    ['src/**', 'srcs/a.lisp', false],
    ['src/**', 'src/.hidden', true],
    ['src/*', 'src/deep/a.lisp', false],
    ['*.lisp', 'a.lisp', true],
    ['src/**', '/other/root/src/a.lisp', false],
  ])('--allow probe:%s and the place %s: %s', async (glob, place, covered) => {
    const standing = new StandingApprovals([{ tool: 'probe', glob }]);
    expect(standing.covers('probe', place)).toBe(covered);
    expect(standing.covers('other', place)).toBe(false);
  });
});

describe('records', () => {
  /** Returns a trail that notes in EVENTS. */
  const trail = (events: unknown[]): AuditTrail => ({
    begin: (call, authority) => {
      events.push(['begin', call.tool, call.level, call.args, call.caller, authority]);
      return (end) => events.push(['end', end.success, end.error]);
    },
  });

  test('S2.11 the record of a cautious call is there before it runs, and completed after', async () => {
    const events: unknown[] = [];
    const one = probe({ safetyLevel: 'cautious' }, () => {
      events.push('runs');
      return { data: null, text: 'ran' };
    });
    await execute(one, { audit: trail(events) })({ symbol: 'car' });
    expect(events).toEqual([
      ['begin', 'probe', 'cautious', { symbol: 'car' }, 'client', 'level'],
      'runs',
      ['end', true, undefined],
    ]);
  });

  test('S2.11 a call that fails is completed with its error; a safe one leaves no record', async () => {
    const events: unknown[] = [];
    const broken = probe({ safetyLevel: 'cautious' }, () => Promise.reject(new Error('broken')));
    await execute(broken, { audit: trail(events) })({});
    await execute(probe(), { audit: trail(events) })({});
    expect(events.slice(1)).toEqual([['end', false, 'Tool error: broken']]);
  });

  test('S2.12 C29 the record says who decided, and has the arguments that ran', async () => {
    const events: unknown[] = [];
    const call = execute(dangerous(), { audit: trail(events) });
    await call({ symbol: 'car' }, { kind: 'modified', args: { symbol: 'cdr' } });
    await call({ symbol: 'car' }, { kind: 'denied' });
    await call({ symbol: 'car' }, { kind: 'unanswered' });
    expect(events).toEqual([
      ['begin', 'probe', 'dangerous', { symbol: 'cdr' }, 'client', 'human, with changes'],
      ['end', true, undefined],
      ['begin', 'probe', 'dangerous', { symbol: 'car' }, 'client', 'denied'],
      ['end', false, 'Tool execution denied by user'],
      ['begin', 'probe', 'dangerous', { symbol: 'car' }, 'client', 'nobody'],
      ['end', false, expect.stringContaining('Nobody answered the question')],
    ]);
  });

  test('S2.11 a question that ends when nothing can be recorded does not end the server', async () => {
    const audit: AuditTrail = {
      begin: () => {
        throw new Error('no space left');
      },
    };
    const registry = new ToolRegistry();
    registry.register(dangerous().tool);
    const outcome = await new Executor(registry, { audit }).execute('probe', { symbol: 'car' });
    const question = outcome.success ? undefined : outcome.question;
    expect(question).toBeDefined();
    expect(question?.recordRefusal('timed out', 'too late')).toBeUndefined();
  });

  test('a call that is cancelled before it runs leaves no record', async () => {
    const events: unknown[] = [];
    const registry = new ToolRegistry();
    registry.register(dangerous().tool);
    const executor = new Executor(registry, { audit: trail(events) });
    await executor.execute('probe', { symbol: 'car' }, { signal: AbortSignal.abort() }, { kind: 'approved' });
    expect(events).toEqual([]);
  });

  test('a call that cannot be recorded does not run', async () => {
    const one = probe({ safetyLevel: 'cautious' });
    const audit: AuditTrail = {
      begin: () => {
        throw new Error('the disk is full');
      },
    };
    expect(await execute(one, { audit })({})).toEqual({
      success: false,
      error:
        'The call could not be recorded in the audit log (the disk is full), so nothing was done. A person can name another file when they start the server: --audit FILE',
      notices: [],
    });
    expect(one.runs).toEqual([]);
  });
});
