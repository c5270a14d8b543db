// Lists what the server does differently for particular clients. Each entry has a reason and the version of
// the client in which it was seen, so that the entry can be removed when the client has changed.

import {
  type CallToolResult,
  CLIENT_INFO_META_KEY,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Room } from './room.ts';

/** Differences in how the server treats one client. */
interface Quirk {
  /** The beginning of the name by which the client identifies itself. */
  client: string;
  /** Version of the client in which the reason was observed. */
  seenIn: string;
  reason: string;
  /** Returns the result to send instead of RESULT. */
  adapt?: (result: CallToolResult) => CallToolResult;
  /** How much of a question the client shows in the smallest usual terminal, 80 columns by 24 rows. */
  room?: Room;
}

/** The room that is assumed for a client without a quirk. Such a client may show its human less than this. */
const DEFAULT_ROOM: Room = { rows: 100, columns: 76, sureRows: 13 };

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

/** Returns RESULT adapted to the client of CONTEXT, which is connected to SERVER. */
export function adaptedTo(server: Server, context: ServerContext, result: CallToolResult): CallToolResult {
  return quirkOf(server, context)?.adapt?.(result) ?? result;
}

/** Returns how much of a question the client shows. SERVER is the connection to the client. CONTEXT is that
 *  of a request; clients of the legacy era send their name only when they connect. */
export function roomOf(server: Server, context?: ServerContext): Room {
  return quirkOf(server, context)?.room ?? DEFAULT_ROOM;
}

function quirkOf(server: Server, context?: ServerContext): Quirk | undefined {
  const name = clientName(server, context);
  return QUIRKS.find(({ client }) => name.startsWith(client));
}

/** Returns the name by which the client of CONTEXT identifies itself. Clients of the modern era of MCP send
 *  the name with each request, others once, when they connect. */
export function clientName(server: Server, context?: ServerContext): string {
  const envelope = context?.mcpReq.envelope as Record<string, { name?: unknown }> | undefined;
  return String((envelope?.[CLIENT_INFO_META_KEY] ?? server.getClientVersion())?.name ?? '');
}

/** Returns RESULT, with its texts also as structuredContent if the first text is JSON but no object. */
function withTextsAsStructure(result: CallToolResult): CallToolResult {
  const texts = result.content.flatMap((each) => (each.type === 'text' ? [each.text] : []));
  if (result.structuredContent !== undefined || !isJsonWithoutNames(texts[0] ?? '')) return result;
  return { ...result, structuredContent: { texts } };
}

/** True when TEXT is JSON but not an object: a number, a string, an array, true, false or null. */
function isJsonWithoutNames(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value !== 'object' || value === null || Array.isArray(value);
  } catch {
    return false;
  }
}
