// Checks a command in a client's configuration: starts the server as the client does, and requests the list of its
// tools.

import { messageOf } from '../errors.ts';
import { isObject, membersOf } from '../json.ts';
import type { InstallContext } from './clients.ts';
import { startProgram } from './program.ts';

const ANSWER_MS = 30_000;
/** Milliseconds in which a server must exit after its stdin has ended. */
const END_MS = 5000;
const STDERR_LIMIT = 500;

/** A phrase with the server's name, its version and the number of its tools; or the reason why it did not answer. */
type Greeting = { introduction: string } | { failure: string };

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'live-lisp-doctor', version: '1' },
  },
};
const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' };
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };

/** Starts a server in the project of CONTEXT. LINE is the command as a list of words, MORE are further environment
 * variables. Returns the server's greeting, or the reason why there is none. */
export async function greetingOf(
  line: readonly string[],
  more: NodeJS.ProcessEnv,
  context: InstallContext,
): Promise<Greeting> {
  let child: ReturnType<typeof startProgram>;
  try {
    child = startProgram(line, more, context);
  } catch (error) {
    // Node throws some errors, such as for a NUL in an argument, and emits other errors as events.
    return { failure: notRun(messageOf(error)) };
  }
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const introduction = new Promise<Greeting>((resolve) => {
    const late = setTimeout(() => resolve({ failure: 'it did not answer within 30 s' }), ANSWER_MS);
    void closed.then(() => clearTimeout(late));
    let complaint = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-STDERR_LIMIT);
    });
    child.once('error', ({ message }) => resolve({ failure: notRun(message) }));
    child.once('close', (code, signal) => {
      const wrote = complaint.trim() === '' ? '' : `; it wrote: ${complaint.trim()}`;
      resolve({ failure: `it ended before it answered (${signal ?? `exit code ${code}`})${wrote}` });
    });
    converse(child, resolve);
  });
  const greeting = await introduction;
  child.stdin.end();
  const killed = setTimeout(() => {
    child.kill('SIGKILL');
    // Another process, which the server has started, can keep these streams open.
    child.stdout.destroy();
    child.stderr.destroy();
  }, END_MS);
  await closed;
  clearTimeout(killed);
  return greeting;
}

function notRun(why: string): string {
  return `it cannot be run (${why}). Fix that, and run this again`;
}

/** Requests the server's name and version, then its tools. Calls RESOLVE with the result. */
function converse(
  { stdin, stdout }: { stdin: NodeJS.WritableStream; stdout: NodeJS.ReadableStream },
  resolve: (greeting: Greeting) => void,
): void {
  const send = (message: object) => stdin.write(`${JSON.stringify(message)}\n`);
  let name = '';
  let text = '';
  stdin.on('error', () => {}); // The server has ended, which is reported elsewhere.
  stdout.setEncoding('utf8');
  stdout.on('data', (more: string) => {
    const lines = (text + more).split('\n');
    text = lines.pop() ?? '';
    for (const { id, result, error } of lines.map(membersOf)) {
      if (isObject(error)) resolve({ failure: String(error['message']) });
      if (id === 0 && isObject(result)) {
        const { name: called, version } = isObject(result['serverInfo']) ? result['serverInfo'] : {};
        name = `${String(called)} ${String(version)}`;
        send(INITIALIZED);
        send(LIST);
      }
      if (id === 1 && isObject(result) && Array.isArray(result['tools'])) {
        resolve({ introduction: `${name}, with ${result['tools'].length} tools` });
      }
    }
  });
  send(INITIALIZE);
}
