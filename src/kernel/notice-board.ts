// Tells each connection the notices that it has not told yet.

import { counted } from './reply.ts';

/** A notice; one with OWN concerns the client that started the server alone. */
export type Notice = string | { own: string };

/** A connection that notices are told over. */
export interface NoticeReader {
  /** How many of all notices it has passed. */
  passed: number;
}

/** Maximum number of notices kept for a connection that makes no call. */
const LIMIT = 50;

export class NoticeBoard {
  readonly #take: () => Notice[];
  readonly #kept: Notice[] = [];
  /** How many notices there have been. */
  #count = 0;
  readonly #client: NoticeReader = { passed: 0 };
  /** How many notices any command has passed. */
  #passedByCommands = 0;

  /** TAKE returns the notices since it was called last. */
  constructor(take: () => Notice[]) {
    this.#take = take;
  }

  /** Returns the reader of a new command, which passes what earlier commands have told. */
  command(): NoticeReader {
    return { passed: this.#passedByCommands };
  }

  /** Returns the notices that COMMAND has not passed yet, oldest first; without COMMAND those for the client that
   *  started the server. */
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
