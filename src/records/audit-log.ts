// Decides what the audit log holds: a line before and a line after each call that is not safe.

import { randomUUID } from 'node:crypto';
import { messageOf } from '../errors.ts';
import {
  AUTHORITIES,
  type AuditedCall,
  type AuditedEnd,
  type AuditTrail,
  type Authority,
} from '../kernel/audit.ts';
import type { Arguments } from '../kernel/parameter.ts';
import { SAFETY_LEVELS } from '../kernel/tool.ts';
import type { Reading } from './backwards.ts';
import { Later } from './later.ts';
import { LineFile } from './lines.ts';
import { cut, digestText, parseLine, shapeOf, timeText } from './shorten.ts';

/** Bytes of one file, and how many full ones are kept. */
const FILES = { limit: 5_000_000, kept: 4 };

/** Characters of one string of the arguments that are kept. */
const STRING_LIMIT = 2000;

interface BeginLine extends Omit<AuditedCall, 'args'> {
  id: string;
  time: string;
  /** The workspace. */
  root: string;
  event: 'begin';
  authority: Authority;
  arguments: unknown;
}

const BEGIN = shapeOf({
  id: 'string',
  time: 'string',
  root: 'string',
  event: ['begin'],
  tool: 'string',
  level: SAFETY_LEVELS,
  caller: ['client', 'code'],
  authority: AUTHORITIES,
});

interface EndLine extends AuditedEnd {
  id: string;
  time: string;
  event: 'end';
}

const END = shapeOf({
  id: 'string',
  event: ['end'],
  success: 'boolean',
  error: 'string?',
  milliseconds: 'number',
});

/** A call in the log; without an END it was still running, or its server died. */
export interface AuditRecord extends Omit<BeginLine, 'event'> {
  end?: AuditedEnd;
}

export class AuditLog implements AuditTrail {
  readonly #lines: LineFile;

  readonly #root: string;
  readonly #rootText: string;
  readonly #texts: boolean;
  /** Tells the calls apart: those of other logs by the first, those of this by the second. */
  readonly #series = randomUUID();
  #count = 0;
  /** The ends that are not written yet: what is made of them later does not keep the answers. */
  #ends: { id: string; at: number; end: AuditedEnd }[] = [];
  readonly #later = new Later(() => this.#write());

  /** The log at PATH, to which a server over the workspace ROOT adds. Without TEXTS it has their digests. */
  constructor(path: string, root: string, texts = true) {
    this.#texts = texts;
    this.#lines = new LineFile(path, FILES);
    this.#root = root;
    this.#rootText = JSON.stringify(root);
  }

  /** The file that grows. */
  get path(): string {
    return this.#lines.path;
  }

  begin(call: AuditedCall, authority: Authority): (end: AuditedEnd) => void {
    const { tool, level, caller, args } = call;
    this.#count += 1;
    const id = `${this.#series}-${this.#count}`;
    const when = `{"id":"${id}","time":"${timeText(Date.now())}","root":${this.#rootText},"event":"begin"`;
    const what = `"tool":${JSON.stringify(tool)},"level":"${level}","caller":"${caller}"`;
    const line = `${when},${what},"authority":"${authority}","arguments":${recorded(args, this.#texts)}}`;
    // A line that was written survives the end of the process; that of a lasting change, of the machine too.
    if (level === 'dangerous') this.#lines.append(line, true);
    else this.#lines.add(line);
    this.#later.soon();
    return (end) => {
      this.#ends.push({ id, at: Date.now(), end });
      // Whatever made it fail, such as the loss of the image, could end the server next.
      if (level === 'dangerous' || !end.success) this.flush();
      else this.#later.soon();
    };
  }

  /** Writes what is not written yet. */
  flush(): void {
    this.#later.now();
  }

  #write(): void {
    const ends = this.#ends;
    this.#ends = [];
    try {
      this.#lines.prove();
      if (ends.length > 0) this.#lines.append(ends.map((end) => endLine(end, this.#texts)));
    } catch {
      // The calls are done and were answered; their records stay without an end.
    }
  }

  /** Returns the calls of the log in this workspace, the newest first. READING tells how much was read for that. */
  *newestFirst(reading?: Reading): Generator<AuditRecord> {
    this.flush();
    const ends = new Map<string, AuditedEnd>();
    for (const text of this.#lines.newestFirst(reading)) {
      const line = parseLine<BeginLine | EndLine>(text, BEGIN, END);
      if (line?.event === 'end') {
        const { success, error, milliseconds } = line;
        ends.set(line.id, { success, ...(error !== undefined && { error }), milliseconds });
      } else if (line !== undefined) {
        const { event, ...record } = line;
        const end = ends.get(line.id);
        ends.delete(line.id);
        if (record.root === this.#root) yield { ...record, ...(end && { end }) };
      }
    }
  }
}

function endLine({ id, at, end }: { id: string; at: number; end: AuditedEnd }, texts: boolean): string {
  const { error } = end;
  const kept = { ...end, ...(error !== undefined && { error: shortened(error, texts) }) };
  return JSON.stringify({ id, time: timeText(at), event: 'end', ...kept });
}

/** Returns ARGS as JSON that the log keeps, with TEXTS or their digests; what a program passes may be nothing that JSON can say. */
function recorded(args: Arguments, texts: boolean): string {
  try {
    return JSON.stringify(shortened(args, texts)) ?? 'null';
  } catch (error) {
    return JSON.stringify(`They cannot be written as JSON (${messageOf(error)}).`);
  }
}

function shortened(value: unknown, texts: boolean): unknown {
  if (typeof value === 'string') return texts ? cut(value, STRING_LIMIT) : digestText(value);
  if (Array.isArray(value)) return value.map((each) => shortened(each, texts));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shortened(each, texts)]));
}
