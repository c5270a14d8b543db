// What a hostile project has lying about leads install and uninstall to nothing outside of it.

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Machine } from './machine.ts';

let machine: Machine;
beforeEach(() => {
  machine = new Machine();
});
afterEach(() => machine.remove());

const inProject = (name: string) => join(machine.project, name);
const bashrc = () => machine.write('.bashrc', 'alias ls=ls\n');
const LINK =
  'Links in a project are not followed. Replace the link with a real file or folder, and run this again.';

describe('a link in the project', () => {
  test('in the place of the configuration is not followed', async () => {
    const target = machine.write('settings.json', '{}');
    symlinkSync(target, inProject('.mcp.json'));
    const refusal = [`PROJECT/.mcp.json is a link or below a link (to HOME/settings.json). ${LINK}`];
    expect(await machine.install('claude', { scope: 'project' })).toEqual(refusal);
    expect(await machine.uninstall('claude', { scope: 'project' })).toEqual(refusal);
    expect(machine.read(target)).toBe('{}');
  });

  test('in the place of its folder is not followed', async () => {
    mkdirSync(join(machine.home, '.claude'));
    symlinkSync(join(machine.home, '.claude'), inProject('.claude'));
    expect(await machine.install('claude', { scope: 'project' })).toEqual([
      `PROJECT/.claude/settings.json is a link or below a link (to HOME/.claude/settings.json). ${LINK}`,
    ]);
    expect(machine.files()).toEqual([]);
  });

  test('that leads nowhere is not followed', async () => {
    symlinkSync(join(machine.home, '.profile'), inProject('.mcp.json'));
    const [reported] = await machine.install('claude', { scope: 'project' });
    expect(reported).toContain('is a broken link');
    expect(readlinkSync(inProject('.mcp.json'))).toBe(join(machine.home, '.profile'));
    expect(machine.files()).toEqual([]);
  });

  test.each(['.mcp.json.before-live-lisp', `.mcp.json.${process.pid}`])(
    'where a file of ours could be put (%s) changes nothing elsewhere, and stays',
    async (name) => {
      const target = bashrc();
      machine.write(inProject('.mcp.json'), '{ "mine": 1 }');
      symlinkSync(target, inProject(name));
      await machine.install('claude', { scope: 'project' });
      await machine.uninstall('claude', { scope: 'project' });
      expect(machine.read(target)).toBe('alias ls=ls\n');
      expect(readlinkSync(inProject(name))).toBe(target);
      expect(machine.read(inProject('.mcp.json'))).toBe('{ "mine": 1 }');
    },
  );
});

describe('a file', () => {
  test('that is no text in UTF-8 is left as it is', async () => {
    const path = machine.write('.cursor/mcp.json', '');
    const octets = Buffer.from('{ "name": "gr\xfc\xdfe" }', 'latin1');
    writeFileSync(path, octets);
    expect(await machine.install('cursor')).toEqual([
      'HOME/.cursor/mcp.json is not in UTF-8, and was not changed. Save it in UTF-8, and run this again.',
    ]);
    expect(machine.read(path)).toBe(octets.toString('utf8'));
  });

  test('that is a FIFO is not waited for', async () => {
    mkdirSync(join(machine.home, '.cursor'));
    execFileSync('mkfifo', [join(machine.home, '.cursor/mcp.json')]);
    expect(await machine.install('cursor')).toEqual([
      'HOME/.cursor/mcp.json cannot be read (it is not a regular file). Make it readable, and run this again.',
    ]);
    expect(await machine.doctor('cursor')).toContainEqual(
      'FAIL HOME/.cursor/mcp.json cannot be read (it is not a regular file). Make it readable, and run this again.',
    );
  });

  test('does not write lines into what the doctor says', async () => {
    const args = ['/x\nok   it was started, and answers'];
    const entry = { mcpServers: { 'live-lisp': { command: '/usr/bin/env', args } } };
    writeFileSync(inProject('.mcp.json'), JSON.stringify(entry));
    const said = await machine.doctor('claude');
    expect(said.join('\n')).toContain("starts /usr/bin/env '/x<U+000A>ok   it was started, and answers'");
    expect(said.filter((line) => line.includes('\n'))).toEqual([]);
    expect(await machine.install('claude', { scope: 'project' })).toEqual([
      expect.stringContaining("(/usr/bin/env '/x<U+000A>ok   it was started, and answers')"),
    ]);
  });

  test('keeps a mode that the mask of this process would not give', async () => {
    const path = machine.write('.cursor/mcp.json', '{}');
    chmodSync(path, 0o666);
    await machine.install('cursor');
    expect(statSync(path).mode & 0o777).toBe(0o666);
  });

  test('keeps its owner', async () => {
    const [wantedUser = 0, wantedGroup = 0] =
      process.geteuid?.() === 0 ? [1234, 4321] : [process.geteuid?.(), process.getegid?.()];
    const path = machine.write('.cursor/mcp.json', '{}');
    chownSync(path, wantedUser, wantedGroup);
    await machine.install('cursor');
    const { uid, gid } = statSync(path);
    expect([uid, gid]).toEqual([wantedUser, wantedGroup]);
  });

  test('of the user behind a link that leads nowhere is not made', async () => {
    mkdirSync(join(machine.home, '.cursor'));
    symlinkSync(join(machine.home, 'none.json'), join(machine.home, '.cursor/mcp.json'));
    expect(await machine.install('cursor')).toEqual([
      'HOME/.cursor/mcp.json is a broken link. Create its target, or remove the link, and run this again.',
    ]);
    expect(lstatSync(join(machine.home, '.cursor/mcp.json')).isSymbolicLink()).toBe(true);
  });

  test('is left as it is when no backup can be kept', async () => {
    const path = machine.write('.cursor/mcp.json', '{}');
    writeFileSync(join(machine.state, 'configurations'), '');
    const [reported] = await machine.install('cursor');
    expect(reported).toMatch(
      /^HOME\/\.cursor\/mcp\.json was not changed, because no backup of it can be stored \(\S+ is not a folder that you own; remove it\)\. Make the folder for backups usable, and run this again\.$/,
    );
    expect(machine.read(path)).toBe('{}');
  });
});

test('comments around and in our table of TOML stay', async () => {
  const text = `# first
[a]
x = 1

# of ours
[mcp_servers.live-lisp]
command = "/old/node" # which node
# what runs
args = ["/old/live-lisp.js"]

# of the last
[last]
y = 2
`;
  const path = machine.write('.codex/config.toml', text);
  await machine.install('codex');
  await machine.uninstall('codex');
  const kept = (machine.read(path) ?? '').split('\n').filter((line) => line.startsWith('#'));
  expect(kept).toEqual(['# first', '# of ours', '# what runs', '# of the last']);
  expect(machine.read(path)).toContain('\n# of the last\n[last]\ny = 2\n');
});
