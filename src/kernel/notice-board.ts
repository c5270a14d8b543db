// Stores notices until each connection has delivered them in an answer. Connections are that of the client that started
// the server, and those of commands.

import { counted } from './reply.ts';

/** A notice to the reader of the next answer. With `own`, only the client that started the server gets it. */
export type Notice = string | { own: string };

/** A connection's position in the sequence of all notices. */
export interface NoticeReader {
  /** Number of notices that the connection has delivered or skipped. */
  passed: number;
}

/** Maximum number of notices that are kept until all connections have delivered them. A connection gets only the number
 * of older ones. */
const LIMIT = 50;

export class NoticeBoard {
  readonly #take: () => Notice[];
  readonly #kept: Notice[] = [];
  #count = 0;
  readonly #client: NoticeReader = { passed: 0 };
  /** The highest position of a command that has read notices. */
  #passedByCommands = 0;

  /** TAKE returns the notices that came since its previous call. */
  constructor(take: () => Notice[]) {
    this.#take = take;
  }

  /** Returns the position of a new command. It gets only the notices that no earlier command has delivered. */
  command(): NoticeReader {
    return { passed: this.#passedByCommands };
  }

  /** Returns the notices that the connection of COMMAND has not delivered yet, oldest first, without `own` notices. If
   * COMMAND is undefined, returns those for the client that started the server, including its `own` notices. If there
   * are more than LIMIT, a line with the number of the oldest ones replaces these. */
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
