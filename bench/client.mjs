// Decides how the bench talks to a server: JSON-RPC lines over its stdin and stdout, at the least cost.

import { spawn } from 'node:child_process';

/**
 * @typedef {object} Contestant A program to measure.
 * @property {string} script the file that node runs
 * @property {string[]} [args] its arguments
 * @property {string} folder its current directory
 * @property {Record<string, string>} [env] what its environment has besides ours
 */

/** @typedef {{ resolve: (result: any) => void, reject: (error: Error) => void }} Waiting */

const EXIT_LIMIT_MS = 5000;
const INITIALIZE = {
  protocolVersion: '2025-11-25',
  clientInfo: { name: 'live-lisp-bench', version: '1.0.0' },
};

export class Client {
  /** When the process was spawned, on the clock of performance.now(). */
  began;
  #process;
  #rest = '';
  #nextId = 1;
  #ending = false;
  /** @type {Error | undefined} */
  #gone;
  /** @type {Map<number, Waiting>} */
  #waiting = new Map();

  /** @param {Contestant} contestant */
  constructor({ script, args = [], folder, env }) {
    this.began = performance.now();
    this.#process = spawn(process.execPath, [script, ...args], {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#process.stdout.setEncoding('utf8').on('data', (text) => this.#receive(text));
    this.#process.stdin.on('error', () => {});
    this.#process.on('exit', (code) => {
      this.#gone = new Error(`The server exited with code ${code} before it answered.`);
      for (const { reject } of this.#waiting.values()) reject(this.#gone);
    });
  }

  /** The server's process id. */
  get pid() {
    return this.#process.pid ?? -1;
  }

  /**
   * Sends the first request and returns its result. CAPABILITIES are what the client says that it can do.
   * @param {object} [capabilities]
   */
  async initialize(capabilities = {}) {
    const result = await this.request('initialize', { ...INITIALIZE, capabilities });
    this.#send({ method: 'notifications/initialized' });
    return result;
  }

  /**
   * Calls a tool and returns the text of its answer. Throws when the tool failed.
   * @param {string} name
   * @param {object} args
   * @returns {Promise<string>}
   */
  async call(name, args) {
    const { isError, content } = await this.request('tools/call', { name, arguments: args });
    if (isError) throw new Error(`${name} failed: ${content[0].text}`);
    return content[0].text;
  }

  /**
   * Sends a request and returns its result.
   * @param {string} method
   * @param {object} params
   * @returns {Promise<any>}
   */
  request(method, params) {
    if (this.#gone) return Promise.reject(this.#gone);
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  /** Ends the server as clients do, by the end of its stdin, and waits until it is gone. */
  async close() {
    if (this.#ending || this.#gone) return;
    this.#ending = true;
    await new Promise((resolve) => {
      const timer = setTimeout(() => this.#process.kill('SIGKILL'), EXIT_LIMIT_MS);
      this.#process.on('close', () => {
        clearTimeout(timer);
        resolve(undefined);
      });
      this.#process.stdin.end();
    });
  }

  /** @param {object} message */
  #send(message) {
    this.#process.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  /** @param {string} text */
  #receive(text) {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#answer(JSON.parse(line));
  }

  /** @param {{ id?: number, method?: string, result?: any, error?: { message: string } }} message */
  #answer({ id = -1, method, result, error }) {
    // Only a question to a human is a request of the server: they decline.
    if (method === 'elicitation/create') return this.#send({ id, result: { action: 'decline' } });
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error) waiting?.reject(new Error(error.message));
    else waiting?.resolve(result);
  }
}

/**
 * Starts CONTESTANT and returns its client once the server is ready for calls.
 * @param {Contestant} contestant
 */
export async function connect(contestant) {
  const client = new Client(contestant);
  await client.initialize();
  return client;
}
