// Where the token of an HTTP server comes from, and which files and texts are none.

import { chmodSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { checkToken, readOrMakeToken, readToken, tokenCheck } from '../../src/http/token.ts';
import { ownFolder } from '../shared.ts';

const TOKEN = '0123456789abcdef0123456789abcdef';
const ADVICE = 'Give 32 to 1024 visible ASCII characters, such as the output of openssl rand -hex 32.';

test('it is made once, for this user alone', () => {
  const file = join(ownFolder().path, 'tokens', 'http');
  const token = readOrMakeToken(file);
  expect(token).toMatch(/^[\da-f]{64}$/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(join(file, '..')).mode & 0o777).toBe(0o700);
  expect(readOrMakeToken(file)).toBe(token);
});

test('a file that others can read has none', () => {
  const file = ownFolder().put('token', TOKEN);
  const refusal = `Other users can read or replace the token in ${file}. Make it a file of your own with mode 600, and put a new token into it.`;
  for (const mode of [0o640, 0o602]) {
    chmodSync(file, mode);
    expect(() => readToken(file)).toThrow(refusal);
  }
  chmodSync(file, 0o600);
  expect(readToken(file)).toBe(TOKEN);
});

test('a link and a folder have none', () => {
  const folder = ownFolder();
  const file = folder.put('token', TOKEN);
  chmodSync(file, 0o600);
  symlinkSync(file, `${file}-link`);
  for (const other of [`${file}-link`, folder.path]) {
    expect(() => readToken(other)).toThrow(
      `The token cannot be read from ${other}, which is not a regular file. Put it into a regular file of your own with mode 600.`,
    );
  }
});

test.each(['\r\n', ''])('the end of line %j is no part of it', (end) => {
  const file = ownFolder().put('token', TOKEN + end);
  chmodSync(file, 0o600);
  expect(readToken(file)).toBe(TOKEN);
});

test.each(['', `${TOKEN}\n${TOKEN}`, 'é'.repeat(40), 'x'.repeat(2000)])('the text %j is none', (text) => {
  const file = ownFolder().put('token', text);
  chmodSync(file, 0o600);
  expect(() => readToken(file)).toThrow(`The file ${file} has no valid token. ${ADVICE}`);
  expect(() => checkToken(text)).toThrow(`LIVE_LISP_HTTP_TOKEN has no valid token. ${ADVICE}`);
});

test('a file that is not there has none', () => {
  expect(() => readToken('/nowhere/token')).toThrow(
    `The token file /nowhere/token does not exist. ${ADVICE}`,
  );
});

test('only the whole token counts', () => {
  const mayUse = tokenCheck(TOKEN);
  expect([`Bearer ${TOKEN}`, `bearer  ${TOKEN}`].map(mayUse)).toEqual([true, true]);
  const others = [undefined, '', TOKEN, `Bearer ${TOKEN}0`, `Bearer ${TOKEN.slice(1)}`, `Bearer ${TOKEN},x`];
  expect(others.map(mayUse)).toEqual(others.map(() => false));
});

test.each([
  ['8080', '127.0.0.1', 8080],
  ['localhost:0', 'localhost', 0],
  ['[::1]:8080', '::1', 8080],
])('--http %s is for this machine alone', (place, host, port) => {
  expect(readConfig(['--http', place], {}).http).toEqual({ host, port });
});

test.each(['0.0.0.0:8080', '[::]:8080', '127.evil.example:80'])(
  '--http %s needs a token that was given',
  (place) => {
    expect(() => readConfig(['--http', place], {})).toThrow(
      `Other machines can connect to --http ${place}, so set a token: --http-token FILE, or LIVE_LISP_HTTP_TOKEN.`,
    );
    expect(readConfig(['--http', place], { LIVE_LISP_HTTP_TOKEN: TOKEN }).http).toBeDefined();
    expect(readConfig(['--http', place, '--http-token', 'token'], {}).http).toBeDefined();
  },
);

test.each(['x', ':80', '::1:80', '1.2.3.4:99999', '-1'])('--http %s is no place', (place) => {
  expect(() => readConfig([`--http=${place}`], {})).toThrow(
    `--http must be PORT or HOST:PORT, such as 8080 or [::1]:8080, not ${place}.`,
  );
});

test('--http-token alone is refused', () => {
  expect(() => readConfig(['--http-token', 'token'], {})).toThrow(
    '--http-token is for a server over HTTP: give --http PORT, too.',
  );
});
