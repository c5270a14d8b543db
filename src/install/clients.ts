// Lists the clients, their configuration files, and the entries that install writes into these files.

import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { ClientName, Scope } from './names.ts';
import type { Data, Launch, Setting } from './settings.ts';

/** The folders and the environment for the search of clients, and the permissions of the clients. */
export interface InstallContext {
  home: string;
  project: string;
  /** Folder for live-lisp's data between runs. */
  state: string;
  environment: NodeJS.ProcessEnv;
  platform: string;
  /** True for clients that run all tools without asking the user. Otherwise they run only the read-only
   *  tools, those in `safe`, without asking. */
  trust: boolean;
  safe: readonly string[];
}

export interface Client {
  name: ClientName;
  title: string;
  scopes: readonly Scope[];
  /** Returns the settings to write in a scope. The first is the entry for the server. */
  settings: (context: InstallContext, scope: Scope) => Setting[];
  /** Returns the entry, for one user in one project, that the client's own program writes and install never
   *  does. */
  local?: (context: InstallContext) => Setting;
  /** Returns paths of which any one proves that the client is installed. So does `program` on PATH. */
  traces: (context: InstallContext) => string[];
  program?: string;
  /** Returns the arguments for the client's program to add the entry in `scope`; undefined for none. */
  adds?: (scope: Scope, launch: Launch, trust: boolean) => string[] | undefined;
  /** True for a client that by default asks its user before a tool that can change something. */
  asks?: boolean;
  /** True for a client through which the server cannot ask the user anything. */
  mute?: boolean;
  /** True when the client's program writes an incomplete entry, which install then completes. */
  addsLess?: boolean;
  /** Returns the arguments for the client's program to remove the entry. Only for a file that the client
   *  itself often writes. Entries in other files are removed here, because the programs leave empty tables
   *  behind. */
  removes?: (scope: Scope) => string[] | undefined;
}

export function clientNamed(named: ClientName): Client | undefined {
  return CLIENTS.find(({ name }) => name === named);
}

/** Name of our entry in the configuration of a client. */
export const ENTRY_NAME = 'live-lisp';

const BOTH = ['user', 'project'] as const;

const plain = ({ node, args }: Launch): Data => ({ command: node, args });

function entryIn(file: string, keys: string, entry = plain, format: 'jsonc' | 'toml' = 'jsonc'): Setting {
  return { kind: 'entry', file, format, path: [keys, ENTRY_NAME], entry };
}

/** Returns the folder in the environment variable NAME, or OTHER if it has no absolute path. */
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

/** The permission that lets Claude Code run all our tools without a question. */
const CLAUDE_ALL = 'mcp__live-lisp';

/** Returns Claude Code's settings files in CONTEXT: the user's, the project's, and the user's for the
 *  project. */
export function claudeSettingsFiles(context: InstallContext): [string, string, string] {
  const own = clientFolder(context, 'CLAUDE_CONFIG_DIR', join(context.home, '.claude'));
  const project = join(context.project, '.claude');
  return [join(own, 'settings.json'), join(project, 'settings.json'), join(project, 'settings.local.json')];
}

function claudeUserFile(context: InstallContext): string {
  return join(clientFolder(context, 'CLAUDE_CONFIG_DIR', context.home), '.claude.json');
}

function claudeEntry(file: string): Setting {
  return entryIn(file, 'mcpServers', ({ node, args }) => ({ type: 'stdio', command: node, args }));
}

function claudeSettings(context: InstallContext, scope: Scope): Setting[] {
  const user = scope === 'user';
  const file = user ? claudeUserFile(context) : join(context.project, '.mcp.json');
  const files = claudeSettingsFiles(context);
  return [
    claudeEntry(file),
    {
      kind: 'permission',
      file: files[user ? 0 : 1],
      files,
      format: 'jsonc',
      path: ['permissions', 'allow'],
      words: context.trust ? [CLAUDE_ALL] : context.safe.map((tool) => `${CLAUDE_ALL}__${tool}`),
    },
  ];
}

