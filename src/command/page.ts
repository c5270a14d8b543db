// Implements the command page: prints a link to the page of a session, and opens the page in the browser of this
// desktop.

import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { Connection } from '../door/connection.ts';
import { connectTo, type Session } from '../door/sessions.ts';
import { SetupError } from '../errors.ts';
import { print } from '../output.ts';

/** Milliseconds in which a session must answer. */
const ANSWER_MS = 20_000;

/** Prints a link to the page of SESSION, which SOCKET is connected to, and opens the page if this machine has a
 * desktop. If IS_JSON is true, prints the link as JSON. Returns the exit code. */
export async function showPage(session: Session, socket: Socket, isJson: boolean): Promise<number> {
  const link = await linkFrom(session, socket);
  print(isJson ? JSON.stringify({ link }) : link);
  const opener = openerHere();
  // A link admits one browser. So the page is opened by a second link, and the printed one can still be used.
  const other = opener && (await connectTo(session));
  if (opener && other) open(opener, await linkFrom(session, other));
  return 0;
}

async function linkFrom({ pid, workspace }: Session, socket: Socket): Promise<string> {
  const connection = new Connection(socket, () => {});
  const answered = await connection.request('live-lisp/page', {}, ANSWER_MS);
  connection.end();
  const { link } = Object(Object(answered).result) as { link?: unknown };
  if (typeof link === 'string') return link;
  const why = answered !== undefined && 'error' in answered ? answered.error : 'it does not answer';
  throw new SetupError(
    `The session ${pid} of ${workspace} gave no link to its page: ${why.replace(/\.$/, '')}. If the session is of an older version, end it, and run this command again.`,
  );
}

/** Returns the program that opens a link in the user's browser; undefined on a machine without a desktop. */
function openerHere(): string | undefined {
  if (process.platform === 'darwin') return 'open';
  const { DISPLAY, WAYLAND_DISPLAY } = process.env;
  return DISPLAY || WAYLAND_DISPLAY ? 'xdg-open' : undefined;
}

/** Opens LINK with the program OPENER. If OPENER does not exist, the user still has the printed link. */
function open(opener: string, link: string): void {
  const child = spawn(opener, [link], { detached: true, stdio: 'ignore' });
  child.on('error', () => {});
  child.unref();
}
