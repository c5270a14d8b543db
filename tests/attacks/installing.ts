// What a hostile project has lying about when install and uninstall run in it.

import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ClientName } from '../../src/install/names.ts';
import { Machine } from '../install/machine.ts';
import type { Attack } from './attack.ts';

const FILES: [ClientName, string][] = [
  ['claude', '.mcp.json'],
  ['claude', '.claude/settings.json'],
  ['codex', '.codex/config.toml'],
  ['gemini', '.gemini/settings.json'],
  ['cursor', '.cursor/mcp.json'],
  ['opencode', 'opencode.json'],
  ['vscode', '.vscode/mcp.json'],
  ['zed', '.zed/settings.json'],
];

const PLANTS: { readonly [name: string]: (file: string, target: string) => void } = {
  'a link to a file of the user': (file, target) => symlinkSync(target, file),
  'a link to a file that is not there': (file, target) => symlinkSync(`${target}.none`, file),
  'a link in the place of its backup': (file, target) => {
    writeFileSync(file, '');
    symlinkSync(target, `${file}.before-live-lisp`);
  },
  'a link to a device': (file) => symlinkSync('/dev/zero', file),
  'a FIFO': (file) => execFileSync('mkfifo', [file]),
  'text in Latin-1': (file) => writeFileSync(file, Buffer.from('{"a": "\xfc"}', 'latin1')),
  'a hard link to a file of the user': (file, target) => linkSync(target, file),
  'a link to a folder': (file, target) => symlinkSync(dirname(target), file),
  'text in UTF-16': (file) => writeFileSync(file, Buffer.from('\ufeff{"a": 1}', 'utf16le')),
  'names that every object has': (file) =>
    writeFileSync(file, '{"__proto__": {"mcpServers": 1}, "constructor": {}}'),
  'deep nesting': (file) => writeFileSync(file, '{"a":'.repeat(100_000)),
};

const SHELL = 'alias ls=ls\n';

/** Returns the attacks, each on a machine of its own. */
export function installingAttacks(): Attack[] {
  return FILES.flatMap(([client, name]) =>
    Object.entries(PLANTS).map(([plant, make]) => ({
      name: `${client}, ${name}: ${plant}`,
      try: async () => {
        const machine = new Machine();
        try {
          const target = machine.write('.bashrc', SHELL);
          const file = join(machine.project, name);
          mkdirSync(dirname(file), { recursive: true });
          make(file, target);
          await machine.install(client, { scope: 'project' });
          await machine.uninstall(client, { scope: 'project' });
          const others = machine
            .files()
            .filter((each) => each.startsWith('HOME/') && each !== 'HOME/.bashrc');
          if (machine.read(target) !== SHELL) return 'a file of the user was changed';
          return others.length > 0 ? `it made ${others.join(', ')}` : undefined;
        } finally {
          machine.remove();
        }
      },
    })),
  );
}
