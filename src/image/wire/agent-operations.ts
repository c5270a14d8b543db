// Decides what the server asks of the agent for itself; docs/develop/wire-protocol.md has examples.

import type { Doing, Spent } from './data.ts';
import type { Output, Reason } from './endings.ts';
import type { AgentStatus, Operations, ToolAnswer } from './operations.ts';

/** What the server asks besides, for itself: how the image does, how a job does, and that one is to end. */
export interface AgentOperations extends Operations {
  ping: { args: object; data: { value?: boolean } };
  status: { args: object; data: { value?: AgentStatus } };
  progress: { args: { job: number }; data: { value?: Doing | null } };
  written: { args: { job: number }; data: { value?: Output | null } };
  interrupt: { args: { job: number; reason: Reason }; data: object };
  terminate: { args: { job: number }; data: object };
  /** WORKS is absent when the look did not come to its end. HOLDER is a thread that keeps all from compiling. */
  probe: {
    args: { session?: boolean; exercise?: boolean };
    data: { works?: boolean; holder?: string; running?: number };
  };
  spent: { args: { job: number }; data: { value?: Spent | null } };
  'renew-session': { args: object; data: object };
  'use-libraries': {
    args: { name?: string; file?: string; initFile?: string | undefined };
    data: object;
  };
  'offer-tools': { args: { tools: object[] }; data: object };
  called: { args: { call: number } & ToolAnswer; data: object };
}
