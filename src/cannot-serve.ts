// Answers a client's first request with an error that says why the server cannot start. An old version of Node must be
// able to read this file and the files that it imports.

import { COMMANDS } from './command-names.ts';

/** Maximum number of octets of input that are read. */
const LIMIT = 1024 * 1024;
/** Milliseconds to wait for the client's first request. */
const WAIT_MS = 10_000;
/** JSON-RPC's code for an error of the server. No other code is more specific. */
const SERVER_ERROR = -32000;

/** First words of command lines with which live-lisp does not serve a client, such as `doctor`. */
const OTHERS: readonly string[] = [...COMMANDS, '--help', '--version'].filter((word) => word !== 'serve');

/** WORD is the first word of the command line. Returns true when it is undefined, a flag or one of COMMANDS. Any other
 * word is a verb: this process is then no server, but calls a tool in the server of the workspace. */
export function isOfServer(word: string | undefined): boolean {
  return word === undefined || word === 'serve' || word.indexOf('-') === 0 || OTHERS.indexOf(word) !== -1;
}

/** If the command line WORDS starts a server for a client, waits for the first request on stdin, answers it with the
 * error WHY and exits. Clients show such an error to their users, but not what a server writes to standard error.
 * Returns true when it will wait for a request, else false. */
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
