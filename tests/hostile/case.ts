// Decides what a hostile case is: code that a model could send, what must be answered, and what must be left.

export interface HostileCase {
  /** What it does, in a few words; no two cases have the same. */
  name: string;
  /** What is evaluated. */
  form: string;
  /** Another tool that is called with FORM in the place of `$`, instead of eval_form. */
  tool?: { name: string; args: Record<string, unknown> };
  /** A form whose error is held before. Its number stands for `#` in the arguments of TOOL, and it is ended afterwards. */
  held?: string;
  /** What is evaluated before, and must succeed. */
  before?: string;
  /** Seconds that the call may take; LIMIT_S when absent. */
  seconds?: number;
  /** Whether only its limit ends it, though the answer does not tell that. */
  endless?: true;
  /** What the answer must match. */
  says: RegExp;
  /** Whether the answer is no error; whoever gets a signal can make it either. */
  succeeds?: true | 'maybe';
  /** Whether the image must be another one afterwards, or may be; it must be kept when absent. */
  image?: 'replaced' | 'either';
  /** Whether the next image has to compile the backend first. */
  recompiles?: true;
  /** Whether the image stands still as a whole, so that only what needs no image is answered meanwhile. */
  freezes?: true;
  /** Evaluated afterwards, to show what is kept, and how it must be answered; SYMBOL-VALUE of a variable when absent. */
  probe?: [form: string, answer: RegExp];
  /** Whether the session is meant to be unusable for other cases afterwards. */
  spoils?: true;
  /** Whether it is left to the long run, because it takes long or is much like another. */
  long?: true;
}

export interface Group {
  title: string;
  cases: HostileCase[];
}

/** Returns the arguments of TOOL, with FORM and the number HELD of an error in their places. */
export function argumentsOf(
  { args }: NonNullable<HostileCase['tool']>,
  form: string,
  held: number | undefined,
): Record<string, unknown> {
  const places = new Map<unknown, unknown>([
    ['$', form],
    ['#', held],
  ]);
  return Object.fromEntries(
    Object.entries(args).map(([key, value]) => [key, places.has(value) ? places.get(value) : value]),
  );
}

/** Seconds that the call of a case may take. */
export const LIMIT_S = 0.5;
/** The same in the short run for a form that does nothing but wait for its interrupt. Tests of other parts run beside it, so
 *  it takes longer to begin. */
export const SHORT_SPIN_S = 1;

/** How the answer to a call begins that was interrupted at its limit. */
export const INTERRUPTED =
  /^Error: Interrupted after \d+\.\d s, past the limit of this call; the image and what was done so far are kept\./;

/** As INTERRUPTED, with the newest frame being a call of NAME. */
export function interruptedIn(name: string): RegExp {
  return new RegExp(`${INTERRUPTED.source}[\\s\\S]*\\n\\nIt was at:\\n  0: \\(COMMON-LISP-USER::${name}\\b`);
}

/** How the answer to a call begins whose thread had to be ended. */
export const THREAD_ENDED =
  /^Error: Its thread was ended after \d+\.\d s because it did not react to being interrupted; the image is kept\./;

/** How the answer to a call begins that was about to exhaust the heap. */
export const HEAP =
  /^Error: (?:Interrupted after \d+\.\d s because it was about to exhaust the heap; the image is kept\. Allocate less at once, or ask the user for a larger --heap\.|Heap exhausted)/;

/** What a call answers during which the image was lost, which ended as HOW tells. */
export function lost(how: string): RegExp {
  return new RegExp(
    `^Error: The Lisp image was lost during this call: ${how}\\. The next call gets a new image\\.`,
  );
}

export const UNINTERRUPTIBLE = lost('a call could not be interrupted, so the image had to be replaced');

/** How calls are answered that were ended because of their limit. */
const AT_LIMIT = [
  'Error: Interrupted after 0.5 s, past the limit of this call; the image and what was done so far are kept.',
  'Error: Its thread was ended after 0.5 s because it did not react to being interrupted; the image is kept.',
  'Error: The Lisp image was lost during this call: a call could not be interrupted, so the image had to be replaced. The next call gets a new image.',
];

/** Returns whether what is answered as SAYS has it does nothing but wait for its limit. */
export function isInterrupted(says: RegExp): boolean {
  return says.source.startsWith(INTERRUPTED.source);
}

/** Returns whether what is answered as SAYS has it comes to an end before its limit. However slow the machine is, it needs a
 *  limit then that it cannot reach. */
export function endsItself(says: RegExp): boolean {
  return !/interrupted/i.test(says.source) && !AT_LIMIT.some((text) => says.test(text));
}
