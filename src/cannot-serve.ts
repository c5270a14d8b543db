// Decides what a client is told of a server that cannot start: its first request is answered with an error that says why.
// An old Node reads this file too, so it imports nothing.

/** Octets of a request that is waited for. */
const LIMIT = 1024 * 1024;
/** Milliseconds in which a client sends its first request. */
const WAIT_MS = 10_000;
/** The code of an error of the server, for which JSON-RPC has no other. */
const SERVER_ERROR = -32000;

/** The words of a command line that start no server. */
const OTHERS = ['call', 'tools', 'search', 'doctor', 'install', 'uninstall', 'forget', '--help', '--version'];

/** Answers the first request on stdin with the error WHY, where WORDS, those of the command line, start a server for a
 *  client. Clients show that; they do not show what a server writes to its standard error. Returns whether it waits for a
 *  request, after which the process exits. */
export function answerWhy(why: string, words: readonly string[]): boolean {
  if (process.stdin.isTTY || words.some((word) => OTHERS.indexOf(word) !== -1)) return false;
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
      .find((each) => each !== undefined);
    if (id === undefined && text.length < LIMIT) return;
    if (id === undefined) return exit();
    const error = { code: SERVER_ERROR, message: `live-lisp cannot start: ${why}` };
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, error })}\n`, exit);
  });
  return true;
}

/** Returns the id of the request that LINE is; undefined when it is none. */
function idOf(line: string): unknown {
  try {
    const message = JSON.parse(line) as { id?: unknown; method?: unknown };
    return typeof message.method === 'string' && message.id !== null ? message.id : undefined;
  } catch {
    return undefined;
  }
}
