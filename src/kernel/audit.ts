// Defines the audit record of calls whose tools are not safe.

import type { Arguments } from './parameter.ts';
import type { SafetyLevel } from './tool.ts';

/** The reasons why a call ran or did not run. */
export const AUTHORITIES = [
  // The call ran, because
  'level', // its safety level needs no approval
  'nothing at stake', // it could lose nothing
  'standing', // a standing approval covered it
  'human', // a human approved it in the client
  'human, with changes', // a human approved it with changed arguments
  'human, in an editor', // a human approved it in an editor or a terminal
  // The call did not run, because
  'denied', // a human denied it
  'nobody', // nobody gave a valid answer
  'timed out', // nobody answered in time
  'cannot ask', // no human could be asked
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
