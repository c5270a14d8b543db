// Admits browsers to the page. A link admits one browser, once.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** The two secrets that a browser gets when it is admitted, and must send with each request. A browser sends a cookie
 * to all ports of this machine, so a program at another port can learn the cookie. Only this page can read the key. */
export interface Pass {
  key: string;
  cookie: string;
}

/** Milliseconds after which an unused link becomes invalid. */
const LINK_MS = 10 * 60 * 1000;
/** Maximum number of unused links, and maximum number of passes. One more replaces the oldest. */
const LIMIT = 32;

/** The secrets in a request. It can have several cookies of the same name, because a program at another port can add
 * cookies. */
export interface Shown {
  key: string | undefined;
  cookies: readonly string[];
}

export class Admission {
  /** Maps the secret of each unused link to the time (performance.now) at which the link becomes invalid. */
  readonly #links = new Map<string, number>();
  /** A pass, which lets a browser use the page, is a key and a cookie. Maps the key of each pass to its cookie. */
  readonly #passes = new Map<string, string>();

  /** Makes a link, and returns its secret. */
  newLink(): string {
    const secret = newSecret();
    put(this.#links, secret, performance.now() + LINK_MS);
    return secret;
  }

  /** Returns a pass for a browser that sends LINK, the secret of a link, and COOKIES, one of which can be from an
   * earlier pass. Returns undefined when LINK is unknown, used or too old. */
  enter(link: string, cookies: readonly string[]): Pass | undefined {
    const end = this.#links.get(link);
    this.#links.delete(link);
    if (end === undefined || end < performance.now()) return undefined;
    // All tabs of a browser share one cookie, so a new cookie would lock out the other tabs.
    const known = [...this.#passes.values()].find((cookie) => cookies.includes(cookie));
    const pass = { key: newSecret(), cookie: known ?? newSecret() };
    put(this.#passes, pass.key, pass.cookie);
    return pass;
  }

  /** Returns the cookie of the pass whose secrets a request contains; undefined when it contains no valid pass. */
  cookieOf({ key, cookies }: Shown): string | undefined {
    const expected = key === undefined ? undefined : this.#passes.get(key);
    return expected === undefined ? undefined : cookies.find((cookie) => isEqual(expected, cookie));
  }
}

function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Stores VALUE under KEY in VALUES. If there are then more than LIMIT, removes the oldest one. */
function put<Value>(values: Map<string, Value>, key: string, value: Value): void {
  values.set(key, value);
  const [oldest] = values.keys();
  if (values.size > LIMIT && oldest !== undefined) values.delete(oldest);
}

function isEqual(one: string, other: string): boolean {
  const [first, second] = [one, other].map((text) => createHash('sha256').update(text).digest());
  return first !== undefined && second !== undefined && timingSafeEqual(first, second);
}
