// Runs the command that the command line of this process names.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Server } from '@modelcontextprotocol/server';
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
import type { Page, PageOptions } from './page/page.ts';
import { homeFolder } from './paths.ts';
import { PACKAGE_FOLDER, sandboxOf, withSandboxAsync } from './sandboxing.ts';
import { assembleServed, type Served } from './several-images.ts';
import { removeTemporaryFolders } from './temporary-folder.ts';

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
  timeouts?: Timeouts & { idleMs?: number };
  /** Called, perhaps several times, after the program has executed the code that most sessions execute at their
   * beginning. */
  onWarm?: () => void;
}

/** Milliseconds between the first answer and the call of `onWarm`. In this time most clients call a tool. After a
 * shorter session, the code cache lacks some functions. */
const WARM_MS = 2000;

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
    if (command === 'install') return print(clientList(place(config)));
    throw new UsageError('The command uninstall needs the client: live-lisp uninstall --client NAME.');
  }
  const trust = command === 'install' && (config.trust ? checkedTrust(config) : await isTrusted(config));
  const how = trust ? trustedLaunch(launch()) : launch();
  const request = { client, scope, dryRun, place: place({ ...config, trust }), launch: how };
  await (command === 'install' ? install : uninstall)(request, print);
  return 0;
}

/** Prints the findings about CLIENT. Returns the exit code: 0 when all findings are ok, else 1. */
async function reportClient(client: ClientName, config: Config): Promise<number> {
  const { clientFindings, findingText } = await import('./install/report.ts');
  const findings = await clientFindings(client, place(config), launch());
  for (const finding of findings) print(findingText(finding));
  return findings.every(({ ok }) => ok) ? 0 : 1;
}

async function forget(config: Config): Promise<number> {
  const { forgetWorkspace } = await import('./records/expiry.ts');
  const removed = forgetWorkspace(config, config.root);
  const what = removed.length === 0 ? 'Nothing was kept' : `Removed ${removed.join(', ')}`;
  return print(`${what} of ${config.root}.`);
}

async function tidy(config: Config): Promise<void> {
  const { expireRecords } = await import('./records/expiry.ts');
  expireRecords(config, config.keepDays);
  await removeTemporaryFolders();
}

/** Returns the folders and the environment in which clients are found, and the tools that clients may run without
 * asking. */
function place(config: Config): InstallContext {
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
  const answer = await answerTo(
    `Shall ${client.title} run code without asking you, in a sandbox only? [y/N] `,
  );
  return /^y(?:es)?$/i.test(answer?.trim() ?? '');
}

/** Returns true when a sandbox works on this machine. Otherwise throws a SetupError, because code would then run
 * without a sandbox or not at all. */
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
  /** Waits until the start file (--init), if there is one, has registered its tools. If an image is lost, waits for the
   * next one, which registers them again. */
  const withStartFile = async () => {
    if (config.init !== undefined) for (const image of images) image.start();
    await Promise.all(images.map((image) => image.whenStarted()));
  };
  if (config.command !== 'doctor') for (const remark of remarks) complain(remark);
  switch (config.command) {
    case 'doctor': {
      const { diagnose } = await import('./doctor/doctor.ts');
      const { version, bugs } = ownPackage();
      return diagnose(config, { version, issues: bugs.url, remarks }, print);
    }
    default:
      // With `auto`, the sandbox was tried before.
      if (usable.sandbox !== 'auto') setTimeout(() => void complainOfSandbox(config).catch(complain), 0);
      return serveImage(parts, config, withStartFile, options);
  }
}

/** If CONFIG requires a sandbox that does not work, reports this on standard error. */
async function complainOfSandbox(config: Config): Promise<void> {
  const obstacle = config.sandbox === 'off' ? undefined : await sandboxOf(config).obstacleAsync();
  if (obstacle !== undefined) complain(refusalOf(obstacle));
}

/** The message for a person who starts the server in a terminal by mistake. */
const BY_HAND =
  'This speaks MCP on stdin and stdout, so a client starts it: live-lisp install sets that up. Ctrl-C ends it.';

/** Serves MCP on stdin and stdout until stdin ends, and on the session's socket. With --http, serves HTTP in place of
 * stdin and stdout, until a signal comes. With the command `session`, serves only the socket, until nobody has used it
 * for some time. STARTED resolves when the start file (--init) has registered its tools. */
