// Runs the command that the command line of this process names.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assemble, type Timeouts } from './assembly.ts';
import { attachText } from './attach.ts';
import { answerWhy } from './cannot-serve.ts';
import { helpOn, helpText, searchText, toolList } from './cli.ts';
import { type Config, namedPaths, readConfig } from './config.ts';
import { dial } from './dial.ts';
import { messageOf, SetupError, UsageError } from './errors.ts';
import { beforeExit, checkAnswering } from './files/answering.ts';
import { type UsableFolders, withUsableFolders } from './folders.ts';
import { refusalOf } from './image/sandbox/sandbox.ts';
import type { InstallContext } from './install/clients.ts';
import { SCRIPT_NAME, trustedLaunch } from './install/entry.ts';
import type { ClientName } from './install/names.ts';
import type { Launch } from './install/settings.ts';
import { complain, print } from './output.ts';
import { homeFolder } from './paths.ts';
import { PACKAGE_FOLDER, sandboxOf, withSandboxAsync } from './sandboxing.ts';
import { serveImages } from './serve-images.ts';
import { assembleServed } from './several-images.ts';

interface Package {
  version: string;
  homepage?: string;
  bugs: { url: string };
}

function ownPackage(): Package {
  return JSON.parse(readFileSync(join(PACKAGE_FOLDER, 'package.json'), 'utf8')) as Package;
}

/** Options that the entry point or a test gives to the program. */
export interface ProgramOptions {
  /** Times that no flag sets. Tests use shorter ones. */
  timeouts?: Timeouts & { idleMs?: number; lastAnswersMs?: number; soonestDeclineMs?: number };
  /** Called when the program has executed the code that most sessions execute at their beginning, so that the code
   * cache can be stored. Can be called several times. */
  onWarm?: () => void;
}

async function run(config: Config, options: ProgramOptions): Promise<number> {
  checkImages(config);
  if (config.command === 'help') return print(helpFor(config));
  if (config.command === 'version') return print(ownPackage().version);
  if (config.command === 'tools') return print(toolList(assemble(config).registry));
  if (config.command === 'search') return print(searchText(config.operands, assemble(config).catalog));
  if (config.command === 'install' || config.command === 'uninstall') return setUp(config.command, config);
  if (config.command === 'forget') return forget(withUsableFolders(config).config);
  if (config.command === 'dial') return dial(config.serving, config.operands[0]);
  if (config.command === 'attach') return print(await attachText(config));
  if (config.command === 'image') {
    const { runTerminalImage } = await import('./terminal/terminal-image.ts');
    return runTerminalImage(config);
  }
  if (config.command === 'doctor' && config.client !== undefined) return reportClient(config.client, config);
  return runWithImage(withUsableFolders(config), options);
}

const TAKE_SEVERAL: readonly Config['command'][] = ['serve', 'session', 'help', 'version'];

/** Throws a UsageError when --image names several images, and the command of CONFIG works with only one. */
function checkImages({ command, images }: Config): void {
  // `images` is empty unless --image is given several times.
  if (images.length === 0 || TAKE_SEVERAL.includes(command)) return;
  throw new UsageError(
    `The command ${command} takes one image, and --image is given ${images.length} times; give it once.`,
  );
}

function helpFor(config: Config): string {
  const [word, ...more] = config.operands;
  if (word === undefined) return helpText();
  if (more.length > 0) throw new UsageError('The command help takes one word: live-lisp help WORD.');
  return helpOn(word, assemble(config).registry);
}

/** Performs install or uninstall. Without a client, install prints the list of clients. */
async function setUp(command: 'install' | 'uninstall', config: Config): Promise<number> {
  const { client, scope, dryRun } = config;
  const { clientList } = await import('./install/report.ts');
  const { install, uninstall } = await import('./install/install.ts');
  if (client === undefined) {
    if (command === 'install') return print(clientList(installContext(config)));
    throw new UsageError('The command uninstall needs the client: live-lisp uninstall --client NAME.');
  }
  const trust = command === 'install' && (config.trust ? checkedTrust(config) : await isTrusted(config));
  const context = installContext({ ...config, trust });
  const request = { client, scope, dryRun, context, launch: trust ? trustedLaunch(launch()) : launch() };
  await (command === 'install' ? install : uninstall)(request, print);
  return 0;
}

/** Prints the findings about CLIENT. Returns the exit code: 0 when all findings are ok, else 1. */
async function reportClient(client: ClientName, config: Config): Promise<number> {
  const { clientFindings, findingText } = await import('./install/report.ts');
  const findings = await clientFindings(client, installContext(config), launch());
  for (const finding of findings) print(findingText(finding));
  return findings.every(({ ok }) => ok) ? 0 : 1;
}

async function forget(config: Config): Promise<number> {
  const { forgetWorkspace } = await import('./records/expiry.ts');
  const removed = forgetWorkspace(config, config.root);
  const what = removed.length === 0 ? 'Nothing was kept' : `Removed ${removed.join(', ')}`;
  return print(`${what} of ${config.root}.`);
}

/** Returns the folders and the environment in which clients are found, and the tools that clients may run without
 * asking. */
