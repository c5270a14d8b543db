// Determines whether a client starts live-lisp by a plugin or an extension. The entry for live-lisp in the client's
// configuration does not count here.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../json.ts';
import { claudeSettingsFiles, clientNamed, ENTRY_NAME, type InstallContext } from './clients.ts';
import { dataOf } from './edit.ts';
import { readConfigFile } from './file.ts';
import type { ClientName } from './names.ts';
import { valueAtPath } from './settings.ts';

/** The command by which the plugins and the extension of live-lisp start it. */
export const PLUGIN_COMMAND = 'live-lisp';

/** Looks in the client NAMED for a plugin or extension that starts live-lisp. Returns a phrase for it, such as "the
 * plugin NAME"; undefined when there is none. CONTEXT has the client's folders. Throws a SetupError when a file of the
 * client cannot be read. */
export async function pluginOf(named: ClientName, context: InstallContext): Promise<string | undefined> {
  switch (named) {
    case 'claude':
      return enabledIn(claudeSettingsFiles(context), 'jsonc', 'enabledPlugins', (on) => on === true);
    case 'codex': {
      const file = clientNamed('codex').settings(context, 'user')[0]?.file ?? '';
      return enabledIn(
        [file],
        'toml',
        'plugins',
        (plugin) => isObject(plugin) && plugin['enabled'] !== false,
      );
    }
    case 'gemini':
      return existsSync(join(context.home, '.gemini', 'extensions', ENTRY_NAME))
        ? `the extension ${ENTRY_NAME}`
        : undefined;
    default:
      return undefined;
  }
}

/** Returns a phrase for the plugin of live-lisp that is enabled in FILES; undefined when none is. FILES are in FORMAT
 * and have a table of plugins at KEY. ON returns true for the value of an enabled plugin. If several files contain the
 * plugin, the last one decides. */
async function enabledIn(
  files: readonly string[],
  format: 'jsonc' | 'toml',
  key: string,
  on: (value: unknown) => boolean,
): Promise<string | undefined> {
  const plugins: { [name: string]: unknown } = {};
  for (const file of files) {
    const found = valueAtPath(await dataOf({ file, format }, readConfigFile(file)), [key]);
    if (isObject(found)) Object.assign(plugins, found);
  }
  const ours = Object.entries(plugins).find(
    ([name, value]) => name.startsWith(`${ENTRY_NAME}@`) && on(value),
  );
  return ours && `the plugin ${ours[0]}`;
}
