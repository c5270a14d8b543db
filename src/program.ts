// Decides what the program does: the command that its arguments ask for.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Assembly, assemble, type Waits } from './assembly.ts';
import { answerWhy } from './cannot-serve.ts';
import { readCatalog } from './catalog/open-catalog.ts';
import type { Searchable } from './catalog/search.ts';
import { callTool, helpText, searchText, toolList } from './cli.ts';
import { type Config, namedPaths, readConfig } from './config.ts';
import { messageOf, SetupError, UsageError } from './errors.ts';
import { beforeExit, checkAnswering } from './files/answering.ts';
import { type UsableFolders, withUsableFolders } from './folders.ts';
import { refusalOf } from './image/sandbox/sandbox.ts';
import type { Place } from './install/clients.ts';
import { SCRIPT_NAME, trustedLaunch } from './install/entry.ts';
import type { ClientName } from './install/names.ts';
import type { Launch } from './install/settings.ts';
import { homeFolder } from './paths.ts';
import { HOME, sandboxOf, withSandboxAside } from './sandboxing.ts';
import { removeTemporaryFolders } from './temporary-folder.ts';
import { visible } from './visible.ts';

/** What package.json has of us. */
interface Package {
  version: string;
  homepage?: string;
  bugs: { url: string };
}

/** Returns what package.json says of us. */
function ownPackage(): Package {
  return JSON.parse(readFileSync(join(HOME, 'package.json'), 'utf8')) as Package;
}

/** What its surroundings say to the program. */
export interface ProgramOptions {
  /** How long things are waited for that the user has no say in; tests give shorter ones. */
  waits?: Waits;
  /** Called once the program has done what a session begins with; it may be called again. */
  onWarm?: () => void;
}

/** Milliseconds after the first answer when the program is taken to be warm: most clients have called a tool by then. A
 *  session that ends before is short of a few functions. */
const WARM_MS = 2000;

async function run(config: Config, options: ProgramOptions): Promise<number> {
  if (config.command === 'help') return print(helpText());
  if (config.command === 'version') return print(ownPackage().version);
  if (config.command === 'tools') return print(toolList(assemble(config).registry));
  if (config.command === 'search') return print(searchText(config.operands, searched(config)));
  if (config.command === 'install' || config.command === 'uninstall') return setUp(config.command, config);
  if (config.command === 'forget') return forget(withUsableFolders(config).config);
  if (config.command === 'doctor' && config.client !== undefined) return lookAt(config.client, config);
  return work(withUsableFolders(config), options);
}

