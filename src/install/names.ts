// Lists the names of clients for --client.

export const CLIENT_NAMES = [
  'claude',
  'codex',
  'gemini',
  'opencode',
  'cursor',
  'vscode',
  'zed',
  'emacs',
  'windsurf',
  'claude-desktop',
] as const;
export type ClientName = (typeof CLIENT_NAMES)[number];

/** Scopes of a configuration: this user in all projects, or all users in this project. */
export const SCOPES = ['user', 'project'] as const;
export type Scope = (typeof SCOPES)[number];
