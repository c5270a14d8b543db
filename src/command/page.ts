// Prints a link to the page of a session, and opens the page in the browser of this desktop.

import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { Connection } from '../door/connection.ts';
import { connectTo, type Session } from '../door/sessions.ts';
import { SetupError } from '../errors.ts';
import { print } from '../output.ts';

/** Time limit, in milliseconds, for a session to answer. */
const ANSWER_MS = 20_000;

/** Prints a link to the page of SESSION, which is behind SOCKET; with IS_JSON, as JSON. Opens the page if there is
 *  a desktop. Returns the exit code. */
export async function showPage(session: Session, socket: Socket, isJson: boolean): Promise<number> {
  const link = await linkFrom(session, socket);
  print(isJson ? JSON.stringify({ link }) : link);
  const opener = openerHere();
  // A link lets one browser in, so the printed one stays usable.
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
    `The session ${pid} of ${workspace} gave no link to its page: ${why.replace(/\.$/, '')}. If it is of an older version, end it, and run this again.`,
  );
}

/** Returns the program that opens a link in the browser; undefined where there is no desktop. */
function openerHere(): string | undefined {
  if (process.platform === 'darwin') return 'open';
  const { DISPLAY, WAYLAND_DISPLAY } = process.env;
  return DISPLAY || WAYLAND_DISPLAY ? 'xdg-open' : undefined;
}

/** Opens LINK by the program OPENER. Without that program, the printed link is all. */
function open(opener: string, link: string): void {
  const child = spawn(opener, [link], { detached: true, stdio: 'ignore' });
  child.on('error', () => {});
  child.unref();
}
