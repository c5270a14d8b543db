// Serves MCP on stdin and stdout of this process, and exits when stdin ends.

import type { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createServer, type ServerOptions } from './server.ts';
import { StdioTransport } from './transport.ts';

interface StdioLife extends ServerOptions {
  onConnected?: (server: Server) => void;
  /** Called once, after the client's first answer. */
  onReady: () => void;
  /** True while calls wait for an image to start. */
  starting: () => boolean;
  /** Milliseconds for the running calls to answer after the end of stdin, instead of the default. */
  lastAnswersMs: number | undefined;
  /** Called before the process exits. The exit waits for the promise, which resolves when the running calls are
   * interrupted. */
  onEnd: () => Promise<void>;
}

/** Milliseconds to wait until the answers of the interrupted calls are written. */
const LAST_ANSWERS_MS = 100;
/** While more octets than this are unread on standard error, further lines are dropped. */
const UNREAD_LIMIT = 256 * 1024;

/** Serves MCP on this process's stdin and stdout, and exits when stdin ends. */
export function serve(life: StdioLife): void {
  const complain = (line: string) => {
    if (process.stderr.writableLength < UNREAD_LIMIT) process.stderr.write(`live-lisp: ${line}\n`);
  };
  const end = async () => {
    await life.onEnd();
    await transport.waitForAnswers(LAST_ANSWERS_MS);
    process.exit(0);
  };
  const transport = new StdioTransport({
    stdin: process.stdin,
    stdout: process.stdout,
    complain,
    onFirstAnswer: life.onReady,
    starting: life.starting,
    lastAnswersMs: life.lastAnswersMs,
    onOverdue: life.onEnd,
  });
  const connect = () => {
    const server = createServer(life);
    life.onConnected?.(server);
    return server;
  };
  serveStdio(connect, {
    transport,
    onerror: (error) => complain(error.message.split('\n')[0] ?? ''),
  });
  // serveStdio has already set onclose to a function that must run before the process ends.
  const closed = transport.onclose;
  transport.onclose = () => {
    closed?.();
    setImmediate(() => void end());
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => void end());
  }
}
