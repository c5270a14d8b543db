// Converts a tool of the catalog to MCP's Tool.

import { type Effects, MOST_KEYWORDS, type SafetyLevel } from '../kernel/tool.ts';
import type { ToolMetadata } from './metadata.ts';

interface Hints {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  /** Sent only when true, and only for tools that change something. */
  idempotentHint?: true;
  openWorldHint: boolean;
}

/** A tool as MCP lists it. */
export interface McpTool {
  name: string;
  description: string;
  inputSchema: { type: 'object'; [key: string]: unknown };
  /** The only place of the title: clients that know another place look here too. */
  annotations?: { title: string } & Hints;
  _meta?: { [key: string]: unknown };
}

/** The assumed effects of a tool by its level, unless it declares others. A cautious tool can run any code. */
const EFFECTS: Record<SafetyLevel, Effects> = {
  safe: { destructive: false, idempotent: true, openWorld: false },
  cautious: { destructive: true, idempotent: false, openWorld: true },
  dangerous: { destructive: true, idempotent: false, openWorld: false },
};

function hintsOf({ safetyLevel, effects }: ToolMetadata): Hints {
  const { destructive, idempotent, openWorld } = { ...EFFECTS[safetyLevel], ...effects };
  const readOnly = safetyLevel === 'safe';
  return {
    readOnlyHint: readOnly,
    destructiveHint: destructive,
    ...(idempotent && !readOnly && { idempotentHint: true }),
    openWorldHint: openWorld,
  };
}

/** Returns METADATA as MCP's Tool, with all that clients can use (S1.12). Claude Code shows its model only the names of
 *  tools that it does not load at start; it searches names, descriptions and hints. */
export function toMCPTool(metadata: ToolMetadata): McpTool {
  const { name, title, keywords, alwaysLoad, declaredLevel } = metadata;
  const meta = {
    ...(alwaysLoad && { 'anthropic/alwaysLoad': true }),
    ...(!alwaysLoad &&
      keywords.length > 0 && { 'anthropic/searchHint': keywords.slice(0, MOST_KEYWORDS).join(', ') }),
    ...(declaredLevel && { 'live-lisp/declaredLevel': declaredLevel }),
  };
  return {
    name,
    description: metadata.fullDescription,
    inputSchema: metadata.inputSchema,
    annotations: { title, ...hintsOf(metadata) },
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
  };
}
