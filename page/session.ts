// Communicates with the session: enters it with the secret in the page's address, sends requests, and receives events.

/** An event from the session. */
export interface SessionEvent {
  method: string;
  params: { readonly [name: string]: unknown };
}

/** The answer to a request for which the session calls a tool: the tool's data and text, or the reason why it
 * failed. */
export type Look = { data: unknown; text: string } | { error: string };

const KEY = 'live-lisp-key';
const NO_ANSWER =
  'The session does not answer; perhaps it has ended. live-lisp page opens the page of the session that runs now.';
const REPLACED =
  'Newer tabs of this browser show this session, and a browser has no connection for more. Reload this tab to use it again.';
/** Milliseconds between two attempts to connect. */
const AGAIN_MS = 1000;

/** If the address contains the secret of a link, exchanges it for a key to the session. Throws an error with a message
 * for the human when the session does not accept the secret. */
export async function enter(): Promise<void> {
  const link = location.hash.slice(1);
  if (!/^[\w-]{43}$/.test(link)) return;
  // This removes the secret from the address and from the history.
  history.replaceState(null, '', location.pathname);
  const response = await post('enter', { link });
  if (!response.ok) throw new Error(await response.text());
  const { key } = (await response.json()) as { key: string };
  sessionStorage.setItem(KEY, key);
}

function post(name: string, body: object): Promise<Response> {
  const key = sessionStorage.getItem(KEY);
  const headers = { 'content-type': 'application/json', ...(key !== null && { 'x-live-lisp-key': key }) };
  return fetch(`/api/${name}`, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** Sends the request NAME, and resolves with its answer. Throws an error with a message for the human when it fails. */
export async function request<Answer>(name: string, body: object = {}): Promise<Answer> {
  const response = await post(name, body).catch(() => {
    throw new Error(NO_ANSWER);
  });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Answer;
}

/** Sends the request NAME, for which the session calls a tool. Resolves with the answer, also when the request fails. */
export function look(name: string, asked: object = {}): Promise<Look> {
  return request<Look>(name, asked).catch((error: Error) => ({ error: error.message }));
}

/** Calls RECEIVE with each event of the session, and SAY with each change of the connection. Connects again when the
 * connection breaks. Resolves when the session does not admit this browser, or has disconnected this tab. */
export async function listen(
  receive: (event: SessionEvent) => void,
  say: (text: string, connected: boolean) => void,
): Promise<void> {
  let isReplaced = false;
  const receiveEvent = (event: SessionEvent) => {
    isReplaced ||= event.method === 'live-lisp/replaced';
    receive(event);
  };
  for (;;) {
    const response = await post('events', {}).catch(() => undefined);
    if (response?.status === 401) return say(await response.text(), false);
    if (response?.ok && response.body) {
      say('Connected', true);
      await readEvents(response.body, receiveEvent).catch(() => {});
    }
    if (isReplaced) return say(REPLACED, false);
    say(NO_ANSWER, false);
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

/** Reads server-sent events from BODY, up to its end. The browser's own EventSource cannot send the header that the
 * session requires. */
async function readEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  receive: (event: SessionEvent) => void,
): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (rest + value).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) receive(JSON.parse(event.replace(/^data: /, '')) as SessionEvent);
  }
}
