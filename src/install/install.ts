// Adds live-lisp to the configuration of a client or removes it, and prints the changes.

import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SetupError, UsageError } from '../errors.ts';
import { diffHunks } from '../files/diff.ts';
import { grantOf } from './asking.ts';
import {
  type Client,
  clientNamed,
  ENTRY_NAME,
  type InstallContext,
  plainSettings,
  trustingSettings,
} from './clients.ts';
import { type Applied, apply, withdraw } from './edit.ts';
import { commandLine, insistsOnSandbox, sandboxFlags, trustedLaunch } from './entry.ts';
import {
  backupOf,
  type ConfigFileRules,
  checkLinks,
  keepBackup,
  readConfigFile,
  replaceText,
} from './file.ts';
import type { ClientName, Scope } from './names.ts';
import { pluginOf } from './plugins.ts';
import { findProgram, runClientProgram, shellLine } from './program.ts';
import type { Launch, Setting } from './settings.ts';

export interface Request {
  client: ClientName;
  scope: Scope;
  dryRun: boolean;
  context: InstallContext;
  /** The command for the entry. For an install with `context.trust`, it has the flag that requires a sandbox. */
  launch: Launch;
}

type Print = (text: string) => void;

/** A setting in the configuration of a client, with its current state. */
interface CurrentSetting {
  setting: Setting;
  /** The setting as install writes it with --trust (`trusted`), and without it (`plain`). */
  variants: { trusted: Setting; plain: Setting };
  /** The text of the file before any change; undefined when there was no file. */
  before: string | undefined;
  /** The result of comparing `before` with the setting. Its `standing` is 'absent' for a new entry, 'same' when there
   * is nothing to write, 'other copy' for an entry to replace, and 'foreign' for one that is left alone. */
  state: Applied;
}

/** Writes the settings of REQUEST to the configuration of the client, and prints the changes. Checks all files before
 * it changes the first. Throws a SetupError when a file cannot be read or written. */
export async function install(request: Request, print: Print): Promise<void> {
  const { context, launch, scope, dryRun } = request;
  if (request.client === 'emacs') return print(emacsText(launch));
  checkStays(launch);
  const client = clientFor(request.client, scope);
  for (const remark of remarksBefore(request)) print(remark);
  const { entry, settings } = await readSettings(request, client);
  checkTrust(entry, context);
  const isNew = entry.state.standing === 'absent';
  if (isNew) await checkPlugin(client, context);
  const kept = await keptPermission(client, entry, request);
  if (settings.every(({ state }) => state.standing === 'same')) {
    print(`${client.title} starts this live-lisp already (${entry.setting.file}); nothing was changed.`);
    if (kept !== undefined) print(kept);
    return;
  }
  const adding = isNew
    ? clientCommand(client, client.adds?.(scope, launch, context.trust), context)
    : undefined;
  if (adding !== undefined) {
    keepOriginal(entry, request);
    await runCommand(adding, request, print);
  }
  for (const each of settings) {
    // In a dry run, the client's program has not written the entry, so writeSetting would print it a second time.
    const isPrinted = dryRun && adding !== undefined && each === entry && client.addsLess !== true;
    if (!isPrinted) await writeSetting(each, request, print);
  }
  for (const remark of remarksAfter(client, context.trust, kept)) print(remark);
  if (!dryRun)
    print(`Restart ${client.title}. To check its set-up: live-lisp doctor --client ${client.name}`);
}

/** Removes the settings that install wrote from the configuration of REQUEST's client, and prints the changes. Throws a
 * SetupError when a file cannot be read or written. */
