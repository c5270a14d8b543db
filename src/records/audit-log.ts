// Writes the audit log: one line before and one line after each call of a tool that is not safe.

import { randomUUID } from 'node:crypto';
import { messageOf } from '../errors.ts';
import {
  AUTHORITIES,
  type AuditedCall,
  type AuditedEnd,
  type AuditTrail,
  type Authority,
  TOOL_CALLERS,
} from '../kernel/audit.ts';
import type { Arguments } from '../kernel/parameter.ts';
import { SAFETY_LEVELS } from '../kernel/tool.ts';
import { LineFile } from './lines.ts';
import { digestText, lineShapeOf, parseLine, truncate } from './shorten.ts';

/** Maximum size of the file in bytes, and number of full files to keep. */
const FILES = { limit: 5_000_000, kept: 4 };

const STRING_LIMIT = 2000;

interface BeginLine extends Omit<AuditedCall, 'args'> {
  id: string;
  time: string;
  root: string;
  /** Name of the image for the call, if the server has several. */
  image?: string;
  event: 'begin';
  authority: Authority;
  arguments: unknown;
}

const BEGIN = lineShapeOf({
  id: 'string',
  time: 'string',
  root: 'string',
  image: 'string?',
  event: ['begin'],
  tool: 'string',
  level: SAFETY_LEVELS,
  caller: TOOL_CALLERS,
  authority: AUTHORITIES,
});

interface EndLine extends AuditedEnd {
  id: string;
  time: string;
  event: 'end';
}

const END = lineShapeOf({
  id: 'string',
  event: ['end'],
  success: 'boolean',
  error: 'string?',
  milliseconds: 'number',
});

/** A recorded call. `end` is absent while the call runs, and if its server died during the call. */
export interface AuditRecord extends Omit<BeginLine, 'event'> {
  end?: AuditedEnd;
}

export class AuditLog implements AuditTrail {
  readonly #lines: LineFile;

  readonly #root: string;
  readonly #logsTexts: boolean;
  readonly #image: string | undefined;
  /** The id of a call consists of this random text and the number of the call. */
  readonly #series = randomUUID();
  #count = 0;

  /** Opens the log at PATH. ROOT is the workspace, IMAGE the name of the image. If TEXTS is false, the log contains
   * digests instead of strings. */
  constructor(path: string, root: string, texts = true, image?: string) {
    this.#logsTexts = texts;
    this.#image = image;
    this.#lines = new LineFile(path, FILES);
    this.#root = root;
  }

  get path(): string {
    return this.#lines.path;
  }

  begin(call: AuditedCall, authority: Authority): (end: AuditedEnd) => void {
    const { args, ...facts } = call;
    this.#count += 1;
    const id = `${this.#series}-${this.#count}`;
    const time = new Date().toISOString();
    const image = this.#image;
    const where = { root: this.#root, ...(image !== undefined && { image }) };
    const begin = { id, time, ...where, event: 'begin', ...facts, authority } as const;
    const line = beginLine(begin, args, this.#logsTexts);
    // The line survives the end of the process. For a dangerous call, it must also survive a crash of the machine.
    this.#lines.append(line, call.level === 'dangerous');
    return (end) => {
      try {
        this.#lines.append(endLine(id, end, this.#logsTexts));
      } catch {
        // The call is done and answered. Its record only lacks an end.
      }
    };
  }

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

function endLine(id: string, end: AuditedEnd, texts: boolean): string {
  const { error } = end;
  const kept = { ...end, ...(error !== undefined && { error: shortened(error, texts) }) };
  return JSON.stringify({ id, time: new Date().toISOString(), event: 'end', ...kept });
}

/** Returns BEGIN with ARGS as a line. If TEXTS is false, digests replace the strings. Arguments that cannot be JSON,
 * which only a program can pass, are replaced by a sentence about this. */
function beginLine(begin: Omit<BeginLine, 'arguments'>, args: Arguments, texts: boolean): string {
  try {
    return JSON.stringify({ ...begin, arguments: shortened(args, texts) });
  } catch (error) {
    const why = `These arguments cannot be written as JSON (${messageOf(error)}).`;
    return JSON.stringify({ ...begin, arguments: why });
  }
}

function shortened(value: unknown, texts: boolean): unknown {
  if (typeof value === 'string') return texts ? truncate(value, STRING_LIMIT) : digestText(value);
  if (Array.isArray(value)) return value.map((element) => shortened(element, texts));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shortened(member, texts)]));
}
