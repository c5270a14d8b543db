// Handles the requests of an MCP client: the list of tools, and calls. Announces changes of the list.

import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import { calledTool, isCallTool } from '../catalog/call-tool.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { type ListMode, listedTools } from '../catalog/list.ts';
import { CallError } from '../errors.ts';
import type { ToolRegistry } from '../kernel/registry.ts';
import { identity } from './identity.ts';
import { instructions } from './instructions.ts';
import { type CallResult, type CallServices, errorResult, performCall } from './perform-call.ts';

export interface ServerOptions extends CallServices {
  registry: Pick<ToolRegistry, 'getTool' | 'unknownTool' | 'onChange'>;
  catalog: Catalog;
  homepage?: string;
  list: ListMode;
  /** Resolves when the start files of the image are loaded and have registered their tools; at once if there are
   * none. */
  started: () => Promise<void>;
}

/** Returns a server for one connection. It announces changes of the tool list to its client. If CHANGES is given, the
 * connection is only for one request, and CHANGES announces the changes to clients that listen on other connections. */
export function createServer(options: ServerOptions, changes?: Changes): Server {
  const server = new Server(identity(options.version, options.homepage), {
    capabilities: { tools: { listChanged: true } },
    instructions: instructions(options.list),
    // For clients with an older protocol version of MCP (see isModern), performCall asks the question itself, because
    // the SDK's shim for such clients cannot handle a missing answer.
    inputRequired: { legacyShim: false },
  });
  server.setRequestHandler('tools/list', async () => listedTools({ mode: options.list }, options.catalog));
  server.setRequestHandler('tools/call', async (request, context) => {
    const { name, arguments: args } = request.params;
    const perform = async (tool: string, given: unknown) => {
      const result = await performCall(options, { name: tool, args: given, server, context });
      if (announced.isPending()) await announced.announceNow();
      return result;
    };
    if (isCallTool(name)) return throughCallTool(options, args, perform);
    const tool = await registeredName(options, name);
    if (tool === undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, options.registry.unknownTool(name));
    }
    return perform(tool, args);
  });
  const announced = changes ?? announceChanges(options, () => server.sendToolListChanged());
  if (changes === undefined) server.onclose = announced.stop;
  return server;
}

/** An object that announces changes of the tool list to a client. */
export interface Changes {
  /** True while an announcement is due. */
  isPending: () => boolean;
  /** Sends the announcement at once. */
  announceNow: () => Promise<void>;
  stop: () => void;
}

/** Changes of the tool list within this number of milliseconds are announced together. */
const CHANGES_MS = 20;

/** Announces changes of the tool list by calling SEND, until `stop` of the result is called. A client that lists the
 * tools directly after an answer must not get the old list. For this, a change can be announced before the answer, by
 * `announceNow`. */
export function announceChanges(
  { registry, list }: Pick<ServerOptions, 'registry' | 'list'>,
  send: () => Promise<void>,
): Changes {
  let timer: NodeJS.Timeout | undefined;
  const announceNow = async () => {
    clearTimeout(timer);
    timer = undefined;
    await send().catch(() => {}); // The client is gone.
  };
  // In these modes, a change of the tools does not change the client's list.
  const constant = list === 'summary' || list === 'search';
  const forget = registry.onChange(() => {
    if (!constant) timer ??= setTimeout(() => void announceNow(), CHANGES_MS);
  });
  const stop = () => {
    forget();
    clearTimeout(timer);
  };
  return { isPending: () => timer !== undefined, announceNow, stop };
}

/** Handles a call of call_tool. PERFORM calls the tool that ARGS name, with the arguments in ARGS. */
async function throughCallTool(
  options: ServerOptions,
  args: unknown,
  perform: (tool: string, args: unknown) => Promise<CallResult>,
): Promise<CallResult> {
  try {
    const called = calledTool(args);
    const tool = await registeredName(options, called.name);
    if (tool === undefined) throw new CallError(options.registry.unknownTool(called.name));
    return await perform(tool, called.args);
  } catch (error) {
    return errorResult(error);
  }
}

/** Returns the registered name of the tool NAME, where `-` equals `_`. If there is no such tool, waits for the start of
 * the image, because a start file can register the tool. */
async function registeredName(
  { registry, started }: ServerOptions,
  name: string,
): Promise<string | undefined> {
  const wanted = name.replaceAll('-', '_');
  if (registry.getTool(wanted) === null) await started();
  return registry.getTool(wanted)?.name;
}
