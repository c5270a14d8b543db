// A real browser that shows the page of a server, for the tests of the page.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { Editor, sessionsIn } from '../door/editor.ts';
import type { Session, StartOptions } from '../harness.ts';
import { servingPlace } from '../image/served.ts';
import { ownFolder, ownSession } from '../shared.ts';

let browser: Browser | undefined;

/** Starts a browser before the tests of a file, and ends it behind them. */
export function useBrowser(): void {
  beforeAll(async () => {
    // Chromium makes no sandbox of its own for root, and in containers has little shared memory.
    browser = await chromium.launch({
      executablePath: '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-dev-shm-usage'],
    });
  });
  afterAll(() => browser?.close());
}

/** Returns the browser's state of another person, without cookies, for the test that calls this. */
export async function newBrowser(options: object = {}): Promise<BrowserContext> {
  if (browser === undefined) throw new Error('useBrowser was not called.');
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  return context;
}

export interface Place {
  session: Session;
  /** The workspace. */
  root: ReturnType<typeof ownFolder>;
  /** The path of the server's socket, without its end. */
  path: string;
  /** The audit log. */
  audit: string;
}

/** Starts a server with OPTIONS and ARGS for the test that calls this. Its audit log begins with RECORDS. */
export async function start(options: StartOptions = {}, args: string[] = []): Promise<Place> {
  const serving = servingPlace();
  onTestFinished(serving.remove);
  const root = ownFolder();
  const audit = join(serving.path, 'audit.jsonl');
  const session = await ownSession({
    clientName: 'a client',
    ...options,
    args: ['--root', root.path, '--audit', audit, ...args],
    env: { LIVE_LISP_SERVING: serving.path },
  });
  await session.call('image_status');
  const [path = ''] = await sessionsIn(serving.path);
  return { session, root, path, audit };
}

/** Resolves with a link to the page of the server at PATH. */
export async function linkTo({ path }: Pick<Place, 'path'>): Promise<string> {
  const command = new Editor(path);
  const { result } = await command.request('live-lisp/page');
  command.socket.destroy();
  return String(Object(result).link);
}

/** Opens the page of the server at PLACE in the browser CONTEXT. Resolves when it shows the session. */
export async function openPage(place: Pick<Place, 'path'>, context?: BrowserContext): Promise<Page> {
  const page = await (context ?? (await newBrowser())).newPage();
  await page.goto(await linkTo(place));
  await page.getByText('Connected', { exact: true }).waitFor();
  return page;
}

/** The authorities of the calls in the audit log of PLACE, in order. */
export function authorities({ audit }: Place): unknown[] {
  const lines = existsSync(audit) ? readFileSync(audit, 'utf8').trimEnd().split('\n') : [];
  const records = lines.map((line) => JSON.parse(line) as { event: string; authority?: string });
  return records.filter(({ event }) => event === 'begin').map(({ authority }) => authority);
}
