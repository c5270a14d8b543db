// A real browser that shows the page of a server, for the tests of the page.

import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type LaunchOptions, type Page } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { Editor, sessionOf } from '../door/editor.ts';
import { type Place, start as startServer } from '../door/server.ts';
import type { StartOptions } from '../harness.ts';
import { servingPlace } from '../image/served.ts';
import { sharedFolder, sharedSession } from '../shared.ts';

const SCRIPT = new URL('../../scripts/chromium.mjs', import.meta.url).href;
const { chromiumOptions } = (await import(SCRIPT)) as { chromiumOptions: () => LaunchOptions | undefined };
/** Milliseconds for which a test waits for what the page shows: also a busy machine shows it sooner. */
const PATIENCE_MS = 300_000;
let browser: Browser | undefined;
/** The tab that openPage uses in one test after the other. A new one starts processes of Chromium. */
let tab: Page | undefined;

/** Starts a browser before the tests of a file, and ends it behind them. */
export function useBrowser(): void {
  beforeAll(async () => {
    const options = chromiumOptions();
    if (options === undefined) throw new Error('There is no Chromium: make test says how to install one.');
    browser = await chromium.launch({ ...options, timeout: PATIENCE_MS });
  });
  afterAll(async () => {
    await browser?.close();
    tab = undefined;
  });
}

async function newContext(options: object = {}): Promise<BrowserContext> {
  if (browser === undefined) throw new Error('useBrowser was not called.');
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE_MS);
  return context;
}

/** Returns the browser's state of another person, without cookies, for the test that calls this. */
export async function newBrowser(options: object = {}): Promise<BrowserContext> {
  const context = await newContext(options);
  onTestFinished(() => context.close());
  return context;
}

/** Returns an empty tab without cookies. It is the same in all tests of a file, unless one closes it. */
async function sharedTab(): Promise<Page> {
  if (tab === undefined || tab.isClosed()) tab = await (await newContext()).newPage();
  const page = tab;
  onTestFinished(async () => {
    if (page.isClosed()) return;
    await page.goto('about:blank');
    await page.context().clearCookies();
  });
  return page;
}

/** Starts a server with OPTIONS and ARGS, and its image, for the test that calls this. */
export function start(options: StartOptions = {}, args: string[] = []): Promise<Place> {
  return startServer({ clientName: 'a client', ...options }, ...args);
}

/** Returns a server with an image, which is started before the tests of a file, and ended behind them. */
export function sharedServer(): Place {
  const serving = servingPlace();
  const root = sharedFolder();
  const audit = join(serving.path, 'audit.jsonl');
  const session = sharedSession({
    clientName: 'a client',
    args: ['--root', root.path, '--audit', audit],
    env: { LIVE_LISP_SERVING: serving.path },
  });
  const place = { session, root, path: '', audit };
  beforeAll(async () => {
    await session.call('image_status');
    place.path = await sessionOf(serving.path, session.pid);
  });
  afterAll(serving.remove);
  return place;
}

/** Resolves when PAGE says that the session does not answer. */
export function noAnswer(page: Page): Promise<void> {
  return page
    .getByText(
      'The session does not answer; perhaps it has ended. live-lisp page opens the page of the session that runs now.',
    )
    .first()
    .waitFor();
}

/** Resolves with a link to the page of the server at PATH. */
export async function linkTo({ path }: Pick<Place, 'path'>): Promise<string> {
  const command = new Editor(path);
  const { result } = await command.request('live-lisp/page');
  command.socket.destroy();
  return String(Object(result).link);
}

/** Opens the page of the server at PLACE: in a new tab of the browser CONTEXT, or else in the tab that all tests share.
 *  Resolves when it shows the session. */
export async function openPage(place: Pick<Place, 'path'>, context?: BrowserContext): Promise<Page> {
  const page = await (context?.newPage() ?? sharedTab());
  await page.goto(await linkTo(place));
  await page.getByText('Connected', { exact: true }).waitFor();
  return page;
}
