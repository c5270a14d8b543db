// Decides which clients can be set up, by the names that --client takes.

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

/** Whom a configuration is for: the user in every project, or everybody in this one. */
export const SCOPES = ['user', 'project'] as const;
export type Scope = (typeof SCOPES)[number];
