// Lists the supported clients, their configuration files, and the entries that install writes to these files.

import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { ClientName, Scope } from './names.ts';
import type { Data, Launch, Setting } from './settings.ts';

/** Folders and environment for finding clients, and the permissions that clients get. */
export interface InstallContext {
  home: string;
  project: string;
  /** The folder in which live-lisp stores data between its runs. */
  state: string;
  environment: NodeJS.ProcessEnv;
  platform: string;
  /** True when clients may run all tools without asking the user. Otherwise they run only the tools in `safe`, which
   * are read-only, without asking. */
  trust: boolean;
  safe: readonly string[];
}

export interface Client {
  name: ClientName;
  title: string;
  /** Empty for Emacs: install only prints what its user puts in the init file. */
  scopes: readonly Scope[];
  /** Returns the settings that install writes in a scope. The first one is the entry that starts the server. A
   * client without scopes has no settings. */
  settings: (context: InstallContext, scope: Scope) => Setting[];
  /** Returns the entry for this user in this project only. The client's own program can write such an entry, but
   * install does not. */
  local?: (context: InstallContext) => Setting;
  /** Returns paths of files and folders. If one of them exists, or if `program` is on PATH, the client is installed. */
  installedPaths: (context: InstallContext) => string[];
  program?: string;
  /** Returns the arguments with which the client's program adds the entry in `scope`; undefined when it cannot. */
  adds?: (scope: Scope, launch: Launch, trust: boolean) => string[] | undefined;
  /** True when the client, by default, asks its user before it runs a tool that can change something. */
  asks?: boolean;
  /** True when the server cannot ask the user anything through this client. */
  mute?: boolean;
  /** True when the entry that the client's program writes can lack members of the entry in `settings`, so that install
   * completes it. */
  addsLess?: boolean;
  /** Returns the arguments with which the client's program removes the entry in `scope`; undefined when install itself
   * removes the entry. The program leaves empty tables in the file, so install uses it only for a file that the client
   * itself often writes. */
  removes?: (scope: Scope) => string[] | undefined;
}

export function clientNamed(named: ClientName): Client {
  const client = CLIENTS.find(({ name }) => name === named);
  if (client === undefined) throw new Error(`CLIENTS lacks ${named}.`);
  return client;
}

/** Returns the settings that install writes for CLIENT without --trust. */
export function plainSettings(client: Client, context: InstallContext, scope: Scope): readonly Setting[] {
  return client.settings({ ...context, trust: false }, scope);
}

/** Returns the settings that install writes for CLIENT with --trust. */
export function trustingSettings(client: Client, context: InstallContext, scope: Scope): readonly Setting[] {
  return client.settings({ ...context, trust: true }, scope);
}

/** Name of the entry of live-lisp in the configuration of a client. */
export const ENTRY_NAME = 'live-lisp';

const BOTH = ['user', 'project'] as const;

const plain = ({ node, args }: Launch): Data => ({ command: node, args });

/** Returns the setting for the entry of live-lisp in FILE. KEY is the key, at the top level of FILE, under which
 * the client has its servers. ENTRY makes the value. */
function entryIn(file: string, key: string, entry = plain, format: 'jsonc' | 'toml' = 'jsonc'): Setting {
  return { kind: 'entry', file, format, path: [key, ENTRY_NAME], entry };
}

/** Returns the folder that the environment variable NAME contains, or OTHER if it does not contain an absolute path. */
function clientFolder({ environment }: InstallContext, name: string, other: string): string {
  const named = environment[name];
  return named !== undefined && isAbsolute(named) ? named : other;
}

function configFolder(context: InstallContext): string {
  return clientFolder(context, 'XDG_CONFIG_HOME', join(context.home, '.config'));
}

function applicationFolder(context: InstallContext): string {
  return context.platform === 'darwin'
    ? join(context.home, 'Library', 'Application Support')
    : configFolder(context);
}

/** The permission that lets Claude Code run all tools of live-lisp without asking. */
const CLAUDE_ALL = 'mcp__live-lisp';

function claudeFolder(context: InstallContext): string {
  return clientFolder(context, 'CLAUDE_CONFIG_DIR', join(context.home, '.claude'));
}

/** Returns the three settings files of Claude Code in CONTEXT: for the user, for the project, and for the user in this
 * project. */
export function claudeSettingsFiles(context: InstallContext): [string, string, string] {
  const project = join(context.project, '.claude');
  return [
    join(claudeFolder(context), 'settings.json'),
    join(project, 'settings.json'),
    join(project, 'settings.local.json'),
  ];
}

function claudeUserFile(context: InstallContext): string {
  return join(clientFolder(context, 'CLAUDE_CONFIG_DIR', context.home), '.claude.json');
}

function claudeEntry(file: string): Setting {
  return entryIn(file, 'mcpServers', ({ node, args }) => ({ type: 'stdio', command: node, args }));
}

function claudeSettings(context: InstallContext, scope: Scope): Setting[] {
  const isForUser = scope === 'user';
  const file = isForUser ? claudeUserFile(context) : join(context.project, '.mcp.json');
  const files = claudeSettingsFiles(context);
  return [
    claudeEntry(file),
    {
      kind: 'permission',
      file: files[isForUser ? 0 : 1],
      files,
      format: 'jsonc',
      path: ['permissions', 'allow'],
      words: context.trust ? [CLAUDE_ALL] : context.safe.map((tool) => `${CLAUDE_ALL}__${tool}`),
    },
  ];
}

function codexHome(context: InstallContext): string {
  return clientFolder(context, 'CODEX_HOME', join(context.home, '.codex'));
}

