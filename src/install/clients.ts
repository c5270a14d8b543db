// Lists the clients, their configuration files, and the entries that install writes into these files.

import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { ClientName, Scope } from './names.ts';
import type { Data, Launch, Setting } from './settings.ts';

/** The folders and the environment in which clients are searched for, and what the clients may do. */
export interface Place {
  home: string;
  project: string;
  /** Folder in which live-lisp keeps data between runs. */
  state: string;
  environment: NodeJS.ProcessEnv;
  platform: string;
  /** TRUST is true when clients run all tools without asking the user. Otherwise they run only the read-only
   *  tools, listed in SAFE, without asking. */
  trust: boolean;
  safe: readonly string[];
}

export interface Client {
  name: ClientName;
  title: string;
  scopes: readonly Scope[];
  /** Returns the settings to write in a scope. The first is the entry for the server. */
  settings: (place: Place, scope: Scope) => Setting[];
  /** Returns the entry that the client's own program, never install, writes for a user and project. */
  local?: (place: Place) => Setting;
  /** Paths of which one shows that the client is installed. Finding PROGRAM on PATH shows it too. */
  traces: (place: Place) => string[];
  program?: string;
  /** Returns the arguments with which the client's program adds the entry in SCOPE; undefined if none do. */
  adds?: (scope: Scope, launch: Launch, trust: boolean) => string[] | undefined;
  /** True when the client by default asks its user before a tool that can change something. */
  asks?: boolean;
  /** True when the server cannot ask the user anything through the client. */
  mute?: boolean;
  /** True when the client's program writes an incomplete entry. Install then completes it. */
  addsLess?: boolean;
  /** Returns the arguments with which the client's program removes the entry, for a file that the client
   *  often writes. Other files are edited here, because the programs leave empty tables. */
  removes?: (scope: Scope) => string[] | undefined;
}

/** Returns the client NAMED, if there is one. */
export function clientNamed(named: ClientName): Client | undefined {
  return CLIENTS.find(({ name }) => name === named);
}

/** Name of our entry in the configuration of a client. */
export const NAME = 'live-lisp';

const BOTH = ['user', 'project'] as const;

const plain = ({ node, args }: Launch): Data => ({ command: node, args });

function entryIn(file: string, keys: string, entry = plain, format: 'jsonc' | 'toml' = 'jsonc'): Setting {
  return { kind: 'entry', file, format, path: [keys, NAME], entry };
}

/** Returns the folder in the environment variable NAME of PLACE, or OTHER if it has no absolute path. */
export function folder({ environment }: Place, name: string, other: string): string {
  const named = environment[name];
  return named !== undefined && isAbsolute(named) ? named : other;
}

function configFolder(place: Place): string {
  return folder(place, 'XDG_CONFIG_HOME', join(place.home, '.config'));
}

/** Returns the folder in which desktop programs keep their configuration. */
function applicationFolder(place: Place): string {
  return place.platform === 'darwin'
    ? join(place.home, 'Library', 'Application Support')
    : configFolder(place);
}

/** The permission that lets Claude Code run all our tools without a question. */
const CLAUDE_ALL = 'mcp__live-lisp';

/** Returns Claude Code's settings files in PLACE: the user's, the project's, the user's for the project. */
export function claudeSettingsFiles(place: Place): [string, string, string] {
  const own = folder(place, 'CLAUDE_CONFIG_DIR', join(place.home, '.claude'));
  const project = join(place.project, '.claude');
  return [join(own, 'settings.json'), join(project, 'settings.json'), join(project, 'settings.local.json')];
}

function claudeUserFile(place: Place): string {
  return join(folder(place, 'CLAUDE_CONFIG_DIR', place.home), '.claude.json');
}

function claudeEntry(file: string): Setting {
  return entryIn(file, 'mcpServers', ({ node, args }) => ({ type: 'stdio', command: node, args }));
}

function claudeSettings(place: Place, scope: Scope): Setting[] {
  const user = scope === 'user';
  const file = user ? claudeUserFile(place) : join(place.project, '.mcp.json');
  const files = claudeSettingsFiles(place);
  return [
    claudeEntry(file),
    {
      kind: 'permission',
      file: files[user ? 0 : 1],
      files,
      format: 'jsonc',
      path: ['permissions', 'allow'],
      words: place.trust ? [CLAUDE_ALL] : place.safe.map((tool) => `${CLAUDE_ALL}__${tool}`),
    },
  ];
}

function codexSettings(place: Place, scope: Scope): Setting[] {
  const own = folder(place, 'CODEX_HOME', join(place.home, '.codex'));
  const file = join(scope === 'user' ? own : join(place.project, '.codex'), 'config.toml');
  // Without this setting, Codex asks before destructive tools, and refuses them if no user can answer.
  const mode = place.trust ? { default_tools_approval_mode: 'approve' } : {};
  const entry = (launch: Launch) => ({ ...plain(launch), ...mode });
  return [entryIn(file, 'mcp_servers', entry, 'toml')];
}

