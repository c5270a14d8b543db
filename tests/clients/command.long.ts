// The shell command in a client: a subagent, which has no MCP tools, works in the image of the client's session.

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SERVER } from '../harness.ts';
import type { Action, Asked } from './dialects.ts';
import { CLAUDE_CODE } from './hosts.ts';
import { startModel } from './model.ts';
import { placeFor, runHeadless } from './place.ts';

const ORDER = 'SUBAGENT-GO';
const bash = (command: string): Action => ({ kind: 'call', name: 'Bash', args: { command } });

test('a subagent of Claude Code works in the image of the session by the command', async () => {
  const read: string[] = [];
  const next = ({ texts, calls, tools, lastResult }: Asked): Action => {
    const isSubagent = texts.includes(ORDER);
    if (calls === 0)
      return bash(isSubagent ? "live-lisp eval '*seen*'" : "live-lisp eval '(defvar *seen* 42)'");
    if (calls === 1) read.push(lastResult);
    if (isSubagent || calls > 1) return { kind: 'text', text: 'DONE' };
    const name = tools.find((each) => each === 'Agent' || each === 'Task') ?? 'Agent';
    const args = { description: 'Look', prompt: ORDER, subagent_type: 'general-purpose' };
    return { kind: 'call', name, args };
  };
  const model = await startModel(next);
  const host = {
    ...CLAUDE_CODE,
    headless: (prompt: string) => ['-p', prompt, '--allowedTools', 'mcp__live-lisp,Bash,Agent,Task'],
  };
  const place = placeFor(host, model.url);
  const { serverEnvironment, home } = place.setup;
  const programs = join(home, 'bin');
  mkdirSync(programs);
  writeFileSync(join(programs, 'live-lisp'), `#!/bin/sh\nexec '${process.execPath}' '${SERVER}' "$@"\n`);
  chmodSync(join(programs, 'live-lisp'), 0o755);
  Object.assign(place.environment, serverEnvironment, { PATH: `${programs}:${process.env['PATH']}` });
  try {
    const output = await runHeadless(place, 'Go.', 180_000);
    expect(read, output).toEqual(['*SEEN*', '42']);
  } finally {
    await model.close();
    await place.remove();
  }
});