function codexSettings(context: InstallContext, scope: Scope): Setting[] {
  const file = join(scope === 'user' ? codexHome(context) : join(context.project, '.codex'), 'config.toml');
  // Without this setting, Codex asks before it runs a destructive tool. If no user can answer, it refuses to run the
  // tool.
  const mode = context.trust ? { default_tools_approval_mode: 'approve' } : {};
  const entry = (launch: Launch) => ({ ...plain(launch), ...mode });
  return [entryIn(file, 'mcp_servers', entry, 'toml')];
}

function opencodeSettings(context: InstallContext, scope: Scope): Setting[] {
  const folder = scope === 'user' ? join(configFolder(context), 'opencode') : context.project;
  const files = ['opencode.json', 'opencode.jsonc'].map((name) => join(folder, name));
  const file = files.find((each) => existsSync(each)) ?? join(folder, 'opencode.json');
  const entry = ({ node, args }: Launch) => ({ type: 'local', command: [node, ...args], enabled: true });
  return [entryIn(file, 'mcp', entry)];
}

function vscodeSettings(context: InstallContext, scope: Scope): Setting[] {
  const folder =
    scope === 'user' ? join(applicationFolder(context), 'Code', 'User') : join(context.project, '.vscode');
  return [entryIn(join(folder, 'mcp.json'), 'servers', (launch) => ({ type: 'stdio', ...plain(launch) }))];
}

/** Returns the folder NAME in the home or, in the scope `project`, in the project. */
function folderIn({ home, project }: InstallContext, scope: Scope, name: string): string {
  return join(scope === 'user' ? home : project, name);
}

function zedSettings(context: InstallContext, scope: Scope): Setting[] {
  const folder = scope === 'user' ? join(configFolder(context), 'zed') : join(context.project, '.zed');
  const entry = (launch: Launch) => ({ source: 'custom', ...plain(launch), env: {} });
  return [entryIn(join(folder, 'settings.json'), 'context_servers', entry)];
}

export const CLIENTS: readonly Client[] = [
  {
    name: 'claude',
    title: 'Claude Code',
    scopes: BOTH,
    settings: claudeSettings,
    local: (context) => ({
      ...claudeEntry(claudeUserFile(context)),
      path: ['projects', context.project, 'mcpServers', ENTRY_NAME],
    }),
    installedPaths: (context) => [claudeUserFile(context), claudeFolder(context)],
    program: 'claude',
    asks: true,
    adds: (scope, { node, args }) => ['mcp', 'add', '--scope', scope, ENTRY_NAME, '--', node, ...args],
    removes: (scope) => (scope === 'user' ? ['mcp', 'remove', '--scope', scope, ENTRY_NAME] : undefined),
  },
  {
    name: 'codex',
    title: 'Codex',
    scopes: BOTH,
    settings: codexSettings,
    installedPaths: (context) => [codexHome(context)],
    program: 'codex',
    asks: true,
    adds: (scope, { node, args }) =>
      scope === 'user' ? ['mcp', 'add', ENTRY_NAME, '--', node, ...args] : undefined,
    addsLess: true,
  },
  {
    name: 'gemini',
    title: 'Gemini CLI',
    scopes: BOTH,
    settings: (context, scope) => [
      entryIn(join(folderIn(context, scope, '.gemini'), 'settings.json'), 'mcpServers', (launch) => ({
        ...plain(launch),
        ...(context.trust && { trust: true }),
      })),
    ],
    installedPaths: ({ home }) => [join(home, '.gemini')],
    program: 'gemini',
    asks: true,
    mute: true,
    adds: (scope, { node, args }, trust) => [
      ...['mcp', 'add', '--scope', scope],
      ...(trust ? ['--trust'] : []),
      ...[ENTRY_NAME, node, ...args],
    ],
  },
  {
    name: 'opencode',
    title: 'opencode',
    scopes: BOTH,
    settings: opencodeSettings,
    installedPaths: (context) => [join(configFolder(context), 'opencode')],
    program: 'opencode',
    mute: true,
  },
  {
    name: 'cursor',
    title: 'Cursor',
    scopes: BOTH,
    settings: (context, scope) => [
      entryIn(join(folderIn(context, scope, '.cursor'), 'mcp.json'), 'mcpServers'),
    ],
    installedPaths: ({ home }) => [join(home, '.cursor')],
    program: 'cursor',
  },
  {
    name: 'vscode',
    title: 'VS Code',
    scopes: BOTH,
    settings: vscodeSettings,
    installedPaths: (context) => [join(applicationFolder(context), 'Code')],
    program: 'code',
  },
  {
    name: 'zed',
    title: 'Zed',
    scopes: BOTH,
    settings: zedSettings,
    installedPaths: (context) => [join(configFolder(context), 'zed')],
    program: 'zed',
  },
  {
    name: 'emacs',
    title: 'Emacs with mcp.el',
    scopes: [],
    settings: () => [],
    installedPaths: (context) => [join(context.home, '.emacs.d'), join(configFolder(context), 'emacs')],
    program: 'emacs',
  },
  {
    name: 'windsurf',
    title: 'Windsurf',
    scopes: ['user'],
    settings: ({ home }) => [entryIn(join(home, '.codeium', 'windsurf', 'mcp_config.json'), 'mcpServers')],
    installedPaths: ({ home }) => [join(home, '.codeium', 'windsurf')],
    program: 'windsurf',
  },
  {
    name: 'claude-desktop',
    title: 'Claude Desktop',
    scopes: ['user'],
    settings: (context) => [
      entryIn(join(applicationFolder(context), 'Claude', 'claude_desktop_config.json'), 'mcpServers'),
    ],
    installedPaths: (context) => [join(applicationFolder(context), 'Claude')],
  },
];
