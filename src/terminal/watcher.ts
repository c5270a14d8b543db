// Shows on a terminal what agents do in the sessions of a folder, and lets the person answer the questions of these
// sessions. The messages of a session come from door/editors.ts.

import { basename } from 'node:path';
import { Connection, type Params } from '../door/connection.ts';
import { connectTo, type Session, sessionsIn } from '../door/sessions.ts';
import { isInside, realPath } from '../paths.ts';
import { visible, visibleLine } from '../visible.ts';

/** Milliseconds between two searches for new sessions. */
const LOOK_MS = 2000;
/** Maximum number of lines that are shown of a call's arguments. */
const LINE_LIMIT = 20;
/** Milliseconds in which a session must accept an answer. */
const ANSWER_MS = 10_000;

/** An open question of a session. `id` is unique among all sessions. The person at the terminal uses the question's
 * number, its key in `#questions`. */
interface Question {
  id: string;
  connection: Connection;
  lines: string[];
}

/** A session that is watched. `calls` maps the ids of the running calls to the names of their tools. */
interface WatchedSession {
  name: string;
  connection: Connection;
  calls: Map<unknown, string>;
}

/** Watches the sessions whose workspace is FOLDER, is inside it, or contains it. */
export class Watcher {
  readonly #sessions: string;
  readonly #folder: string;
  readonly #show: (lines: readonly string[]) => void;
  readonly #began = Date.now() / 1000;
  /** The paths of the sockets of the watched sessions. */
  readonly #watched = new Set<string>();
  readonly #questions = new Map<number, Question>();
  #lastQuestion = 0;

  /** SESSIONS is the folder with the files that describe sessions. FOLDER selects the sessions to watch (see Watcher).
   * SHOW is called with lines for the person at the terminal. */
  constructor(sessions: string, folder: string, show: (lines: readonly string[]) => void) {
    this.#sessions = sessions;
    this.#folder = realPath(folder);
    this.#show = (lines) => show(lines.map((line) => `;; ${line}`));
  }

  /** Looks for new sessions every LOOK_MS milliseconds, and watches them, until this process ends. */
  begin(): void {
    const look = () => void this.#look().finally(() => setTimeout(look, LOOK_MS).unref());
    look();
  }

  async #look(): Promise<void> {
    for (const session of sessionsIn(this.#sessions)) {
      const { workspace } = session;
      const fits = isInside(workspace, this.#folder) || isInside(this.#folder, workspace);
      if (fits && !this.#watched.has(session.socket)) await this.#watch(session);
    }
  }

  async #watch(session: Session): Promise<void> {
    const socket = await connectTo(session).catch(() => undefined);
    if (socket === undefined) return;
    const calls = new Map<unknown, string>();
    const connection: Connection = new Connection(socket, (method, params) => {
      // The only request of a session: which files have unsaved changes. A terminal has none.
      if (method === 'live-lisp/unsaved') return false;
      this.#onMessage(method, params, { connection, calls, name: basename(session.workspace) });
      return undefined;
    });
    this.#watched.add(session.socket);
    // The session now sends its last calls and its open questions, and then each new one.
    connection.notify('live-lisp/watch', { editor: 'the terminal' });
    void connection.ended.then(() => {
      this.#watched.delete(session.socket);
      for (const [number, question] of this.#questions)
        if (question.connection === connection) this.#questions.delete(number);
    });
  }

  #onMessage(method: string, params: Params, session: WatchedSession): void {
    if (method === 'live-lisp/began') this.#showBegan(params, session);
    if (method === 'live-lisp/ended') this.#showEnded(params, session);
    if (method === 'live-lisp/asked') this.#ask(session.connection, params);
    if (method === 'live-lisp/closed') this.#close(params);
  }

  #showBegan({ id, time, tool, client, lines }: Params, { name, calls }: WatchedSession): void {
    // A session also reports its last calls from before this watcher began.
    const isNew = Number(time) >= this.#began;
    if (!isNew) return;
    calls.set(id, oneLine(tool));
    this.#show([`${clock()} ${visibleLine(name)} ${oneLine(client)} ${oneLine(tool)}`, ...shortened(lines)]);
  }

  #showEnded({ id, line, milliseconds }: Params, { calls }: WatchedSession): void {
    const tool = calls.get(id);
    if (tool === undefined) return;
    calls.delete(id);
    this.#show([`  => ${tool}: ${oneLine(line)} (${(Number(milliseconds) / 1000).toFixed(1)} s)`]);
  }

  #ask(connection: Connection, { id, headline, text }: Params): void {
    const number = ++this.#lastQuestion;
    const lines = [
      '',
      `Question ${number}: ${oneLine(headline)}`,
      '',
      ...visible(String(text)).split('\n'),
      '',
      `Enter :approve ${number} to approve it once, or :deny ${number} and, if you like, a message to the agent.`,
    ];
    this.#questions.set(number, { id: String(id), connection, lines });
    this.#show(lines);
  }

  #close({ id, why }: Params): void {
    for (const [number, question] of this.#questions) {
      if (question.id !== id) continue;
      this.#questions.delete(number);
      this.#show([`Question ${number} is closed: ${oneLine(why)}.`]);
    }
  }

  /** Handles TEXT, a line that the person entered. Returns true when it answers a question. Returns false when it does
   * not, or when no question is open, so that the line is input for the image. */
  take(text: string): boolean {
    const [, command, digits, words = ''] =
      /^\s*:(approve|deny|questions)\b\s*(\d*)\s*(.*?)\s*$/i.exec(text) ?? [];
    if (command === undefined || this.#questions.size === 0) return false;
    const question = this.#questions.get(Number(digits));
    if (command.toLowerCase() === 'questions')
      this.#show([...this.#questions.values()].flatMap(({ lines }) => lines));
    else if (question === undefined) this.#show([this.#whichOne(command)]);
    else void this.#answer(question, command.toLowerCase() === 'approve', words);
    return true;
  }

  #whichOne(command: string): string {
    const open = [...this.#questions.keys()].map((number) => `:${command} ${number}`);
    return `Say which question you answer: ${open.join(' or ')}. :questions shows them again.`;
  }

  async #answer({ id, connection }: Question, approve: boolean, words: string): Promise<void> {
    const answered = await connection.request('live-lisp/answer', { id, approve, words }, ANSWER_MS);
    const { text } = Object(Object(answered).result) as { text?: unknown };
    this.#show([
      text === undefined
        ? 'The session has ended or hangs, so your answer had no effect. live-lisp sessions shows whether it runs.'
        : oneLine(text),
    ]);
  }
}

/** Returns the time as HH:MM:SS, the format of the locale `sv`. */
function clock(): string {
  return new Date().toLocaleTimeString('sv');
}

function oneLine(text: unknown): string {
  return visibleLine(String(text ?? ''));
}

/** Returns LINES, the arguments of a call, indented. Lines beyond LINE_LIMIT are left out. */
function shortened(lines: unknown): string[] {
  const all = (Array.isArray(lines) ? lines : []).map((line) => `  ${oneLine(line)}`);
  const more = all.length - LINE_LIMIT;
  return more > 0 ? [...all.slice(0, LINE_LIMIT), `  [${more} more lines]`] : all;
}
