// Filters the output of the image's process to its standard streams. Finds in it the reason of a fatal error of SBCL's
// runtime.

type RawStream = 'stdout' | 'stderr';

/** Maximum number of characters of output that are stored, and of each incomplete line. */
const LIMIT = 8000;
/** Maximum number of characters of the reason of a fatal error. */
const REASON_LIMIT = 100;

/** Matches lines of SBCL's runtime about events that the backend reports better: warnings that the stack is full,
 * tables of the heap and the registers, and stack frames after the first ten. */
const CHATTER =
  /^(?:INFO: Control stack guard page |Heap exhausted during | +Immobile Object Counts$| +\| Immobile Objects \|$| *Gen .*Mem-age| *(?:\d+|Tot)(?: +[\d.-]+){5,}(?: |$)| +\d{2,}: fp=0x|.* CPU state \(|sigmask=|(?: +(?:r\w{1,2}|xmm\d+))+$|(?: +[\dA-F]+){4,8}$)/;
/** Matches the heading of a list of variables of the runtime, which it writes after the table of the heap. */
const VARIABLES = /^(?:GC control|Collection trigger) variables:$/;
/** Matches a line of such a list. */
const VARIABLE = /^ {3}[\w*-]+ = [\w ]+$/;
/** The texts with which a line that CHATTER or VARIABLES matches can begin, if it is not indented. */
const BEGINNINGS = [
  'INFO: Control stack guard page ',
  'Heap exhausted during ',
  'GC control variables:',
  'Collection trigger variables:',
  'Tot ',
  'sigmask=',
];

/** Matches the line that precedes the reason of a fatal error. */
const FATAL = /fatal error encountered in SBCL pid (\d+).*:$/;
/** Matches the line that precedes the reason of a warning that memory may be corrupted. If the line "Exiting." follows,
 * the warning is a fatal error. */
const CORRUPTION = /CORRUPTION WARNING in SBCL pid (\d+).*:$/;

export class RawOutput {
  #buffer = '';
  readonly #partial: Record<RawStream, string> = { stdout: '', stderr: '' };
  /** For each stream: true when its last line belonged to a list of variables. */
  readonly #inVariables: Record<RawStream, boolean> = { stdout: false, stderr: false };
  /** The incomplete last line of stderr. It is kept here even after `take` has returned it. */
  #stderrRemainder = '';
  /** Set after a line that FATAL or CORRUPTION matches: the next line is the reason. `pid` is the id of the failing
   * process. `fatal` is false for a warning that memory may be corrupted. */
  #announced: { pid: string; fatal: boolean } | undefined;
  #corruption: { pid: string; reason: string } | undefined;
  #fatal: { pid: string; reason: string } | undefined;

  add(stream: RawStream, text: string): void {
    const lines = (this.#partial[stream] + text).split('\n');
    this.#partial[stream] = lines.pop()?.slice(-LIMIT) ?? '';
    if (stream === 'stderr') this.#scanStderr(text);
    const passed = lines.filter((line) => !this.#isChatter(stream, line)).map((line) => `${line}\n`);
    this.#buffer = (this.#buffer + passed.join('')).slice(-LIMIT);
  }

  /** Returns the output since the previous call, without chatter of the runtime. */
  take(): string {
    const buffered = this.#buffer;
    this.#buffer = '';
    const partial = (['stdout', 'stderr'] as const).map((stream) => {
      const text = this.#partial[stream];
      // An incomplete line that may become chatter is kept, because the rest of the line alone would not be recognized.
      if (canBeChatter(text)) return '';
      this.#partial[stream] = '';
      return text;
    });
    return (buffered + partial.join('')).slice(-LIMIT);
  }

  /** The reason of the runtime's fatal error, shortened; undefined when there was none. */
  get fatal(): string | undefined {
    return this.#fatal && withoutAddresses(this.#fatal.reason);
  }

  /** The last warning of the runtime that its memory may be corrupted; undefined when there was none. */
  get corrupted(): string | undefined {
    return this.#corruption && withoutAddresses(this.#corruption.reason);
  }

  /** Returns true when LINE, the next line of STREAM, is chatter of the runtime. */
  #isChatter(stream: RawStream, line: string): boolean {
    const begins = VARIABLES.test(line);
    this.#inVariables[stream] = begins || (this.#inVariables[stream] && VARIABLE.test(line));
    return this.#inVariables[stream] || CHATTER.test(line);
  }

  #scanStderr(text: string): void {
    const lines = (this.#stderrRemainder + text).split('\n');
    this.#stderrRemainder = lines.pop()?.slice(-LIMIT) ?? '';
    for (const line of lines) this.#scanLine(line);
  }

  #scanLine(line: string): void {
    const announced = this.#announced;
    this.#announced = undefined;
    if (announced?.fatal) this.#takeFatal({ pid: announced.pid, reason: line });
    else if (announced) this.#corruption = { pid: announced.pid, reason: line };
    else if (line === 'Exiting.' && this.#corruption) this.#takeFatal(this.#corruption);
    else {
      const fatal = FATAL.exec(line)?.[1];
      const pid = fatal ?? CORRUPTION.exec(line)?.[1];
      if (pid !== undefined) this.#announced = { pid, fatal: fatal !== undefined };
    }
  }

  /** Records the first fatal error of a process. Later errors are ignored, because a process can fail again while it
   * reports its first error. */
  #takeFatal(fatal: { pid: string; reason: string }): void {
    if (this.#fatal?.pid !== fatal.pid) this.#fatal = fatal;
  }
}

function canBeChatter(text: string): boolean {
  if (text === '') return false;
  return text.startsWith(' ') || BEGINNINGS.some((each) => each.startsWith(text) || text.startsWith(each));
}

/** Returns REASON, shortened. Addresses and registers are left out, because they differ each time. */
function withoutAddresses(reason: string): string {
  return reason
    .replace(/ \(pc=.*/i, '')
    .replace(/(?:,? (?:\w+: ?|at |@ ?))?\b0x[\da-f]+/gi, '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, REASON_LIMIT)
    .replace(/[.,:\s]+$/, '');
}