async function serveImage(
  { images, registry, catalog, executor, questions, editors, observations }: Served,
  config: Config,
  started: () => Promise<void>,
  { onWarm = () => {}, timeouts }: ProgramOptions,
): Promise<never> {
  const isAlone = config.command === 'session';
  if (process.stdin.isTTY && !isAlone && config.http === undefined) complain(BY_HAND);
  const token = config.http && (await httpToken(config));
  // The image starts while this process loads the modules of the server.
  for (const image of images) image.start();
  let markWarm = () => {};
  const { serve } = await import('./server/stdio.ts');
  const { Approvals, canAsk } = await import('./server/approvals.ts');
  const { PreviewFiles } = await import('./server/preview-files.ts');
  const files = new PreviewFiles(config.previews, config.answerSeconds);
  const { version, homepage } = ownPackage();
  const starting = () =>
    images.some(({ jobs }) => jobs.list().some(({ phase }) => phase.kind === 'starting'));
  const options = {
    registry,
    catalog,
    executor,
    approvals: new Approvals({ questions, files, editors, allowsSessionApproval: true }),
    editors,
    list: config.list,
    version,
    ...(homepage && { homepage }),
    started,
  };
  const onReady = () => {
    markWarm = onWarm;
    setTimeout(onWarm, WARM_MS).unref();
    setTimeout(() => void tidy(config), WARM_MS).unref();
  };
  let page: Promise<Page> | undefined;
  const makePage = (onLook: () => () => void) => {
    const open = async () => {
      page ??= loadPage({
        editors,
        executor,
        workspace: config.root,
        images: config.images.map(({ image }) => image),
        observations,
        onLook,
      });
      return page;
    };
    if (config.page)
      void open()
        .then((opened) => opened.start())
        .then((origin) => complain(pageText(origin)), complain);
    return { link: async () => (await open()).link() };
  };
  const onEnd = async () => {
    questions.endAll();
    await (await page)?.end();
    await Promise.all(images.map((image) => image.end())).finally(() => markWarm());
    await beforeExit();
  };
  const { serveSessionSocket } = await import('./server/door.ts');
  const facts = { folder: config.serving, workspace: config.root, page: makePage };
  if (isAlone) {
    const obstacle = await serveSessionSocket({
      ...options,
      ...facts,
      starting,
      onEnd,
      idleMs: timeouts?.idleMs,
    });
    if (obstacle !== undefined) {
      complain(`The session's socket cannot be opened: ${obstacle}`);
      await onEnd();
      process.exit(1); // Timers of the door keep the process alive.
    }
    onReady();
    return new Promise(() => {});
  }
  if (config.http !== undefined && token !== undefined) {
    const { serveHttp } = await import('./server/http.ts');
    // All clients share the session, so an approval for the session would cover calls of other clients.
    const approvals = new Approvals({ questions, files, editors, allowsSessionApproval: false });
    const life = { ...options, ...config.http, approvals, token: token.text, complain, onEnd };
    const url = await serveHttp(life).catch(async (error) => {
      complain(error);
      await onEnd();
      process.exit(1); // Images keep the process alive.
    });
    const stopRefusal = `it serves MCP clients over HTTP, and ends by a signal: kill ${process.pid}`;
    const obstacle = await serveSessionSocket({ ...options, ...facts, starting, stopRefusal });
    if (obstacle !== undefined) complain(`No editor and no command can connect: ${obstacle}`);
    print(`MCP over HTTP is at ${url}. ${token.where}`);
    onReady();
    return new Promise(() => {});
  }
  let client: Server | undefined;
  const sessionClient = () => (client && canAsk(client) ? client : undefined);
  const stopRefusal = 'it serves an MCP client, which ends it';
  const open = async () => {
    const obstacle = await serveSessionSocket({ ...options, ...facts, starting, sessionClient, stopRefusal });
    if (obstacle !== undefined) complain(`No editor and no command can connect: ${obstacle}`);
  };
  serve({
    ...options,
    onReady: () => {
      void open();
      onReady();
    },
    onConnected: (server) => {
      client = server;
    },
    starting,
    onEnd,
  });
  return new Promise(() => {});
}

/** Returns the token of CONFIG's HTTP server, and a sentence that tells people where the token is. */
async function httpToken({
  httpToken: { file, text },
  tokens,
}: Config): Promise<{ text: string; where: string }> {
  const { readOrMakeToken, readToken, checkToken } = await import('./http/token.ts');
  // Images would inherit this variable.
  delete process.env['LIVE_LISP_HTTP_TOKEN'];
  if (text !== undefined && file === undefined) {
    return { text: checkToken(text), where: 'Its token is that of LIVE_LISP_HTTP_TOKEN.' };
  }
  const made = join(tokens, 'http');
  const where = `Its token is in ${file ?? made}.`;
  return { text: file === undefined ? readOrMakeToken(made) : readToken(file), where };
}

/** Returns the page of a session. Its modules are loaded only now, because most sessions never show a page. */
async function loadPage(options: Omit<PageOptions, 'files' | 'complain'>): Promise<Page> {
  const { Page } = await import('./page/page.ts');
  return new Page({ ...options, files: join(PACKAGE_FOLDER, 'dist', 'page'), complain });
}

/** Returns a line about the page at ORIGIN. It contains no link that admits a browser, because other programs can read
 * what a server writes to standard error. */
function pageText(origin: string): string {
  return `The page of this session is at ${origin}; live-lisp page prints a link that lets you in.`;
}

/** Ignores the error of stdout that means that its reader, such as `head -1`, has ended. In a server, the transport
 * then ends the process. */
function watchOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    complain(
      `The output could not be written (${error.message}). Make room where it goes, or send it elsewhere, and run this again.`,
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
  if (!answerWhy(messageOf(error), process.argv.slice(2)) && unanswered) process.exit();
}

/** Runs the command that the command line of this process names, and sets the exit code. */
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
