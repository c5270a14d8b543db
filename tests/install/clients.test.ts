// What install writes for each client, in each scope, and that uninstall takes all of it back.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CLIENTS } from '../../src/install/clients.ts';
import type { ClientName, Scope } from '../../src/install/names.ts';
import { CLIENT_NAMES } from '../../src/install/names.ts';
import { Machine } from './machine.ts';

let machine: Machine;
beforeEach(() => {
  machine = new Machine();
});
afterEach(() => machine.remove());

const PLAIN = { command: 'NODE', args: ['SCRIPT'] };
const ALLOW = { permissions: { allow: ['mcp__live-lisp__who_calls', 'mcp__live-lisp__read_file'] } };
const STDIO = { type: 'stdio', ...PLAIN };
const OPENCODE = { type: 'local', command: ['NODE', 'SCRIPT'], enabled: true };
const ZED = { source: 'custom', ...PLAIN, env: {} };
const CODEX = `[mcp_servers.live-lisp]
command = "NODE"
args = [ "SCRIPT" ]
`;

/** Returns what install says of the questions of the client NAMED, which people call TITLE. */
function outputOf(named: ClientName, title: string): string[] {
  const asks = ['claude', 'codex', 'gemini'].includes(named)
    ? [
        `${title} asks you before code runs, but not before tools that only read. With --trust it also runs code without asking you, but only in a sandbox.`,
      ]
    : [];
  const mute = ['gemini', 'opencode'].includes(named)
    ? [
        `In ${title} the server cannot ask you, so it refuses dangerous calls. To allow a tool, add a flag such as --allow 'edit_definitions:src/**' to the command of the server.`,
      ]
    : [];
  return [...asks, ...mute];
}

/** What there is after install: files, and what each holds. */
const WRITTEN: [ClientName, Scope, { [file: string]: unknown }][] = [
  [
    'claude',
    'user',
    { 'HOME/.claude.json': { mcpServers: { 'live-lisp': STDIO } }, 'HOME/.claude/settings.json': ALLOW },
  ],
  [
    'claude',
    'project',
    { 'PROJECT/.mcp.json': { mcpServers: { 'live-lisp': STDIO } }, 'PROJECT/.claude/settings.json': ALLOW },
  ],
  ['codex', 'user', { 'HOME/.codex/config.toml': CODEX }],
  ['codex', 'project', { 'PROJECT/.codex/config.toml': CODEX }],
  ['gemini', 'user', { 'HOME/.gemini/settings.json': { mcpServers: { 'live-lisp': PLAIN } } }],
  ['gemini', 'project', { 'PROJECT/.gemini/settings.json': { mcpServers: { 'live-lisp': PLAIN } } }],
  ['opencode', 'user', { 'HOME/.config/opencode/opencode.json': { mcp: { 'live-lisp': OPENCODE } } }],
  ['opencode', 'project', { 'PROJECT/opencode.json': { mcp: { 'live-lisp': OPENCODE } } }],
  ['cursor', 'user', { 'HOME/.cursor/mcp.json': { mcpServers: { 'live-lisp': PLAIN } } }],
  ['cursor', 'project', { 'PROJECT/.cursor/mcp.json': { mcpServers: { 'live-lisp': PLAIN } } }],
  ['vscode', 'user', { 'HOME/.config/Code/User/mcp.json': { servers: { 'live-lisp': STDIO } } }],
  ['vscode', 'project', { 'PROJECT/.vscode/mcp.json': { servers: { 'live-lisp': STDIO } } }],
  ['zed', 'user', { 'HOME/.config/zed/settings.json': { context_servers: { 'live-lisp': ZED } } }],
  ['zed', 'project', { 'PROJECT/.zed/settings.json': { context_servers: { 'live-lisp': ZED } } }],
  ['windsurf', 'user', { 'HOME/.codeium/windsurf/mcp_config.json': { mcpServers: { 'live-lisp': PLAIN } } }],
  [
    'claude-desktop',
    'user',
    { 'HOME/.config/Claude/claude_desktop_config.json': { mcpServers: { 'live-lisp': PLAIN } } },
  ],
];

