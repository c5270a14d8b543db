// Connects to the backend in an image that somebody else runs. The server cannot end the process of such an image.

import { randomInt } from 'node:crypto';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { Channel, type ChannelCallbacks } from '../wire/channel.ts';
import type { Endable } from '../wire/ending-steps.ts';
import type { FarPaths } from '../wire/far-paths.ts';
import type { Answer, Hello } from '../wire/messages.ts';
import type { BackendOperations } from '../wire/operations.ts';
import type { Peer } from '../wire/peer.ts';
import type { Upcalls } from '../wire/upcalls.ts';

/** The first request id is a random number below this limit. Jobs of an earlier server may still send answers, so the
 * ids must differ from those of that server. */
const FIRST_IDS = 2 ** 47;

/** A connection to the backend, which is the Lisp code of this project in an image, before its greeting. */
export interface BackendConnection {
  stream: Duplex;
  /** Returns the reason why the connection has ended, as part of a sentence; undefined when it is unknown. */
  ended?(): string | undefined;
  /** Converts the paths in messages. Absent when the image has the same file system as the server. */
  paths?: FarPaths;
}

/** Returns a connection to the backend that listens on the Unix socket SOCKET. */
export function socketConnection(socket: string): BackendConnection {
  return { stream: connect(socket) };
}

const CLOSED = 'the image or its backend closed the connection';

export class AttachedPeer implements Peer {
  readonly #socket: Duplex;
  readonly #channel: Channel;
  #endReason = CLOSED;
  #resolveGreeting: (hello: Hello) => void = () => {};
  #hello: Hello | undefined;
  /** Resolves with the backend's greeting. If the connection ends before this, rejects with the reason. */
  readonly greeting: Promise<Hello>;
  /** Resolves when the connection has ended, with the reason as part of a sentence. */
  readonly ended: Promise<string>;

  /** Exchanges messages with the backend over a connection. UPCALLS handles the requests that code in the image
   * makes. */
  constructor({ stream, ended, paths }: BackendConnection, upcalls: Upcalls) {
    this.#socket = stream;
    const callbacks: ChannelCallbacks = {
      hello: (hello) => {
        this.#hello = hello;
        this.#resolveGreeting(hello);
      },
      exiting: () => {
        this.#endReason = 'the image ended';
      },
      stopped: () => this.disconnect('(live-lisp:stop) disconnected live-lisp from it'),
      broken: (how) => this.disconnect(how),
    };
    this.#channel = new Channel(this.#socket, this, upcalls, callbacks, {
      firstId: randomInt(1, FIRST_IDS),
      paths,
    });
    // After the greeting, the message of a socket error says no more than that the connection was closed.
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

  request<Name extends keyof BackendOperations>(
    name: Name,
    args: BackendOperations[Name]['args'],
    follow?: boolean,
  ): { id: number; answer: Promise<Answer<Name>> } {
    return this.#channel.request(name, args, follow);
  }

  notify<Name extends keyof BackendOperations>(name: Name, args: BackendOperations[Name]['args']): void {
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

  /** Closes the connection. Calls that are running are answered with HOW as the reason. The image continues to run. */
  disconnect(how: string): void {
    this.#endReason = how;
    this.#socket.destroy();
  }
}
