// Stores notices until each connection has delivered them in an answer: that of the client that started the
// server, and those of commands.

import { counted } from './reply.ts';

/** A notice. One with `own` is only for the client that started the server. */
export type Notice = string | { own: string };

/** The position of a connection in the sequence of all notices. */
export interface NoticeReader {
  /** Number of notices that the connection has delivered or skipped. */
  passed: number;
}

/** Maximum number of notices that are kept for connections that have not read them. Older ones are only
 *  counted. */
const LIMIT = 50;

export class NoticeBoard {
  readonly #take: () => Notice[];
  readonly #kept: Notice[] = [];
  #count = 0;
  readonly #client: NoticeReader = { passed: 0 };
  /** The position of the command that read notices last. */
  #passedByCommands = 0;

  /** TAKE returns the notices since its previous call. */
  constructor(take: () => Notice[]) {
    this.#take = take;
  }

  /** Returns the position of a new command: after the notices delivered by earlier commands. */
  command(): NoticeReader {
    return { passed: this.#passedByCommands };
  }

  /** Returns the notices that the connection of COMMAND has not delivered yet, oldest first. Without COMMAND,
   *  does this for the client that started the server, and includes its `own` notices. Of more than LIMIT
   *  notices, the oldest are only counted. */
  read(command?: NoticeReader): string[] {
    const news = this.#take();
    this.#kept.push(...news);
    this.#count += news.length;
    this.#kept.splice(0, this.#kept.length - LIMIT);
    const reader = command ?? this.#client;
    const missed = this.#count - reader.passed;
    reader.passed = this.#count;
    if (command !== undefined) this.#passedByCommands = this.#count;
    const shown = missed === 0 ? [] : this.#kept.slice(-missed);
    const texts = shown.flatMap((notice) => {
      if (typeof notice === 'string') return [notice];
      return command === undefined ? [notice.own] : [];
    });
    const left = missed - shown.length;
    return left === 0 ? texts : [`Note: ${counted(left, 'earlier notice')} left out.`, ...texts];
  }
}
