// Serves the page of a session to browsers on this machine. The page shows questions to answer, running calls, and
// earlier ones.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { AskedQuestion, Decision, Editors } from '../door/editors.ts';
import { type HttpListener, listen, readBody, refuse } from '../http/listen.ts';
import { type Members, membersOf } from '../json.ts';
import type { Executor } from '../kernel/executor.ts';
import { BROWSER } from '../kernel/human-editor.ts';
import { Admission, type Shown } from './admission.ts';
import { look } from './looks.ts';
import { Watchers } from './watchers.ts';

export interface PageOptions {
  editors: Editors;
  executor: Pick<Executor, 'execute'>;
  workspace: string;
  /** The names of the images if the session has several, else an empty array. */
  images: readonly string[];
  /** What the session observed last: a profile, calls, and runs of tests. A profile or calls are undefined when there
   * were none. */
  observations: {
    readonly profile: object | undefined;
    readonly calls: object | undefined;
    readonly tests: object;
  };
  /** The folder that contains the files of the page. */
  files: string;
  complain: (line: string) => void;
  /** Called when a browser begins to show the page. Returns a function that is called when the browser stops showing
   * it. */
  onLook: () => () => void;
}

/** Maximum number of octets of a request. It can contain changed arguments, with the text of a whole file. */
const BODY_LIMIT = 4 * 1024 * 1024;
/** Milliseconds to wait for the answers to browsers when the session ends. */
const END_MS = 200;

const FILES: { readonly [path: string]: { name: string; type: string } } = {
  '/': { name: 'index.html', type: 'text/html' },
  '/page.css': { name: 'page.css', type: 'text/css' },
  '/page.js': { name: 'page.js', type: 'text/javascript' },
};

/** With these headers, the page loads nothing from other sites, runs only its own script, and cannot be embedded in
 * another page. */
const SAFE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

const NOTHING = 'There is nothing at this address.';
const NO_PASS =
  'This browser has no access to the page. Run live-lisp page, and open the link that it prints.';
const NO_LINK =
  'This link was used already, is older than ten minutes, or belongs to another session. Run live-lisp page, and open the link that it prints.';
const CHANGED = 'The question changed after it was shown. Read it again, then answer.';

export class Page {
  readonly #options: PageOptions;
  readonly #admission = new Admission();
  readonly #watchers: Watchers;
  /** The contents of the page's files, by file name. */
  readonly #texts = new Map<string, Buffer>();
  #listener: Promise<HttpListener> | undefined;

  constructor(options: PageOptions) {
    this.#options = options;
    this.#watchers = new Watchers(options.editors);
  }

  /** Starts to serve the page, unless it is served already. Resolves with its URL. */
  async start(): Promise<string> {
    const { complain, files } = this.#options;
    // The files are read at the start, because an update of the program can replace them while this version still runs.
    for (const { name } of Object.values(FILES))
      if (!this.#texts.has(name)) this.#texts.set(name, readFileSync(join(files, name)));
    this.#listener ??= listen({
      host: '127.0.0.1',
      port: 0,
      handle: (request, response) => this.#handle(request, response),
      complain,
    });
    try {
      return (await this.#listener).origin;
    } catch (error) {
      this.#listener = undefined;
      throw error;
    }
  }

  /** Resolves with a link that admits one browser. A browser does not send the part after `#`: the page's script does,
   * with the request `enter`. */
  async link(): Promise<string> {
    const origin = await this.start();
    return `${origin}/#${this.#admission.newLink()}`;
  }

