// What a user has in a configuration stays, and what cannot be read or edited is left as it is.

import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ClientName } from '../../src/install/names.ts';
import { Machine } from './machine.ts';

let machine: Machine;
beforeEach(() => {
  machine = new Machine();
});
afterEach(() => machine.remove());

const CURSOR = '.cursor/mcp.json';
const CODEX = '.codex/config.toml';
const COMMENTED = `{
\t// What I use.
\t"mcpServers": {
\t\t"other": { "command": "x" }, // mine
\t},
\t"more": [1, 2],
}
`;
const TOML = `# My settings
model = "x"  # the best

[mcp_servers.other]
command = "y"

[[rules]]
at = 1979-05-27T07:32:00Z
`;

describe('what stands in a file', () => {
  test.each([
    ['comments, tabs and trailing commas', 'cursor', CURSOR, COMMENTED],
    ['ends of lines', 'cursor', CURSOR, '{\r\n    "a": 1\r\n}\r\n'],
    ['an empty list of servers', 'cursor', CURSOR, '{ "mcpServers": {} }'],
    ['nothing', 'cursor', CURSOR, ''],
    ['a byte order mark', 'cursor', CURSOR, '\uFEFF{\n  "a": 1\n}\n'],
    ['TOML without an end of line', 'codex', CODEX, 'model = "x"'],
    [
      'TOML with another server behind',
      'codex',
      CODEX,
      '[mcp_servers]\n\n[mcp_servers.live-lisp2]\ncommand = "z"\n',
    ],
    [
      'other permissions',
      'claude',
      '.claude/settings.json',
      '{"permissions": {"allow": ["Bash(ls)"], "deny": []}}',
    ],
  ] as const)('stays, to the octet, after install and uninstall: %s', async (_, client, file, text) => {
    const path = machine.write(file, text);
    await machine.install(client);
    expect(machine.read(path)).not.toBe(text);
    expect(machine.backups()).toEqual([text]);
    await machine.uninstall(client);
    expect(machine.read(path)).toBe(text);
    expect(machine.files()).toEqual([`HOME/${file}`]);
  });

  test('stays when the file was changed after install too', async () => {
    const path = machine.write(CURSOR, COMMENTED);
    await machine.install('cursor');
    machine.write(path, (machine.read(path) ?? '').replace('[1, 2]', '[3]'));
    await machine.uninstall('cursor');
    expect(machine.read(path)).toBe(COMMENTED.replace('[1, 2]', '[3]'));
  });

  const ONLY_COMMENTS: [ClientName, string, string, string][] = [
    [
      'zed',
      '.config/zed/settings.json',
      '{"context_servers": {\n    // "other": { "command": "other-mcp" }\n  }}',
      '// "other": { "command": "other-mcp" }\n',
    ],
    [
      'claude',
      '.claude/settings.json',
      '{\n  "permissions": {\n    "allow": [\n      // "Bash(ls)" {\n    ]\n  }\n}\n',
      '      // "Bash(ls)" {\n      "mcp__live-lisp__who_calls",\n',
    ],
    ['cursor', CURSOR, '{\n  // Nothing {\n}\n', '{\n  // Nothing {\n  "mcpServers"'],
  ];

  test.each(ONLY_COMMENTS)('stays when it is comments only: %s', async (client, file, text, kept) => {
    const path = machine.write(file, text);
    await machine.install(client);
    expect(machine.read(path)).toContain(kept);
    machine.write(path, `${machine.read(path)}// more\n`);
    await machine.uninstall(client);
    const squeezed = (whole = '') => whole.replaceAll(/\s/g, '');
    expect(squeezed(machine.read(path))).toBe(squeezed(`${text}// more`));
  });

  test('stays when a comment was added beside our entry after install', async () => {
    const path = join(machine.home, CURSOR);
    await machine.install('cursor');
    machine.write(path, (machine.read(path) ?? '').replace('s": {', 's": { // mine {'));
    await machine.uninstall('cursor');
    expect(machine.read(path)).toBe('{\n  "mcpServers": { // mine {\n  }\n}\n');
  });

  test('stays in an entry that starts another copy, comments as well', async () => {
    const entry = (command: string, script: string) =>
      `{ "mcpServers": { "live-lisp": {
  "env": { "A": "1" }, // for A
  "command": "${command}", /* which node */
  "args": ${script}
} } }`;
    const path = machine.write(CURSOR, entry('/old/node', '["/old/live-lisp.js"]'));
    await machine.install('cursor');
    expect(machine.named(machine.read(path) ?? '')).toBe(entry('NODE', '[\n        "SCRIPT"\n      ]'));
  });

  test('stays in TOML when the file was changed after install too', async () => {
    const path = machine.write(CODEX, TOML);
    await machine.install('codex');
    machine.write(
      path,
      `${machine.read(path)}\n[mcp_servers.live-lisp.env]\nA = "1"\n\n[last] # mine\na = 1\n`,
    );
    await machine.uninstall('codex');
    expect(machine.read(path)).toBe(`${TOML}\n[last] # mine\na = 1\n`);
  });

  test('stays when there was nothing before install, and something is added', async () => {
    const path = join(machine.home, CURSOR);
    await machine.install('cursor');
    machine.write(path, '// mine\n'.concat(machine.read(path) ?? ''));
    expect(await machine.uninstall('cursor')).toEqual([`Wrote HOME/${CURSOR}`]);
    expect(machine.read(path)).toBe('// mine\n{}\n');
  });

  test('keeps the flags and what else is in an entry that starts another copy', async () => {
    const old = { command: '/old/node', args: ['/old/live-lisp.js', '--quicklisp'], env: { A: '1' } };
    const path = machine.write(CURSOR, JSON.stringify({ mcpServers: { 'live-lisp': old } }));
    await machine.install('cursor');
    expect(JSON.parse(machine.named(machine.read(path) ?? ''))).toEqual({
      mcpServers: { 'live-lisp': { command: 'NODE', args: ['SCRIPT', '--quicklisp'], env: { A: '1' } } },
    });
    expect(await machine.install('cursor')).toEqual([
      `Cursor starts this live-lisp already (HOME/${CURSOR}); nothing was changed.`,
    ]);
    await machine.uninstall('cursor');
    expect(machine.files()).toEqual([]);
  });

  test.each([
    ['cursor', COMMENTED],
    ['claude', undefined],
    ['codex', TOML],
  ] as const)('comes back after installs from two copies, %s', async (client, text) => {
    const file = { cursor: CURSOR, claude: '.claude/settings.json', codex: CODEX }[client];
    if (text !== undefined) machine.write(file, text);
    machine.trust = true;
    await machine.install(client);
    machine.trust = false;
    const launch = { node: machine.node, args: [machine.write('moved/live-lisp.js', '')] };
    await machine.install(client, { launch });
    expect(machine.backups()).toEqual(text === undefined ? [] : [text]);
    await machine.uninstall(client, { launch });
    expect(machine.read(file)).toBe(text);
    expect(machine.read('.claude.json')).toBe(undefined);
  });

  test('of an older install is no backup where the file was removed since', async () => {
    const path = machine.write(CURSOR, '{ "mcpServers": { "old": { "command": "x" } } }');
    await machine.install('cursor');
    rmSync(path);
    await machine.install('cursor');
    expect(machine.backups()).toEqual([]);
    await machine.uninstall('cursor');
    expect(machine.files()).toEqual([]);
  });
});

