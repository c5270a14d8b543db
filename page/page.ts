// The page of a session: connects its parts with the events of the session.

import { callBegan, callEnded, callGoesOn, callWaits, forgetCalls, watchFilter, watchLog } from './calls.ts';
import { offerImages, watchLookup } from './definitions.ts';
import { byId, element } from './dom.ts';
import { watchErrors } from './errors.ts';
import { watchImages } from './images.ts';
import { watchProfile } from './profile.ts';
import { ask, close, forgetQuestions, showCount } from './questions.ts';
import { watchRecording } from './recording.ts';
import { enter, listen, type SessionEvent } from './session.ts';
import { watchTests } from './tests.ts';

let images: readonly string[] | undefined;

function receive({ method, params }: SessionEvent): void {
  if (method === 'live-lisp/session') begin(params);
  if (method === 'live-lisp/began') callBegan(params);
  if (method === 'live-lisp/ended') callEnded(params);
  if (method === 'live-lisp/replaced') forgetQuestions();
  const id = String(params['id']);
  if (method === 'live-lisp/asked') {
    callWaits(id, params['call']);
    void ask(id, String(params['headline']));
  }
  if (method === 'live-lisp/closed') {
    callGoesOn(id);
    close(id, String(params['why']));
  }
}

/** Shows the session that the event describes. Called for each new connection. */
function begin({ workspace, images: names }: SessionEvent['params']): void {
  forgetQuestions();
  forgetCalls();
  byId('workspace').replaceChildren(...element('span', {}, String(workspace)).childNodes);
  const isFirst = images === undefined;
  images = Array.isArray(names) ? names.map(String) : [];
  offerImages(images);
  if (!isFirst) return;
  watchImages(() => images ?? []);
  watchErrors(() => images ?? []);
}

function say(text: string, connected: boolean): void {
  const line = byId('connection');
  if (line.textContent !== text) line.textContent = text;
  document.body.classList.toggle('disconnected', !connected);
  showCount();
}

watchFilter();
watchLog();
watchLookup();
watchProfile();
watchRecording();
watchTests();
try {
  await enter();
  await listen(receive, say);
} catch (error) {
  say((error as Error).message, false);
}
