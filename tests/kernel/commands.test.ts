// What a command's calls have of their own: notices, approvals, and who is recorded to have called.

import { expect, test } from 'vitest';
import type { Authority, ToolCaller } from '../../src/kernel/audit.ts';
import { Executor } from '../../src/kernel/executor.ts';
import { type Notice, NoticeBoard } from '../../src/kernel/notice-board.ts';
import { ToolRegistry } from '../../src/kernel/registry.ts';
import { StandingApprovals } from '../../src/kernel/standing.ts';
import { probe } from '../contracts/tools.ts';

test('each connection is told each notice once; a command what came since the last command', () => {
  const news: Notice[] = ['sandbox', { own: 'cancelled' }];
  const board = new NoticeBoard(() => news.splice(0));
  const [one, other] = [board.command(), board.command()];
  expect(board.read()).toEqual(['sandbox', 'cancelled']);
  expect(board.read()).toEqual([]);
  expect(board.read(one)).toEqual(['sandbox']);
  news.push('lost');
  expect(board.read(one)).toEqual(['lost']);
  expect(board.read(other)).toEqual(['sandbox', 'lost']);
  expect(board.read(board.command())).toEqual([]);
  expect(board.read()).toEqual(['lost']);
});

test('a connection that makes no call is told the last notices, and how many were left out', () => {
  let count = 0;
  const board = new NoticeBoard(() => [`${++count}`]);
  for (let call = 0; call < 99; call++) board.read();
  const reported = board.read(board.command());
  expect([reported.length, reported[0], reported[1], reported.at(-1)]).toEqual([
    51,
    'Note: 50 earlier notices left out.',
    '51',
    '100',
  ]);
});

test('an approval for the session does not cover a command, one from the start does', async () => {
  const recorded: [ToolCaller, Authority][] = [];
  const begin = ({ caller }: { caller: ToolCaller }, authority: Authority) => {
    recorded.push([caller, authority]);
    return () => {};
  };
  const registry = new ToolRegistry();
  const { tool } = probe({ safetyLevel: 'dangerous' });
  registry.register(tool);
  const standing = new StandingApprovals();
  const executor = new Executor(registry, { standing, audit: { begin } });
  const command = executor.command();
  const asked = await executor.execute('probe', {}, { command });
  expect(asked).toMatchObject({ success: false, question: { allowsSession: false } });
  const verdict = { kind: 'approved', session: true } as const;
  await executor.execute('probe', {}, { command }, verdict);
  expect(await executor.execute('probe', {})).toMatchObject({ success: false });
  await executor.execute('probe', {}, {}, verdict);
  expect(await executor.execute('probe', {})).toMatchObject({ success: true });
  expect(await executor.execute('probe', {}, { command })).toMatchObject({ success: false });
  standing.allow({ tool: 'probe' });
  expect(await executor.execute('probe', {}, { command })).toMatchObject({ success: true });
  expect(recorded).toEqual([
    ['command', 'human'],
    ['client', 'human'],
    ['client', 'standing'],
    ['command', 'standing'],
  ]);
});