test.each(WRITTEN)(
  '%s, %s: install writes it, once, and uninstall leaves nothing',
  async (name, scope, written) => {
    const files = Object.keys(written).sort();
    const title = CLIENTS.find((client) => client.name === name)?.title;
    expect(await machine.install(name, { scope })).toEqual([
      ...Object.keys(written).map((file) => `Wrote ${file}`),
      ...outputOf(name, String(title)),
      `Restart ${title}. To check its set-up: live-lisp doctor --client ${name}`,
    ]);
    expect(machine.files()).toEqual(files);
    for (const [file, held] of Object.entries(written)) {
      const path = file.replace('HOME', machine.home).replace('PROJECT', machine.project);
      const text = machine.named(machine.read(path) ?? '');
      expect(typeof held === 'string' ? text : JSON.parse(text)).toEqual(held);
    }
    expect(await machine.install(name, { scope })).toEqual([
      `${title} starts this live-lisp already (${Object.keys(written)[0]}); nothing was changed.`,
    ]);
    expect(machine.files()).toEqual(files);
    expect(await machine.uninstall(name, { scope })).toEqual(
      Object.keys(written).map((file) => `Removed ${file}`),
    );
    expect(machine.files()).toEqual([]);
    expect(await machine.uninstall(name, { scope })).toEqual([
      `${title} has nothing of live-lisp (${Object.keys(written)[0]}); nothing was changed.`,
    ]);
  },
);

test('every client and scope is in this table, and every name is that of a client', () => {
  const all = CLIENTS.flatMap(({ name, scopes }) => scopes.map((scope) => `${name} ${scope}`));
  expect(WRITTEN.map(([name, scope]) => `${name} ${scope}`)).toEqual(all);
  expect(CLIENTS.map(({ name }) => name)).toEqual(CLIENT_NAMES);
});

test.each([
  ['claude', 'CLAUDE_CONFIG_DIR', ['OWN/.claude.json', 'OWN/settings.json']],
  ['codex', 'CODEX_HOME', ['OWN/config.toml']],
  ['opencode', 'XDG_CONFIG_HOME', ['OWN/opencode/opencode.json']],
] as const)('%s keeps it where %s says', async (name, variable, files) => {
  const own = `${machine.home}/own`;
  const place = { ...machine.place, environment: { PATH: '', [variable]: own } };
  await machine.install(name, { context: place });
  expect(machine.files().map((file) => file.replace('HOME/own', 'OWN'))).toEqual(files);
});

test('on macOS programs with windows keep it in their own folder', async () => {
  const place = { ...machine.place, platform: 'darwin' };
  await machine.install('vscode', { context: place });
  await machine.install('claude-desktop', { context: place });
  expect(machine.files()).toEqual([
    'HOME/Library/Application Support/Claude/claude_desktop_config.json',
    'HOME/Library/Application Support/Code/User/mcp.json',
  ]);
});

test('opencode.jsonc is used where it is there', async () => {
  machine.write('.config/opencode/opencode.jsonc', '{ "model": "x" } // mine\n');
  await machine.install('opencode');
  expect(machine.files()).toEqual(['HOME/.config/opencode/opencode.jsonc']);
});

describe('Emacs', () => {
  test('is told what to add, and nothing is written', async () => {
    expect(await machine.install('emacs')).toEqual([
      `Add this to the init file of Emacs, which live-lisp does not edit; it is for mcp.el (https://github.com/lizqwerscott/mcp.el):

(with-eval-after-load 'mcp-hub
  (add-to-list 'mcp-hub-servers
               '("live-lisp" . (:command "NODE" :args ("SCRIPT")))))`,
    ]);
    expect(await machine.uninstall('emacs')).toEqual([
      'Emacs is set up in its init file, which live-lisp does not edit: live-lisp install --client emacs prints what to put there.',
    ]);
    expect(await machine.doctor('emacs')).toEqual([
      'ok Emacs with mcp.el: its configuration is Lisp code, which doctor does not read',
    ]);
    expect(machine.files()).toEqual([]);
  });
});