  async end(): Promise<void> {
    const listener = await this.#listener?.catch(() => undefined);
    this.#watchers.end();
    await listener?.end(END_MS);
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url = '' } = request;
    for (const [name, value] of Object.entries(SAFE_HEADERS)) response.setHeader(name, value);
    const name = /^\/api\/([a-z]+)$/.exec(url)?.[1];
    if (name === undefined) {
      if (method === 'GET') return this.#sendFile(url, response);
      return refuse(response, 404, NOTHING);
    }
    if (method !== 'POST') return refuse(response, 405, 'This address takes POST only.', { allow: 'POST' });
    // Browsers send the header Origin with each POST. The listener has already compared it with its own address.
    if (request.headers.origin === undefined)
      return refuse(response, 403, 'The header Origin is missing. Only the page may send this request.');
    // Browsers send a cookie to all ports of a host. So each session has a name of its own for its cookie.
    const cookieName = `live-lisp-${request.socket.localPort}`;
    const secrets = secretsIn(request, cookieName);
    const cookie = this.#admission.cookieOf(secrets);
    if (name !== 'enter' && cookie === undefined) return refuse(response, 401, NO_PASS);
    const body = await readBody(request, BODY_LIMIT);
    if (body === undefined)
      return refuse(response, 413, `A request can have ${BODY_LIMIT} octets. Change less here.`);
    const given = membersOf(body.toString());
    if (name === 'enter') return this.#enter(given, secrets.cookies, cookieName, response);
    if (name === 'events') return this.#watch(response, cookie);
    const result = await this.#resultOf(name, given, response);
    if (result === undefined) refuse(response, 404, NOTHING);
    else sendJson(response, result);
  }

  #sendFile(path: string, response: ServerResponse): void {
    const file = Object.hasOwn(FILES, path) ? FILES[path] : undefined;
    if (file === undefined) {
      refuse(response, 404, NOTHING);
      return;
    }
    response.writeHead(200, { 'content-type': `${file.type}; charset=utf-8` });
    response.end(this.#texts.get(file.name));
  }

  #enter({ link }: Members, cookies: readonly string[], cookieName: string, response: ServerResponse): void {
    const pass = this.#admission.enter(String(link), cookies);
    if (pass === undefined) {
      refuse(response, 401, NO_LINK);
      return;
    }
    response.setHeader('set-cookie', `${cookieName}=${pass.cookie}; HttpOnly; SameSite=Strict; Path=/api`);
    sendJson(response, { key: pass.key });
  }

  /** Sends the events of the session to a tab of the browser with COOKIE. #handle has refused a request without one. */
  #watch(response: ServerResponse, cookie = ''): void {
    const { workspace, images, onLook } = this.#options;
    response.on('close', onLook());
    this.#watchers.add(response, { workspace, images, pid: process.pid }, cookie);
  }

  /** Resolves with the result of the request NAME, with the members GIVEN; undefined when there is no such request. */
  async #resultOf(name: string, given: Members, response: ServerResponse): Promise<object | undefined> {
    const { editors, executor, observations } = this.#options;
    if (name === 'question') return shownQuestion(editors.question(String(given['id'])));
    if (name === 'observed') {
      const { profile, calls, tests } = observations;
      return { profile, calls, tests };
    }
    if (name === 'answer') return this.#decide(given);
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    return look(executor, name, given, gone.signal);
  }

  /** Passes on the human's answer in GIVEN. If it is an answer to a question that has changed since the page showed it,
   * refuses it. */
  #decide(given: Members): { counts: boolean; text: string } {
    const { editors } = this.#options;
    const id = String(given['id']);
    const question = editors.question(id);
    const decision = decisionIn(given);
    if (decision === undefined || (question !== undefined && digestOf(question) !== given['shown']))
      return { counts: false, text: CHANGED };
    return editors.answer(id, decision, BROWSER);
  }
}

/** Returns the part of QUESTION that the browser shows, and a digest that the answer must repeat. */
function shownQuestion(question: AskedQuestion | undefined): object {
  if (question === undefined) return { closed: true };
  const { fingerprint: _, ...visible } = question;
  return { ...visible, shown: digestOf(question) };
}

/** Returns a digest of all that QUESTION shows, and of its fingerprint. */
function digestOf(question: AskedQuestion): string {
  return createHash('sha256').update(JSON.stringify(question)).digest('hex');
}

function decisionIn({ decision, args, words }: Members): Decision | undefined {
  if (decision === 'once') return { kind: 'approved' };
  if (decision === 'session') return { kind: 'approved for the session' };
  if (decision === 'changed') return { kind: 'modified', args };
  return decision === 'deny' ? { kind: 'denied', words } : undefined;
}

/** Returns the secrets in HEADERS, of a request, by which a browser shows that it may use the page: a key, and cookies
 * with the name COOKIE_NAME. */
function secretsIn({ headers }: IncomingMessage, cookieName: string): Shown {
  const key = headers['x-live-lisp-key'];
  const all = (headers.cookie ?? '').split('; ').map((each) => each.split('='));
  const cookies = all.flatMap(([name, value]) => (name === cookieName && value !== undefined ? [value] : []));
  return { key: typeof key === 'string' ? key : undefined, cookies };
}

function sendJson(response: ServerResponse, value: object): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}
