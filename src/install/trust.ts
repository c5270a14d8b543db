// Determines whether a client starts the servers of a project. This depends on which folders the user trusts.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isInside, realPath, withFoldersAbove } from '../paths.ts';
import { claudeSettingsFiles, clientNamed, ENTRY_NAME, type InstallContext } from './clients.ts';
import { dataOf } from './edit.ts';
import { readConfigFile } from './file.ts';
import type { ClientName, Scope } from './names.ts';
import { type Data, valueAtPath } from './settings.ts';

/** Returns the reason why a client does not start the entry of `scope`, as a sentence with advice for its user. Returns
 * undefined when the client starts the entry. Throws a SetupError when a file cannot be read. */
type Trust = (context: InstallContext, scope: Scope) => Promise<string | undefined>;

/** The clients that ask their users whether they trust a folder. */
export const TRUST: Partial<Record<ClientName, Trust>> = {
  claude: trustOfClaude,
  codex: trustOfCodex,
  gemini: trustOfGemini,
};

async function trustOfClaude(context: InstallContext, scope: Scope): Promise<string | undefined> {
  if (scope === 'user') return undefined;
  const { project } = context;
  const projects = valueAtPath(await dataIn(fileOf('claude', context)), ['projects']);
  const trusted = withFoldersAbove(project).some(
    (each) => valueAtPath(projects, [each, 'hasTrustDialogAccepted']) === true,
  );
  if (!trusted)
    return `Claude Code does not trust ${project} yet, so it does not start this server: start claude there, and say yes.`;
  const files = claudeSettingsFiles(context);
  const choices = [
    valueAtPath(projects, [project]),
    ...(await Promise.all(files.map((file) => dataIn(file)))),
  ];
  const says = (key: string) => choices.some((each) => namesUs(valueAtPath(each, [key])));
  if (says('disabledMcpjsonServers'))
    return `Claude Code was told not to start this server: run claude mcp reset-project-choices in ${project}, then start claude there, and say yes.`;
  if (says('enabledMcpjsonServers') || says('enableAllProjectMcpServers')) return undefined;
  return `Claude Code has not been allowed to start this server yet: start claude in ${project}, and say yes.`;
}

/** Returns true when VALUE, the value of a setting of Claude Code, covers all servers or names live-lisp. */
function namesUs(value: unknown): boolean {
  return value === true || (Array.isArray(value) && value.includes(ENTRY_NAME));
}

async function trustOfCodex(context: InstallContext, scope: Scope): Promise<string | undefined> {
  if (scope === 'user') return undefined;
  const { project } = context;
  const config = await dataIn(fileOf('codex', context), 'toml');
  const root = withFoldersAbove(project).find((each) => existsSync(join(each, '.git')));
  const trusted = [project, root ?? project].some(
    (each) => valueAtPath(config, ['projects', each, 'trust_level']) === 'trusted',
  );
  if (trusted) return undefined;
  return `Codex does not trust ${project} yet, so it does not read this file: start codex there, and say yes.`;
}

async function trustOfGemini(context: InstallContext): Promise<string | undefined> {
  const settings = await dataIn(fileOf('gemini', context));
  if (valueAtPath(settings, ['security', 'folderTrust', 'enabled']) === false) return undefined;
  const named = context.environment['GEMINI_CLI_TRUSTED_FOLDERS_PATH'];
  const file = named ?? join(context.home, '.gemini', 'trustedFolders.json');
  const { project } = context;
  // If several folders match, the nearest one decides.
  const [nearest] = Object.entries(await dataIn(file))
    .map(([path, level]) => ({ path: level === 'TRUST_PARENT' ? dirname(path) : path, level }))
    .filter(({ path }) => isInside(path, project) || isInside(realPath(path), realPath(project)))
    .sort((one, other) => other.path.length - one.path.length);
  if (nearest !== undefined && nearest.level !== 'DO_NOT_TRUST') return undefined;
  return `Gemini CLI does not trust ${project} yet, so it starts no server there: start gemini there, and say that you trust the folder.`;
}

function fileOf(named: ClientName, context: InstallContext): string {
  return clientNamed(named).settings(context, 'user')[0]?.file ?? '';
}

function dataIn(file: string, format: 'jsonc' | 'toml' = 'jsonc'): Promise<Data> {
  return dataOf({ file, format }, readConfigFile(file));
}
