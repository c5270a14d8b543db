// Decides what an MCP client sees: the list of tools, calls and their results, progress, cancellation.

import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { calledTool, isCallTool } from '../catalog/call-tool.ts';
import { getToolListForMCP, type ListMode } from '../catalog/list.ts';
import { CallError, messageOf } from '../errors.ts';
import type { Executor, Outcome } from '../kernel/executor.ts';
import type { ToolRegistry } from '../kernel/registry.ts';
import type { CallContext } from '../kernel/tool.ts';
import { instructions } from './instructions.ts';

export interface ServerOptions {
  registry: ToolRegistry;
  executor: Executor;
  version: string;
  /** What tools/list shows. */
  list: ListMode;
}

/** Returns a server for one connection. */
export function createServer(options: ServerOptions): Server {
  const server = new Server(
    { name: 'live-lisp', title: 'Live Common Lisp image', version: options.version },
    { capabilities: { tools: {} }, instructions: instructions(options.list) },
  );
  server.setRequestHandler('tools/list', async () => getToolListForMCP({ mode: options.list }));
  server.setRequestHandler('tools/call', async (request, context) => {
    const { name, arguments: args } = request.params;
    if (isCallTool(name)) return throughCallTool(options, args, callContext(context));
    const tool = findTool(options.registry, name);
    if (tool === undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, options.registry.unknownTool(name)); // C8
    }
    return toResult(await options.executor.execute(tool, args, callContext(context)));
  });
  return server;
}

/** Calls the tool that ARGS, the arguments of call_tool, ask for (S1.16). */
async function throughCallTool(
  { registry, executor }: ServerOptions,
  args: unknown,
  context: CallContext,
): Promise<CallToolResult> {
  try {
    const called = calledTool(args);
    const tool = findTool(registry, called.name);
    if (tool === undefined) throw new CallError(registry.unknownTool(called.name));
    return toResult(await executor.execute(tool, called.args, context));
  } catch (error) {
    return { content: [{ type: 'text', text: messageOf(error) }], isError: true };
  }
}

/** Returns the registered name that NAME means, where - equals _ (C1). */
function findTool(registry: ToolRegistry, name: string): string | undefined {
  const registered = name.replaceAll('-', '_');
  return registry.getTool(registered)?.name;
}

/** The text of the tool comes first and alone, so that it is exact; notices follow as texts of their own. */
function toResult(outcome: Outcome): CallToolResult {
  const texts = [outcome.success ? outcome.text : outcome.error, ...outcome.notices];
  return {
    content: texts.map((text) => ({ type: 'text' as const, text })),
    ...(outcome.success &&
      outcome.structured && { structuredContent: outcome.data as Record<string, unknown> }),
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
