// Chooses the token that a client of the HTTP server must send, keeps it in a file that only this user can read, and
// compares it with the token of a request.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { linkSync, lstatSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { SetupError } from '../errors.ts';
import { readIfRegular } from '../files/regular.ts';
import { makeOwnFolder } from '../ownership.ts';
import { removeIfPossible } from '../paths.ts';

const OCTETS_LIMIT = 4096;

/** Matches a token that fits into a header and is too long to be guessed. */
const TOKEN = /^[\x21-\x7e]{32,1024}$/;

const ADVICE = 'Give 32 to 1024 visible ASCII characters, such as the output of openssl rand -hex 32.';

/** Returns TEXT, the value of LIVE_LISP_HTTP_TOKEN. Throws a SetupError when TEXT is not a valid token. */
export function checkToken(text: string): string {
  if (TOKEN.test(text)) return text;
  throw new SetupError(`LIVE_LISP_HTTP_TOKEN has no valid token. ${ADVICE}`);
}

/** Returns the token in FILE. Throws a SetupError when FILE contains no token, or when other users can read it. */
export function readToken(file: string): string {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined) {
    throw new SetupError(`The token file ${file} does not exist. ${ADVICE}`);
  }
  if (!stats.isFile()) {
    throw new SetupError(
      `The token cannot be read from ${file}, which is not a regular file. Put it into a regular file of your own with mode 600.`,
    );
  }
  if (stats.uid !== process.geteuid?.() || (stats.mode & 0o077) !== 0) {
    throw new SetupError(
      `Other users can read or replace the token in ${file}. Make it a file of your own with mode 600, and put a new token into it.`,
    );
  }
  const token = readIfRegular(file, { limit: OCTETS_LIMIT })?.octets.toString().trim() ?? '';
  if (TOKEN.test(token)) return token;
  throw new SetupError(`The file ${file} has no valid token. ${ADVICE}`);
}

/** Returns the token in FILE. If FILE does not exist, first creates it and its folder, with a random token. */
export function readOrMakeToken(file: string): string {
  makeOwnFolder(dirname(file));
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) makeToken(file);
  return readToken(file);
}

/** Creates FILE with a random token. If another server creates it at the same time, the first one to finish wins. */
function makeToken(file: string): void {
  const whole = `${file}.${process.pid}`;
  try {
    writeFileSync(whole, `${randomBytes(32).toString('hex')}\n`, { flag: 'wx', mode: 0o600 });
    linkSync(whole, file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST') {
      throw new SetupError(`The token cannot be written to ${file} (${code}). Give one with --http-token.`);
    }
  } finally {
    removeIfPossible(whole);
  }
}

/** Returns a function that takes the header Authorization of a request, and returns true when it contains TOKEN. */
export function tokenCheck(token: string): (authorization: string | undefined) => boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const expected = digest(token);
  return (authorization = '') => {
    const [, given] = /^bearer +(\S+) *$/i.exec(authorization) ?? [];
    return given !== undefined && timingSafeEqual(digest(given), expected);
  };
}
