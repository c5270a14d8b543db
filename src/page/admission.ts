// Decides which browsers may use the page. A link lets one browser in, once.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** What a browser gets, and must send with each request. A cookie is sent to all ports of this machine, so a program at
 *  another port can learn it; only this page can read the key. */
export interface Pass {
  key: string;
  cookie: string;
}

/** Milliseconds for which a link that nobody has used lets a browser in. */
const LINK_MS = 10 * 60 * 1000;
/** Maximum number of unused links, and of passes. A further one replaces the oldest. */
const LIMIT = 32;

/** What a request has of a pass. A program at another port can add cookies of the same name, which then come too. */
export interface Shown {
  key: string | undefined;
  cookies: readonly string[];
}

export class Admission {
  /** Maps the secret of each unused link to the time (performance.now) at which it becomes invalid. */
  readonly #links = new Map<string, number>();
  /** Maps the key of each pass to its cookie. */
  readonly #passes = new Map<string, string>();

  /** Returns the secret of a new link. */
  newLink(): string {
    const secret = newSecret();
    put(this.#links, secret, performance.now() + LINK_MS);
    return secret;
  }

  /** Returns a pass for a browser that has the secret LINK of a link, and COOKIES, of which one can be of an earlier
   *  pass. Returns undefined when LINK is no link, was used or is too old. */
  enter(link: string, cookies: readonly string[]): Pass | undefined {
    const end = this.#links.get(link);
    this.#links.delete(link);
    if (end === undefined || end < performance.now()) return undefined;
    // The tabs of a browser have one cookie, so a new one would lock the other tabs out.
    const known = [...this.#passes.values()].find((cookie) => cookies.includes(cookie));
    const pass = { key: newSecret(), cookie: known ?? newSecret() };
    put(this.#passes, pass.key, pass.cookie);
    return pass;
  }

  /** Returns the cookie of the pass that a request has shown; undefined when it has none. */
  cookieOf({ key, cookies }: Shown): string | undefined {
    const expected = key === undefined ? undefined : this.#passes.get(key);
    return expected === undefined ? undefined : cookies.find((cookie) => isEqual(expected, cookie));
  }
}

function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Puts VALUE under KEY into VALUES, and removes the oldest value when there are too many. */
function put<Value>(values: Map<string, Value>, key: string, value: Value): void {
  values.set(key, value);
  const [oldest] = values.keys();
  if (values.size > LIMIT && oldest !== undefined) values.delete(oldest);
}

function isEqual(one: string, other: string): boolean {
  const [first, second] = [one, other].map((text) => createHash('sha256').update(text).digest());
  return first !== undefined && second !== undefined && timingSafeEqual(first, second);
}