export async function uninstall(request: Request, print: Print): Promise<void> {
  const { context, scope, dryRun } = request;
  const client = clientFor(request.client, scope);
  const bounds = boundsOf(request);
  const { entry, settings } = await readSettings(request, client);
  // The settings of a client are in different files, so no text depends on the removal of another setting.
  const withouts = await Promise.all(
    settings.map(async (each) => ({ each, ...(await textWithout(each, request)) })),
  );
  // If the backup can be restored, do not run the client's program, which leaves empty tables in the file.
  const isRestored = withouts.some(({ each, exact }) => each === entry && exact);
  const removing =
    entry.state.standing === 'absent' || isRestored
      ? undefined
      : clientCommand(client, client.removes?.(scope), context);
  if (removing !== undefined) await runCommand(removing, request, print);
  const changes = withouts.filter(
    ({ each, text }) => text !== each.before && !(removing !== undefined && each === entry),
  );
  for (const { each, text } of changes) replaceFile(each.setting.file, each.before, text, request, print);
  if (!dryRun) for (const { setting } of settings) replaceText(backupOf(setting.file, bounds), undefined);
  if (changes.length === 0 && removing === undefined)
    print(`${client.title} has nothing of live-lisp (${entry.setting.file}); nothing was changed.`);
}

/** Returns the client NAMED. Throws a UsageError when the client has no configuration in SCOPE. */
function clientFor(named: ClientName, scope: Scope): Client {
  const client = clientNamed(named);
  if (client.scopes.includes(scope)) return client;
  throw new UsageError(
    named === 'emacs'
      ? 'Emacs is set up in its init file, which live-lisp does not edit: live-lisp install --client emacs prints what to put there.'
      : `${client.title} has no configuration for a project: use --scope user.`,
  );
}

/** Reads the current state of the settings of CLIENT. `entry` is the one of `settings` that starts the server. Throws a
 * SetupError when a file cannot be read or may not be changed, or when somebody else wrote the entry. */
async function readSettings(
  request: Request,
  client: Client,
): Promise<{ entry: CurrentSetting; settings: CurrentSetting[] }> {
  const { context, launch, scope } = request;
  const wanted = client.settings(context, scope);
  const plain = plainSettings(client, context, scope);
  const trusted = trustingSettings(client, context, scope);
  const bounds = boundsOf(request);
  for (const { file } of wanted) checkLinks(file, bounds);
  const texts = wanted.map(({ file }) => readConfigFile(file));
  const settings = await Promise.all(
    wanted.map(async (setting, index) => ({
      setting,
      variants: { trusted: trusted[index] ?? setting, plain: plain[index] ?? setting },
      before: texts[index],
      state: await apply(setting, texts[index], launch),
    })),
  );
  const entry = settings.find(({ setting }) => setting.kind === 'entry') as CurrentSetting; // Every client has an entry.
  checkOurs(entry);
  return { entry, settings };
}

function boundsOf({ scope, context }: Request): ConfigFileRules {
  return { state: context.state, ...(scope === 'project' && { project: context.project }) };
}

/** Throws a SetupError when the script of LAUNCH is in a cache that may be deleted at any time. */
function checkStays({ args: [script = ''] }: Launch): void {
  if (!script.includes('/_npx/')) return;
  throw new SetupError(
    'This copy of live-lisp is in the cache of npx, which npx can empty. Install the packed file (npm install --global FILE.tgz), then run live-lisp install.',
  );
}

function checkOurs({ setting, state }: CurrentSetting): void {
  if (state.standing !== 'foreign') return;
  const line = shellLine(commandLine(state.found)) || 'no command';
  throw new SetupError(
    `${setting.file} has an entry ${ENTRY_NAME} that live-lisp install did not write (${line}), and was not changed. Remove that entry by hand, and run this again.`,
  );
}

/** Throws a SetupError when --trust is given, but the existing entry has a flag that lets code run outside a
 * sandbox. */
function checkTrust({ setting, state }: CurrentSetting, { trust }: InstallContext): void {
  const line = commandLine(state.found);
  const flags = sandboxFlags(line);
  if (!trust || flags === '' || insistsOnSandbox(line)) return;
  throw new SetupError(
    `${setting.file} starts live-lisp with ${flags}, so code could run without a sandbox and without a question. Remove that flag from the file, or install without --trust.`,
  );
}

