// Decides what is told with the next answer that nobody asked for, and how it reads.

import { type Ending, type Output, wholeText } from './image.ts';
import type { Message } from './wire.ts';

/** What happened since the last answer that its reader must know. */
export class Notices {
  #texts: string[] = [];

  add(...texts: string[]): void {
    this.#texts.push(...texts);
  }

  /** Returns them, once. */
  take(): string[] {
    return this.#texts.splice(0);
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