test.each([
  ['windsurf', 'Windsurf'],
  ['claude-desktop', 'Claude Desktop'],
] as const)('%s has nothing for a project', async (name, title) => {
  const text = `${title} has no configuration for a project: use --scope user.`;
  expect(await machine.install(name, { scope: 'project' })).toEqual([text]);
  expect(await machine.uninstall(name, { scope: 'project' })).toEqual([text]);
});

describe('with --trust, code runs without a question, and in a sandbox only', () => {
  const WORDS = ['SCRIPT', '--sandbox', 'on'];
  beforeEach(() => {
    machine.trust = true;
  });

  test.each<[ClientName, string, object | string]>([
    ['claude', 'HOME/.claude/settings.json', { permissions: { allow: ['mcp__live-lisp'] } }],
    [
      'claude',
      'HOME/.claude.json',
      { mcpServers: { 'live-lisp': { type: 'stdio', command: 'NODE', args: WORDS } } },
    ],
    [
      'codex',
      'HOME/.codex/config.toml',
      '[mcp_servers.live-lisp]\ncommand = "NODE"\nargs = [ "SCRIPT", "--sandbox", "on" ]\ndefault_tools_approval_mode = "approve"\n',
    ],
    [
      'gemini',
      'HOME/.gemini/settings.json',
      { mcpServers: { 'live-lisp': { command: 'NODE', args: WORDS, trust: true } } },
    ],
  ])('%s has that in %s, and uninstall leaves nothing', async (name, file, holds) => {
    const title = CLIENTS.find((client) => client.name === name)?.title;
    expect(await machine.install(name)).toContain(
      `${title} runs every tool of live-lisp without asking you. Code runs in a sandbox or not at all (--sandbox on).`,
    );
    const text = machine.named(machine.read(file.replace('HOME', machine.home)) ?? '');
    expect(typeof holds === 'string' ? text : (JSON.parse(text) as unknown)).toEqual(holds);
    expect(await machine.doctor(name)).toContain(
      `ok ${title} runs every tool of live-lisp without asking you; code runs in a sandbox only`,
    );
    machine.trust = false;
    await machine.uninstall(name);
    expect(machine.files()).toEqual([]);
  });

  test.each<[ClientName, string, string]>([
    ['claude', '"mcp__live-lisp"', 'HOME/.claude/settings.json'],
    ['codex', 'default_tools_approval_mode', 'HOME/.codex/config.toml'],
    ['gemini', 'trust', 'HOME/.gemini/settings.json'],
  ])('%s is told to ask nothing still, when installed without it again', async (name, what, file) => {
    await machine.install(name);
    machine.trust = false;
    const title = CLIENTS.find((client) => client.name === name)?.title;
    const kept = (where: string) =>
      `${title} still runs every tool of live-lisp without asking you; ${where}. To be asked before code runs, remove ${what} from ${file}.`;
    const boxed = kept('code runs in a sandbox only');
    expect(await machine.install(name)).toContain(boxed);
    expect((await machine.install(name)).slice(0, 2)).toEqual([
      expect.stringMatching(/^.* starts this live-lisp already \(HOME\/.*\); nothing was changed\.$/),
      boxed,
    ]);
    const launch = { node: machine.node, args: [machine.write('moved/live-lisp.js', '')] };
    const moved = await machine.install(name, { launch });
    expect(moved).toContain(boxed);
    expect(moved.join()).not.toContain('asks before code runs');
    const entry = file.replace('HOME', machine.home).replace('.claude/settings', '.claude');
    machine.write(entry, (machine.read(entry) ?? '').replace(/"--sandbox",\s*"on"/, '"--sbcl", "sbcl"'));
    expect(await machine.install(name)).toContain(kept('code can run without a sandbox'));
  });

  test.each(['.claude/settings.json', '.claude/settings.local.json'])(
    'Claude Code asks nothing where %s of the project says so, and one of the user counts there',
    async (name) => {
      machine.trust = false;
      await machine.install('claude', { scope: 'project' });
      const ours = machine.write(
        `${machine.project}/${name}`,
        '{"permissions": {"allow": ["mcp__live-lisp__*"]}}',
      );
      expect(await machine.install('claude')).toContain(
        `Claude Code still runs every tool of live-lisp without asking you; code can run without a sandbox. To be asked before code runs, remove "mcp__live-lisp__*" from PROJECT/${name}.`,
      );
      machine.write(ours, '{}');
      machine.write('.claude/settings.json', '{"permissions": {"allow": ["mcp__live-lisp"]}}');
      const said = (await machine.doctor('claude')).filter((line) => line.includes('without asking'));
      const line =
        'ok Claude Code runs every tool of live-lisp without asking you, and code can run without a sandbox. To be asked before code runs, remove "mcp__live-lisp" from HOME/.claude/settings.json. To run code only in a sandbox: live-lisp install --client claude --scope ';
      expect(said).toEqual([`${line}user --trust`, `${line}project --trust`]);
    },
  );

  test.each([
    ['--no-sandbox', ['--no-sandbox']],
    ['--sandbox=auto', ['--sandbox=auto']],
    ['--sandbox auto', ['--root', '/srv/my-sandbox', '--sandbox', 'auto']],
  ])('an entry with %s, by which code can run without a sandbox, is not trusted', async (flag, flags) => {
    const entry = { command: machine.node, args: [machine.script, ...flags] };
    machine.write('.gemini/settings.json', JSON.stringify({ mcpServers: { 'live-lisp': entry } }));
    expect(await machine.install('gemini')).toEqual([
      `HOME/.gemini/settings.json starts live-lisp with ${flag}, so code could run without a sandbox and without a question. Remove that flag from the file, or install without --trust.`,
    ]);
  });

  test('the doctor says what an installation of before allows', async () => {
    const entry = { command: machine.node, args: [machine.script], trust: true };
    machine.write('.gemini/settings.json', JSON.stringify({ mcpServers: { 'live-lisp': entry } }));
    expect(await machine.doctor('gemini')).toContain(
      'ok Gemini CLI runs every tool of live-lisp without asking you, and code can run without a sandbox. To be asked before code runs, remove trust from HOME/.gemini/settings.json. To run code only in a sandbox: live-lisp install --client gemini --scope user --trust',
    );
  });
});