async function checkPlugin({ name, title }: Client, context: InstallContext): Promise<void> {
  const plugin = await pluginOf(name, context);
  if (plugin === undefined) return;
  throw new SetupError(
    `${title} has ${plugin}, which starts live-lisp already; an entry beside it would start a second server with another image. Nothing was changed. Remove ${plugin} in ${title} first, if you want the entry instead.`,
  );
}

/** Returns a note that CLIENT still runs all tools without asking, if an earlier install with --trust permitted this.
 * Install without --trust does not remove this permission. Returns undefined when there is no such permission. */
async function keptPermission(
  client: Client,
  { state }: CurrentSetting,
  { context, scope }: Request,
): Promise<string | undefined> {
  if (client.asks !== true || context.trust) return undefined;
  const grant = await grantOf(trustingSettings(client, context, scope));
  if (grant === undefined) return undefined;
  const isSandboxed = insistsOnSandbox(commandLine(state.found));
  const where = isSandboxed ? 'code runs in a sandbox only' : 'code can run without a sandbox';
  return `${client.title} still runs every tool of live-lisp without asking you; ${where}. To be asked before code runs, remove ${grant.what} from ${grant.file}.`;
}

/** Writes the setting to its file, unless the file has it already, and prints the change. */
async function writeSetting(current: CurrentSetting, request: Request, print: Print): Promise<void> {
  const { setting } = current;
  const text = readConfigFile(setting.file);
  const applied = await apply(setting, text, request.launch);
  if (applied.standing === 'same') return;
  keepOriginal(current, request);
  replaceFile(setting.file, text, applied.text, request, print);
}

/** Saves a backup of the setting's file, except in a dry run. If the file already contains a setting of live-lisp,
 * keeps the existing backup, which has the text from before that setting. */
function keepOriginal({ setting, variants, before, state }: CurrentSetting, request: Request): void {
  const hasOurs = hasPart(variants.plain, state.found) || hasPart(variants.trusted, state.found);
  if (!hasOurs && !request.dryRun) keepBackup(setting.file, before, boundsOf(request));
}

/** Returns true when FOUND, the current value of SETTING, is an entry of any kind, or a list that contains at least one
 * of SETTING's words. */
function hasPart(setting: Setting, found: unknown): boolean {
  if (setting.kind === 'entry') return found !== undefined;
  return Array.isArray(found) && setting.words.some((word) => found.includes(word));
}

/** Returns the text that a configuration file gets when uninstall removes the setting, which install wrote with or
 * without --trust. `exact` is true when this is the text from before install. REQUEST is the request for uninstall. */
async function textWithout(
  { setting, variants: { trusted } }: CurrentSetting,
  request: Request,
): Promise<{ text: string | undefined; exact: boolean }> {
  const { launch } = request;
  const text = readConfigFile(setting.file);
  if (text === undefined) return { text, exact: true };
  const backup = readConfigFile(backupOf(setting.file, boundsOf(request)));
  // If install makes the present text from the backup, nobody has changed the file since then.
  const installs = [
    await apply(setting, backup, launch),
    await apply(trusted, backup, trustedLaunch(launch)),
  ];
  const exact = installs.some((each) => each.standing === 'absent' && each.text === text);
  if (exact) return { text: backup, exact };
  const rest = await withdraw(setting, text, backup);
  return { text: rest === undefined ? rest : await withdraw(trusted, rest, backup), exact };
}

interface ClientCommand {
  program: string;
  args: readonly string[];
  /** The command as a user would type it in a shell. */
  line: string;
}

/** Returns the command that runs CLIENT's program with ARGS. Returns undefined when ARGS is undefined or the program is
 * not installed. */
