// A terminal that shows the output of a program line by line, and takes lines that a person enters.

import { createInterface, type Interface } from 'node:readline';

export interface Entered {
  /** Called with each line that the person enters, without its end. */
  line: (text: string) => void;
  /** Called for Ctrl-C. */
  interrupt: () => void;
  /** Called for Ctrl-D on an empty line, and when the terminal is gone. */
  end: () => void;
}

/** Edits lines on the terminal of this process. Output that comes meanwhile is shown above the line that is being
 *  edited. */
export class Screen {
  readonly #editor: Interface;
  /** The beginning of the last line of the program's output, if this line has not ended, such as the
   *  prompt of a REPL. */
  #lastLine = '';
  #isClosed = false;

  constructor({ line, interrupt, end }: Entered) {
    this.#editor = createInterface({ input: process.stdin, output: process.stdout, prompt: '' });
    this.#editor.on('line', (text) => {
      // The terminal shows the text behind the last line of the output, and the end of the line.
      this.#lastLine = '';
      this.#editor.setPrompt('');
      line(text);
    });
    this.#editor.on('SIGINT', interrupt);
    this.#editor.on('close', () => {
      this.#isClosed = true;
      end();
    });
  }

  write(text: string): void {
    const whole = this.#lastLine + text;
    const end = whole.lastIndexOf('\n') + 1;
    if (this.#isClosed) process.stdout.write(text);
    else this.#above(whole.slice(0, end), whole.slice(end));
  }

  /** Shows LINES above the last line of the program's output. */
  show(lines: readonly string[]): void {
    if (!this.#isClosed) this.#above(lines.map((line) => `${line}\n`).join(''), this.#lastLine);
  }

  /** Shows TEXT above LAST_LINE, with the line that is being edited behind that. */
  #above(text: string, lastLine: string): void {
    const { line, cursor } = this.#editor;
    this.#edit('', '', 0);
    process.stdout.write(text);
    this.#edit(lastLine, line, cursor);
    this.#lastLine = lastLine;
  }

  #edit(prompt: string, line: string, cursor: number): void {
    Object.assign(this.#editor, { line, cursor }); // Readline has no other way to replace the line.
    this.#editor.setPrompt(prompt);
    this.#editor.prompt(true);
  }

  close(): void {
    this.#editor.close();
  }
}
