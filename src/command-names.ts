// Lists the commands of the program. An old version of Node must be able to read this file, so it imports nothing.

export const COMMANDS = [
  'serve',
  'session',
  'help',
  'tools',
  'search',
  'doctor',
  'attach',
  'image',
  'dial',
  'install',
  'uninstall',
  'forget',
] as const;
export type CommandName = (typeof COMMANDS)[number] | 'version';
