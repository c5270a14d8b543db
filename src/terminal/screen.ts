// Shows the output of a program on the terminal, line by line, and reads lines that a person enters.

import { createInterface, type Interface } from 'node:readline';

export interface Entered {
  /** Called with each line that the person enters, without the newline. */
  line: (text: string) => void;
  /** Called when the person types Ctrl-C. */
  interrupt: () => void;
  /** Called when the person types Ctrl-D on an empty line, and when the terminal is closed. */
  end: () => void;
}

/** Lets a person edit lines on the terminal of this process. Output that comes at the same time is shown above the
 * edited line. */
export class Screen {
  readonly #editor: Interface;
  /** The last line of the program's output if it is incomplete, such as the prompt of a REPL; else ''. */
  #lastLine = '';
  #isClosed = false;

  constructor({ line, interrupt, end }: Entered) {
    this.#editor = createInterface({ input: process.stdin, output: process.stdout, prompt: '' });
    this.#editor.on('line', (text) => {
      // The terminal has already echoed TEXT and a newline after the incomplete line.
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

  /** Shows LINES above the incomplete last line of the program's output. */
  show(lines: readonly string[]): void {
    if (!this.#isClosed) this.#above(lines.map((line) => `${line}\n`).join(''), this.#lastLine);
  }

  /** Shows TEXT above LAST_LINE. The line that the person edits follows LAST_LINE. */
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
