// Decides what single clients get otherwise than MCP alone would have it. Each entry says why, and in which version that
// was seen, so that it can be taken out when that client has changed.

import {
  type CallToolResult,
  CLIENT_INFO_META_KEY,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';

/** What one client gets otherwise. */
export interface Quirk {
  /** How the names begin by which the client calls itself. */
  client: string;
  /** Version in which it was seen. */
  seenIn: string;
  reason: string;
  /** Returns what this client gets in place of RESULT. */
  adapt: (result: CallToolResult) => CallToolResult;
}

/** All of them. */
export const QUIRKS: readonly Quirk[] = [
  {
    client: 'gemini-cli',
    seenIn: '0.61.0',
    reason:
      'Its McpComplianceTransport takes the first text for JSON and puts that into structuredContent, when there is none. Its client then refuses whatever is no object, so its model gets an error in place of 3 or "a". It shows its model the texts, not the structure.',
    adapt: withTextsAsStructure,
  },
];

/** Returns RESULT as the client of CONTEXT, which is connected to SERVER, can take it. */
export function adaptedTo(server: Server, context: ServerContext, result: CallToolResult): CallToolResult {
  const name = clientName(server, context);
  const quirk = QUIRKS.find(({ client }) => name.startsWith(client));
  return quirk === undefined ? result : quirk.adapt(result);
}

/** Returns what the client of CONTEXT calls itself, in either era of the protocol. */
function clientName(server: Server, context: ServerContext): string {
  const envelope = context.mcpReq.envelope as Record<string, { name?: unknown }> | undefined;
  return String((envelope?.[CLIENT_INFO_META_KEY] ?? server.getClientVersion())?.name ?? '');
}

/** Returns RESULT, with its texts as structure too when the first is JSON and no object. */
function withTextsAsStructure(result: CallToolResult): CallToolResult {
  const texts = result.content.flatMap((each) => (each.type === 'text' ? [each.text] : []));
  if (result.structuredContent !== undefined || !isJsonWithoutNames(texts[0] ?? '')) return result;
  return { ...result, structuredContent: { texts } };
}

/** Returns whether TEXT is JSON, and no object: a number, a string, a list, true, false or null. */
function isJsonWithoutNames(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value !== 'object' || value === null || Array.isArray(value);
  } catch {
    return false;
  }
}
