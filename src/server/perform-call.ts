// Performs a tool call for an MCP client, asks a human first if necessary, and makes the MCP result.

import type {
  CallToolResult,
  InputRequiredResult,
  RequestId,
  Server,
  ServerContext,
} from '@modelcontextprotocol/server';
import { type CallEnd, type EndKind, OUTCOME_KEY, OUTPUT_KEY } from '../door/outcome.ts';
import { messageOf, NoHumanAnswerError } from '../errors.ts';
import type { OpenQuestion, Verdict } from '../kernel/approval.ts';
import type { Executor } from '../kernel/executor.ts';
import type { HumanEditors, ShownAnswer } from '../kernel/human-editor.ts';
import type { NoticeReader } from '../kernel/notice-board.ts';
import type { Outcome } from '../kernel/outcome.ts';
import type { CallContext } from '../kernel/tool.ts';
import { type Approvals, canAsk, isModern, sender, type WaitingCall } from './approvals.ts';
import { signed } from './identity.ts';
import type { MessageSize } from './message-size.ts';
import { adaptedTo, clientName, messageSizeOf } from './quirks.ts';

export interface CommandConnection {
  reader: NoticeReader;
  /** Maps the id of each running request to the controller that aborts its call when the command asks to interrupt
   * it. */
  interrupts: Map<RequestId, AbortController>;
}

/** The objects that performCall needs. */
export interface CallServices {
  executor: Pick<Executor, 'execute' | 'command'>;
  approvals: Approvals;
  editors: HumanEditors;
  version: string;
  /** Returns the connection to the client that started the server, if the server can ask that client's human at any
   * time. This human then also approves calls of other clients, which cannot ask. */
  sessionClient?: () => Server | undefined;
  /** Set when the client is a command. Results then also contain the data and how the call ended. */
  command?: CommandConnection;
}

/** A call of the tool `name` with `args`, in the request of `context` from the client of `server`. */
export interface ClientCall {
  name: string;
  args: unknown;
  server: Server;
  context: ServerContext;
}

export type CallResult = CallToolResult | InputRequiredResult;

/** Performs CALL, and shows it in the human's editors. */
export async function performCall(options: CallServices, call: ClientCall): Promise<CallResult> {
  const { name, args, server, context } = call;
  const { id, ended } = options.editors.callBegan({ client: clientName(server, context), tool: name, args });
  const result = await performApproved(options, call, id);
  ended(shownAnswer(result));
  return result;
}

function shownAnswer(result: CallResult): ShownAnswer {
  if (!('content' in result)) return { text: 'The client asks its user.', isError: false };
  const [first] = (result as CallToolResult).content;
  return { text: first?.type === 'text' ? first.text : '', isError: result.isError === true };
}

/** Performs CALL. Asks a human first if this is necessary and possible. SHOWN_CALL is the id of the call in the human's
 * editors. */
async function performApproved(
  options: CallServices,
  call: ClientCall,
  shownCall: number,
): Promise<CallResult> {
  const { name, args, server, context } = call;
  const { executor, approvals, version, command } = options;
  const asker = askerOf(options, call);
  const { running, end } = beginCall(context, command);
  const waiting = { ...running, name, args };
  const execute = (verdict?: Verdict) =>
    executor.execute(name, args, { ...running, canAsk: asker !== undefined }, verdict);
  const callResult = (outcome: Outcome) => {
    const result = signed(adaptedTo(server, context, toResult(outcome)), context, version);
    return command ? withOutcome(result, outcome) : result;
  };
  try {
    // In MCP's modern era, the client repeats the call with the human's answer to the question in an earlier result.
    const given = await approvals.verdict(waiting, context);
    if (given?.kind === 'next') return given.request;
    if (given !== undefined) return callResult(await execute(given));
    const outcome = await execute();
    if (outcome.question === undefined || asker === undefined) return callResult(outcome);
    const question = { ...outcome.question, shownCall };
    if (asker.kind === 'client' && isModern(context))
      return await approvals.ask(question, waiting, asker.size);
    const verdict = await askedVerdict(approvals, asker, question, waiting);
    if (verdict !== undefined) return callResult(await execute(verdict));
    question.recordRefusal('cannot ask', outcome.error);
    return callResult(outcome);
  } catch (error) {
    const result = errorResult(error);
    return command && error instanceof NoHumanAnswerError ? withEnd(result, { ended: 'human' }) : result;
  } finally {
    end();
  }
}

/** The program that shows the human a question about a call. `editors`: the human's editors. `client`: the client that
 * made the call. `session client`: the client that started the server. `size` is the space that the client has for the
 * question. `requestId` is the id of the request of the call; the client learns that the question belongs to it. */
type Asker =
  | { kind: 'editors' }
  | { kind: 'client' | 'session client'; server: Server; size: MessageSize; requestId?: RequestId };

/** Returns the program that asks the human about CALL; undefined when no program can. */
function askerOf(
  { editors, sessionClient }: CallServices,
  { server, context }: ClientCall,
): Asker | undefined {
  if (canAsk(server, context))
    return { kind: 'client', server, size: messageSizeOf(server, context), requestId: context.mcpReq.id };
  if (editors.watching) return { kind: 'editors' };
  const client = sessionClient?.();
  return client && { kind: 'session client', server: client, size: messageSizeOf(client) };
}

/** Asks QUESTION about CALL through ASKER, and resolves with the human's verdict. Resolves with undefined when no
 * editor is connected any more. */
async function askedVerdict(
  approvals: Approvals,
  asker: Asker,
  question: OpenQuestion,
  call: WaitingCall,
): Promise<Verdict | undefined> {
  if (asker.kind === 'editors') return approvals.askInEditor(question, call);
  const { kind, server, size, requestId } = asker;
  if (kind === 'session client')
    call.onProgress?.("waits until the user approves or denies it in the session's client");
  return approvals.askBySending(question, call, { size, send: sender(server, call.signal, requestId) });
}

type RunningCall = CallContext & { signal: AbortSignal };

/** Returns the context of a call that runs until `end` is called. Until then, the client gets progress notifications,
 * and COMMAND, if given, can interrupt the call. The values of the notifications only increase, as MCP requires. */
function beginCall(
  context: ServerContext,
  command?: CommandConnection,
): { running: RunningCall; end: () => void } {
  const { id, signal: cancelled, _meta } = context.mcpReq;
  const interrupt = new AbortController();
  command?.interrupts.set(id, interrupt);
  const signal = command ? AbortSignal.any([cancelled, interrupt.signal]) : cancelled;
  const running = { signal, ...(command && { command: command.reader }) };
  const forget = () => void command?.interrupts.delete(id);
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return { running, end: forget };
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
    running: {
      ...running,
      onProgress: (message) => void notify({ message }),
      ...(takesOutput && { onOutput: (text: string) => notify({ _meta: { [OUTPUT_KEY]: text } }) }),
    },
    end: () => {
      forget();
      isEnded = true;
    },
  };
}

/** Returns the MCP result for OUTCOME. Its first text is that of the tool, unchanged. The notices follow as further
 * texts. */
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

/** Returns RESULT, of a call by a command, with the data added and how the call ended. */
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

export function errorResult(error: unknown): CallToolResult {
  return { content: [{ type: 'text', text: messageOf(error) }], isError: true };
}
