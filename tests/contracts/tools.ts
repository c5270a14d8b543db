// A tool to test the kernel with: it notes what its handler got.

import type { Arguments } from '../../src/kernel/parameter.ts';
import { defineTool, type Result, type Tool, type ToolDefinition } from '../../src/kernel/tool.ts';

export const VALID: ToolDefinition = {
  name: 'probe',
  description: 'Notes what it was called with.',
  parameters: [{ name: 'symbol', type: 'string', description: 'A name' }],
  handler: async () => ({ data: null, text: 'ran' }),
};

export interface Probe {
  tool: Tool;
  /** The arguments of each run of the handler. */
  runs: Arguments[];
}

/** Returns a tool that differs from VALID by CHANGES, and answers with what ANSWER gives. */
export function probe(changes: Partial<ToolDefinition> = {}, answer?: () => Result | Promise<Result>): Probe {
  const runs: Arguments[] = [];
  const tool = defineTool({
    ...VALID,
    ...changes,
    handler: async (args) => {
      runs.push(args);
      return answer ? answer() : { data: null, text: 'ran' };
    },
  });
  return { tool, runs };
}
