// What is measured of Claude Code's own permission dialog, which an `ask` rule opens: whether it could stand for our question.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { converse, evaluation, PROMPT } from './conversation.ts';
import { CLAUDE_CODE, type Host } from './hosts.ts';
import type { Step } from './script.ts';
import { Terminal } from './terminal.ts';

/** What was seen of the rule, with a server that is allowed the tool. */
export interface Ruled {
  /** The modes in which the dialog stood between the call and the server. */
  asks: string[];
  /** The modes in which it did not, and in which the file was written. */
  writes: string[];
  /** Whether code in the image wrote the file without a dialog. */
  code: boolean;
}

const MODES = ['default', 'auto', 'acceptEdits', 'bypassPermissions'];
const TOOL = 'write_file';
const FILE = 'new.lisp';
const CONTENT = '(print 1)';
const WAIT_MS = 60_000;

/** Returns Claude Code in MODE, with a rule that asks for the tool, and with a server that does not ask. */
function ruled(mode: string): Host {
  const rule = `mcp__live-lisp__${TOOL}`;
  const settings = {
    permissions: { allow: ['mcp__live-lisp'], ask: [rule] },
    skipDangerousModePermissionPrompt: true,
  };
  return {
    ...CLAUDE_CODE,
    files: (setup) => ({
      ...CLAUDE_CODE.files({ ...setup, server: [...setup.server, '--allow', TOOL] }),
      [`${setup.home}/.claude/settings.json`]: JSON.stringify(settings),
    }),
    // Without that it refuses the last mode to root.
    environment: (setup) => ({ ...CLAUDE_CODE.environment(setup), IS_SANDBOX: '1' }),
    interactive: (prompt) => ['--permission-mode', mode, '--', prompt],
  };
}

/** Runs Claude Code in MODE through STEP, and returns whether its dialog came, and whether the file was written. */
function tried(mode: string, step: Step): Promise<{ asked: boolean; written: boolean }> {
  return converse(ruled(mode), [step], {}, async ({ place, script }) => {
    const terminal = new Terminal(place, PROMPT);
    const asked = () => terminal.screen.includes('Do you want to proceed?');
    try {
      await terminal.until(() => asked() || script.done, WAIT_MS);
      return { asked: asked(), written: existsSync(join(place.setup.workspace, FILE)) };
    } finally {
      await terminal.close();
    }
  });
}

/** Runs Claude Code with the rule in each mode, and with code in the image that calls the tool. */
export async function measureRule(): Promise<Ruled> {
  const seen: Ruled = { asks: [], writes: [], code: false };
  for (const mode of MODES) {
    const { asked, written } = await tried(mode, { tool: TOOL, args: { path: FILE, content: CONTENT } });
    if (asked) seen.asks.push(mode);
    if (written) seen.writes.push(mode);
  }
  const call = evaluation(`(live-lisp:call-tool :write-file :path "${FILE}" :content "${CONTENT}")`);
  const { asked, written } = await tried('default', call);
  return { ...seen, code: written && !asked };
}
