// Answers a client's first request with the error why the server cannot start. An old Node also reads this
// file, so it imports only files that such a Node can read.

import { COMMANDS } from './command-names.ts';

/** Maximum number of octets of input to read. */
const LIMIT = 1024 * 1024;
/** Milliseconds for a client to send its first request. */
const WAIT_MS = 10_000;
/** JSON-RPC's code for a server error. It has no more specific one. */
const SERVER_ERROR = -32000;

/** Words of the command line with which the program does not serve a client. */
const OTHERS: readonly string[] = [...COMMANDS, '--help', '--version'].filter((word) => word !== 'serve');

/** True when WORD, the first word of the command line, is absent, a flag, or one of COMMANDS. Any other word
 *  is a verb, which calls tools in the session of the workspace. */
export function isOfServer(word: string | undefined): boolean {
  return word === undefined || word === 'serve' || word.indexOf('-') === 0 || OTHERS.indexOf(word) !== -1;
}

/** Answers the first request on stdin with the error WHY, if the command line WORDS starts a server for a
 *  client. Clients show such an error, but not a server's standard error. Returns true if it waits for the
 *  request; then the process exits after the answer. */
export function answerWhy(why: string, words: readonly string[]): boolean {
  const isOther =
    !isOfServer(words[0]) ||
    words.some((word) => OTHERS.indexOf(word) !== -1 || word.indexOf('--http') === 0);
  if (process.stdin.isTTY || isOther) return false;
  let text = '';
  const exit = () => process.exit();
  setTimeout(exit, WAIT_MS).unref();
  process.stdin.setEncoding('utf8');
  process.stdin.on('data', (more: string) => {
    text += more;
    const lines = text.split('\n');
    const id = lines
      .slice(0, -1)
      .map(idOf)
      .find((id) => id !== undefined);
    if (id === undefined && text.length < LIMIT) return;
    if (id === undefined) return exit();
    const error = { code: SERVER_ERROR, message: `live-lisp cannot start: ${why}` };
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, error })}\n`, exit);
  });
  return true;
}

function idOf(line: string): unknown {
  try {
    const message = JSON.parse(line) as { id?: unknown; method?: unknown };
    return typeof message.method === 'string' && message.id !== null ? message.id : undefined;
  } catch {
    return undefined;
  }
}
