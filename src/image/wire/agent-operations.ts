// Types of the operations that only the server itself requests, not the tools. docs/develop/wire-protocol.md
// has examples.

import type { JobCpuTimes, JobProgress } from './data.ts';
import type { Output, Reason } from './endings.ts';
import type { AgentStatus, Operations, ToolAnswer } from './operations.ts';

/** All operations: those that tools request, and those that the server itself requests to observe and control
 *  the image and its jobs. */
export interface AgentOperations extends Operations {
  ping: { args: object; data: { value?: boolean } };
  status: { args: object; data: { value?: AgentStatus } };
  progress: { args: { job: number }; data: { value?: JobProgress | null } };
  written: { args: { job: number }; data: { value?: Output | null } };
  interrupt: { args: { job: number; reason: Reason }; data: object };
  terminate: { args: { job: number }; data: object };
  /** A probe tests whether the image works. `works` is absent when the probe did not end normally. `holder`
   *  is the name of a thread that keeps all others from compiling. */
  probe: {
    args: { session?: boolean; exercise?: boolean };
    data: { works?: boolean; holder?: string };
  };
  spent: { args: { job: number }; data: { value?: JobCpuTimes | null } };
  'renew-session': { args: object; data: object };
  'use-libraries': {
    args: { name?: string; file?: string; initFile?: string | undefined };
    data: object;
  };
  /** Only in an image that somebody else runs. */
  'begin-session': { args: { server: string; trees: readonly string[] }; data: object };
  'offer-tools': { args: { tools: object[] }; data: object };
  called: { args: { call: number } & ToolAnswer; data: object };
}
