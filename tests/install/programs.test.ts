// Where a client has a program that sets it up, that is run; and what the doctor sees of each client.

import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { clientList } from '../../src/install/report.ts';
import { Machine } from './machine.ts';

let machine: Machine;
beforeEach(() => {
  machine = new Machine();
});
afterEach(() => machine.remove());

/** Has the program NAME note its arguments, and write TEXT to FILE. */
function fake(name: string, file: string, text: string): void {
  const path = machine.write(file, text);
  machine.program(
    name,
    `PATH=/usr/bin:/bin\nprintf '%s\\n' "$*" >>${machine.home}/ran\ncp ${path}.new ${path}`,
  );
  machine.write(`${path}.new`, text);
}

describe('install runs', () => {
  test('claude, then adds the permission; uninstall runs it too', async () => {
    fake('claude', '.claude.json', '{ "n": 1 }');
    const entry = { type: 'stdio', command: machine.node, args: [machine.script], env: {} };
    machine.write('.claude.json.new', JSON.stringify({ n: 2, mcpServers: { 'live-lisp': entry } }));
    const add = 'claude mcp add --scope user live-lisp -- NODE SCRIPT';
    expect((await machine.install('claude', { dryRun: true }))[0]).toBe(`Would run: ${add}`);
    expect(machine.read('ran')).toBe(undefined);
    expect(await machine.install('claude')).toEqual([
      `Ran: ${add}`,
      'Wrote HOME/.claude/settings.json',
      'Claude Code asks before code runs; --trust has it run without a question, in a sandbox only.',
      'Start Claude Code anew. What it has: live-lisp doctor --client claude',
    ]);
    expect(machine.backups()).toEqual(['{ "n": 1 }']);
    expect(await machine.install('claude')).toEqual([
      'Claude Code starts this live-lisp already (HOME/.claude.json); nothing was changed.',
    ]);
    expect(await machine.uninstall('claude')).toEqual([
      'Ran: claude mcp remove --scope user live-lisp',
      'Removed HOME/.claude/settings.json',
    ]);
    expect(machine.named(machine.read('ran') ?? '').split('\n')).toEqual([
      'mcp add --scope user live-lisp -- NODE SCRIPT',
      'mcp remove --scope user live-lisp',
      '',
    ]);
  });

  test('codex; uninstall takes back the whole table', async () => {
    fake('codex', '.codex/config.toml', 'model = "x"\n');
    const table = `\n[mcp_servers.live-lisp]\ncommand = "${machine.node}"\nargs = ["${machine.script}"]\n`;
    machine.write('.codex/config.toml.new', `model = "x"\n${table}`);
    expect(await machine.install('codex')).toEqual([
      'Ran: codex mcp add live-lisp -- NODE SCRIPT',
      'Codex asks before code runs; --trust has it run without a question, in a sandbox only.',
      'Start Codex anew. What it has: live-lisp doctor --client codex',
    ]);
    expect(machine.named(machine.read('.codex/config.toml') ?? '')).toBe(
      'model = "x"\n\n[mcp_servers.live-lisp]\ncommand = "NODE"\nargs = ["SCRIPT"]\n',
    );
    await machine.uninstall('codex');
    expect(machine.read('.codex/config.toml')).toBe('model = "x"\n');
  });

  test('gemini, which asks as ever', async () => {
    fake('gemini', '.gemini/settings.json', '{}');
    expect((await machine.install('gemini', { scope: 'project' }))[0]).toBe(
      'Ran: gemini mcp add --scope project live-lisp NODE SCRIPT',
    );
  });

  test('no program for a scope that it does not know', async () => {
    fake('codex', 'other', '');
    expect((await machine.install('codex', { scope: 'project' }))[0]).toBe(
      'Wrote PROJECT/.codex/config.toml',
    );
  });

  test('one that fails, and shows what it wrote', async () => {
    machine.program('claude', 'echo "no such scope" >&2; exit 3');
    expect(await machine.install('claude')).toEqual([
      'claude mcp add --scope user live-lisp -- NODE SCRIPT failed: no such scope\nCorrect what it names, and run this again.'.replace(
        'claude',
        machine.named(join(machine.node, '..', 'claude')),
      ),
    ]);
    expect(machine.files()).toEqual([]);
  });
});

