// Handles the requests of an MCP client: the list of tools, calls and their results, progress, cancellation.

import {
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type RequestId,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { calledTool, isCallTool } from '../catalog/call-tool.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { type ListMode, listedTools } from '../catalog/list.ts';
import { type CallEnd, type EndKind, OUTCOME_KEY, OUTPUT_KEY } from '../door/outcome.ts';
import { CallError, messageOf, NoHumanAnswerError } from '../errors.ts';
import type { Verdict } from '../kernel/approval.ts';
import type { Executor } from '../kernel/executor.ts';
import type { HumanEditors, ShownAnswer } from '../kernel/human-editor.ts';
import type { NoticeReader } from '../kernel/notice-board.ts';
import type { Outcome } from '../kernel/outcome.ts';
import type { ToolRegistry } from '../kernel/registry.ts';
import type { CallContext } from '../kernel/tool.ts';
import { type Approvals, canAsk, isModern, sender } from './approvals.ts';
import { identity, signed } from './identity.ts';
import { instructions } from './instructions.ts';
import { adaptedTo, clientName, messageSizeOf } from './quirks.ts';

export interface CommandConnection {
  reader: NoticeReader;
  /** Maps the id of a request to the controller that aborts its call when the command asks for an interrupt. */
  interrupts: Map<RequestId, AbortController>;
}

export interface ServerOptions {
  registry: Pick<ToolRegistry, 'getTool' | 'unknownTool' | 'onChange'>;
  catalog: Catalog;
  executor: Pick<Executor, 'execute' | 'command'>;
  approvals: Approvals;
  editors: HumanEditors;
  version: string;
  homepage?: string;
  list: ListMode;
  /** Returns the connection to the client that started the server, if the server can ask its human at any
   *  time. That human then also approves calls of clients that cannot ask. */
  sessionClient?: () => Server | undefined;
  /** Set for a command as client. Results then also have the ending of the call and its data. */
  command?: CommandConnection;
  /** Resolves when the image's start files, if any, have registered their tools. */
  started: () => Promise<void>;
}

/** Returns a server for one connection, which announces changes of the tool list to its client. With CHANGES,
 *  the connection is for one request, and CHANGES announces them to clients that listen on another one. */
export function createServer(options: ServerOptions, changes?: Changes): Server {
  const server = new Server(identity(options.version, options.homepage), {
    capabilities: { tools: { listChanged: true } },
    instructions: instructions(options.list),
    // performCall itself asks legacy clients, because the SDK's shim does not handle a missing answer.
    inputRequired: { legacyShim: false },
  });
  server.setRequestHandler('tools/list', async () => listedTools({ mode: options.list }, options.catalog));
  server.setRequestHandler('tools/call', async (request, context) => {
    const { name, arguments: args } = request.params;
    const perform = async (tool: string, given: unknown) => {
      const result = await performCall(options, server, tool, given, context);
      if (announced.isPending()) await announced.announceNow();
      return result;
    };
    if (isCallTool(name)) return throughCallTool(options, args, perform);
    const tool = await registeredName(options, name);
    if (tool === undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, options.registry.unknownTool(name)); // Contract C8.
    }
    return perform(tool, args);
  });
  const announced = changes ?? announceChanges(options, () => server.sendToolListChanged());
  if (changes === undefined) server.onclose = announced.stop;
  return server;
}

/** What announces changes of the tool list. */
export interface Changes {
  /** True while an announcement is due. */
  isPending: () => boolean;
  /** Sends the announcement at once. */
  announceNow: () => Promise<void>;
  stop: () => void;
}

/** Changes of the tool list within this many milliseconds are announced together. */
const CHANGES_MS = 20;

/** Announces changes of the tool list by SEND, until `stop` of the result is called. A client that lists the
 *  tools after an answer must not get the old list. */
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
  // The client's list never changes in these modes.
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

type CallResult = CallToolResult | InputRequiredResult;

/** Calls the tool NAME with ARGS, and shows the call in the human's editors. */
async function performCall(
  options: ServerOptions,
  server: Server,
  name: string,
  args: unknown,
  context: ServerContext,
): Promise<CallResult> {
  const { id, ended } = options.editors.callBegan({ client: clientName(server, context), tool: name, args });
  const result = await performApproved(options, server, name, args, context, id);
  ended(shownAnswer(result));
  return result;
}

function shownAnswer(result: CallResult): ShownAnswer {
  if (!('content' in result)) return { text: 'The client asks its user.', isError: false };
  const [first] = (result as CallToolResult).content;
  return { text: first?.type === 'text' ? first.text : '', isError: result.isError === true };
}

/** Calls the tool NAME with ARGS. Asks the human first when this is needed and possible. SHOWN_CALL is the id of the
 *  call in the human's editors. */
