// Shows the questions that wait for the human, and sends the human's answers.

import { visible } from '../src/visible.ts';
import { diffElement } from './diff.ts';
import { announce, button, byId, element, shownText } from './dom.ts';
import { request } from './session.ts';

/** A question as the session shows it. */
interface Question {
  id: string;
  headline: string;
  tool: string;
  text: string;
  args: { readonly [name: string]: unknown };
  sessionScope?: string;
  /** The digest of the shown question. The answer must contain it. */
  shown: string;
}

/** Milliseconds for which no answer is accepted after the questions have moved, because a click could be meant for the
 * question that was at this place before. */
const SETTLE_MS = 500;

/** The open questions, by their ids. */
const open = new Map<string, HTMLElement>();

/** Removes all questions, because the session sends the open ones again. */
export function forgetQuestions(): void {
  for (const article of open.values()) article.remove();
  open.clear();
  showCount();
}

/** Shows the question ID with HEADLINE, then requests the rest of the question and shows it too. */
export async function ask(id: string, headline: string): Promise<void> {
  if (open.has(id)) return;
  const article = element('article', { class: 'question', set: { 'aria-label': 'Question' } });
  article.append(shownText('h3', 'headline', headline));
  open.set(id, article);
  byId('question-list').append(article);
  showCount();
  announce(`A question waits: ${headline}`);
  try {
    const question = await request<Question | { closed: true }>('question', { id });
    if (!('closed' in question) && open.has(id)) show(question, article);
  } catch (error) {
    article.append(element('p', { class: 'problem' }, (error as Error).message));
  }
}

/** Removes the question ID, and shows the reason WHY. */
export function close(id: string, why: string): void {
  const article = open.get(id);
  if (article === undefined) return;
  const hadFocus = article.contains(document.activeElement);
  open.delete(id);
  article.remove();
  showCount();
  settle();
  announce(`A question is closed: ${why}.`);
  byId('last-closed').replaceChildren(...element('span', {}, `The last question: ${why}.`).childNodes);
  if (hadFocus) byId('questions-title').focus();
}

let settling: ReturnType<typeof setTimeout> | undefined;

/** Accepts no answers for SETTLE_MS. */
function settle(): void {
  const set = (value: string) => {
    for (const each of byId('question-list').querySelectorAll('button'))
      each.setAttribute('aria-disabled', value);
  };
  set('true');
  clearTimeout(settling);
  settling = setTimeout(set, SETTLE_MS, 'false');
}

/** Shows the number of open questions in the heading. While the page is connected to the session, shows it in the title
 * too. */
export function showCount(): void {
  byId('no-question').hidden = open.size > 0;
  byId('questions-title').textContent = open.size === 0 ? 'Questions' : `Questions (${open.size})`;
  const isGone = document.body.classList.contains('disconnected');
  const number = open.size === 0 || isGone ? '' : `(${open.size}) `;
  document.title = `${number}live-lisp${isGone ? ': no connection' : ''}`;
}

function show(question: Question, article: HTMLElement): void {
  article.append(...questionParts(question, article));
  settle();
}

function questionParts(question: Question, article: HTMLElement): HTMLElement[] {
  const setDisabled = (value: boolean) => {
    for (const each of article.querySelectorAll('button')) each.setAttribute('aria-disabled', String(value));
  };
  const answer = async (decision: string, more: object = {}) => {
    if (article.querySelector('button')?.getAttribute('aria-disabled') === 'true') return;
    setDisabled(true);
    // An answer does not count if, for example, the question is closed already.
    const said = await request<{ counts: boolean; text: string }>('answer', {
      id: question.id,
      shown: question.shown,
      decision,
      ...more,
    }).catch((error: Error) => ({ counts: false, text: error.message }));
    announce(said.text);
    if (said.counts) return;
    problem.textContent = said.text;
    setDisabled(false);
  };
  const problem = element('p', { class: 'problem', set: { role: 'alert' } });
  const words = element('input', {
    class: 'words',
    set: { maxlength: '2000', autocomplete: 'off', 'aria-label': 'A word to the model, if you deny' },
  });
  words.placeholder = 'A word to the model, if you deny';
  const { sessionScope } = question;
  const buttons = element(
    'div',
    { class: 'answers' },
    button('Approve once', () => void answer('once'), 'approve'),
    sessionScope !== undefined && sessionButton(sessionScope, () => void answer('session')),
    element(
      'div',
      { class: 'denial' },
      button('Deny', () => void answer('deny', { words: words.value }), 'deny'),
      words,
    ),
  );
  return [
    diffElement(question.text),
    buttons,
    changesElement(question, (args) => answer('changed', { args })),
    problem,
  ];
}

function sessionButton(scope: string, act: () => void): HTMLButtonElement {
  const made = element('button', { class: 'approve', set: { type: 'button' }, on: { click: act } });
  made.append(`Approve ${scope}`);
  return made;
}

/** Returns an element in which the human can change the arguments of QUESTION. SEND approves the call with the changed
 * arguments. */
function changesElement({ args }: Question, send: (args: object) => void): HTMLElement {
  const details = element('details', { class: 'changes' }, element('summary', {}, 'Approve with changes'));
  const fields = new Map<string, HTMLTextAreaElement>();
  for (const [name, value] of Object.entries(args)) {
    const text = textOfArgument(value);
    // A text field would apply hidden characters and not show their codes.
    if (visible(text) !== text) {
      details.append(element('p', {}, `${name} has hidden characters, so it stays as it is.`));
      continue;
    }
    const field = element('textarea', { set: { spellcheck: 'false', rows: String(rowsFor(text)) } });
    field.value = text;
    fields.set(name, field);
    details.append(element('label', {}, name, field));
  }
  const problem = element('p', { class: 'problem', set: { role: 'alert' } });
  const act = () => {
    try {
      const changed = [...fields].map(([name, { value }]) => [name, argumentIn(value, args[name], name)]);
      send({ ...args, ...Object.fromEntries(changed) });
    } catch (error) {
      problem.textContent = (error as Error).message;
    }
  };
  details.append(button('Approve these arguments', act, 'approve'), problem);
  return details;
}

function textOfArgument(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** Returns the new value of the argument NAME, which the human entered as TEXT. If BEFORE, its old value, is a string,
 * the new value is TEXT itself; otherwise TEXT must be JSON. */
function argumentIn(text: string, before: unknown, name: string): unknown {
  if (typeof before === 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${name} is not JSON. Correct it, and approve again.`);
  }
}

function rowsFor(text: string): number {
  return Math.min(20, text.split('\n').length + 1);
}
