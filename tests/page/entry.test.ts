// Who gets into the page, and that nobody else does: other browsers, other pages, other programs.

import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { good } from '../harness.ts';
import { linkTo, newBrowser, openPage, sharedServer, useBrowser } from './browser.ts';

useBrowser();
const place = sharedServer();

const WRITE = { path: 'a.lisp', content: '(a)\n' };

/** All requests that the page can send. */
const REQUESTS = [
  'enter',
  'events',
  'question',
  'answer',
  'status',
  'interrupt',
  'errors',
  'error',
  'definition',
  'callers',
  'log',
  'observed',
];

interface Got {
  status: number | undefined;
  headers: IncomingMessage['headers'];
  text: string;
}

/** Sends a request to the page at ORIGIN as a program that is no browser does. */
function send(
  origin: string,
  path: string,
  method: string,
  headers: Record<string, string> = {},
): Promise<Got> {
  return new Promise((resolve, reject) => {
    const sent = request(`${origin}${path}`, { method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
    });
    sent.on('error', reject);
    sent.end(method === 'POST' ? '{}' : undefined);
  });
}

/** Resolves with the address of the page. */
async function pageOrigin(): Promise<string> {
  return new URL(await linkTo(place)).origin;
}

test('a link lets one browser in, once', async () => {
  const link = await linkTo(place);
  const page = await (await newBrowser()).newPage();
  await page.goto(link);
  await page.getByText('Connected', { exact: true }).waitFor();
  expect(page.url()).not.toContain('#');
  expect(
    (await page.context().cookies()).map(({ httpOnly, sameSite, path }) => ({ httpOnly, sameSite, path })),
  ).toEqual([{ httpOnly: true, sameSite: 'Strict', path: '/api' }]);
  const other = await (await newBrowser()).newPage();
  await other.goto(link);
  await other
    .getByText(
      'This link was used already, is older than ten minutes, or belongs to another session. Run live-lisp page, and open the link that it prints.',
    )
    .waitFor();
  const without = await (await newBrowser()).newPage();
  await without.goto(new URL(link).origin);
  await without
    .getByText(
      'This browser has no access to the page. Run live-lisp page, and open the link that it prints.',
    )
    .waitFor();
});

test('what the page loads is its own, and no other page may hold or read it', async () => {
  const origin = await pageOrigin();
  for (const path of ['/', '/page.css', '/page.js']) {
    const { status, headers } = await send(origin, path, 'GET');
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; script-src 'self'; style-src 'self';/,
      ),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
    });
    expect(headers['access-control-allow-origin']).toBeUndefined();
  }
  const page = await openPage(place);
  const origins = await page.evaluate(
    "performance.getEntriesByType('resource').map(({ name }) => new URL(name).origin)",
  );
  expect(new Set(origins as string[])).toEqual(new Set([origin]));
});

test('a request without the pass, or from elsewhere, is refused', async () => {
  const origin = await pageOrigin();
  const { port } = new URL(origin);
  for (const name of REQUESTS) {
    const path = `/api/${name}`;
    expect(await send(origin, path, 'GET')).toMatchObject({
      status: 405,
      text: 'This address takes POST only.\n',
    });
    expect(await send(origin, path, 'POST')).toMatchObject({
      status: 403,
      text: 'The header Origin is missing. Only the page may send this request.\n',
    });
    expect((await send(origin, path, 'POST', { origin })).status).toBe(401);
    const elsewhere = { origin: 'http://127.0.0.1:1' };
    expect((await send(origin, path, 'POST', elsewhere)).status).toBe(403);
  }
  for (const path of ['/', '/page.js', ...REQUESTS.map((name) => `/api/${name}`)])
    for (const host of [`127.0.0.1.attacker.example:${port}`, `0x7f.1:${port}`, `:${port}`]) {
      const rebound = { host, origin: `http://${host}` };
      expect((await send(origin, path, 'POST', rebound)).status, `${path} of ${host}`).toBe(403);
    }
  expect(await send(origin, '/../package.json', 'GET')).toMatchObject({
    status: 404,
    text: 'There is nothing at this address.\n',
  });
});

test('no method but POST does anything, also with the pass', async () => {
  const page = await openPage(place);
  const called = place.session.call('write_file', WRITE);
  await page.getByRole('button', { name: 'Approve once' }).waitFor();
  const [cookie] = await page.context().cookies();
  const key = String(await page.evaluate("sessionStorage.getItem('live-lisp-key')"));
  const { origin } = new URL(page.url());
  const headers = { origin, cookie: `${cookie?.name}=${cookie?.value}`, 'x-live-lisp-key': key };
  for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'])
    for (const name of REQUESTS)
      expect((await send(origin, `/api/${name}`, method, headers)).status, `${method} ${name}`).toBe(405);
  await page.getByRole('button', { name: 'Deny' }).click();
  expect((await called).isError).toBe(true);
});

test('the cookie alone, or the key alone, lets nobody in', async () => {
  const page = await openPage(place);
  const [cookie] = await page.context().cookies();
  const key = String(await page.evaluate("sessionStorage.getItem('live-lisp-key')"));
  const origin = new URL(page.url()).origin;
  const withCookie = { origin, cookie: `${cookie?.name}=${cookie?.value}` };
  const withKey = { origin, 'x-live-lisp-key': key };
  for (const headers of [withCookie, withKey, { ...withCookie, 'x-live-lisp-key': 'x' }])
    expect((await send(origin, '/api/status', 'POST', headers)).status).toBe(401);
  expect((await send(origin, '/api/status', 'POST', { ...withCookie, ...withKey })).status).toBe(200);
  expect(await send(origin, '/api/nothing', 'POST', { ...withCookie, ...withKey })).toMatchObject({
    status: 404,
  });
});