function opencodeSettings(place: Place, scope: Scope): Setting[] {
  const own = scope === 'user' ? join(configFolder(place), 'opencode') : place.project;
  const files = ['opencode.json', 'opencode.jsonc'].map((name) => join(own, name));
  const file = files.find((each) => existsSync(each)) ?? join(own, 'opencode.json');
  const entry = ({ node, args }: Launch) => ({ type: 'local', command: [node, ...args], enabled: true });
  return [entryIn(file, 'mcp', entry)];
}

function vscodeSettings(place: Place, scope: Scope): Setting[] {
  const own =
    scope === 'user' ? join(applicationFolder(place), 'Code', 'User') : join(place.project, '.vscode');
  return [entryIn(join(own, 'mcp.json'), 'servers', (launch) => ({ type: 'stdio', ...plain(launch) }))];
}

/** Returns the folder NAME in the home or in the project, depending on SCOPE. */
function ownFolder({ home, project }: Place, scope: Scope, name: string): string {
  return join(scope === 'user' ? home : project, name);
}

function zedSettings(place: Place, scope: Scope): Setting[] {
  const own = scope === 'user' ? join(configFolder(place), 'zed') : join(place.project, '.zed');
  const entry = (launch: Launch) => ({ source: 'custom', ...plain(launch), env: {} });
  return [entryIn(join(own, 'settings.json'), 'context_servers', entry)];
}

export const CLIENTS: readonly Client[] = [
  {
    name: 'claude',
    title: 'Claude Code',
    scopes: BOTH,
    settings: claudeSettings,
    local: (place) => ({
      ...claudeEntry(claudeUserFile(place)),
      path: ['projects', place.project, 'mcpServers', NAME],
    }),
    traces: ({ home }) => [join(home, '.claude.json'), join(home, '.claude')],
    program: 'claude',
    asks: true,
    adds: (scope, { node, args }) => ['mcp', 'add', '--scope', scope, NAME, '--', node, ...args],
    removes: (scope) => (scope === 'user' ? ['mcp', 'remove', '--scope', scope, NAME] : undefined),
  },
  {
    name: 'codex',
    title: 'Codex',
    scopes: BOTH,
    settings: codexSettings,
    traces: (place) => [folder(place, 'CODEX_HOME', join(place.home, '.codex'))],
    program: 'codex',
    asks: true,
    adds: (scope, { node, args }) =>
      scope === 'user' ? ['mcp', 'add', NAME, '--', node, ...args] : undefined,
    addsLess: true,
  },
  {
    name: 'gemini',
    title: 'Gemini CLI',
    scopes: BOTH,
    settings: (place, scope) => [
      entryIn(join(ownFolder(place, scope, '.gemini'), 'settings.json'), 'mcpServers', (launch) => ({
        ...plain(launch),
        ...(place.trust && { trust: true }),
      })),
    ],
    traces: ({ home }) => [join(home, '.gemini')],
    program: 'gemini',
    asks: true,
    mute: true,
    adds: (scope, { node, args }, trust) => [
      ...['mcp', 'add', '--scope', scope],
      ...(trust ? ['--trust'] : []),
      ...[NAME, node, ...args],
    ],
  },
  {
    name: 'opencode',
    title: 'opencode',
    scopes: BOTH,
    settings: opencodeSettings,
    traces: (place) => [join(configFolder(place), 'opencode')],
    program: 'opencode',
    mute: true,
  },
  {
    name: 'cursor',
    title: 'Cursor',
    scopes: BOTH,
    settings: (place, scope) => [entryIn(join(ownFolder(place, scope, '.cursor'), 'mcp.json'), 'mcpServers')],
    traces: ({ home }) => [join(home, '.cursor')],
    program: 'cursor',
  },
  {
    name: 'vscode',
    title: 'VS Code',
    scopes: BOTH,
    settings: vscodeSettings,
    traces: (place) => [join(applicationFolder(place), 'Code')],
    program: 'code',
  },
  {
    name: 'zed',
    title: 'Zed',
    scopes: BOTH,
    settings: zedSettings,
    traces: (place) => [join(configFolder(place), 'zed')],
    program: 'zed',
  },
  {
    name: 'emacs',
    title: 'Emacs with mcp.el',
    scopes: [],
    settings: () => [],
    traces: (place) => [join(place.home, '.emacs.d'), join(configFolder(place), 'emacs')],
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
    settings: (place) => [
      entryIn(join(applicationFolder(place), 'Claude', 'claude_desktop_config.json'), 'mcpServers'),
    ],
    traces: (place) => [join(applicationFolder(place), 'Claude')],
  },
];