async function performApproved(
  { executor, approvals, editors, version, command, sessionClient }: ServerOptions,
  server: Server,
  name: string,
  args: unknown,
  context: ServerContext,
  shownCall: number,
): Promise<CallResult> {
  const clientCanAsk = canAsk(server, context);
  const editorCanAsk = editors.watching;
  const other = clientCanAsk || editorCanAsk ? undefined : sessionClient?.();
  const somebodyCanAsk = clientCanAsk || editorCanAsk || other !== undefined;
  const { call, endCall } = callContext(context, command);
  const execute = (verdict?: Verdict) =>
    executor.execute(name, args, { ...call, canAsk: somebodyCanAsk }, verdict);
  const callResult = (outcome: Outcome) => {
    const result = signed(adaptedTo(server, context, toResult(outcome)), context, version);
    return command ? withOutcome(result, outcome) : result;
  };
  try {
    const verdict = await approvals.verdict(name, args, context, call);
    if (verdict?.kind === 'next') return verdict.request;
    const outcome = await execute(verdict);
    const question = !outcome.success && outcome.question && { ...outcome.question, shownCall };
    if (!question || !somebodyCanAsk) return callResult(outcome);
    const { signal } = call;
    if (other !== undefined) {
      call.onProgress?.("waits until the user approves or denies it in the session's client");
      const asking = { size: messageSizeOf(other), send: sender(other, signal), call };
      return callResult(await execute(await approvals.askBySending(question, name, args, asking)));
    }
    if (!clientCanAsk) {
      const verdictOfEditor = await approvals.askInEditor(question, name, args, call);
      if (verdictOfEditor !== undefined) return callResult(await execute(verdictOfEditor));
      if (!outcome.success) question.recordRefusal('cannot ask', outcome.error);
      return callResult(outcome);
    }
    const size = messageSizeOf(server, context);
    if (isModern(context)) return await approvals.ask(question, name, args, size);
    const send = sender(server, signal, context.mcpReq.id);
    const verdictBySending = await approvals.askBySending(question, name, args, { size, send, call });
    return callResult(await execute(verdictBySending));
  } catch (error) {
    const result = errorResult(error);
    return command && error instanceof NoHumanAnswerError ? withEnd(result, { ended: 'human' }) : result;
  } finally {
    endCall();
  }
}

/** Handles a call of call_tool. PERFORM calls the tool in ARGS with its arguments (S1.16). */
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

function errorResult(error: unknown): CallToolResult {
  return { content: [{ type: 'text', text: messageOf(error) }], isError: true };
}

/** Returns the registered name of the tool NAME, where `-` equals `_` (contract C1). Without such a tool,
 *  first waits for the start of the image, because a start file can register it. */
async function registeredName(
  { registry, started }: ServerOptions,
  name: string,
): Promise<string | undefined> {
  const wanted = name.replaceAll('-', '_');
  if (registry.getTool(wanted) === null) await started();
  return registry.getTool(wanted)?.name;
}

/** Returns the MCP result for OUTCOME: first the tool's text, separate and unchanged, then notices. */
function toResult(outcome: Outcome): CallToolResult {
  const { hint } = outcome;
  const ownText = outcome.success ? outcome.text : outcome.error;
  const texts = [ownText, ...outcome.notices, ...(hint === undefined ? [] : [hint])];
  return {
    content: texts.map((text) => ({ type: 'text' as const, text })),
    ...(outcome.success &&
      outcome.structured && { structuredContent: outcome.data as Record<string, unknown> }),
    isError: !outcome.success,
  };
}

/** Returns RESULT of a command's call with the ending of the call and its data. */
function withOutcome(result: CallToolResult, outcome: Outcome): CallToolResult {
  const { data, whole } = outcome;
  return withEnd(result, {
    ended: endOf(outcome),
    ...(data !== undefined && { data }),
    ...(whole !== undefined && { whole }),
  });
}

function endOf(outcome: Outcome): EndKind {
  if (outcome.success) return 'good';
  if (outcome.question !== undefined) return 'human';
  const { ending } = Object(outcome.data) as { ending?: { kind?: unknown } };
  return outcome.cause ?? (ending?.kind === 'lost' ? 'image' : 'failed');
}

function withEnd(result: CallToolResult, end: CallEnd): CallToolResult {
  return { ...result, _meta: { ...result._meta, [OUTCOME_KEY]: end } };
}

/** Returns the context of a call, and a function to call at its end. Until then COMMAND, if given, can
 *  interrupt the call, and the client gets progress notifications. Their values only grow, as MCP demands. */
function callContext(
  context: ServerContext,
  command?: CommandConnection,
): { call: CallContext & { signal: AbortSignal }; endCall: () => void } {
  const { id, signal: cancelled, _meta } = context.mcpReq;
  const interrupt = new AbortController();
  command?.interrupts.set(id, interrupt);
  const signal = command ? AbortSignal.any([cancelled, interrupt.signal]) : cancelled;
  const call = { signal, ...(command && { command: command.reader }) };
  const forget = () => void command?.interrupts.delete(id);
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return { call, endCall: forget };
  const startedAt = performance.now();
  let last = 0;
  let isEnded = false;
  const notify = async (more: { message?: string; _meta?: { [key: string]: unknown } }) => {
    if (isEnded) return;
    const progress = Math.max(Math.round(performance.now() - startedAt), last + 1);
    last = progress;
    const params = { progressToken, progress: progress / 1000, ...more };
    await context.mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  };
  const takesOutput = command !== undefined && _meta?.[OUTPUT_KEY] === true;
  return {
    call: {
      ...call,
      onProgress: (message) => void notify({ message }),
      ...(takesOutput && { onOutput: (text: string) => notify({ _meta: { [OUTPUT_KEY]: text } }) }),
    },
    endCall: () => {
      forget();
      isEnded = true;
    },
  };
}