function codexSettings(context: InstallContext, scope: Scope): Setting[] {
  const own = clientFolder(context, 'CODEX_HOME', join(context.home, '.codex'));
  const file = join(scope === 'user' ? own : join(context.project, '.codex'), 'config.toml');
  // Without this setting, Codex asks before destructive tools, and refuses them if no user can answer.
  const mode = context.trust ? { default_tools_approval_mode: 'approve' } : {};
  const entry = (launch: Launch) => ({ ...plain(launch), ...mode });
  return [entryIn(file, 'mcp_servers', entry, 'toml')];
}

function opencodeSettings(context: InstallContext, scope: Scope): Setting[] {
  const own = scope === 'user' ? join(configFolder(context), 'opencode') : context.project;
  const files = ['opencode.json', 'opencode.jsonc'].map((name) => join(own, name));
  const file = files.find((each) => existsSync(each)) ?? join(own, 'opencode.json');
  const entry = ({ node, args }: Launch) => ({ type: 'local', command: [node, ...args], enabled: true });
  return [entryIn(file, 'mcp', entry)];
}

function vscodeSettings(context: InstallContext, scope: Scope): Setting[] {
  const own =
    scope === 'user' ? join(applicationFolder(context), 'Code', 'User') : join(context.project, '.vscode');
  return [entryIn(join(own, 'mcp.json'), 'servers', (launch) => ({ type: 'stdio', ...plain(launch) }))];
}

function ownFolder({ home, project }: InstallContext, scope: Scope, name: string): string {
  return join(scope === 'user' ? home : project, name);
}

function zedSettings(context: InstallContext, scope: Scope): Setting[] {
  const own = scope === 'user' ? join(configFolder(context), 'zed') : join(context.project, '.zed');
  const entry = (launch: Launch) => ({ source: 'custom', ...plain(launch), env: {} });
  return [entryIn(join(own, 'settings.json'), 'context_servers', entry)];
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
    traces: ({ home }) => [join(home, '.claude.json'), join(home, '.claude')],
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
    traces: (context) => [clientFolder(context, 'CODEX_HOME', join(context.home, '.codex'))],
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
      entryIn(join(ownFolder(context, scope, '.gemini'), 'settings.json'), 'mcpServers', (launch) => ({
        ...plain(launch),
        ...(context.trust && { trust: true }),
      })),
    ],
    traces: ({ home }) => [join(home, '.gemini')],
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
    traces: (context) => [join(configFolder(context), 'opencode')],
    program: 'opencode',
    mute: true,
  },
  {
    name: 'cursor',
    title: 'Cursor',
    scopes: BOTH,
    settings: (context, scope) => [
      entryIn(join(ownFolder(context, scope, '.cursor'), 'mcp.json'), 'mcpServers'),
    ],
    traces: ({ home }) => [join(home, '.cursor')],
    program: 'cursor',
  },
  {
    name: 'vscode',
    title: 'VS Code',
    scopes: BOTH,
    settings: vscodeSettings,
    traces: (context) => [join(applicationFolder(context), 'Code')],
    program: 'code',
  },
  {
    name: 'zed',
    title: 'Zed',
    scopes: BOTH,
    settings: zedSettings,
    traces: (context) => [join(configFolder(context), 'zed')],
    program: 'zed',
  },
  {
    name: 'emacs',
    title: 'Emacs with mcp.el',
    scopes: [],
    settings: () => [],
    traces: (context) => [join(context.home, '.emacs.d'), join(configFolder(context), 'emacs')],
    program: 'emacs',
  },
  {
    name: 'windsurf',
    title: 'Windsurf',
    scopes: ['user'],
    settings: ({ home }) => [entryIn(join(home, '.codeium', 'windsurf', 'mcp_config.json'), 'mcpServers')],
    traces: ({ home }) => [join(home, '.codeium', 'windsurf')],
    program: 'windsurf',
  },
  {
    name: 'claude-desktop',
    title: 'Claude Desktop',
    scopes: ['user'],
    settings: (context) => [
      entryIn(join(applicationFolder(context), 'Claude', 'claude_desktop_config.json'), 'mcpServers'),
    ],
    traces: (context) => [join(applicationFolder(context), 'Claude')],
  },
];