describe('the doctor', () => {
  test('sees a client that has nothing', async () => {
    expect(await machine.doctor('cursor')).toEqual([
      'ok Cursor: no program of it on PATH',
      'ok user: no entry live-lisp in HOME/.cursor/mcp.json',
      'ok project: no entry live-lisp in PROJECT/.cursor/mcp.json',
      'FAIL Cursor starts no live-lisp: live-lisp install --client cursor sets it up',
    ]);
  });

  test('sees what install wrote, and its permissions', async () => {
    await machine.install('claude');
    expect(await machine.doctor('claude')).toEqual([
      'ok Claude Code: no program of it on PATH',
      'ok user: HOME/.claude.json starts NODE SCRIPT',
      'ok Claude Code asks before code runs',
      'ok project: no entry live-lisp in PROJECT/.mcp.json',
    ]);
    await machine.install('codex');
    expect((await machine.doctor('codex')).slice(1, 3)).toEqual([
      'ok user: HOME/.codex/config.toml starts NODE SCRIPT',
      'ok Codex asks before code runs',
    ]);
  });

  test.each([
    ['claude', 'project', 'it starts a server of this file once you have allowed that when it asks'],
    ['codex', 'project', 'it reads this file only in a folder that it trusts'],
    ['gemini', 'user', 'it starts servers only in folders that it trusts'],
    ['gemini', 'project', 'it starts servers only in folders that it trusts'],
  ] as const)('says what %s wants of its user, for a %s', async (name, scope, wanted) => {
    await machine.install(name, { scope });
    const said = await machine.doctor(name);
    expect(said[said.findIndex((line) => line.startsWith(`ok ${scope}:`)) + 1]).toBe(`ok ${wanted}`);
  });

  test('sees that the permission is missing', async () => {
    await machine.install('claude');
    machine.write('.claude/settings.json', '{}');
    expect((await machine.doctor('claude'))[2]).toBe(
      'ok Claude Code asks before each tool, also before those that only look: run live-lisp install --client claude again',
    );
  });

  test('sees a node and a script that are not there, and a node that is no path', async () => {
    const entry = (command: string) =>
      JSON.stringify({ mcpServers: { 'live-lisp': { command, args: ['/gone/live-lisp.js'] } } });
    machine.write('.cursor/mcp.json', entry('/gone/node'));
    machine.write(join(machine.project, '.cursor/mcp.json'), entry('node'));
    expect(await machine.doctor('cursor')).toEqual([
      'ok Cursor: no program of it on PATH',
      'ok user: HOME/.cursor/mcp.json starts /gone/node /gone/live-lisp.js',
      'FAIL /gone/node cannot be run: run live-lisp install again',
      'FAIL /gone/live-lisp.js is not there: run live-lisp install again',
      'ok project: PROJECT/.cursor/mcp.json starts node /gone/live-lisp.js',
      'ok node is no path: a client with windows can have another PATH',
      'FAIL /gone/live-lisp.js is not there: run live-lisp install again',
    ]);
  });

  test('sees a file that cannot be read', async () => {
    machine.write('.cursor/mcp.json', '{');
    expect((await machine.doctor('cursor'))[1]).toMatch(
      /^FAIL HOME\/\.cursor\/mcp\.json is not JSON that can be read /,
    );
  });
});

describe('the list of clients', () => {
  test('says which are found, and what to type', () => {
    machine.program('codex', '');
    machine.write('.cursor/mcp.json', '{}');
    expect(clientList(machine.place)).toBe(`Clients that are found here, and what sets each up:
  Codex              live-lisp install --client codex
  Cursor             live-lisp install --client cursor
Not found: claude, gemini, opencode, vscode, zed, emacs, windsurf, claude-desktop.
--dry-run shows what would be written; --scope project is for this folder only.`);
  });

  test('says that none is found', () => {
    expect(clientList(machine.place).split('\n')[0]).toBe('No client is found here.');
  });
});