describe('install for a project', () => {
  async function noteIn(project: string): Promise<string | undefined> {
    machine.write(`${project}/file`, '');
    const place = { ...machine.place, home: '/', project: `${machine.home}/${project}` };
    return (await machine.install('cursor', { scope: 'project', context: place }))[0];
  }

  const note = (folder: string, root: string) =>
    `Note: HOME/${folder} is a folder of the project HOME/${root}. A client that starts in HOME/${root} does not read this configuration. For that client, run install in HOME/${root}.`;

  test.each([
    ['a repository', '.git/HEAD'],
    ['a worktree of a repository', '.git'],
    ['an .asd file', 'app.asd'],
  ])('says that %s is further up', async (_, file) => {
    machine.write(`app/${file}`, '');
    expect(await noteIn('app/src/deep')).toBe(note('app/src/deep', 'app'));
  });

  test('goes by the repository where there are both', async () => {
    machine.write('app/.git/HEAD', '');
    machine.write('app/lib/lib.asd', '');
    expect(await noteIn('app/lib')).toBe(note('app/lib', 'app'));
  });

  test.each([['.git/HEAD'], ['app.asd']])('says nothing of the kind in the folder of %s', async (file) => {
    machine.write('above.asd', '');
    machine.write(`app/${file}`, '');
    expect(await noteIn('app')).toBe('Wrote HOME/app/.cursor/mcp.json');
  });
});
