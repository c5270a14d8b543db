// Stores the newest notices, and counts for each reader how many of them it has got in answers. A reader is the client
// that started the server, or a command on the session's socket.

import { counted } from './reply.ts';

/** A notice to the reader of the next answer. With `own`, only the client that started the server gets it. */
export type Notice = string | { own: string };

/** The position of a reader in the sequence of all notices. */
export interface NoticeReader {
  /** Number of notices that the reader has got or skipped. */
  passed: number;
}

/** Maximum number of stored notices. Of older notices, a reader gets only the number. */
const LIMIT = 50;

export class NoticeBoard {
  readonly #take: () => Notice[];
  readonly #kept: Notice[] = [];
  #count = 0;
  readonly #client: NoticeReader = { passed: 0 };
  /** Number of notices that the commands together have got or skipped. The next command begins after these. */
  #passedByCommands = 0;

  /** TAKE returns the notices that came since its previous call. */
  constructor(take: () => Notice[]) {
    this.#take = take;
  }

  /** Returns a reader for a new command. The command gets only the notices that no earlier command has got. */
  command(): NoticeReader {
    return { passed: this.#passedByCommands };
  }

  /** Returns the notices that the reader COMMAND has not got yet, oldest first, without `own` notices. If COMMAND is
   * undefined, the reader is the client that started the server, and gets the `own` notices too. If some notices are no
   * longer stored, the first line gives their number. */
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
