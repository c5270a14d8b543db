// Serves images to MCP clients, commands and editors, until the server ends.

import { join } from 'node:path';
import type { Server } from '@modelcontextprotocol/server';
import type { Config } from './config.ts';
import { beforeExit } from './files/answering.ts';
import { complain, print } from './output.ts';
import type { Page } from './page/page.ts';
import { realPath, sessionsFolder } from './paths.ts';
import { PACKAGE_FOLDER } from './sandboxing.ts';
import type { Approvals } from './server/approvals.ts';
import type { DoorOptions } from './server/door.ts';
import type { ServerOptions } from './server/server.ts';
import type { Served } from './several-images.ts';
import { removeTemporaryFolders } from './temporary-folder.ts';

interface ServeOptions {
  config: Config;
  parts: Served;
  /** Resolves when the start file (--init) has registered its tools. */
  started: () => Promise<void>;
  version: string;
  homepage?: string | undefined;
  /** Stores the code cache: the compiled form of the functions that have run. Called when this process has done what
   * most sessions do at their beginning, and again at its end. */
  onWarm: () => void;
  /** Number of milliseconds after which a session exits once its last connection has ended. Replaces the default. */
  idleMs?: number | undefined;
  /** Number of milliseconds for the running calls to answer after the end of stdin, instead of the default. */
  lastAnswersMs?: number | undefined;
  /** A client that declines a question after fewer milliseconds has asked no person. */
  soonestDeclineMs?: number | undefined;
}

/** The message for a person who starts the server in a terminal by mistake. */
const BY_HAND =
  'This MCP server uses stdin and stdout, so a client must start it: live-lisp install sets that up. Ctrl-C ends the server.';

/** Milliseconds between the first answer and the call of `onWarm`, which stores the code cache. Most clients have
 * called a tool by then, so the cache contains the functions for this. If a session ends earlier, the cache lacks
 * some. */
const WARM_MS = 2000;

/** Speaks MCP on stdin and stdout until stdin ends, and also on the session's socket. With --http, uses HTTP in place
 * of stdin and stdout, until a signal. With the command `session`, uses only the socket, until nobody has used it for
 * some time. */
export async function serveImages(options: ServeOptions): Promise<never> {
  const { config, parts } = options;
  const isAlone = config.command === 'session';
  const noteOpen = isAlone ? await begunSession(config) : undefined;
  if (process.stdin.isTTY && !isAlone && config.http === undefined) complain(BY_HAND);
  const token = config.http && (await httpToken(config));
  // The image starts while this process loads the modules of the server. It must not start before httpToken has
  // removed the token from the environment.
  for (const image of parts.images) image.start();
  const serving = new Serving(options, await approvalsFor(options));
  if (noteOpen) await serving.onSocketAlone(noteOpen);
  else if (config.http !== undefined && token !== undefined) await serving.overHttp(config.http, token);
  else await serving.onStdio();
  // After #end, stdio.ts, http.ts or door.ts exits the process.
  return new Promise(() => {});
}

/** Waits until no other process starts a session for the workspace of CONFIG. Resolves with a function that lets others
 * start one again. The caller must call it when the socket of this session is open. Throws a SetupError when another
 * process has started a session meanwhile. */
async function begunSession({ serving, root }: Config): Promise<() => void> {
  if (serving === undefined) return () => {};
  const { beginSession } = await import('./command/sessions.ts');
  return beginSession(sessionsFolder(serving), realPath(root));
}

/** Returns a function that creates an Approvals object. The argument of that function is true when an approval can also
 * cover later calls of the session. */
async function approvalsFor({
  config,
  parts: { questions, editors },
  soonestDeclineMs,
}: ServeOptions): Promise<(allowsSessionApproval: boolean) => Approvals> {
  const { Approvals } = await import('./server/approvals.ts');
  const { PreviewFiles } = await import('./server/preview-files.ts');
  const files = new PreviewFiles(config.previews, config.answerSeconds);
  return (allowsSessionApproval) =>
    new Approvals({ questions, files, editors, allowsSessionApproval, soonestDeclineMs });
}

/** The process that serves the images: on stdio, over HTTP or on a socket. */
class Serving {
  readonly #options: ServeOptions;
  readonly #approvals: (allowsSessionApproval: boolean) => Approvals;
  readonly #server: ServerOptions;
  #page: Promise<Page> | undefined;
  /** True once clients are served. A code cache that is stored before would lack the functions for this. */
  #isReady = false;

