// Decides what the next answer tells besides its own text, and how much of it is kept when no answer comes for long.

import { type Ending, type Output, wholeText } from '../image.ts';
import type { Message } from '../wire/frames.ts';

/** Notices that are kept; the oldest make room. */
const LIMIT = 20;
/** Characters of each; it is bounded again where it is shown. */
const LENGTH_LIMIT = 50_000;

/** What happened since the last answer that its reader must know. */
export class Notices {
  #texts: string[] = [];
  #forgotten = 0;

  /** Keeps TEXT until it is taken. */
  add(text: string): void {
    this.#texts.push(
      text.length > LENGTH_LIMIT ? `${text.slice(0, LENGTH_LIMIT)}\n[... cut here ...]` : text,
    );
    if (this.#texts.length > LIMIT) {
      this.#texts.shift();
      this.#forgotten += 1;
    }
  }

  /** Returns what was kept, once, the oldest first. */
  take(): string[] {
    const missing =
      this.#forgotten === 0
        ? []
        : [`${this.#forgotten} earlier notices were left out: no answer could tell them.`];
    this.#forgotten = 0;
    return [...missing, ...this.#texts.splice(0)];
  }

  /** Adds what the process wrote past the agent. */
  addRaw(text: string): void {
    if (text !== '') this.add(`Written to the image's own stdout or stderr:\n${text}`);
  }

  /** Adds what MESSAGE, an answer, tells of other threads. */
  addBackground(message: Message): void {
    const background = message['background'] as Output | undefined;
    if (background) this.add(`Written by other threads since the last answer:\n${wholeText(background)}`);
  }

  /** Adds what became of a call that the client cancelled, whose answer nobody reads. */
  addCancelled(ending: Ending, afterMs: number, output: Output | undefined): void {
    const stopped = ending.kind === 'interrupted';
    const how = stopped ? 'was interrupted' : 'had ended before it could be interrupted,';
    const where = stopped && ending.frames[0] ? ` It was at ${ending.frames[0]}.` : '';
    const wrote = output ? ` It had written:\n${wholeText(output)}` : ' It had written nothing.';
    this.add(
      `A call that the client cancelled ${how} after ${(afterMs / 1000).toFixed(1)} s.${where}${wrote}`,
    );
  }

  /** Adds that the start FILE was left before its end. */
  addStartFile(file: string, ending: Ending, output: Output | undefined): void {
    const why = ending.kind === 'condition' ? ending.condition.text : ending.kind;
    this.add(
      `The start file ${file} was not loaded to its end: ${why}${output ? `\n${wholeText(output)}` : ''}`,
    );
  }
}
