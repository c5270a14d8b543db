// What is measured of a client with a human: what they see of progress and of a question, and which keys answer it.

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Conversation, converse, evaluation, PROMPT } from './conversation.ts';
import { refusalSaid } from './headless.ts';
import type { Host } from './hosts.ts';
import type { Place } from './place.ts';
import { pause, Terminal } from './terminal.ts';

/** What was seen of a long call. */
export interface Watched {
  /** The line of the screen that shows how far it is. */
  progress: string;
  cancel: string;
}

/** What was seen of a question. */
export interface Questioned {
  screen: string;
  /** Lines of the diff on the screen, of how many. */
  shown: number;
  changed: number;
  /** The fewest of the tried keys that approve. */
  keys: string;
  /** What the model reads when the human presses Escape. */
  refused: string;
}

/** opencode takes half a minute to draw anything. */
const START_MS = 150_000;
const SHOWN_MS = 12_000;
const DRAWN_MS = 2500;

const LONG = evaluation('(dotimes (step 60 :done) (format t "at step ~d~%" step) (finish-output) (sleep 1))');

/** Runs HOST in a terminal through a long call that its human cancels, and one after it. */
export function measureWatched(host: Host): Promise<Watched> {
  return converse(host, [LONG, evaluation('(+ 1 1)')], {}, async ({ place, script }) => {
    const terminal = new Terminal(place, PROMPT);
    try {
      const { wire } = place;
      if (!(await terminal.until(() => wire.calls('eval_form') > 0, START_MS))) throw stuck(host, terminal);
      const shown = () =>
        terminal.screen
          .split('\n')
          .find((line) => /last line|at step \d/.test(line) && !/format t/.test(line));
      await terminal.until(() => shown() !== undefined, SHOWN_MS);
      const progress = shown()?.trim() ?? '';
      const keys = host.cancel.join(' ');
      await terminal.press(...host.cancel);
      const sent = await terminal.until(
        () => wire.of('client', 'notifications/cancelled').length > 0,
        SHOWN_MS,
      );
      if (!sent) return { progress, cancel: `${keys} sends nothing, so the call goes on` };
      await pause(DRAWN_MS);
      await terminal.type('Go on.');
      const next = await terminal.until(() => script.done, SHOWN_MS);
      const told = script.went[1]?.read.includes('client cancelled') === true;
      const after = next ? `the next answer ${told ? 'tells of it' : 'does not tell'}` : 'no next call came';
      return { progress, cancel: `${keys} cancels; ${after}` };
    } finally {
      await terminal.close();
    }
  });
}

function stuck(host: Host, terminal: Terminal): Error {
  return new Error(`${host.name} made no call. Its screen:\n${terminal.screen}`);
}

const FILE = 'shape.lisp';
const BEFORE = '(defun area (side)\n  (* side side))\n\n(defun around (side)\n  (* 4 side))\n';
const AFTER =
  '(defun area (width height)\n  (* width height))\n\n(defun around (width height)\n  (* 2 (+ width height)))\n';
const WRITE = { tool: 'write_file', args: { path: FILE, content: AFTER } };

const lines = (text: string) => text.split('\n').filter((line) => line !== '');
/** The lines of the diff: those that go, and those that come. */
const CHANGED = [
  ...lines(BEFORE).filter((line) => !lines(AFTER).includes(line)),
  ...lines(AFTER).filter((line) => !lines(BEFORE).includes(line)),
];

/** Keys that may approve, the fewest first. */
const TRIED: readonly (readonly string[])[] = [
  ['Enter'],
  ['Down', 'Enter'],
  ['Enter', 'Enter'],
  ['C-n', 'Enter'],
  ['Enter', 'Down', 'Enter'],
  ['C-n', 'Enter', 'Enter'],
  ['Right', 'Enter', 'Down', 'Enter'],
  ['Right', 'Enter', 'Down', 'Down', 'Enter'],
];

/** Runs HOST in a terminal through a change that its human is asked about; undefined when it asks nobody. */
export async function measureAsked(host: Host): Promise<Questioned | undefined> {
  const first = await ask(host, ['Escape']);
  if (first === undefined) return undefined;
  const { screen, read } = first;
  // Where a client wraps lines, one can begin anew at any space.
  const words = oneLine(screen);
  const shown = CHANGED.filter((line) => words.includes(oneLine(line)));
  const seen = { screen, shown: shown.length, changed: CHANGED.length, refused: refusalSaid(read) };
  for (const keys of TRIED) {
    const tried = await ask(host, keys);
    if (tried?.text === AFTER) return { ...seen, keys: keys.join(', ') };
  }
  return { ...seen, keys: '' };
}

function oneLine(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}

interface Answered {
  screen: string;
  read: string;
  /** The file afterwards. */
  text: string;
}

/** Asks the human of HOST, who presses KEYS. */
function ask(host: Host, keys: readonly string[]): Promise<Answered | undefined> {
  return converse(host, [WRITE], { [FILE]: BEFORE }, async ({ place, script }: Conversation) => {
    const terminal = new Terminal(place, PROMPT);
    try {
      const asked = await terminal.until(() => place.wire.questions.length > 0 || script.done, START_MS);
      if (!asked) throw stuck(host, terminal);
      if (place.wire.questions.length === 0) return undefined;
      await pause(DRAWN_MS);
      const screen = terminal.screen;
      await terminal.press(...keys);
      const changed = () => readFileSync(join(place.setup.workspace, FILE), 'utf8');
      await terminal.until(() => script.done, DRAWN_MS);
      if (changed() === AFTER) await terminal.until(() => script.done, SHOWN_MS);
      const tidy = (text: string) => withoutPlaces(text, place);
      return {
        screen: tidy(screen),
        read: tidy(script.went[0]?.read ?? ''),
        text: existsSync(join(place.setup.workspace, FILE)) ? changed() : '',
      };
    } finally {
      await terminal.close();
    }
  });
}

/** Returns TEXT without what is another in each run. */
function withoutPlaces(text: string, { setup: { home, workspace } }: Place): string {
  return text
    .replaceAll(workspace, 'WORKSPACE')
    .replaceAll(dirname(home), 'FOLDER')
    .replace(/\d+-[0-9a-f]{8}(?=\.diff)/g, 'NUMBER');
}
