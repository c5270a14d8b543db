// Decides what the audit log holds: a line before and a line after each call that is not safe.

import { randomUUID } from 'node:crypto';
import { messageOf } from '../errors.ts';
import type { AuditedCall, AuditedEnd, AuditTrail, Authority } from '../kernel/audit.ts';
import type { Arguments } from '../kernel/parameter.ts';
import { SAFETY_LEVELS } from '../kernel/tool.ts';
import { LineFile } from './lines.ts';
import { cut, now, parseLine, type Shape } from './shorten.ts';

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

const BEGIN: Shape = {
  id: 'string',
  time: 'string',
  root: 'string',
  event: ['begin'],
  tool: 'string',
  level: SAFETY_LEVELS,
  caller: ['client', 'code'],
  authority: ['level', 'standing', 'human'],
};

interface EndLine extends AuditedEnd {
  id: string;
  time: string;
  event: 'end';
}

const END: Shape = {
  id: 'string',
  event: ['end'],
  success: 'boolean',
  error: 'string?',
  milliseconds: 'number',
};

/** A call in the log; without an END it was still running, or its server died. */
export interface AuditRecord extends Omit<BeginLine, 'event'> {
  end?: AuditedEnd;
}

export class AuditLog implements AuditTrail {
  readonly #lines: LineFile;

  readonly #root: string;

  /** The log at PATH, to which a server over the workspace ROOT adds. */
  constructor(path: string, root: string) {
    this.#lines = new LineFile(path, FILES);
    this.#root = root;
  }

  /** The file that grows. */
  get path(): string {
    return this.#lines.path;
  }

  begin({ args, ...call }: AuditedCall, authority: Authority): (end: AuditedEnd) => void {
    const id = randomUUID();
    const line = {
      id,
      time: now(),
      root: this.#root,
      event: 'begin',
      ...call,
      authority,
      arguments: recorded(args),
    };
    // A line that was written survives the end of the process; that of a lasting change, of the machine too.
    this.#lines.append(JSON.stringify(line), call.level === 'dangerous');
    return (end) => {
      const { error } = end;
      const last = {
        id,
        time: now(),
        event: 'end',
        ...end,
        ...(error !== undefined && { error: cut(error, STRING_LIMIT) }),
      };
      try {
        this.#lines.append(JSON.stringify(last));
      } catch {
        // The call is done and must be answered; its record stays without an end.
      }
    };
  }

  /** Returns the calls of the log in this workspace, the newest first. */
  *newestFirst(): Generator<AuditRecord> {
    const ends = new Map<string, AuditedEnd>();
    for (const text of this.#lines.newestFirst()) {
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

/** Returns ARGS as the log keeps them; what a program passes may be nothing that JSON can say. */
function recorded(args: Arguments): unknown {
  try {
    return JSON.parse(JSON.stringify(shortened(args)));
  } catch (error) {
    return `They cannot be written as JSON (${messageOf(error)}).`;
  }
}

function shortened(value: unknown): unknown {
  if (typeof value === 'string') return cut(value, STRING_LIMIT);
  if (Array.isArray(value)) return value.map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shortened(each)]));
}
