// Shows the calls of the session as they begin and end, and the calls in the audit log.

import { byId, clock, duration, element, objectIn, objectsIn } from './dom.ts';
import { look } from './session.ts';

/** Maximum number of calls in the list of new calls. Older calls are in the audit log. */
const LIMIT = 500;
/** Number of calls that one request gets from the audit log. */
const PAGE_SIZE = 100;

/** Maps the id of each running call to its row, and to the element that shows whether it runs, waits or has ended. */
const running = new Map<unknown, { row: HTMLElement; state: HTMLElement }>();

/** Maps the id of each open question to the id of the call that waits for the human's answer. */
const waiting = new Map<string, unknown>();

/** Maps the id of a call whose question is open to the end of this call. Under newer versions of MCP, such a call ends
 * before the human has answered: its result makes the client ask, and the client sends the answer in a new request. */
const ends = new Map<unknown, CallEnd>();

type CallEnd = { readonly [name: string]: unknown };

/** Removes all calls, because the session sends the recent ones again. */
export function forgetCalls(): void {
  running.clear();
  waiting.clear();
  ends.clear();
  byId('call-list').replaceChildren();
}

export function callBegan({ id, time, client, tool, lines }: { readonly [name: string]: unknown }): void {
  const list = byId('call-list');
  const state = element('span', { class: 'end' }, 'runs …');
  const args = (Array.isArray(lines) ? lines : []).map(String);
  const row = callRow(new Date(Number(time) * 1000), String(client), String(tool), state, args.join('\n'));
  running.set(id, { row, state });
  list.prepend(row);
  while (list.childElementCount > LIMIT) list.lastElementChild?.remove();
  byId('no-call').hidden = true;
  filterRow(row);
}

/** Shows that the call CALL waits for the answer to QUESTION. */
export function callWaits(question: string, call: unknown): void {
  waiting.set(question, call);
  showWait(call, true);
}

/** Shows that a call no longer waits for the answer to QUESTION. */
export function callGoesOn(question: string): void {
  const call = waiting.get(question);
  // Before callEnded, which does not show the end of a call whose question is open.
  waiting.delete(question);
  const end = ends.get(call);
  ends.delete(call);
  if (end === undefined) showWait(call, false);
  else callEnded(end);
}

function showWait(call: unknown, isWaiting: boolean): void {
  const found = running.get(call);
  if (found === undefined) return;
  found.state.textContent = isWaiting ? 'waits for your answer, above' : 'runs …';
  found.row.classList.toggle('waiting', isWaiting);
  filterRow(found.row);
}

export function callEnded(end: CallEnd): void {
  const { id, isError, milliseconds, line } = end;
  if ([...waiting.values()].includes(id)) {
    ends.set(id, end);
    return;
  }
  const found = running.get(id);
  if (found === undefined) return;
  running.delete(id);
  const { row, state } = found;
  state.replaceChildren(endText(isError !== true, Number(milliseconds)), element('bdi', {}, String(line)));
  row.classList.remove('waiting');
  row.classList.toggle('failed', isError === true);
  filterRow(row);
}

function endText(succeeded: boolean, milliseconds: number): string {
  return `${succeeded ? 'done' : 'failed'} in ${duration(milliseconds)} `;
}

function callRow(date: Date, client: string, tool: string, state: HTMLElement, args: string): HTMLElement {
  // Without the spaces, screen readers would read the parts as one word.
  const head = element(
    'summary',
    {},
    element('time', { set: { datetime: date.toISOString() } }, clock(date)),
    ' ',
    element('bdi', { class: 'client' }, client),
    ' ',
    element('bdi', { class: 'tool' }, tool),
    ' ',
    state,
  );
  return element('li', {}, element('details', {}, head, element('pre', {}, args)));
}

/** From now on, filters the lists of calls again whenever the user changes the filter text. */
export function watchFilter(): void {
  const filterAll = () => {
    for (const row of document.querySelectorAll<HTMLElement>('#call-list > li, #log-list > li'))
      filterRow(row);
  };
  byId('filter').addEventListener('input', filterAll);
  byId('filter').addEventListener('submit', (event) => event.preventDefault());
}

function filterRow(row: HTMLElement): void {
  const text = (byId('filter-text') as HTMLInputElement).value.toLowerCase();
  const failedOnly = (byId('filter-failed') as HTMLInputElement).checked;
  const fits = text === '' || row.textContent.toLowerCase().includes(text);
  row.hidden = !fits || (failedOnly && !row.classList.contains('failed'));
}

/** Shows the audit log in parts. Loads the first part when the human opens the log, and each further part at a
 * click. */
export function watchLog(): void {
  const log = byId('log') as HTMLDetailsElement;
  const list = byId('log-list');
  const more = byId('log-more') as HTMLButtonElement;
  const load = async () => {
    more.disabled = true;
    const { rows, total, atLeast, why } = await logPage(list.childElementCount);
    list.append(...rows);
    for (const row of rows) filterRow(row);
    const shown = list.childElementCount;
    byId('log-state').textContent =
      why ?? `${shown} of ${atLeast ? 'at least ' : ''}${total} calls are shown.`;
    more.disabled = false;
    more.hidden = rows.length === 0 || (!atLeast && shown >= total);
  };
  more.addEventListener('click', () => void load());
  log.addEventListener('toggle', () => {
    if (!log.open) return;
    list.replaceChildren();
    void load();
  });
}

async function logPage(offset: number) {
  const nothing = { rows: [], total: 0, atLeast: false };
  const answer = await look('log', { limit: PAGE_SIZE, offset });
  if ('error' in answer) return { ...nothing, why: answer.error };
  const { calls, total, atLeast } = objectIn(answer.data);
  const rows = objectsIn(calls).map(logRow);
  return { rows, total: Number(total), atLeast: atLeast === true, why: undefined };
}

function logRow(call: { readonly [name: string]: unknown }): HTMLElement {
  const { time, tool, caller, authority, image } = call;
  const { success, milliseconds, error } = objectIn(call['end']);
  const how = success === undefined ? 'unfinished ' : endText(success === true, Number(milliseconds));
  const by = [caller, authority, image].filter((each) => each !== undefined).join(', ');
  const state = element(
    'span',
    { class: 'end' },
    how,
    element('bdi', {}, error === undefined ? '' : String(error)),
  );
  const date = new Date(String(time));
  const row = callRow(date, by, String(tool), state, JSON.stringify(call['arguments'], null, 2));
  row.querySelector('time')?.replaceChildren(date.toLocaleString('sv'));
  row.classList.toggle('failed', success === false);
  return row;
}