/** Returns the tools that a search from the command line is over: those of a file, or our own. */
function searched(config: Config): Searchable {
  const { catalog: file } = config;
  if (file === undefined) return assemble(config).catalog;
  try {
    return readCatalog(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UsageError(`--catalog ${file} cannot be used: ${messageOf(error)}`);
  }
}

/** Sets a client up or takes that back, or lists the clients. */
async function setUp(command: 'install' | 'uninstall', config: Config): Promise<number> {
  const { client, scope, dryRun } = config;
  const { clientList } = await import('./install/report.ts');
  const { install, uninstall } = await import('./install/install.ts');
  if (client === undefined) {
    if (command === 'install') return print(clientList(place(config)));
    throw new UsageError('The command uninstall needs the client: live-lisp uninstall --client NAME.');
  }
  const trust = command === 'install' && (config.trust ? checkedTrust(config) : await isTrusted(config));
  const how = trust ? trustedLaunch(launch()) : launch();
  const request = { client, scope, dryRun, place: place({ ...config, trust }), launch: how };
  await (command === 'install' ? install : uninstall)(request, print);
  return 0;
}

/** Prints what CLIENT has of live-lisp, and returns whether that works. */
async function lookAt(client: ClientName, config: Config): Promise<number> {
  const { clientFindings } = await import('./install/report.ts');
  const findings = await clientFindings(client, place(config), launch());
  for (const { ok, text } of findings) print(`${ok ? 'ok  ' : 'FAIL'} ${text}`);
  return findings.every(({ ok }) => ok) ? 0 : 1;
}

/** Removes what is kept of the workspace of CONFIG. */
async function forget(config: Config): Promise<number> {
  const { forgetWorkspace } = await import('./records/expiry.ts');
  const removed = forgetWorkspace(config, config.root);
  const what = removed.length === 0 ? 'Nothing was kept' : `Removed ${removed.join(', ')}`;
  return print(`${what} of ${config.root}.`);
}

/** Removes what is older than it is kept, and what servers that were killed have left. */
async function tidy(config: Config): Promise<void> {
  const { expireRecords } = await import('./records/expiry.ts');
  expireRecords(config, config.keepDays);
  removeTemporaryFolders();
}

/** Returns where clients are looked for, and what CONFIG has them run without a question. */
function place(config: Config): Place {
  const { env: environment, platform } = process;
  const { state, trust } = config;
  const tools = assemble(config).registry.tools();
  const safe = tools.filter(({ safetyLevel }) => safetyLevel === 'safe').map(({ name }) => name);
  return { home: homeFolder() ?? '/', project: process.cwd(), state, environment, platform, trust, safe };
}

/** Returns whether a person at the terminal wants the client of CONFIG to run code without asking. They are asked only
 *  where a sandbox works. */
async function isTrusted(config: Config): Promise<boolean> {
  const { clientNamed } = await import('./install/clients.ts');
  const client = config.client && clientNamed(config.client);
  const canAsk = process.stdin.isTTY && process.stdout.isTTY && !config.dryRun;
  if (!canAsk || !client?.asks || sandboxOf(config).obstacle() !== undefined) return false;
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(
    `Shall ${client.title} run code without asking you, in a sandbox only? [y/N] `,
  );
  terminal.close();
  return /^y(?:es)?$/i.test(answer.trim());
}

/** Returns true. Throws a SetupError where code would run without a sandbox, or not at all. */
function checkedTrust(config: Config): true {
  const obstacle = sandboxOf(config).obstacle();
  if (obstacle === undefined) return true;
  throw new SetupError(
    `--trust needs a sandbox, and none works here: ${obstacle.why}. ${obstacle.remedy} Or install without --trust: then the client asks before code runs.`,
  );
}

/** Returns how a client starts this very program. */
function launch(): Launch {
  return { node: process.execPath, args: [join(HOME, 'dist', SCRIPT_NAME)] };
}

/** Runs a command that works with an image. */
async function work(
  { config: usable, notices, remarks }: UsableFolders,
  { waits, onWarm = () => {} }: ProgramOptions,
): Promise<number> {
  const trying = withSandboxAside(usable);
  // What it is served with is loaded meanwhile.
  if (usable.command === 'serve') await import('./server/stdio.ts');
  const config = await trying;
  const parts = assemble(config, { ...waits, notices: [...notices] });
  const { image, registry, executor } = parts;
  /** Resolves when the tools that the start file registers are there, also those that were lost with an image. */
  const withStartFile = () => {
    if (config.init !== undefined) image.start();
    return image.started();
  };
  if (config.command !== 'doctor') for (const remark of remarks) complain(remark);
  switch (config.command) {
    case 'call':
      await withStartFile();
      return callTool(executor, registry, config.operands, print).finally(() => image.close());
    case 'doctor': {
      const { diagnose } = await import('./doctor/doctor.ts');
      const { version, bugs } = ownPackage();
      return diagnose(config, { version, issues: bugs.url, remarks }, print);
    }
    default:
      // With auto it was tried already.
      if (usable.sandbox !== 'auto') setTimeout(() => void complainOfSandbox(config).catch(complain), 0);
      return serveImage(parts, config, withStartFile, onWarm);
  }
}

/** Says on standard error when no image can be locked in as CONFIG wants. */
async function complainOfSandbox(config: Config): Promise<void> {
  const obstacle = config.sandbox === 'off' ? undefined : await sandboxOf(config).obstacleAside();
  if (obstacle !== undefined) complain(refusalOf(obstacle));
}

/** What a person reads who starts the server in a terminal. */
const BY_HAND =
  'This speaks MCP on stdin and stdout, so a client starts it: live-lisp install sets that up. Ctrl-C ends it.';

/** Serves MCP on stdin and stdout until that ends. STARTED resolves when the tools of the start file are there. */
async function serveImage(
  { image, registry, catalog, executor, questions }: Assembly,
  config: Config,
  started: () => Promise<void>,
  onWarm: () => void,
): Promise<never> {
  if (process.stdin.isTTY) complain(BY_HAND);
  // Its process starts while this one loads what it serves with.
  image.start();
  let warmed = () => {};
  const { serve } = await import('./server/stdio.ts');
  const { Approvals } = await import('./server/approvals.ts');
  const { PreviewFiles } = await import('./server/preview-files.ts');
  const files = new PreviewFiles(config.previews, config.answerSeconds);
  const { version, homepage } = ownPackage();
  serve({
    registry,
    catalog,
    executor,
    approvals: new Approvals({ questions, files, session: true }),
    list: config.list,
    version,
    ...(homepage && { homepage }),
    started,
    onReady: () => {
      warmed = onWarm;
      setTimeout(onWarm, WARM_MS).unref();
      setTimeout(() => void tidy(config), WARM_MS).unref();
    },
    starting: () => image.jobs.list().some(({ phase }) => phase.kind === 'starting'),
    onEnd: async () => {
      questions.endAll();
      await image.end().finally(() => warmed());
      await beforeExit();
    },
  });
  return new Promise(() => {});
}

/** Prints TEXT. A terminal obeys what programs and files have in their texts, so it gets that as codes. */
function print(text: string): 0 {
  process.stdout.write(`${process.stdout.isTTY ? visible(text) : text}\n`);
  return 0;
}

/** Has what is printed for a reader that has gone, such as `head -1`, dropped. Serving, the transport ends then. */
function watchOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    complain(
      `The output could not be written (${error.message}). Free or change where it goes, and run this again.`,
    );
    process.once('exit', () => {
      process.exitCode = 1;
    });
  });
  // A reader that has gone learns nothing, and nothing else can.
  process.stderr.on('error', () => {});
}

function complain(error: unknown): void {
  const text = `live-lisp: ${messageOf(error)}\n`;
  process.stderr.write(process.stderr.isTTY ? visible(text) : text);
}

/** Says why the program does not do what it was started for, which ERROR tells, to whoever started it. */
async function cannotRun(error: unknown): Promise<void> {
  complain(error);
  process.exitCode = error instanceof UsageError ? 2 : 1;
  const unanswered = await beforeExit();
  if (!answerWhy(messageOf(error), process.argv.slice(2)) && unanswered) process.exit();
}

/** Runs the command that the arguments of this process ask for, and sets its exit code. */
export async function runProgram(options: ProgramOptions = {}): Promise<void> {
  watchOutput();
  try {
    const words = process.argv.slice(2);
    await checkAnswering(namedPaths(words, process.env));
    process.exitCode = await run(readConfig(words, process.env), options);
    if (await beforeExit()) process.exit();
  } catch (error) {
    await cannotRun(error);
  }
}
