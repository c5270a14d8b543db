// Connects to the agent in an image that somebody else runs. The server has a socket to the image, but cannot
// end its process.

import { randomInt } from 'node:crypto';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { Channel, type ChannelCallbacks } from '../wire/channel.ts';
import type { Endable } from '../wire/ending-steps.ts';
import type { FarPaths } from '../wire/far-paths.ts';
import type { Answer, Hello } from '../wire/messages.ts';
import type { AgentOperations } from '../wire/operations.ts';
import type { Peer } from '../wire/peer.ts';
import type { Upcalls } from '../wire/upcalls.ts';

/** The first request id is a random number below this limit. A job of an earlier server can still send
 *  answers, so the ids must differ from those of that server. */
const FIRST_IDS = 2 ** 47;

/** A connection to an agent, not greeted yet. */
export interface AgentConnection {
  stream: Duplex;
  /** Returns the reason why the connection has ended, as part of a sentence, if known. */
  ended?(): string | undefined;
  /** Translates the paths in messages, if the image has another file system. */
  paths?: FarPaths;
}

/** Returns the connection to the agent that listens on the Unix SOCKET. */
export function socketConnection(socket: string): AgentConnection {
  return { stream: connect(socket) };
}

const CLOSED = 'the image or its agent closed the connection';

export class AttachedPeer implements Peer {
  readonly #socket: Duplex;
  readonly #channel: Channel;
  #endReason = CLOSED;
  #resolveGreeting: (hello: Hello) => void = () => {};
  #hello: Hello | undefined;
  /** Resolves with the agent's greeting. Rejects with the reason when the connection ends before the agent
   *  has greeted. */
  readonly greeting: Promise<Hello>;
  /** Resolves with the reason, as part of a sentence, when the connection has ended. */
  readonly ended: Promise<string>;

  /** Exchanges messages with the agent over a CONNECTION. UPCALLS handles requests of code in the image. */
  constructor({ stream, ended, paths }: AgentConnection, upcalls: Upcalls) {
    this.#socket = stream;
    const callbacks: ChannelCallbacks = {
      hello: (hello) => {
        this.#hello = hello;
        this.#resolveGreeting(hello);
      },
      exiting: () => {
        this.#endReason = 'the image ended';
      },
      stopped: () => this.disconnect('(live-lisp:stop) took live-lisp out of it'),
      broken: (how) => this.disconnect(how),
    };
    this.#channel = new Channel(this.#socket, this, upcalls, callbacks, {
      firstId: randomInt(1, FIRST_IDS),
      paths,
    });
    // After the greeting, the text of a socket error adds nothing to the fact that the connection was closed.
    this.#socket.on('error', ({ message }) => this.disconnect(this.#hello ? this.#endReason : message));
    this.ended = new Promise((resolve) => {
      this.#socket.on('close', () => {
        if (this.#endReason === CLOSED) this.#endReason = ended?.() ?? CLOSED;
        this.#channel.close(this.#endReason);
        resolve(this.#endReason);
      });
    });
    this.greeting = new Promise((resolve, reject) => {
      this.#resolveGreeting = resolve;
      void this.ended.then((how) => reject(new Error(how)));
    });
    this.greeting.catch(() => {});
  }

  get hello(): Hello | undefined {
    return this.#hello;
  }

  get dead(): boolean {
    return this.#channel.closed;
  }

  get features(): ReadonlySet<string> {
    return this.#channel.features;
  }

  request<Name extends keyof AgentOperations>(
    name: Name,
    args: AgentOperations[Name]['args'],
    follow?: boolean,
  ): { id: number; answer: Promise<Answer<Name>> } {
    return this.#channel.request(name, args, follow);
  }

  notify<Name extends keyof AgentOperations>(name: Name, args: AgentOperations[Name]['args']): void {
    this.#channel.notify(name, args);
  }

  job(id: number): Endable {
    return {
      interrupt: (reason) => this.notify('interrupt', { job: id, reason }),
      terminate: () => this.notify('terminate', { job: id }),
      reacts: () => this.#channel.requestOutput(id),
      collecting: () => undefined,
      deniedMs: () => 0,
      kill: () =>
        this.disconnect('a call could not be interrupted, so the connection to its image was closed'),
    };
  }

  /** Closes the connection. HOW becomes the reason in the answers to running calls. The image keeps
   *  running. */
  disconnect(how: string): void {
    this.#endReason = how;
    this.#socket.destroy();
  }
}
