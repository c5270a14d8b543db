// Lists special behaviour of the server for particular clients. Each entry has its reason, and the version of the
// client in which the reason was observed. When a newer version behaves differently, the entry can be removed.

import {
  type CallToolResult,
  CLIENT_INFO_META_KEY,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { MessageSize } from './message-size.ts';

/** The server's special behaviour for one client. */
interface Quirk {
  /** The beginning of the name by which the client identifies itself. */
  client: string;
  /** The client's version in which the reason was observed. */
  observedIn: string;
  reason: string;
  /** Returns the result that is sent to this client in place of `result`. */
  adapt?: (result: CallToolResult) => CallToolResult;
  /** The space that the client has for a question in a small terminal of 80 columns by 24 rows. Absent for
   * DEFAULT_SIZE. */
  size?: MessageSize;
}

/** The space for a question that the server assumes for all other clients. They may show less than this. */
const DEFAULT_SIZE: MessageSize = { rows: 100, columns: 76, sureRows: 13 };

export const QUIRKS: readonly Quirk[] = [
  {
    client: 'gemini-cli',
    observedIn: '0.61.0',
    reason:
      'If a result has no structuredContent, its McpComplianceTransport parses the first text as JSON and puts the value there. Its MCP client then refuses a value that is not an object, so the model gets an error in place of 3 or "a". The model sees the texts, not the structure.',
    adapt: withTextsAsStructure,
  },
  {
    client: 'claude-code',
    observedIn: '2.1.331',
    reason:
      'In a terminal of any height it shows four rows of a question, or three and the number of further rows. It cuts each line of a question of several lines at the width of the terminal, but wraps a question of one line. So its human gets a single line that takes four rows, with a sign for each line end. It shows U+FFFD in place of U+2066 and U+2069, so words that are written from right to left are given as codes.',
    size: { rows: 4, columns: 74, joined: true },
  },
  {
    client: 'codex-mcp-client',
    observedIn: '0.169.0',
    reason:
      'It leaves out without notice what does not fit into the window, even choices, and nothing scrolls. So its human gets as much of a question as fits into a window of 24 rows with all choices.',
    size: { rows: 13, columns: 76 },
  },
];

/** Returns RESULT adapted to the client of CONTEXT, which is connected to SERVER. */
export function adaptedTo(server: Server, context: ServerContext, result: CallToolResult): CallToolResult {
  return quirkOf(server, context)?.adapt?.(result) ?? result;
}

/** Returns the space that the client has for a question. SERVER is the connection to the client. CONTEXT is the context
 * of the request; it is not needed for clients of older versions of MCP, which send their name when they connect. */
export function messageSizeOf(server: Server, context?: ServerContext): MessageSize {
  return quirkOf(server, context)?.size ?? DEFAULT_SIZE;
}

function quirkOf(server: Server, context?: ServerContext): Quirk | undefined {
  const name = clientName(server, context);
  return QUIRKS.find(({ client }) => name.startsWith(client));
}

/** Returns the name of the client that sent the request of CONTEXT. Clients of newer MCP versions (see `isModern`) send
 * their name with each request, others only when they connect. */
export function clientName(server: Server, context?: ServerContext): string {
  const envelope = context?.mcpReq.envelope as Record<string, { name?: unknown }> | undefined;
  return String((envelope?.[CLIENT_INFO_META_KEY] ?? server.getClientVersion())?.name ?? '');
}

/** Returns RESULT. If its first text is JSON but not an object, adds all its texts as structuredContent. */
function withTextsAsStructure(result: CallToolResult): CallToolResult {
  const texts = result.content.flatMap((each) => (each.type === 'text' ? [each.text] : []));
  if (result.structuredContent !== undefined || !isJsonWithoutNames(texts[0] ?? '')) return result;
  return { ...result, structuredContent: { texts } };
}

/** Returns true when TEXT is JSON but not a JSON object: a number, a string, an array, true, false or null. */
function isJsonWithoutNames(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value !== 'object' || value === null || Array.isArray(value);
  } catch {
    return false;
  }
}
