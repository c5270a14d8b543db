// A call whose arguments make it do more than others of its tool is asked for as what it does. There is no way around.

import { expect, test } from 'vitest';
import type { Verdict } from '../../src/kernel/approval.ts';
import { type AskPolicy, Executor } from '../../src/kernel/executor.ts';
import { ToolRegistry } from '../../src/kernel/registry.ts';
import { type StandingApproval, StandingApprovals } from '../../src/kernel/standing.ts';
import { defineTool, type SafetyLevel } from '../../src/kernel/tool.ts';

const PLAIN = { form: 'look' };
const RAISED = { form: 'write' };

/** Returns how a tool of LEVEL is called, of which some calls are RAISED, with what it did and what was recorded. */
function tried(allow: StandingApproval[] = [], ask: AskPolicy = 'dangerous', to: SafetyLevel = 'dangerous') {
  const did: string[] = [];
  const recorded: string[] = [];
  const file = { content: 'before' };
  const tool = defineTool({
    name: 'run_probe',
    description: 'A probe.',
    safetyLevel: 'cautious',
    parameters: [{ name: 'form', type: 'string', description: 'What to do' }],
    required: ['form'],
    raisedBy: ({ form }) =>
      form === 'write'
        ? {
            safetyLevel: to,
            allowedAs: 'edit_probe',
            preview: async () => ({ text: 'a diff', place: 'src/a.lisp', fingerprint: file.content }),
          }
        : undefined,
    handler: ({ form }) => {
      did.push(form);
      return form;
    },
  });
  const registry = new ToolRegistry();
  registry.register(tool);
  const audit = {
    begin: ({ level }: { level: string }, authority: string) => {
      recorded.push(`${level} by ${authority}`);
      return () => {};
    },
  };
  const standing = new StandingApprovals(allow);
  const executor = new Executor(registry, { ask, standing, audit });
  const call = (args: object, verdict?: Verdict) => executor.execute('run_probe', args, {}, verdict);
  return { call, code: (args: object) => executor.executeForCode('run_probe', args), did, recorded, file };
}

test('only the call that does more is asked for, as what that does', async () => {
  const { call, did, recorded } = tried();
  expect(await call(PLAIN)).toMatchObject({ success: true });
  expect(await call(RAISED)).toMatchObject({
    success: false,
    error:
      "Tool run_probe is dangerous and needs a human's approval, and here nobody can be asked. Nothing was done. A person can allow it when they start the server: --allow edit_probe:src/a.lisp",
    question: { preview: { text: 'a diff' }, tool: { safetyLevel: 'dangerous' } },
  });
  expect(did).toEqual(['look']);
  expect(await call(RAISED, { kind: 'approved', fingerprint: 'before' })).toMatchObject({ success: true });
  expect(did).toEqual(['look', 'write']);
  expect(recorded).toEqual(['cautious by level', 'dangerous by human']);
});

test('what is told to allow lets it run, also where others of its tool need an approval', async () => {
  const { call } = tried([], 'cautious');
  const rules = '--allow edit_probe:src/a.lisp --allow run_probe';
  expect(await call(RAISED)).toMatchObject({
    error: `Tool run_probe is dangerous and needs a human's approval, and here nobody can be asked. Nothing was done. A person can allow it when they start the server: ${rules}`,
  });
  expect(await call(RAISED, { kind: 'denied' })).toMatchObject({
    error: 'Tool execution denied by user',
    hint: `Nothing was done. If no person decided this, the client did by itself. A person can allow it when they start the server: ${rules}`,
  });
  const allowed = tried([{ tool: 'edit_probe', glob: 'src/a.lisp' }, { tool: 'run_probe' }], 'cautious');
  expect(await allowed.call(RAISED)).toMatchObject({ success: true });
});

test.each(['dangerous', 'cautious'] as const)(
  'what a human allows for the session with --ask %s lets it run again, and no more',
  async (ask) => {
    const { call, did } = tried([], ask);
    await call(RAISED, { kind: 'approved', session: true, fingerprint: 'before' });
    expect(await call(RAISED)).toMatchObject({ success: true });
    expect(await call(PLAIN)).toMatchObject({ success: ask === 'dangerous' });
    expect(did.slice(0, 2)).toEqual(['write', 'write']);
  },
);

test('code cannot make it', async () => {
  const { code, did } = tried();
  expect(await code(RAISED)).toMatchObject({ success: false });
  expect(await code(PLAIN)).toMatchObject({ success: true });
  expect(did).toEqual(['look']);
});

test.each([
  ['dangerous', [{ tool: 'run_probe', glob: '**' }], false],
  ['dangerous', [{ tool: 'edit_probe', glob: 'src/*.lisp' }], true],
  ['dangerous', [{ tool: 'edit_probe', glob: 'other/*' }], false],
  ['cautious', [{ tool: 'edit_probe' }], false],
  ['cautious', [{ tool: 'edit_probe' }, { tool: 'run_probe' }], true],
] as const)('with --ask %s, what was allowed in advance by %j lets it run: %s', async (ask, allow, runs) => {
  const { call, did } = tried([...allow], ask);
  await call(RAISED);
  expect(did).toEqual(runs ? ['write'] : []);
});

test('what a human allows for the session of other calls does not let it run', async () => {
  const { call, did } = tried([], 'cautious');
  const { question } = (await call(PLAIN)) as { question: { preview: { fingerprint: string } } };
  const { fingerprint } = question.preview;
  await call(PLAIN, { kind: 'approved', session: true, fingerprint });
  expect(await call(PLAIN)).toMatchObject({ success: true });
  expect(await call(RAISED)).toMatchObject({ success: false });
  expect(did).toEqual(['look', 'look']);
});

test('an approval holds for what was shown, and not after that has changed', async () => {
  const { call, did, file } = tried();
  file.content = 'changed';
  expect(await call(RAISED, { kind: 'approved', fingerprint: 'before' })).toMatchObject({ success: false });
  expect(did).toEqual([]);
});

test('a human who changes its arguments decides with that what is recorded', async () => {
  const { call, did, recorded } = tried([], 'cautious');
  await call(PLAIN, { kind: 'modified', args: RAISED });
  expect(did).toEqual(['write']);
  expect(recorded).toEqual(['dangerous by human, with changes']);
});

test('no argument makes a call less than its tool is', async () => {
  const { call, did } = tried([], 'cautious', 'safe');
  expect(await call(RAISED)).toMatchObject({ success: false });
  expect(did).toEqual([]);
});