  constructor(options: ServeOptions, approvals: (allowsSessionApproval: boolean) => Approvals) {
    const { config, parts, started, version, homepage } = options;
    const { registry, catalog, executor, editors } = parts;
    this.#options = options;
    this.#approvals = approvals;
    this.#server = {
      registry,
      catalog,
      executor,
      approvals: approvals(true),
      editors,
      list: config.list,
      version,
      ...(homepage && { homepage }),
      started,
    };
  }

  /** Serves only on the session's socket. NOTE_OPEN is called when other programs can connect to the socket. */
  async onSocketAlone(noteOpen: () => void): Promise<void> {
    const { idleMs } = this.#options;
    const obstacle = await this.#openSocket({ onEnd: () => this.#end(), idleMs });
    if (obstacle !== undefined) {
      complain(`The session's socket cannot be opened: ${obstacle}`);
      await this.#exit();
    }
    noteOpen();
    this.#noteReady();
  }

  async overHttp(http: NonNullable<Config['http']>, token: HttpToken): Promise<void> {
    const { serveHttp } = await import('./server/http.ts');
    const url = await serveHttp({
      ...this.#server,
      ...http,
      // All clients share the session, so an approval for the session would cover calls of other clients.
      approvals: this.#approvals(false),
      token: token.text,
      complain,
      onEnd: () => this.#end(),
    }).catch((error: unknown) => {
      complain(error);
      return this.#exit();
    });
    await this.#openSocketBeside({
      stopRefusal: `it serves MCP clients over HTTP. To end it: kill ${process.pid}`,
    });
    print(`MCP over HTTP is at ${url}. ${token.where}`);
    this.#noteReady();
  }

  async onStdio(): Promise<void> {
    const { serve } = await import('./server/stdio.ts');
    const { canAsk } = await import('./server/approvals.ts');
    let client: Server | undefined;
    // This client's human also approves calls from the socket, if nobody else can.
    const sessionClient = () => (client && canAsk(client) ? client : undefined);
    serve({
      ...this.#server,
      onReady: () => {
        const stopRefusal = 'it serves an MCP client, and ends with that client';
        void this.#openSocketBeside({ sessionClient, stopRefusal });
        this.#noteReady();
      },
      onConnected: (server) => {
        client = server;
      },
      starting: () => this.#isStarting(),
      lastAnswersMs: this.#options.lastAnswersMs,
      onEnd: () => this.#end(),
    });
  }

  /** Opens the session's socket for commands and editors. If this fails, only reports it, because clients are served in
   * another way. */
  async #openSocketBeside(more: SocketOptions): Promise<void> {
    const obstacle = await this.#openSocket(more);
    if (obstacle !== undefined) complain(`No editor and no command can connect: ${obstacle}`);
  }

  /** Opens the session's socket. Resolves with the reason when this fails, else with undefined. */
  async #openSocket(more: SocketOptions): Promise<string | undefined> {
    const { serveSessionSocket } = await import('./server/door.ts');
    const { config, parts } = this.#options;
    return serveSessionSocket({
      ...this.#server,
      editors: parts.editors,
      folder: config.serving,
      workspace: config.root,
      page: (onLook) => this.#pageLink(onLook),
      starting: () => this.#isStarting(),
      ...more,
    });
  }

  /** Returns a function that makes links to the page. With --page, also serves the page now. Each time a browser begins
   * to show the page, ON_LOOK is called. ON_LOOK returns a function, which is called when the browser no longer shows
   * the page. */
  #pageLink(onLook: () => () => void): { link: () => Promise<string> } {
    const open = () => {
      this.#page ??= this.#loadPage(onLook);
      return this.#page;
    };
    if (this.#options.config.page)
      void open()
        .then((page) => page.start())
        .then((origin) => complain(pageText(origin)), complain);
    return { link: async () => (await open()).link() };
  }

  /** Returns the page of the session. Its modules are loaded only now, because most sessions do not show it. */
  async #loadPage(onLook: () => () => void): Promise<Page> {
    const { config, parts } = this.#options;
    const { Page } = await import('./page/page.ts');
    return new Page({
      editors: parts.editors,
      executor: parts.executor,
      workspace: config.root,
      images: config.images.map(({ image }) => image),
      observations: parts.observations,
      files: join(PACKAGE_FOLDER, 'dist', 'page'),
      complain,
      onLook,
    });
  }

  /** Returns true while calls wait for an image to start. */
  #isStarting(): boolean {
    return this.#options.parts.images.some(({ jobs }) =>
      jobs.list().some(({ phase }) => phase.kind === 'starting'),
    );
  }

  /** Schedules the work that must not delay a start. Called when clients can connect or, on stdio, after the first
   * answer. */
  #noteReady(): void {
    const { config, onWarm } = this.#options;
    this.#isReady = true;
    setTimeout(onWarm, WARM_MS).unref();
    setTimeout(() => void tidy(config), WARM_MS).unref();
  }

  /** Ends the page, then the images. The caller then exits the process. */
  async #end(): Promise<void> {
    const { parts, onWarm } = this.#options;
    parts.questions.endAll();
    await (await this.#page)?.end();
    await Promise.all(parts.images.map((image) => image.end())).finally(() => {
      if (this.#isReady) onWarm();
    });
    await beforeExit();
  }

  /** Ends the process after a failed start. Otherwise images and timers would keep it alive. */
  async #exit(): Promise<never> {
    await this.#end();
    process.exit(1);
  }
}

type SocketOptions = Pick<DoorOptions, 'onEnd' | 'idleMs' | 'stopRefusal' | 'sessionClient'>;

async function tidy(config: Config): Promise<void> {
  const { expireRecords } = await import('./records/expiry.ts');
  expireRecords(config, config.keepDays);
  await removeTemporaryFolders();
}

/** The token of the HTTP server. `where` is a sentence that tells the user where the token is stored. */
interface HttpToken {
  text: string;
  where: string;
}

async function httpToken({ httpToken: { file, text }, tokens }: Config): Promise<HttpToken> {
  const { readOrMakeToken, readToken, checkToken } = await import('./http/token.ts');
  // Otherwise images would inherit this variable.
  delete process.env['LIVE_LISP_HTTP_TOKEN'];
  if (text !== undefined && file === undefined) {
    return { text: checkToken(text), where: 'Its token is the value of LIVE_LISP_HTTP_TOKEN.' };
  }
  const made = join(tokens, 'http');
  const where = `Its token is in ${file ?? made}.`;
  return { text: file === undefined ? readOrMakeToken(made) : readToken(file), where };
}

/** Returns a line about the page at ORIGIN. It contains no link that admits a browser, because other programs can read
 * what a server writes to standard error. */
function pageText(origin: string): string {
  return `The page of this session is at ${origin}; live-lisp page prints a link that lets you in.`;
}
