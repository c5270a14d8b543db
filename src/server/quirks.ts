// Decides what single clients get otherwise than MCP alone would have it. Each entry says why, and in which version that
// was seen, so that it can be taken out when that client has changed.

import {
  type CallToolResult,
  CLIENT_INFO_META_KEY,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Room } from './room.ts';

/** What one client gets otherwise. */
export interface Quirk {
  /** How the names begin by which the client calls itself. */
  client: string;
  /** Version in which it was seen. */
  seenIn: string;
  reason: string;
  /** Returns what this client gets in place of RESULT. */
  adapt?: (result: CallToolResult) => CallToolResult;
  /** What it shows of a question, in the smallest terminal that people use: of 80 columns and 24 rows. */
  room?: Room;
}

/** How much of a question an unknown client is sent; that client may show its human less. */
const UNKNOWN: Room = { rows: 100, columns: 76, sure: 13 };

/** All of them. */
export const QUIRKS: readonly Quirk[] = [
  {
    client: 'gemini-cli',
    seenIn: '0.61.0',
    reason:
      'Its McpComplianceTransport takes the first text for JSON and puts that into structuredContent, when there is none. Its client then refuses whatever is no object, so its model gets an error in place of 3 or "a". It shows its model the texts, not the structure.',
    adapt: withTextsAsStructure,
  },
  {
    client: 'claude-code',
    seenIn: '2.1.331',
    reason:
      'In a terminal of any height it shows four rows of a question, or three and how many more there are. Of one in several lines each row is cut at the width of the terminal; one in a single line it wraps. So its human gets a single line that takes four rows, with a sign where a line ends. It shows U+FFFD in the place of U+2066 and U+2069, so words that are written from right to left are codes.',
    room: { rows: 4, columns: 74, joined: true },
  },
  {
    client: 'codex-mcp-client',
    seenIn: '0.169.0',
    reason:
      'What does not fit into the window it leaves out without a word, of the choices too, and nothing scrolls. So its human gets what fits into one of 24 rows with all choices.',
    room: { rows: 13, columns: 76 },
  },
];

/** Returns RESULT as the client of CONTEXT, which is connected to SERVER, can take it. */
export function adaptedTo(server: Server, context: ServerContext, result: CallToolResult): CallToolResult {
  return quirkOf(server, context)?.adapt?.(result) ?? result;
}

/** Returns what the client of CONTEXT, which is connected to SERVER, shows of a question. */
export function roomOf(server: Server, context: ServerContext): Room {
  return quirkOf(server, context)?.room ?? UNKNOWN;
}

function quirkOf(server: Server, context: ServerContext): Quirk | undefined {
  const name = clientName(server, context);
  return QUIRKS.find(({ client }) => name.startsWith(client));
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
