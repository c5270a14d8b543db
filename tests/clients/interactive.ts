// What is measured of a client with a human: what they see of progress and of a question, and which keys answer it.

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Conversation, converse, evaluation, PROMPT } from './conversation.ts';
import { refusalText } from './headless.ts';
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
  /** Lines of the diff on the first screen, of how many. */
  shown: number;
  changed: number;
  /** Pages that were turned, and lines on all of them. */
  turned: number;
  shownLater: number;
  /** The choice that the first screen stands on. */
  preset: string;
  /** Whether the human could approve with the keys of the client. */
  written: boolean;
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
      const reported = script.went[1]?.read.includes('client cancelled') === true;
      const after = next
        ? `the next answer ${reported ? 'tells of it' : 'does not tell'}`
        : 'no next call came';
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

/** A change of a file in which as many lines come as go. */
export interface Sample {
  before: string;
  after: string;
  /** Its lines as a diff has them. */
  changed: readonly string[];
}

/** Returns a change of a function with LINES lines that become others. */
export function sampleOf(lines: number): Sample {
  const body = (name: string) =>
    Array.from({ length: lines }, (_, index) => `  (${name} shape :side ${index + 1})`);
  const [before, after] = [body('measure'), body('measure-side')];
  const text = (middle: string[]) => `(defun area (shape)\n${middle.join('\n')}\n  shape)\n`;
  const changed = [...before.map((line) => `-${line}`), ...after.map((line) => `+${line}`)];
  return { before: text(before), after: text(after), changed };
}

/** Runs HOST in a terminal through the change of SAMPLE, which its human is asked about; undefined when it asks nobody. */
export async function measureAsked(host: Host, sample: Sample): Promise<Questioned | undefined> {
  const { answer } = host;
  const refused = await ask(host, sample, async (terminal) => terminal.press('Escape'));
  if (refused === undefined) return undefined;
  const { screens, read } = refused;
  const [screen = ''] = screens;
  const approved =
    answer &&
    (await ask(host, sample, async (terminal, see) => {
      while (offers(terminal.screen, 'show more')) {
        await terminal.press(...answer.preset);
        await pause(DRAWN_MS);
        see();
      }
      await terminal.press(...(offers(terminal.screen, 'approve') ? answer.preset : answer.second));
    }));
  const pages = approved?.screens ?? [];
  return {
    screen,
    changed: sample.changed.length,
    shown: shownIn([screen], sample),
    turned: pages.length - 1,
    shownLater: shownIn(pages, sample),
    preset: offers(screen, 'show more') ? 'show more' : offers(screen, 'approve') ? 'approve' : 'nothing',
    written: approved?.text === sample.after,
    refused: refusalText(read),
  };
}

/** Returns whether CHOICE is what a client stands on, as its SCREEN shows it. */
function offers(screen: string, choice: string): boolean {
  return new RegExp(`(?:\u25b8 |\u203a 1\\. )${choice}$`, 'm').test(screen);
}

/** Returns how many lines of SAMPLE stand on SCREENS. Where a client wraps lines, one can begin anew at any space. */
function shownIn(screens: readonly string[], { changed }: Sample): number {
  const words = screens.map(oneLine);
  return changed.filter((line) => words.some((each) => each.includes(oneLine(line)))).length;
}

function oneLine(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}

interface Answered {
  screens: string[];
  read: string;
  /** The file afterwards. */
  text: string;
}

/** Asks the human of HOST about SAMPLE, who does what ANSWERS does. It calls SEE for what is on the screen later. */
function ask(
  host: Host,
  { before, after }: Sample,
  answers: (terminal: Terminal, see: () => void) => Promise<void>,
): Promise<Answered | undefined> {
  const write = { tool: 'write_file', args: { path: FILE, content: after } };
  return converse(host, [write], { [FILE]: before }, async ({ place, script }: Conversation) => {
    const terminal = new Terminal(place, PROMPT);
    try {
      const asked = await terminal.until(() => place.wire.questions.length > 0 || script.done, START_MS);
      if (!asked) throw stuck(host, terminal);
      if (place.wire.questions.length === 0) return undefined;
      await pause(DRAWN_MS);
      const screens = [terminal.screen];
      await answers(terminal, () => void screens.push(terminal.screen));
      await terminal.until(() => script.done, SHOWN_MS);
      const tidy = (text: string) => withoutPlaces(text, place);
      return {
        screens: screens.map(tidy),
        read: tidy(script.went[0]?.read ?? ''),
        text: readFileSync(join(place.setup.workspace, FILE), 'utf8'),
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
    .replace(/[0-9a-f]{4}(?=\.diff)/g, 'NAME');
}
