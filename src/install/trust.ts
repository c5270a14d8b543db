// Determines whether a client starts a project's servers, which depends on the folders its user trusts.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isInside, realPath } from '../paths.ts';
import { claudeSettingsFiles, clientNamed, NAME, type Place } from './clients.ts';
import { dataOf } from './edit.ts';
import { readText } from './file.ts';
import type { ClientName, Scope } from './names.ts';
import { at, type Data } from './settings.ts';

/** Returns a sentence that says why a client does not start the entry of SCOPE in PLACE, and what its user
 *  must do; undefined when the client starts it. Throws a SetupError when a file cannot be read. */
type Trust = (place: Place, scope: Scope) => Promise<string | undefined>;

/** The clients that ask their user whether to trust a folder. */
export const TRUST: Partial<Record<ClientName, Trust>> = {
  claude: trustOfClaude,
  codex: trustOfCodex,
  gemini: trustOfGemini,
};

async function trustOfClaude(place: Place, scope: Scope): Promise<string | undefined> {
  if (scope === 'user') return undefined;
  const { project } = place;
  const projects = at(await dataIn(fileOf('claude', place)), ['projects']);
  const trusted = withFoldersAbove(project).some(
    (each) => at(projects, [each, 'hasTrustDialogAccepted']) === true,
  );
  if (!trusted)
    return `Claude Code does not trust ${project} yet, so it does not start this: start claude there, and say yes.`;
  const files = claudeSettingsFiles(place);
  const choices = [at(projects, [project]), ...(await Promise.all(files.map((file) => dataIn(file))))];
  const says = (key: string) => choices.some((each) => namesUs(at(each, [key])));
  if (says('disabledMcpjsonServers'))
    return `Claude Code was told not to start this: run claude mcp reset-project-choices in ${project}, then start claude there, and say yes.`;
  if (says('enabledMcpjsonServers') || says('enableAllProjectMcpServers')) return undefined;
  return `Claude Code has not been allowed to start this yet: start claude in ${project}, and say yes.`;
}

/** True when VALUE, the value of a setting of Claude Code, applies to all servers or names ours. */
function namesUs(value: unknown): boolean {
  return value === true || (Array.isArray(value) && value.includes(NAME));
}

async function trustOfCodex(place: Place, scope: Scope): Promise<string | undefined> {
  if (scope === 'user') return undefined;
  const { project } = place;
  const config = await dataIn(fileOf('codex', place), 'toml');
  const root = withFoldersAbove(project).find((each) => existsSync(join(each, '.git')));
  const trusted = [project, root ?? project].some(
    (each) => at(config, ['projects', each, 'trust_level']) === 'trusted',
  );
  if (trusted) return undefined;
  return `Codex does not trust ${project} yet, so it does not read this file: start codex there, and say yes.`;
}

async function trustOfGemini(place: Place): Promise<string | undefined> {
  const settings = await dataIn(fileOf('gemini', place));
  if (at(settings, ['security', 'folderTrust', 'enabled']) === false) return undefined;
  const named = place.environment['GEMINI_CLI_TRUSTED_FOLDERS_PATH'];
  const file = named ?? join(place.home, '.gemini', 'trustedFolders.json');
  const { project } = place;
  // The nearest folder decides.
  const [nearest] = Object.entries(await dataIn(file))
    .map(([path, level]) => ({ path: level === 'TRUST_PARENT' ? dirname(path) : path, level }))
    .filter(({ path }) => isInside(path, project) || isInside(realPath(path), realPath(project)))
    .sort((one, other) => other.path.length - one.path.length);
  if (nearest !== undefined && nearest.level !== 'DO_NOT_TRUST') return undefined;
  return `Gemini CLI does not trust ${project} yet, so it starts no server there: start gemini there, and say that you trust the folder.`;
}

function fileOf(named: ClientName, place: Place): string {
  return clientNamed(named)?.settings(place, 'user')[0]?.file ?? '';
}

function dataIn(file: string, format: 'jsonc' | 'toml' = 'jsonc'): Promise<Data> {
  return dataOf({ file, format }, readText(file));
}

function withFoldersAbove(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [path, ...withFoldersAbove(parent)];
}