function clientCommand(
  client: Client,
  args: readonly string[] | undefined,
  context: InstallContext,
): ClientCommand | undefined {
  const program = findProgram(client.program, context);
  if (args === undefined || program === undefined) return undefined;
  return { program, args, line: shellLine([client.program ?? '', ...args]) };
}

async function runCommand(
  { program, args, line }: ClientCommand,
  { context, dryRun }: Request,
  print: Print,
): Promise<void> {
  if (!dryRun) await runClientProgram(program, args, context);
  print(`${dryRun ? 'Would run' : 'Ran'}: ${line}`);
}

/** Replaces the text BEFORE of FILE by AFTER, or removes FILE when AFTER is undefined, and prints a line about this.
 * In a dry run, prints the diff and changes nothing. */
function replaceFile(
  file: string,
  before: string | undefined,
  after: string | undefined,
  { dryRun }: Request,
  print: Print,
): void {
  const [would, did] = after === undefined ? ['remove', 'Removed'] : ['write', 'Wrote'];
  if (dryRun) {
    print(`Would ${would} ${file}:\n${diffHunks(before ?? '', after ?? '').text}`);
    return;
  }
  replaceText(file, after);
  print(`${did} ${file}`);
}

/** Returns the notes that are printed before install. There is one when the project's folder is inside a larger
 * project. */
function remarksBefore({ scope, context }: Request): string[] {
  const root = scope === 'project' ? rootAbove(context) : undefined;
  if (root === undefined) return [];
  return [
    `Note: ${context.project} is a folder of the project ${root}. A client that starts in ${root} does not read this configuration. For that client, run install in ${root}.`,
  ];
}

/** Returns the folder of a larger project that contains the project's folder: the nearest one with a repository or, if
 * there is none, the nearest one with an .asd file. Returns undefined when there is no larger project. */
function rootAbove({ project, home }: InstallContext): string | undefined {
  const folders = [project, ...foldersAbove(project, home)];
  const root = folders.find(hasRepository) ?? folders.find(hasSystem);
  return root === project ? undefined : root;
}

/** Returns the folders that contain FOLDER, the nearest first, up to HOME or the root folder, which are left out. */
function foldersAbove(folder: string, home: string): string[] {
  const parent = dirname(folder);
  return parent === home || parent === dirname(parent) ? [] : [parent, ...foldersAbove(parent, home)];
}

function hasRepository(folder: string): boolean {
  return existsSync(join(folder, '.git'));
}

function hasSystem(folder: string): boolean {
  try {
    return readdirSync(folder).some((name) => name.endsWith('.asd'));
  } catch {
    return false; // The folder cannot be listed.
  }
}

/** Returns notes, shown after an install, about when CLIENT asks its user before it runs a tool. TRUST is true when the
 * install made CLIENT run all tools without asking. KEPT is a note about an earlier permission that is still in force,
 * or undefined. */
function remarksAfter({ title, asks, mute }: Client, trust: boolean, kept: string | undefined): string[] {
  const asking = trust
    ? `${title} runs every tool of live-lisp without asking you. Code runs in a sandbox or not at all (--sandbox on).`
    : (kept ??
      `${title} asks you before code runs, but not before tools that only read. With --trust it also runs code without asking you, but only in a sandbox.`);
  const refusing = `In ${title} the server cannot ask you, so it refuses dangerous calls. To allow a tool, add a flag such as --allow 'edit_definitions:src/**' to the command of the server.`;
  return [...(asks === true ? [asking] : []), ...(mute === true ? [refusing] : [])];
}

function emacsText({ node, args }: Launch): string {
  const words = args.map((arg) => JSON.stringify(arg)).join(' ');
  return `Add this to the init file of Emacs, which live-lisp does not edit; it is for mcp.el (https://github.com/lizqwerscott/mcp.el):

(with-eval-after-load 'mcp-hub
  (add-to-list 'mcp-hub-servers
               '("${ENTRY_NAME}" . (:command ${JSON.stringify(node)} :args (${words})))))`;
}