function installContext(config: Config): InstallContext {
  const { env: environment, platform } = process;
  const { state, trust } = config;
  const tools = assemble(config).registry.tools();
  const safe = tools.filter(({ safetyLevel }) => safetyLevel === 'safe').map(({ name }) => name);
  return { home: homeFolder() ?? '/', project: process.cwd(), state, environment, platform, trust, safe };
}

/** Asks the user on the terminal whether the client of CONFIG may run code without asking. Returns true only if the
 * user answers yes. When nobody can answer, or no sandbox works, returns false and asks nothing. */
async function isTrusted(config: Config): Promise<boolean> {
  const { clientNamed } = await import('./install/clients.ts');
  const client = config.client && clientNamed(config.client);
  const canAsk = process.stdin.isTTY && process.stdout.isTTY && !config.dryRun;
  if (!canAsk || !client?.asks || sandboxOf(config).obstacle() !== undefined) return false;
  const { answerTo } = await import('./install/question.ts');
  const answer = await answerTo(`May ${client.title} run code in a sandbox without asking you? [y/N] `);
  return /^y(?:es)?$/i.test(answer?.trim() ?? '');
}

/** Checks that `install --trust` is allowed: returns true when a sandbox works on this machine, and otherwise throws a
 * SetupError. With --trust the client runs code without asking, so the sandbox must confine that code. */
function checkedTrust(config: Config): true {
  const obstacle = sandboxOf(config).obstacle();
  if (obstacle === undefined) return true;
  throw new SetupError(
    `--trust needs a sandbox, and none works here: ${obstacle.why}. ${obstacle.remedy} Or install without --trust: then the client asks before code runs.`,
  );
}

function launch(): Launch {
  return { node: process.execPath, args: [join(PACKAGE_FOLDER, 'dist', SCRIPT_NAME)] };
}

async function runWithImage(
  { config: usable, notices, remarks }: UsableFolders,
  options: ProgramOptions,
): Promise<number> {
  const trying = withSandboxAsync(usable);
  // While the sandbox is being tried, the modules of the server are loaded.
  if (usable.command !== 'doctor') await import('./server/stdio.ts');
  const config = await trying;
  const parts = assembleServed(config, { ...options.timeouts, notices: [...notices] });
  const { images } = parts;
  /** Waits until the start file (--init), if there is one, has registered its tools. If an image is lost, waits until
   * the start file has registered them in the next image. */
  const started = async () => {
    if (config.init !== undefined) for (const image of images) image.start();
    await Promise.all(images.map((image) => image.whenStarted()));
  };
  switch (config.command) {
    case 'doctor': {
      const { diagnose } = await import('./doctor/doctor.ts');
      const { version, bugs } = ownPackage();
      return diagnose(config, { version, issues: bugs.url, remarks }, print);
    }
    default: // serve or session
      for (const remark of remarks) complain(remark);
      // With `auto`, the sandbox was tried before.
      if (usable.sandbox !== 'auto') setTimeout(() => void complainOfSandbox(config).catch(complain), 0);
      return serveImages({
        config,
        parts,
        started,
        ...ownPackage(),
        onWarm: options.onWarm ?? (() => {}),
        idleMs: options.timeouts?.idleMs,
        lastAnswersMs: options.timeouts?.lastAnswersMs,
        soonestDeclineMs: options.timeouts?.soonestDeclineMs,
      });
  }
}

/** If CONFIG requires a sandbox and it does not work, reports this on standard error. */
async function complainOfSandbox(config: Config): Promise<void> {
  const obstacle = config.sandbox === 'off' ? undefined : await sandboxOf(config).obstacleAsync();
  if (obstacle !== undefined) complain(refusalOf(obstacle));
}

/** Reports errors of stdout on stderr, except EPIPE: then the reader of stdout, such as `head -1`, has ended. In a
 * server, the transport ends the process in this case. */
function watchOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    complain(
      `The output could not be written (${error.message}). Make room for it, or redirect it, and run the command again.`,
    );
    process.once('exit', () => {
      process.exitCode = 1;
    });
  });
  // If nobody reads stderr, nothing can be reported there.
  process.stderr.on('error', () => {});
}

/** Reports ERROR, the reason why the program cannot run, to the person or the client that started the program. */
async function cannotRun(error: unknown): Promise<void> {
  complain(error);
  process.exitCode = error instanceof UsageError ? 2 : 1;
  const unanswered = await beforeExit();
  // If answerWhy returns true, it ends the process itself after its answer to the client.
  if (!answerWhy(messageOf(error), process.argv.slice(2)) && unanswered) process.exit();
}

/** Runs the command that the command line of this process names, and sets the exit code. */
export async function runProgram(options: ProgramOptions = {}): Promise<void> {
  watchOutput();
  try {
    const words = process.argv.slice(2);
    await checkAnswering(namedPaths(words, process.env));
    process.exitCode = await run(readConfig(words, process.env), options);
    // If a file operation still waits for its file system, Node would not end by itself.
    if (await beforeExit()) process.exit();
  } catch (error) {
    await cannotRun(error);
  }
}
