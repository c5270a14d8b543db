// A real MCP client over the built server over a real SBCL, for every test that is not about a pure function.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Client, type ElicitRequestFormParams, type ElicitResult } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Timeouts } from '../src/assembly.ts';
import { compiledBackend, WITHOUT_EVERYTHING } from '../src/image/process/backend.ts';
import { coreFile } from '../src/image/process/kept-core.ts';
import { findSbcl } from '../src/image/process/sbcl.ts';
import type { Times } from '../src/image/wire/times.ts';
import { cacheFolder } from '../src/paths.ts';
import { until } from './server/processes.ts';

export const PROJECT = join(import.meta.dirname, '..');
export const SERVER = join(PROJECT, 'dist', 'live-lisp.js');
/** The same program, with times that a test gives. It is built for tests only. */
const TIMED_SERVER = join(PROJECT, 'dist-tests', 'live-lisp.js');
export const FIXTURES = join(PROJECT, 'fixtures');
/** The sources of the backend. */
export const LISP = join(PROJECT, 'lisp');

/** Returns the SBCL that the servers of the tests run: that of LIVE_LISP_SBCL, or else the first on PATH. */
export function testSbcl(): string {
  return findSbcl(process.env['LIVE_LISP_SBCL'] || undefined);
}

/** The 2025 handshake, and the stateless protocol of 2026-07-28. */
export const ERAS = ['legacy', 'modern'] as const;
export type Era = (typeof ERAS)[number];

/** Arguments for a server over a workspace without systems, unlike this project, where each look for something that is
 *  missing says that nothing is loaded yet. */
export const NO_SYSTEMS = ['--root', join(PROJECT, 'docs')];

/** Arguments for a server that loads libraries in a root of its own, in a test of something else than the sandbox: there
 *  they are compiled anew for each root, and without it once for all, by tests/build.ts. */
export const LIBRARIES_AS_COMPILED = ['--no-sandbox'] as const;

/** Times of the program that a test gives, where it would only wait: those that differ. */
export interface TestWaits extends Omit<Timeouts, 'image'> {
  image?: Partial<Times>;
  /** Milliseconds without a connection until a session of commands ends. */
  idleMs?: number;
  /** Milliseconds for the running calls to answer after the end of stdin. */
  lastAnswersMs?: number;
  /** Milliseconds in which a client that declines a question has asked no person. */
  soonestDeclineMs?: number;
}

/** Returns the file of the program, and what its environment must have for WAITS. */
export function programWith(waits: TestWaits | undefined): { file: string; env: Record<string, string> } {
  if (waits === undefined) return { file: SERVER, env: {} };
  return { file: TIMED_SERVER, env: { LIVE_LISP_TEST_WAITS: JSON.stringify(waits) } };
}

export interface StartOptions {
  era?: Era;
  /** What the client calls itself. */
  clientName?: string;
  args?: readonly string[];
  env?: Record<string, string>;
  cwd?: string;
  /** Shorter times than users have. */
  waits?: TestWaits;
  /** The node to run the server on. */
  node?: string;
  /** Answers the questions that the client is asked; without it the client cannot ask. */
  onQuestion?: (question: ElicitRequestFormParams) => ElicitResult | Promise<ElicitResult>;
}

export interface Answer {
  /** The tool's own text. */
  text: string;
  /** What the server had to tell besides. */
  notices: string[];
  isError: boolean;
}

/** Returns the answer that has TEXT, and nothing besides. */
export function good(text: string): Answer {
  return { text, notices: [], isError: false };
}

/** Returns the answer to a call that failed, with TEXT and nothing besides. */
export function bad(text: string): Answer {
  return { text, notices: [], isError: true };
}

/** What calls tools. */
export type Caller = Pick<Session, 'call' | 'text' | 'eval' | 'close'>;

/** A client of a server; it is of use once the server was started. */
export class Session {
  #connection: { client: Client; transport: StdioClientTransport } | undefined;
  #stderr = '';

  get client(): Client {
    return this.#connected.client;
  }

  get transport(): StdioClientTransport {
    return this.#connected.transport;
  }

  get #connected() {
    if (this.#connection === undefined) throw new Error('The server was not started yet.');
    return this.#connection;
  }

  /** What the server wrote to its standard error so far. */
  get stderr(): string {
    return this.#stderr;
  }

  get pid(): number {
    const { pid } = this.transport;
    // No number stands for "none": to process.kill, -1 is every process.
    if (pid === null) throw new Error('The server has ended.');
    return pid;
  }

  /** Calls the tool NAME and returns its answer. */
  async call(name: string, args: Record<string, unknown> = {}, options: object = {}): Promise<Answer> {
    const result = await this.client.callTool({ name, arguments: args }, { timeout: 600_000, ...options });
    const texts = (result.content as { type: string; text: string }[]).map(({ text }) => text);
    return { text: texts[0] ?? '', notices: texts.slice(1), isError: result.isError === true };
  }

