// Converts a tool of the catalog to the Tool of MCP.

import type { Effects, SafetyLevel } from '../kernel/tool.ts';
import type { ToolMetadata } from './metadata.ts';

const MCP_DEFAULTS = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};

type Hints = typeof MCP_DEFAULTS;

export interface McpTool {
  name: string;
  description: string;
  inputSchema: { type: 'object'; [key: string]: unknown };
  annotations?: Partial<Hints>;
  _meta?: { [key: string]: unknown };
}

/** Maps a safety level to the effects of a tool that declares none itself. A cautious tool can run any code. */
const EFFECTS: Record<SafetyLevel, Effects> = {
  safe: { destructive: false, idempotent: true, openWorld: false },
  cautious: { destructive: true, idempotent: false, openWorld: true },
  dangerous: { destructive: true, idempotent: false, openWorld: false },
};

function hintsOf({ safetyLevel, effects }: ToolMetadata): Partial<Hints> {
  const { destructive, idempotent, openWorld } = { ...EFFECTS[safetyLevel], ...effects };
  // In MCP, destructiveHint and idempotentHint mean nothing for a read-only tool.
  const hints: Partial<Hints> =
    safetyLevel === 'safe'
      ? { readOnlyHint: true, openWorldHint: openWorld }
      : { destructiveHint: destructive, idempotentHint: idempotent, openWorldHint: openWorld };
  const notDefault = Object.entries(hints).filter(
    ([hint, value]) => value !== MCP_DEFAULTS[hint as keyof Hints],
  );
  return Object.fromEntries(notDefault);
}

/** Maximum number of octets of the keywords that Claude Code's tool search gets. */
const HINT_OCTETS = 24;

/** Returns as many of the first KEYWORDS as fit into HINT_OCTETS, separated by commas. */
function searchHint(keywords: readonly string[]): string {
  let hint = '';
  for (const keyword of keywords) {
    const longer = hint === '' ? keyword : `${hint}, ${keyword}`;
    if (Buffer.byteLength(longer) > HINT_OCTETS) break;
    hint = longer;
  }
  return hint;
}

/** Returns METADATA as MCP's Tool, with all facts for clients. Claude Code shows its model only the names of the tools
 * that it does not load at start. Its search for tools uses names, descriptions and search hints. */
export function toMCPTool(metadata: ToolMetadata): McpTool {
  const { name, keywords, alwaysLoad, declaredLevel } = metadata;
  const hint = alwaysLoad ? '' : searchHint(keywords);
  const annotations = hintsOf(metadata);
  const meta = {
    ...(alwaysLoad && { 'anthropic/alwaysLoad': true }),
    ...(hint && { 'anthropic/searchHint': hint }),
    ...(declaredLevel && { 'live-lisp/declaredLevel': declaredLevel }),
  };
  return {
    name,
    description: metadata.fullDescription,
    inputSchema: metadata.inputSchema,
    ...(Object.keys(annotations).length > 0 && { annotations }),
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
  };
}
