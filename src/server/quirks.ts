// Decides what single clients get otherwise than MCP alone would have it. Each entry says why, and in which version that
// was seen, so that it can be taken out when that client has changed.

import {
  type CallToolResult,
  CLIENT_INFO_META_KEY,
  type ElicitRequestFormParams,
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
  adapt?: (result: CallToolResult) => CallToolResult;
  /** Returns the question that its human is asked in place of FORM. */
  arrange?: (form: ElicitRequestFormParams) => ElicitRequestFormParams;
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
  {
    client: 'claude-code',
    seenIn: '2.1.330',
    reason:
      'Of a question in several lines it shows four, or three and how many more there are, each cut at the width of the terminal. A question in one line it wraps over as many. So its human gets all in one, with a sign where a line ends.',
    arrange: inOneLine,
  },
];

/** Returns RESULT as the client of CONTEXT, which is connected to SERVER, can take it. */
export function adaptedTo(server: Server, context: ServerContext, result: CallToolResult): CallToolResult {
  return quirkOf(server, context)?.adapt?.(result) ?? result;
}

/** Returns FORM as the client of CONTEXT, which is connected to SERVER, shows the most of it. */
export function arrangedFor(
  server: Server,
  context: ServerContext,
  form: ElicitRequestFormParams,
): ElicitRequestFormParams {
  return quirkOf(server, context)?.arrange?.(form) ?? form;
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

/** Stands where a line ends; one in the text of a line is shown as its code, so that it ends none. */
const LINE_END = '\u23ce';

/** Returns FORM with its message in one line. */
function inOneLine(form: ElicitRequestFormParams): ElicitRequestFormParams {
  const lines = form.message.replaceAll(LINE_END, '<U+23CE>').split('\n');
  return { ...form, message: lines.join(` ${LINE_END} `) };
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
