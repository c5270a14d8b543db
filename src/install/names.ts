// Lists the names that the option --client accepts.

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

/** The scopes of a configuration: `user` is for this user in all projects, `project` for all users in this project. */
export const SCOPES = ['user', 'project'] as const;
export type Scope = (typeof SCOPES)[number];
