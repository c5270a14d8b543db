// Checks a client's command for a server: starts it like the client, and requests its tools.

import { messageOf } from '../errors.ts';
import { isObject, membersOf } from '../json.ts';
import type { InstallContext } from './clients.ts';
import { startProgram } from './program.ts';

const ANSWER_MS = 30_000;
/** Time limit, in milliseconds, for the exit of a server after the end of its stdin. */
const END_MS = 5000;
const STDERR_LIMIT = 500;

/** A phrase with the server's name, version and number of tools, or the reason of a failure. */
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

/** Starts a server with LINE, the words of a command, in the project of CONTEXT, with the additional
 *  environment variables MORE. Returns its greeting, or the reason of a failure. */
export async function greetingOf(
  line: readonly string[],
  more: NodeJS.ProcessEnv,
  context: InstallContext,
): Promise<Greeting> {
  let child: ReturnType<typeof startProgram>;
  try {
    child = startProgram(line, more, context);
  } catch (error) {
    // Node throws some errors, such as for a NUL in an argument, and emits others as events.
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
    // A process that the server has started can hold these streams open.
    child.stdout.destroy();
    child.stderr.destroy();
  }, END_MS);
  await closed;
  clearTimeout(killed);
  return greeting;
}

function notRun(why: string): string {
  return `it cannot be run (${why}). Correct what that names, and run this again`;
}

/** Requests the server's name and version, then its tools, and passes the result to RESOLVE. */
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
