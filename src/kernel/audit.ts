// Defines the record of calls that are not safe (S2.11).

import type { Arguments } from './parameter.ts';
import type { SafetyLevel } from './tool.ts';

/** The reason for which a call ran: its level, that it could lose nothing, a standing approval, or an
 *  approval by a human in the client, with changed arguments, or in an editor or terminal. The reason for
 *  which it did not run: a human denied it, gave no answer, gave none in time, or could not be asked
 *  (C29). */
export const AUTHORITIES = [
  'level',
  'nothing at stake',
  'standing',
  'human',
  'human, with changes',
  'human, in an editor',
  'denied',
  'nobody',
  'timed out',
  'cannot ask',
] as const;
export type Authority = (typeof AUTHORITIES)[number];

/** The callers of tools: the client that started the server, a command on the session's socket, code in the
 *  image, or the human on the session's page. */
export const TOOL_CALLERS = ['client', 'command', 'code', 'page'] as const;
export type ToolCaller = (typeof TOOL_CALLERS)[number];

export interface AuditedCall {
  tool: string;
  level: SafetyLevel;
  args: Arguments;
  caller: ToolCaller;
}

export interface AuditedEnd {
  success: boolean;
  error?: string;
  milliseconds: number;
}

export interface AuditTrail {
  /** Records the start of `call`. Returns a function that records its end. Throws on failure. */
  begin(call: AuditedCall, authority: Authority): (end: AuditedEnd) => void;
}
