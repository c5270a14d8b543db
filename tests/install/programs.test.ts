// Where a client has a program that sets it up, that is run; and what the doctor sees of each client.

import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CLIENTS } from '../../src/install/clients.ts';
import type { ClientName } from '../../src/install/names.ts';
import { clientList } from '../../src/install/report.ts';
import { SERVER } from '../harness.ts';
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
      'Claude Code asks you before code runs, but not before tools that only read. With --trust it also runs code without asking you, but only in a sandbox.',
      'Restart Claude Code. To check its set-up: live-lisp doctor --client claude',
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
      'Codex asks you before code runs, but not before tools that only read. With --trust it also runs code without asking you, but only in a sandbox.',
      'Restart Codex. To check its set-up: live-lisp doctor --client codex',
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
      'claude mcp add --scope user live-lisp -- NODE SCRIPT failed: no such scope\nFix that, and run this again.'.replace(
        'claude',
        machine.named(join(machine.node, '..', 'claude')),
      ),
    ]);
    expect(machine.files()).toEqual([]);
  });
});

/** What the doctor says of an entry that works. */
const WORKS = 'ok it was started, and answers as live-lisp 0.1.0, with 34 tools';

describe('the doctor', () => {
  test('sees a client that has nothing', async () => {
    expect(await machine.doctor('cursor')).toEqual([
      'ok Cursor: its program is not on PATH',
      'ok user: no entry live-lisp in HOME/.cursor/mcp.json',
      'ok project: no entry live-lisp in PROJECT/.cursor/mcp.json',
      'FAIL Cursor does not start live-lisp: live-lisp install --client cursor sets it up',
    ]);
  });

  test('starts what install wrote, and sees its permissions', async () => {
    await machine.install('claude');
    expect(await machine.doctor('claude')).toEqual([
      'ok Claude Code: its program is not on PATH',
      'ok user: HOME/.claude.json starts NODE SCRIPT',
      WORKS,
      'ok Claude Code asks before code runs',
      'ok project: no entry live-lisp in PROJECT/.mcp.json',
    ]);
    await machine.install('codex');
    expect((await machine.doctor('codex')).slice(1, 4)).toEqual([
      'ok user: HOME/.codex/config.toml starts NODE SCRIPT',
      WORKS,
      'ok Codex asks before code runs',
    ]);
  });

  test('sees what claude mcp add writes without a scope, in that project only', async () => {
    const entry = { type: 'stdio', command: machine.node, args: [machine.script], env: {} };
    const projects = {
      [machine.project]: { mcpServers: { 'live-lisp': entry } },
      [machine.home]: { mcpServers: { 'live-lisp': { command: '/gone/node' } } },
    };
    machine.write('.claude.json', JSON.stringify({ projects }));
    const none = [
      'ok Claude Code: its program is not on PATH',
      'ok user: no entry live-lisp in HOME/.claude.json',
      'ok project: no entry live-lisp in PROJECT/.mcp.json',
    ];
    expect(await machine.doctor('claude')).toEqual([
      ...none,
      'ok local: HOME/.claude.json starts NODE SCRIPT (claude mcp remove --scope local live-lisp takes that out)',
      WORKS,
      'ok Claude Code asks before each tool of live-lisp, even those that only read. To be asked only before code runs: live-lisp install --client claude',
    ]);
    projects[machine.project] = { mcpServers: {} } as never;
    machine.write('.claude.json', JSON.stringify({ projects }));
    expect(await machine.doctor('claude')).toEqual([
      ...none,
      'FAIL Claude Code does not start live-lisp: live-lisp install --client claude sets it up',
    ]);
  });

  test('sees that the permission is missing', async () => {
    await machine.install('claude');
    machine.write('.claude/settings.json', '{}');
    expect((await machine.doctor('claude'))[3]).toBe(
      'ok Claude Code asks before each tool of live-lisp, even those that only read. To be asked only before code runs: live-lisp install --client claude',
    );
  });

  test('sees a node and a script that are not there, and a node that is no path', async () => {
    const entry = (command: string) =>
      JSON.stringify({ mcpServers: { 'live-lisp': { command, args: ['/gone/live-lisp.js'] } } });
    machine.write('.cursor/mcp.json', entry('/gone/node'));
    machine.write(join(machine.project, '.cursor/mcp.json'), entry('node'));
    expect(await machine.doctor('cursor')).toEqual([
      'ok Cursor: its program is not on PATH',
      'ok user: HOME/.cursor/mcp.json starts /gone/node /gone/live-lisp.js',
      'FAIL /gone/node cannot be run: run live-lisp install again',
      'FAIL /gone/live-lisp.js is not there: run live-lisp install again',
      'ok project: PROJECT/.cursor/mcp.json starts node /gone/live-lisp.js',
      'ok the client looks up node on PATH, which can differ in a graphical client',
      'FAIL /gone/live-lisp.js is not there: run live-lisp install again',
    ]);
  });

  test.each(['{"url": "http://x"}', '{"command": 1, "args": ["x"]}', 'null'])(
    'sees an entry without a command: %s',
    async (entry) => {
      machine.write('.gemini/settings.json', `{"mcpServers": {"live-lisp": ${entry}}}`);
      expect(await machine.doctor('gemini')).toEqual([
        'ok Gemini CLI: its program is not on PATH',
        'FAIL user: the entry live-lisp in HOME/.gemini/settings.json has no command that starts live-lisp. Remove that entry by hand, then: live-lisp install --client gemini --scope user',
        'ok project: no entry live-lisp in PROJECT/.gemini/settings.json',
        'FAIL Gemini CLI does not start live-lisp: live-lisp install --client gemini sets it up',
      ]);
    },
  );

  test('sees a file that cannot be read', async () => {
    machine.write('.cursor/mcp.json', '{');
    expect((await machine.doctor('cursor'))[1]).toMatch(
      /^FAIL HOME\/\.cursor\/mcp\.json is not valid JSON \(/,
    );
  });
});

describe('an entry that the doctor starts', () => {
  /** Returns what is said of the entry for the user of ARGS behind the command, with the variables ENV. */
  async function outputOf(entry: { command?: string; args?: string[]; env?: object }): Promise<string> {
    const { command = machine.node, args = [machine.script], env } = entry;
    const servers = { 'live-lisp': { command, args, ...(env && { env }) } };
    machine.write('.cursor/mcp.json', JSON.stringify({ mcpServers: servers }));
    return (await machine.doctor('cursor'))[2] ?? '';
  }

  test('gets the flags and variables of the entry, in the folder of the project', async () => {
    machine.program('server', 'echo "$HERE $1 $(/bin/pwd)" >&2; exit 3');
    const command = join(machine.node, '..', 'server');
    expect(await outputOf({ command, args: ['--flag'], env: { HERE: 'so' } })).toBe(
      'FAIL the server does not work: it ended before it answered (exit code 3); it wrote: so --flag PROJECT',
    );
  });

  test('says why it cannot be run', async () => {
    const cannot = (why: string) =>
      `FAIL the server does not work: it cannot be run (${why}). Fix that, and run this again`;
    const received = "The argument 'args[0]' must be a string without null bytes. Received 'a\\x00b'";
    expect(await outputOf({ args: ['a\0b'] })).toBe(cannot(received));
    machine.write(machine.node, '#!/no/such/program\n');
    expect(await outputOf({})).toBe(cannot('spawn NODE ENOENT'));
  });

  test('says why it cannot serve', async () => {
    expect(await outputOf({ args: [machine.script, '--root', '/no/such'] })).toBe(
      'FAIL the server does not work: live-lisp cannot start: --root must be an existing directory; /no/such is not one.',
    );
  });

  test('is not waited for when what it has started goes on', async () => {
    const answers = [
      { id: 0, result: { serverInfo: { name: 'other', version: '1' } } },
      { id: 1, result: { tools: [] } },
    ];
    const echo = answers.map((answer) => `echo '${JSON.stringify(answer)}'`).join('\n');
    const { home } = machine;
    const more = `{ for n in $(seq 120); do [ -e ${home}/go ] && exit; sleep 1; done; echo over >${home}/ended; } &`;
    machine.program('other', `PATH=/usr/bin:/bin\n${echo}\n${more}`);
    expect(await outputOf({ command: join(machine.node, '..', 'other'), args: [] })).toBe(
      'ok it was started, and answers as other 1, with 0 tools',
    );
    expect(machine.read('ended')).toBe(undefined);
    machine.write('go', '');
  });

  test('can be one that install did not write', async () => {
    machine.program('other', `exec ${process.execPath} ${SERVER}`);
    expect(await outputOf({ command: join(machine.node, '..', 'other'), args: [] })).toBe(WORKS);
  });

  test('is not started for a project when it is another than install writes', async () => {
    const servers = { 'live-lisp': { command: machine.node, args: [machine.script, '--init', 'x.lisp'] } };
    machine.write(join(machine.project, '.cursor/mcp.json'), JSON.stringify({ mcpServers: servers }));
    expect((await machine.doctor('cursor'))[3]).toBe(
      'ok this command was not tested, because it is not the one that install writes: the project may have changed it',
    );
    await machine.uninstall('cursor', { scope: 'project' });
    await machine.install('cursor', { scope: 'project' });
    expect((await machine.doctor('cursor'))[3]).toBe(WORKS);
  });
});

describe('a folder that the client does not trust', () => {
  const UNTRUSTED = {
    claude:
      'FAIL Claude Code does not trust PROJECT yet, so it does not start this server: start claude there, and say yes.',
    codex:
      'FAIL Codex does not trust PROJECT yet, so it does not read this file: start codex there, and say yes.',
    gemini:
      'FAIL Gemini CLI does not trust PROJECT yet, so it starts no server there: start gemini there, and say that you trust the folder.',
  } as const;
  type Asking = keyof typeof UNTRUSTED;

  /** Returns what the doctor says that fails for CLIENT, set up in SCOPE. */
  async function failures(client: Asking): Promise<string[]> {
    return (await machine.doctor(client)).filter((line) => line.startsWith('FAIL'));
  }

  test.each([
    ['claude', 'project'],
    ['codex', 'project'],
    ['gemini', 'user'],
  ] as const)('is said to be none for %s, for a %s', async (client, scope) => {
    await machine.install(client, { scope });
    expect(await failures(client)).toEqual([UNTRUSTED[client]]);
  });

  /** Writes the configuration of CLIENT for the user as DATA says, which is TOML for Codex. */
  function configure(client: Asking, data: (project: string) => object | string): void {
    const file = {
      claude: '.claude.json',
      codex: '.codex/config.toml',
      gemini: '.gemini/trustedFolders.json',
    };
    const said = data(machine.project);
    machine.write(file[client], typeof said === 'string' ? said : JSON.stringify(said));
  }

  const claude = (more: object, folder?: string) => (project: string) => ({
    projects: { [folder ?? project]: { hasTrustDialogAccepted: true }, ...more },
  });

  test.each<[string, Asking, (project: string) => object | string, string[]]>([
    [
      'has not allowed the server',
      'claude',
      claude({}, '/'),
      [
        'FAIL Claude Code has not been allowed to start this server yet: start claude in PROJECT, and say yes.',
      ],
    ],
    [
      'has refused the server',
      'claude',
      (project) => ({
        projects: { [project]: { hasTrustDialogAccepted: true, disabledMcpjsonServers: ['live-lisp'] } },
      }),
      [
        'FAIL Claude Code was told not to start this server: run claude mcp reset-project-choices in PROJECT, then start claude there, and say yes.',
      ],
    ],
    [
      'has allowed the server',
      'claude',
      (project) => ({
        projects: { [project]: { hasTrustDialogAccepted: true, enabledMcpjsonServers: ['live-lisp'] } },
      }),
      [],
    ],
    ['trusts the folder', 'codex', (project) => `[projects."${project}"]\ntrust_level = "trusted"\n`, []],
    [
      'distrusts the folder',
      'codex',
      (project) => `[projects."${project}"]\ntrust_level = "untrusted"\n`,
      [UNTRUSTED.codex],
    ],
    [
      'trusts one above',
      'codex',
      (project) => `[projects."${project}/.."]\ntrust_level = "trusted"\n`,
      [UNTRUSTED.codex],
    ],
    ['trusts one above', 'gemini', () => ({ '/': 'TRUST_FOLDER' }), []],
    ['trusts the folder of one beside', 'gemini', (project) => ({ [`${project}2`]: 'TRUST_PARENT' }), []],
    [
      'trusts one above but not this',
      'gemini',
      (project) => ({ '/': 'TRUST_FOLDER', [project]: 'DO_NOT_TRUST' }),
      [UNTRUSTED.gemini],
    ],
  ])('a user who %s, in %s', async (_, client, data, expected) => {
    configure(client, data);
    await machine.install(client, { scope: 'project' });
    expect(await failures(client)).toEqual(expected);
  });

  test('matters not to Gemini CLI where its user has turned that off', async () => {
    machine.write('.gemini/settings.json', '{"security": {"folderTrust": {"enabled": false}}}');
    await machine.install('gemini');
    expect(await failures('gemini')).toEqual([]);
  });

  test('is enough for Codex when it is the repository that the folder is in', async () => {
    machine.write(join(machine.project, '.git/HEAD'), '');
    configure('codex', (project) => `[projects."${project}"]\ntrust_level = "trusted"\n`);
    const project = join(machine.write(join(machine.project, 'src/file'), ''), '..');
    const place = { ...machine.place, project };
    await machine.install('codex', { scope: 'project', context: place });
    expect((await machine.doctor('codex', place)).filter((line) => line.startsWith('FAIL'))).toEqual([]);
  });
});

describe('a plugin of ours', () => {
  const KINDS: [ClientName, string, string, string][] = [
    [
      'claude',
      '.claude/settings.json',
      '{"enabledPlugins": {"live-lisp@shop": true}}',
      'the plugin live-lisp@shop',
    ],
    [
      'codex',
      '.codex/config.toml',
      '[plugins."live-lisp@shop"]\nenabled = true\n',
      'the plugin live-lisp@shop',
    ],
    ['gemini', '.gemini/extensions/live-lisp/gemini-extension.json', '{}', 'the extension live-lisp'],
  ];

  test.each(KINDS)('of %s is found and tried', async (client, file, text, plugin) => {
    machine.write(file, text);
    const title = CLIENTS.find(({ name }) => name === client)?.title;
    const head = `ok ${title} has ${plugin}, which starts the command live-lisp`;
    expect((await machine.doctor(client)).slice(-2)).toEqual([
      head,
      'FAIL there is no command live-lisp on PATH: install the packed file with npm install --global FILE.tgz',
    ]);
    machine.program('live-lisp', `exec ${process.execPath} ${SERVER}`);
    expect((await machine.doctor(client)).slice(-2)).toEqual([head, WORKS]);
  });

  test.each(KINDS)('of %s is not joined by an entry', async (client, file, text, plugin) => {
    machine.write(file, text);
    const title = CLIENTS.find(({ name }) => name === client)?.title;
    const before = machine.files();
    expect(await machine.install(client)).toEqual([
      `${title} has ${plugin}, which starts live-lisp already; an entry beside it would start a second server with another image. Nothing was changed. Remove ${plugin} in ${title} first, if you want the entry instead.`,
    ]);
    expect(machine.files()).toEqual(before);
  });

  test('that came after an entry is one too many', async () => {
    await machine.install('gemini');
    machine.write('.gemini/extensions/live-lisp/gemini-extension.json', '{}');
    machine.program('live-lisp', `exec ${process.execPath} ${SERVER}`);
    expect((await machine.doctor('gemini')).at(-1)).toBe(
      'FAIL Gemini CLI starts two servers, each with its own image: one by the extension live-lisp, one by HOME/.gemini/settings.json. Run live-lisp uninstall --client gemini, or remove the extension live-lisp in Gemini CLI',
    );
  });

  test('that is turned off counts as none', async () => {
    machine.write('.claude/settings.json', '{"enabledPlugins": {"live-lisp@shop": false}}');
    expect((await machine.doctor('claude')).at(-1)).toBe(
      'FAIL Claude Code does not start live-lisp: live-lisp install --client claude sets it up',
    );
  });
});

describe('the list of clients', () => {
  test('says which are found, and what to type', () => {
    machine.program('codex', '');
    machine.write('.cursor/mcp.json', '{}');
    expect(clientList(machine.place)).toBe(`Clients found here, and the command that sets each up:
  Codex              live-lisp install --client codex
  Cursor             live-lisp install --client cursor
Not found: claude, gemini, opencode, vscode, zed, emacs, windsurf, claude-desktop.
--dry-run shows what would be written; --scope project is for this folder only.`);
  });

  test('finds Claude Code by the folder of CLAUDE_CONFIG_DIR', () => {
    const own = dirname(machine.write('own/settings.json', '{}'));
    const place = { ...machine.place, environment: { PATH: '', CLAUDE_CONFIG_DIR: own } };
    expect(clientList(place)).toContain('\n  Claude Code  ');
  });

  test('says that none is found', () => {
    expect(clientList(machine.place).split('\n')[0]).toBe('No client is found here.');
  });
});
