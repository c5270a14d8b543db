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
  manner?: Manner;
}

/** How a client shows a question. */
export interface Manner {
  /** Returns what it is sent in place of FORM. */
  arrange: (form: ElicitRequestFormParams) => ElicitRequestFormParams;
  /** Returns whether its human sees all of MESSAGE, as far as that can be known. */
  showsAll: (message: string) => boolean;
}

const PLAIN: Manner = { arrange: (form) => form, showsAll: () => true };

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
    manner: { arrange: inOneLine, showsAll: fitsInRows },
  },
];

/** Returns RESULT as the client of CONTEXT, which is connected to SERVER, can take it. */
export function adaptedTo(server: Server, context: ServerContext, result: CallToolResult): CallToolResult {
  return quirkOf(server, context)?.adapt?.(result) ?? result;
}

/** Returns how the client of CONTEXT, which is connected to SERVER, shows a question. */
export function mannerOf(server: Server, context: ServerContext): Manner {
  return quirkOf(server, context)?.manner ?? PLAIN;
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
  return { ...form, message: oneLine(form.message) };
}

function oneLine(text: string): string {
  return text.replaceAll(LINE_END, '<U+23CE>').replaceAll('\n', ` ${LINE_END} `);
}

/** What Claude Code shows of a line in a terminal of 80 columns. */
const ROWS = 4;
const COLUMNS = 74;

/** Returns whether MESSAGE in one line, wrapped between words, fits into these. */
function fitsInRows(message: string): boolean {
  let rows = 1;
  let column = 0;
  for (const word of oneLine(message).split(' ')) {
    const width = widthOf(word);
    if (column > 0 && column + 1 + width > COLUMNS) {
      rows += 1;
      column = 0;
    }
    column += width + (column > 0 ? 1 : 0);
    rows += Math.floor(Math.max(0, column - 1) / COLUMNS);
    column = column > COLUMNS ? ((column - 1) % COLUMNS) + 1 : column;
  }
  return rows <= ROWS;
}

const TAB_COLUMNS = 8;

/** Returns how many columns WORD takes at most: letters of other than alphabets can take two, and small pictures do. */
function widthOf(word: string): number {
  const wide = /[\u1100-\u11ff\u2e80-\u{10ffff}]|\p{Emoji_Presentation}/u;
  const widths = [...word].map((letter) => (letter === '\t' ? TAB_COLUMNS : wide.test(letter) ? 2 : 1));
  return widths.reduce((sum, width) => sum + width, 0);
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