describe('the file itself', () => {
  test('keeps its mode, and who cannot read it cannot read what is kept of it', async () => {
    const path = machine.write(CURSOR, '{}', 0o640);
    await machine.install('cursor');
    expect(statSync(path).mode & 0o777).toBe(0o640);
    const folder = join(machine.state, 'configurations');
    const [backup = ''] = readdirSync(folder);
    expect([folder, join(folder, backup)].map((each) => statSync(each).mode & 0o777)).toEqual([0o700, 0o600]);
  });

  test('behind a link is replaced there', async () => {
    const real = machine.write('dotfiles/mcp.json', '{}');
    mkdirSync(join(machine.home, '.cursor'));
    symlinkSync(real, join(machine.home, CURSOR));
    await machine.install('cursor');
    expect(lstatSync(join(machine.home, CURSOR)).isSymbolicLink()).toBe(true);
    expect(readFileSync(real, 'utf8')).toContain('live-lisp');
    await machine.uninstall('cursor');
    expect(machine.files()).toEqual(['HOME/.cursor/mcp.json', 'HOME/dotfiles/mcp.json']);
    expect(readFileSync(real, 'utf8')).toBe('{}');
  });

  test('is only looked at in a dry run, which shows the change', async () => {
    const path = machine.write(CURSOR, '{\n  "a": 1\n}\n');
    expect(await machine.install('cursor', { dryRun: true })).toEqual([
      `Would write HOME/${CURSOR}:
@@ -1,3 +1,11 @@
 {
-  "a": 1
+  "a": 1,
+  "mcpServers": {
+    "live-lisp": {
+      "command": "NODE",
+      "args": [
+        "SCRIPT"
+      ]
+    }
+  }
 }`,
    ]);
    expect(machine.read(path)).toBe('{\n  "a": 1\n}\n');
    expect(machine.files()).toEqual([`HOME/${CURSOR}`]);
  });

  test('that cannot be read or written is told', async () => {
    mkdirSync(join(machine.home, CURSOR), { recursive: true });
    expect(await machine.install('cursor')).toEqual([
      `HOME/${CURSOR} cannot be read (it is a directory). Make it readable, and run this again.`,
    ]);
    const place = { ...machine.place, environment: { PATH: '', CODEX_HOME: machine.write('file', '') } };
    expect(await machine.install('codex', { context: place })).toEqual([
      'HOME/file/config.toml cannot be written (ENOTDIR: not a directory), and is unchanged. Make it writable, and run this again.',
    ]);
  });
});