  /** Calls the tool NAME and returns its own text only. */
  async text(name: string, args: Record<string, unknown> = {}): Promise<string> {
    return (await this.call(name, args)).text;
  }

  /** Evaluates FORM and returns the answer's text. */
  async eval(form: string, more: Record<string, unknown> = {}): Promise<string> {
    return this.text('eval_form', { form, ...more });
  }

  async close(): Promise<void> {
    await this.#connection?.client.close();
  }

  /** Starts the built server, connects a client to it, and resolves with this session. */
  async start(options: StartOptions): Promise<this> {
    const program = programWith(options.waits);
    const transport = new StdioClientTransport({
      command: options.node ?? process.execPath,
      args: [program.file, ...(options.args ?? [])],
      cwd: options.cwd ?? PROJECT,
      env: { ...stringEnvironment(), ...program.env, ...options.env },
      stderr: 'pipe',
    });
    const client = new Client(
      { name: options.clientName ?? 'live-lisp-test', version: '1.0.0' },
      {
        versionNegotiation: { mode: options.era === 'modern' ? { pin: '2026-07-28' } : 'legacy' },
        capabilities: options.onQuestion ? { elicitation: { form: {} } } : {},
      },
    );
    const { onQuestion } = options;
    if (onQuestion) {
      client.setRequestHandler('elicitation/create', async ({ params }) =>
        onQuestion(params as ElicitRequestFormParams),
      );
    }
    transport.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr += chunk.toString('utf8');
    });
    await client.connect(transport).catch((error: unknown) => {
      throw new Error(`The server did not start; it wrote: ${this.#stderr}`, { cause: error });
    });
    this.#connection = { client, transport };
    return this;
  }
}

/** Starts the built server and connects a client to it. */
export function startSession(options: StartOptions = {}): Promise<Session> {
  return new Session().start(options);
}

function stringEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

export interface TestFolder {
  path: string;
  /** Writes CONTENT as the file PATH below it, in folders that are made, and returns the whole path. */
  put: (path: string, content: string | Buffer) => string;
  remove: () => void;
}

/** Returns a new empty folder. */
export function temporaryFolder(): TestFolder {
  const path = mkdtempSync(join(tmpdir(), 'live-lisp-test-'));
  const put = (name: string, content: string | Buffer) => {
    const file = join(path, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  };
  return { path, put, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) };
}

/** Puts the compiled backend, the core and the code of the program into BASE, which XDG_CACHE_HOME names for servers.
 * So  those need not make them. What is tested with another cache for another reason costs no compilation then. Where
 *  there are none in the user's own cache, where tests/build.ts has them put, BASE stays as it is. With PLAIN it gets the
 *  backend of plain images too. */
export function warmCache(base: string, { plain = false } = {}): void {
  const own = cacheFolder();
  const options = { cacheFolder: own, lispFolder: LISP };
  const backends = [compiledBackend(options)];
  if (plain) backends.push(compiledBackend({ ...options, without: WITHOUT_EVERYTHING }));
  const there = existsSync(own) ? readdirSync(own) : [];
  // Another SBCL of this machine has one too.
  const version = execFileSync(testSbcl(), ['--version'], { encoding: 'utf8' }).trim();
  const fasls = backends.map((backend) => `${basename(backend)}-${version.replace(/^SBCL /, '')}.fasl`);
  const core = coreIn(own);
  const programs = [SERVER, TIMED_SERVER].map(codeIn);
  // What a server still writes has another ending, and another name when it is copied.
  const isCode = (name: string) =>
    name.endsWith('.v8') && programs.some((program) => name.startsWith(`program-${program}-`));
  const wanted = there.filter((name) => fasls.includes(name) || isCode(name) || join(own, name) === core);
  for (const name of wanted) cpSync(join(own, name), join(cacheFolder({ XDG_CACHE_HOME: base }), name));
}

/** Resolves with the file of the core in the cache of servers for which XDG_CACHE_HOME is BASE. A server makes it once an
 *  image has started without, so one must run until then. */
export function untilCoreKept(base?: string): Promise<string> {
  const file = coreIn(base === undefined ? cacheFolder() : cacheFolder({ XDG_CACHE_HOME: base }));
  return until('a core that is kept', 120_000, () => file !== undefined && existsSync(file) && file);
}

/** Returns what identifies the code of the program whose entry is FILE, as scripts/build.mjs has it. */
function codeIn(file: string): string {
  const program = readFileSync(join(dirname(file), 'program.cjs'));
  return createHash('sha256').update(program).digest('hex').slice(0, 16);
}

function coreIn(folder: string): string | undefined {
  return coreFile(testSbcl(), { cacheFolder: folder, lispFolder: LISP, heapMb: 4096 });
}
