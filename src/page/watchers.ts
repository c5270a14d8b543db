// Sends the events of the session to the browsers that show the page. Keeps no events for later browsers.

import type { ServerResponse } from 'node:http';
import type { Params } from '../door/connection.ts';
import type { Editors, Viewer } from '../door/editors.ts';
import { BROWSER } from '../kernel/human-editor.ts';

/** A browser with more unread octets than this is disconnected. It connects again, and then gets the recent events. */
const UNREAD_LIMIT = 4 * 1024 * 1024;
/** Milliseconds for which a question stays open after the last browser has disconnected, because a browser reconnects
 * after a reload. */
const GONE_MS = 30_000;

/** Maximum number of tabs of one browser that get events. A browser opens at most six connections to a server, and
 * needs a free one to send an answer. */
const TABS_LIMIT = 4;

export class Watchers {
  readonly #editors: Editors;
  /** Maps the response that sends events to a tab to the cookie of the tab's browser. The oldest comes first. */
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

  /** Sends events to the tab behind RESPONSE, in the browser with COOKIE, until the tab disconnects: first FACTS, the
   * recent calls and the open questions, then each new event. If the browser has too many tabs, disconnects its oldest
   * one. */
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

/** Sends an event to the tab behind RESPONSE, without the text of a question. This text can be long, so the browser
 * requests it separately. */
function send(response: ServerResponse, method: string, { text: _, ...params }: Params): void {
  // The session can still report calls after the answers were ended.
  if (response.destroyed || response.writableEnded) return;
  response.write(`data: ${JSON.stringify({ method, params })}\n\n`);
  if (response.writableLength > UNREAD_LIMIT) response.destroy();
}
