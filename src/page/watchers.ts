// Sends what happens in the session to the browsers that show the page. While no browser does, nothing is kept
// for one.

import type { ServerResponse } from 'node:http';
import type { Params } from '../door/connection.ts';
import type { Editors, Viewer } from '../door/editors.ts';
import { BROWSER } from '../kernel/human-editor.ts';

/** A browser with more unread octets than this is disconnected. It connects again, and gets what is recent. */
const UNREAD_LIMIT = 4 * 1024 * 1024;
/** Milliseconds that an open question waits after the last browser is gone, because a reload takes a moment. */
const GONE_MS = 30_000;

/** Maximum number of tabs of a browser that get events. A browser has at most six connections to a server, and without a
 *  free one it could send no answer. */
const TABS_LIMIT = 4;

export class Watchers {
  readonly #editors: Editors;
  /** Maps each response with events to the cookie of its browser, oldest first. */
  readonly #responses = new Map<ServerResponse, string>();
  readonly #viewer: Viewer = {
    name: BROWSER,
    notify: (method, params) => {
      for (const response of this.#responses.keys()) send(response, method, params);
    },
  };
  #leaving: NodeJS.Timeout | undefined;

  constructor(editors: Editors) {
    this.#editors = editors;
  }

  /** Sends events to the tab behind RESPONSE, of the browser with COOKIE, until that is gone: FACTS, recent calls, open
   *  questions, and then each as it comes. Ends the oldest tab of a browser that has too many. */
  add(response: ServerResponse, facts: Params, cookie: string): void {
    clearTimeout(this.#leaving);
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    const tabs = [...this.#responses].filter(([, other]) => other === cookie);
    const [oldest] = tabs;
    if (tabs.length >= TABS_LIMIT && oldest !== undefined) {
      send(oldest[0], 'live-lisp/replaced', {});
      oldest[0].end();
      this.#responses.delete(oldest[0]);
    }
    this.#responses.set(response, cookie);
    response.on('error', () => {}); // The event 'close' follows.
    response.on('close', () => this.#remove(response));
    send(response, 'live-lisp/session', facts);
    this.#editors.showAll({ notify: (method, params) => send(response, method, params) });
    this.#editors.join(this.#viewer);
  }

  #remove(response: ServerResponse): void {
    this.#responses.delete(response);
    if (this.#responses.size > 0) return;
    clearTimeout(this.#leaving);
    this.#leaving = setTimeout(() => this.#editors.leave(this.#viewer), GONE_MS).unref();
  }

  end(): void {
    for (const response of this.#responses.keys()) response.end();
  }
}

/** Sends an event to the browser behind RESPONSE. The text of a question can be long, so the browser asks for it. */
function send(response: ServerResponse, method: string, { text: _, ...params }: Params): void {
  // The session can still tell of calls after it has ended the answers.
  if (response.destroyed || response.writableEnded) return;
  response.write(`data: ${JSON.stringify({ method, params })}\n\n`);
  if (response.writableLength > UNREAD_LIMIT) response.destroy();
}
