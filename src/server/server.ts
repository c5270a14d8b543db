// Decides what an MCP client sees: the list of tools, calls and their results, progress, cancellation.

import {
  type CallToolResult,
  type ListToolsResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type ToolAnnotations,
} from '@modelcontextprotocol/server';
import type { Executor, Outcome } from '../kernel/executor.ts';
import type { ToolRegistry } from '../kernel/registry.ts';
import { inputSchema, printable } from '../kernel/schema.ts';
import type { CallContext, SafetyLevel, Tool } from '../kernel/tool.ts';
import { INSTRUCTIONS } from './instructions.ts';

export interface ServerOptions {
  registry: ToolRegistry;
  executor: Executor;
  version: string;
  /** List the two tools of the kebab-case contracts in that spelling (C1). */
  contractNames: boolean;
}

const CONTRACT_NAMES: Record<string, string> = { apropos_search: 'apropos-search', who_calls: 'who-calls' };

const HINTS: Record<SafetyLevel, ToolAnnotations> = {
  safe: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  cautious: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  dangerous: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
};

/** Returns a server for one connection. */
export function createServer(options: ServerOptions): Server {
  const server = new Server(
    { name: 'live-lisp', title: 'Live Common Lisp image', version: options.version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler('tools/list', async (): Promise<ListToolsResult> => {
    return { tools: options.registry.tools().map((tool) => toolEntry(tool, options.contractNames)) };
  });
  server.setRequestHandler('tools/call', async (request, context) => {
    const { name, arguments: args } = request.params;
    const tool = findTool(options.registry, name);
    return toResult(await options.executor.execute(tool, args, callContext(context)));
  });
  return server;
}

/** Returns TOOL as tools/list shows it. */
function toolEntry(tool: Tool, contractNames: boolean): ListToolsResult['tools'][number] {
  return {
    name: (contractNames && CONTRACT_NAMES[tool.name]) || tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: inputSchema(tool),
    annotations: { title: tool.title, ...HINTS[tool.safetyLevel] },
  };
}

/** Returns the registered name that NAME means, where - equals _ (C1). Throws the protocol error of an
 *  unknown tool (C8). */
function findTool(registry: ToolRegistry, name: string): string {
  const registered = name.replaceAll('-', '_');
  if (registry.getTool(registered) !== null) return registered;
  const nearest = registry.nearest(registered);
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `Unknown tool: ${printable(name)}. ${nearest.length > 0 ? `Did you mean ${nearest.join(', ')}?` : 'tools/list has all names.'}`,
  );
}

/** The text of the tool comes first and alone, so that it is exact; notices follow as texts of their own. */
function toResult(outcome: Outcome): CallToolResult {
  const texts = [outcome.success ? outcome.text : outcome.error, ...outcome.notices];
  return {
    content: texts.map((text) => ({ type: 'text' as const, text })),
    isError: !outcome.success,
  };
}

function callContext(context: ServerContext): CallContext {
  const { signal, _meta } = context.mcpReq;
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return { signal };
  const began = performance.now();
  return {
    signal,
    onProgress: (message) => {
      const progress = Math.round(performance.now() - began) / 1000;
      const params = { progressToken, progress, message };
      context.mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
    },
  };
}
