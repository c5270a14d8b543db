// Decides what is told of that which the process writes past its agent, and which last words of its runtime count.

export type RawStream = 'stdout' | 'stderr';

/** Characters that are kept until they are taken, and of a line that has not ended. */
const LIMIT = 8000;
/** Characters of the reason for which the runtime gave up. */
const REASON_LIMIT = 100;

/** Lines of what SBCL's runtime says about conditions that the agent reports in a better way. They are its warning of a
 *  full stack, its tables of the heap and of the registers, and frames beyond the first ten. */
const CHATTER =
  /^(?:INFO: Control stack guard page |Heap exhausted during |GC control variables:| +\*[A-Z-]+\* = | +Immobile Object Counts| *Gen .*Mem-age| *(?:\d+|Tot)(?: +[\d.-]+){5,}(?: |$)| +\d{2,}: fp=0x|.* CPU state \(|sigmask=|(?: +(?:r\w{1,2}|xmm\d+))+$|(?: +[\dA-F]+){4,8}$)/;
/** How such lines begin, besides those that are indented. */
const BEGINNINGS = [
  'INFO: Control stack guard page ',
  'Heap exhausted during ',
  'GC control variables:',
  'Tot ',
  'sigmask=',
];

/** The end of the line before the reason: of a fatal error, and of what is one when "Exiting." follows. */
const FATAL = /fatal error encountered in SBCL pid (\d+).*:$/;
const CORRUPTION = /CORRUPTION WARNING in SBCL pid (\d+).*:$/;

export class RawOutput {
  #kept = '';
  /** The last line of each stream, which has not ended. */
  readonly #partial: Record<RawStream, string> = { stdout: '', stderr: '' };
  /** The same of stderr, whether it was taken or not. */
  #unheard = '';
  /** The process whose reason comes with the next line, and whether it is sure to end. */
  #announced: { pid: string; fatal: boolean } | undefined;
  #suspected: { pid: string; reason: string } | undefined;
  #fatal: { pid: string; reason: string } | undefined;

  /** Takes TEXT, which the process wrote to STREAM. */
  add(stream: RawStream, text: string): void {
    const lines = (this.#partial[stream] + text).split('\n');
    this.#partial[stream] = lines.pop()?.slice(-LIMIT) ?? '';
    if (stream === 'stderr') this.#hear(text);
    const told = lines.filter((line) => !CHATTER.test(line)).map((line) => `${line}\n`);
    this.#kept = (this.#kept + told.join('')).slice(-LIMIT);
  }

  /** Returns, once, what was written and is to be told. */
  take(): string {
    const kept = this.#kept;
    this.#kept = '';
    const partial = (['stdout', 'stderr'] as const).map((stream) => {
      const text = this.#partial[stream];
      // The rest of such a line would not be known any more.
      if (canBeChatter(text)) return '';
      this.#partial[stream] = '';
      return text;
    });
    return (kept + partial.join('')).slice(-LIMIT);
  }

  /** Why the runtime gave up, in a few words; undefined when it has not said that it did. */
  get fatal(): string | undefined {
    return this.#fatal && inShort(this.#fatal.reason);
  }

  /** What the runtime said last when it warned that its memory may be corrupted; undefined when it did not. */
  get corrupted(): string | undefined {
    return this.#suspected && inShort(this.#suspected.reason);
  }

  #hear(text: string): void {
    const lines = (this.#unheard + text).split('\n');
    this.#unheard = lines.pop()?.slice(-LIMIT) ?? '';
    for (const line of lines) this.#listen(line);
  }

  #listen(line: string): void {
    const announced = this.#announced;
    this.#announced = undefined;
    if (announced?.fatal) this.#takeFatal({ pid: announced.pid, reason: line });
    else if (announced) this.#suspected = { pid: announced.pid, reason: line };
    else if (line === 'Exiting.' && this.#suspected) this.#takeFatal(this.#suspected);
    else {
      const fatal = FATAL.exec(line)?.[1];
      const pid = fatal ?? CORRUPTION.exec(line)?.[1];
      if (pid !== undefined) this.#announced = { pid, fatal: fatal !== undefined };
    }
  }

  /** Of several, that of the process that came last is kept, its first: it can fail again while it reports. */
  #takeFatal(fatal: { pid: string; reason: string }): void {
    if (this.#fatal?.pid !== fatal.pid) this.#fatal = fatal;
  }
}

/** Whether TEXT, the beginning of a line, can be one of what the runtime says. */
function canBeChatter(text: string): boolean {
  if (text === '') return false;
  return text.startsWith(' ') || BEGINNINGS.some((each) => each.startsWith(text) || text.startsWith(each));
}

/** Returns REASON without what differs each time: addresses and where the registers point. */
function inShort(reason: string): string {
  return reason
    .replace(/ \(pc=.*/i, '')
    .replace(/(?:,? (?:\w+: ?|at |@ ?))?\b0x[\da-f]+/gi, '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, REASON_LIMIT)
    .replace(/[.,:\s]+$/, '');
}