/** Serves a hostile page at another port, which tries all that a page can try against TARGET. It keeps the headers of each request,
 *  because browsers send it the cookies of all ports. */
async function hostileServer(
  target: string,
): Promise<{ origin: string; seen: IncomingMessage['headers'][]; server: Server }> {
  const seen: IncomingMessage['headers'][] = [];
  const attack = `
    const outcomes = [];
    const tries = ${JSON.stringify(REQUESTS)}.flatMap((name) => [
      ['cors', { method: 'POST', credentials: 'include', headers: { 'content-type': 'application/json', 'x-live-lisp-key': 'x' } }],
      ['simple', { method: 'POST', credentials: 'include', headers: { 'content-type': 'text/plain' } }],
      ['no-cors', { method: 'POST', mode: 'no-cors', credentials: 'include' }],
      ['get', { method: 'GET', credentials: 'include' }],
      ...['PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'].map((method) => [method, { method, credentials: 'include' }]),
    ].map(async ([how, options]) => {
      const body = ['POST', 'PUT', 'PATCH', 'DELETE'].includes(options.method) ? JSON.stringify({ decision: 'once', id: 'x', link: 'x', job: 1 }) : undefined;
      const read = await fetch('${target}/api/' + name, { ...options, body }).then((response) => response.text(), () => '');
      if (read !== '') outcomes.push([name, how, read]);
    }));
    const load = (tag, set) => new Promise((resolve) => {
      const made = Object.assign(document.createElement(tag), set);
      made.onload = () => resolve(tag + ' loaded');
      made.onerror = () => resolve(undefined);
      document.body.append(made);
    });
    tries.push(load('script', { src: '${target}/page.js' }).then((got) => got && outcomes.push(got)));
    tries.push(load('img', { src: '${target}/api/answer' }).then((got) => got && outcomes.push(got)));
    const frame = document.createElement('iframe');
    frame.name = 'target';
    document.body.append(frame);
    for (const name of ${JSON.stringify(REQUESTS)}) {
      const form = Object.assign(document.createElement('form'), { method: 'post', action: '${target}/api/' + name, target: 'target', enctype: 'text/plain' });
      form.append(Object.assign(document.createElement('input'), { name: '{"decision":"once","x":"', value: '"}' }));
      document.body.append(form);
      form.submit();
      navigator.sendBeacon('${target}/api/' + name, '{"decision":"once"}');
    }
    const opens = (name, made) => tries.push(new Promise((resolve) => {
      made.onopen = () => { outcomes.push(name); resolve(); };
      made.onerror = resolve;
    }));
    opens('WebSocket', new WebSocket('${target.replace('http', 'ws')}/api/events'));
    opens('EventSource', new EventSource('${target}/api/events', { withCredentials: true }));
    const reads = (name, view) => {
      // Until the target is loaded this is an empty page of the hostile server itself.
      try { if (view.location.href !== 'about:blank') outcomes.push([name, view.document.body.textContent]); } catch {}
    };
    tries.push(new Promise((resolve) => {
      const inner = document.createElement('iframe');
      inner.onload = () => { reads('iframe', inner.contentWindow); resolve(); };
      document.body.append(inner);
      inner.src = '${target}/';
    }));
    const opened = window.open('${target}/');
    // The page leaves the group of windows of its opener, for which it is closed then.
    tries.push(new Promise((resolve) => {
      const look = () => opened === null || opened.closed ? resolve() : (reads('window', opened), setTimeout(look, 20));
      setTimeout(look, 20);
    }));
    Promise.all(tries).then(() => { document.title = 'tried: ' + JSON.stringify(outcomes); });`;
  const server = createServer(({ url, headers }, response) => {
    seen.push(headers);
    response.setHeader('content-type', 'text/html');
    // A cookie of a longer path comes before that of the page.
    const name = `live-lisp-${new URL(target).port}`;
    response.setHeader('set-cookie', [`${name}=x; Path=/api/answer`, `${name}=y; Path=/api/events`]);
    response.end(url === '/api/' || url === '/' ? `<body><script>${attack}</script></body>` : '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, server };
}

/** Resolves with what the hostile page in PAGE could read or load. */
async function triedIn(page: Page): Promise<unknown> {
  await page.waitForFunction("document.title.startsWith('tried: ')");
  return JSON.parse((await page.title()).replace('tried: ', ''));
}

test('a hostile page on another port reaches nothing, with the browser of the human', async () => {
  const context = await newBrowser();
  const page = await openPage(place, context);
  const target = new URL(page.url()).origin;
  const called = place.session.call('write_file', WRITE);
  await page.getByRole('button', { name: 'Approve once' }).waitFor();
  const { origin, seen } = await hostileServer(target);
  const hostile = await context.newPage();
  // The path is that of the cookie, so this server gets the cookie.
  await hostile.goto(`${origin}/api/`);
  expect(await triedIn(hostile)).toEqual([]);
  // With the cookie a program still has no pass.
  const { cookie = '' } = seen.find(({ cookie }) => cookie !== undefined) ?? {};
  expect(cookie).toContain('live-lisp-');
  for (const name of REQUESTS)
    expect((await send(target, `/api/${name}`, 'POST', { origin: target, cookie })).status).toBe(401);
  // Nothing was answered, interrupted or locked out.
  await page.reload();
  await page.getByRole('button', { name: 'Approve once' }).click();
  expect(await called).toEqual(good('Wrote 4 bytes to a.lisp'));
});
