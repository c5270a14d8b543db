// Defines the audit record of calls whose tools are not safe.

import type { Arguments } from './parameter.ts';
import type { SafetyLevel } from './tool.ts';

/** The reasons why a call ran or did not run. It ran because of its safety level, because it could lose nothing,
 * because of a standing approval, or because a human approved it: in the client, in the client with changed arguments,
 * or in an editor or terminal. It did not run because a human denied it, gave no answer, gave none in time, or could
 * not be asked. */
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
