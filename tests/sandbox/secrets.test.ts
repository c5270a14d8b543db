// Keys, tokens and passwords stay hidden where a person opens the folder around them: from code, and from the tools.

import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { Session } from '../harness.ts';
import { lispString, outsideFolder, shell, startSandboxed, workspace } from './cell.ts';
import { sandboxTest as test } from './namespaces.ts';

const SECRET = 'what-nobody-may-know';
const place = workspace();
const outside = outsideFolder();
/** The home, which is a root too. */
const home = realpathSync(outside.path);
const SECRETS = [
  '.ssh/id_ed25519',
  '.npmrc',
  '.config/gh/hosts.yml',
  '.password-store/.git/key',
  'keys/creds.json',
];
const VISIBLE = ['keys/other.json', '.config/gh/extensions/run', '.bashrc'];
let session: Session;

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

beforeAll(async () => {
  for (const path of SECRETS) put(join(home, path), SECRET);
  for (const path of VISIBLE) put(join(home, path), 'for all to see\n');
  session = await startSandboxed(home, {
    args: ['--sandbox', 'on', '--allow', 'write_file', '--read-root', join(home, '.config/gh/extensions')],
    env: {
      XDG_CACHE_HOME: place.cache,
      HOME: home,
      GOOGLE_APPLICATION_CREDENTIALS: join(home, 'keys/creds.json'),
    },
  });
});
afterAll(async () => {
  await session.close();
  outside.remove();
  place.remove();
});

const REFUSAL = (path: string, what = 'read') =>
  `${path} is not ${what}: the sandbox hides it from the image. Do without it, or ask the user to do this.`;

// The first of these calls come before there is an image.
describe.each(['before the first image', 'while one runs'])('%s', (when) => {
  beforeAll(async () => {
    if (when === 'while one runs') await session.eval('1');
  });

  test.each(SECRETS)('no tool reads or writes %s', async (path) => {
    expect(await session.text('read_file', { path })).toBe(REFUSAL(path));
    expect(await session.text('read_file', { path: join(home, path) })).toBe(REFUSAL(join(home, path)));
    expect(await session.text('load_file', { path, check: true })).toBe(REFUSAL(join(home, path)));
    expect(await session.text('write_file', { path, content: 'x' })).toBe(REFUSAL(path, 'written'));
    expect(readFileSync(join(home, path), 'utf8')).toBe(SECRET);
  });

  test('no search finds one', async () => {
    const text = await session.text('search_in_buffer', { pattern: SECRET.slice(0, -1) });
    expect(text).toBe(`Found 0 matches of '${SECRET.slice(0, -1)}' in ${VISIBLE.length} files`);
  });

  test.each(VISIBLE)('%s is read', async (path) => {
    expect(await session.text('read_file', { path })).toContain('for all to see');
  });
});

describe('code', () => {
  test.each(SECRETS)('sees no %s, itself or by a tool', async (path) => {
    expect(await shell(session, `cat ${path}`)).toMatch(/^1 cat: .*(?:No such file|Permission denied)/);
    const form = `(handler-case (call-tool "read_file" :path ${lispString(path)}) (error (e) (princ-to-string e)))`;
    const text = await session.eval(form, { package: 'LIVE-LISP-USER' });
    expect(text).toContain('the sandbox hides it from the image');
  });

  test.each(VISIBLE)('sees %s', async (path) => {
    expect(await shell(session, `cat ${path}`)).toBe('0 for all to see');
  });

  test('does not move the folder of a secret to where it would be seen', async () => {
    expect(await shell(session, 'mv keys taken; mv keys/creds.json keys/taken; rm -f .npmrc')).toMatch(
      /^1 (?:.*Device or resource busy\n?){3}$/,
    );
    for (const path of SECRETS) expect(readFileSync(join(home, path), 'utf8')).toBe(SECRET);
  });
});