describe('what is not edited', () => {
  const LEFT = 'and was not changed.';
  test.each([
    [
      'cursor',
      CURSOR,
      '{ "a": ',
      `is not valid JSON (ValueExpected in line 1), ${LEFT} Correct it, and run this again.`,
    ],
    [
      'cursor',
      CURSOR,
      '[]',
      `is not valid JSON (it holds no object), ${LEFT} Correct it, and run this again.`,
    ],
    [
      'codex',
      CODEX,
      'a = \n',
      `is not valid TOML (Invalid TOML document: invalid value), ${LEFT} Correct it, and run this again.`,
    ],
    [
      'codex',
      CODEX,
      'mcp_servers = { other = { command = "x" } }\n',
      `cannot be edited safely, ${LEFT} Change mcp_servers.live-lisp in it by hand.`,
    ],
    [
      'cursor',
      CURSOR,
      '{ "mcpServers": [] }',
      `cannot be edited safely, ${LEFT} Change mcpServers.live-lisp in it by hand.`,
    ],
    [
      'cursor',
      CURSOR,
      '{ "mcpServers": { "live-lisp": { "command": "npx", "args": ["-y", "live-lisp"] } } }',
      `has an entry live-lisp that live-lisp install did not write (npx -y live-lisp), ${LEFT} Remove that entry by hand, and run this again.`,
    ],
    [
      'cursor',
      CURSOR,
      '{ "mcpServers": { "live-lisp": { "url": "http://x" } } }',
      `has an entry live-lisp that live-lisp install did not write (no command), ${LEFT} Remove that entry by hand, and run this again.`,
    ],
  ] as const)('%s with %s that holds %j', async (client, file, text, sentence) => {
    const path = machine.write(file, text);
    expect(await machine.install(client)).toEqual([`HOME/${file} ${sentence}`]);
    expect(machine.read(path)).toBe(text);
    expect(machine.files()).toEqual([`HOME/${file}`]);
  });

  test('keeps the other files of the client from being changed', async () => {
    machine.write('.claude/settings.json', '{');
    expect(await machine.install('claude')).toEqual([
      `HOME/.claude/settings.json is not valid JSON (CloseBraceExpected in line 1), ${LEFT} Correct it, and run this again.`,
    ]);
    expect(machine.files()).toEqual(['HOME/.claude/settings.json']);
  });

  test('is a copy in the cache of npx', async () => {
    const launch = { node: machine.node, args: ['/x/_npx/1/node_modules/live-lisp/dist/live-lisp.js'] };
    expect(await machine.install('cursor', { launch })).toEqual([
      'This copy of live-lisp is in the cache of npx, which npx can empty. Install the packed file (npm install --global FILE.tgz), then run live-lisp install.',
    ]);
  });
});
