// Executes a tool call: finds the tool, validates the arguments, and runs the tool. Never throws. Asks no human itself:
// if a call needs an approval, its outcome has the question, and the caller repeats the call with the human's verdict.

import { ArgumentError, CallError, ImageError, messageOf, SetupError } from '../errors.ts';
import { deniedHint, refusalText, unansweredText, type Verdict } from './approval.ts';
import type { AuditedCall, AuditTrail, Authority } from './audit.ts';
import { EarlierAnswers } from './earlier-answers.ts';
import { type Notice, NoticeBoard, type NoticeReader } from './notice-board.ts';
import { type BareOutcome, carriesNotices, type Outcome, toResult } from './outcome.ts';
import type { Arguments } from './parameter.ts';
import type { ToolRegistry } from './registry.ts';
import { boundText } from './reply.ts';
import { printable, validateArguments, withDefaults } from './schema.ts';
import { argumentsPreview, type RenderedPreview, renderPreview } from './shown.ts';
import { type PlacesOf, placesOf, type StandingApprovals } from './standing.ts';
import { withinLimit } from './time-limit.ts';
import { type CallContext, type Preview, type SafetyLevel, type Tool, withRaisedLevel } from './tool.ts';

export type Decision = 'run' | 'ask';

/** Calls of this safety level, and of higher ones, need a human's approval. */
export type AskPolicy = 'dangerous' | 'cautious';

/** Returns 'ask' when POLICY requires a human's approval for tools of LEVEL, else 'run'. */
export function decide(level: SafetyLevel, policy: AskPolicy): Decision {
  return level === 'dangerous' || level === policy ? 'ask' : 'run';
}

export interface ExecutorOptions {
  /** Name of the image for the calls, if the server has several. */
  image?: string | undefined;
  /** By default, `dangerous`. */
  ask?: AskPolicy;
  standing?: StandingApprovals;
  audit?: AuditTrail;
  /** Calls wait until this promise resolves. It never rejects. */
  ready?: Promise<void>;
  /** Returns the notices that came since the previous call of this function. */
  takeNotices?: () => Notice[];
  /** Returns a remark for the model, to be added to the answer `text`; undefined when there is none. */
  remark?: (text: string) => Promise<string | undefined>;
}

interface Call {
  tool: Tool;
  /** The tool as it was registered. `tool` can have a higher level, from `raisedBy` for these arguments. */
  registered: Tool;
  /** The validated arguments, without defaults. */
  args: Arguments;
  context: CallContext;
  caller: AuditedCall['caller'];
  /** The human's answer to the question of an earlier call with the same arguments; undefined when there is none. */
  verdict: Verdict | undefined;
}

const DENIED = 'Tool execution denied by user';

export class Executor {
  readonly #registry: ToolRegistry;
  readonly #options: ExecutorOptions;
  readonly #notices: NoticeBoard;
  /** The texts of earlier answers: to the client that started the server, and to all commands. */
  readonly #earlierAnswers = { client: new EarlierAnswers(), command: new EarlierAnswers() };

  constructor(registry: ToolRegistry, options: ExecutorOptions = {}) {
    this.#registry = registry;
    this.#options = options;
    this.#notices = new NoticeBoard(options.takeNotices ?? (() => []));
  }

  /** Returns a NoticeReader for a new command. It keeps track of the notices that the command has read. The command
   * passes it in the context of its calls. */
  command(): NoticeReader {
    return this.#notices.command();
  }

  /** Calls the tool NAME with ARGS, which are not validated yet. VERDICT is the human's answer to the question that an
   * earlier call with the same arguments returned. Returns failures as outcomes too. */
  async execute(name: string, args: unknown, context: CallContext = {}, verdict?: Verdict): Promise<Outcome> {
    const { command } = context;
    if (context.page) {
      const outcome = await this.#run(name, args, { context, caller: 'page', verdict });
      return { ...outcome, notices: [] };
    }
    const caller = command === undefined ? 'client' : 'command';
    const earlierAnswers = this.#earlierAnswers[caller];
    const outcome = await this.#run(name, args, { context: { ...context, earlierAnswers }, caller, verdict });
    const text = outcome.success ? outcome.text : outcome.error;
    earlierAnswers.answered(text);
    // The answer of a cancelled call is not read, so notices wait for the next answer.
    const delivers = carriesNotices(outcome) && !context.signal?.aborted;
    const changes = outcome.changed === undefined ? [] : [changesText(outcome.changed)];
    const notes = outcome.note === undefined ? [] : [outcome.note];
    const remark = await this.#options.remark?.(text);
    if (remark !== undefined) notes.push(remark);
    const notices = delivers ? this.#notices.read(command).map((notice) => boundText(notice)) : [];
    return { ...outcome, notices: [...changes, ...notes, ...notices] };
  }

  /** Records that the executor of another image has answered a call, so that the last answer of this executor is no
   * longer the last one that the reader got. The reader is a command if COMMAND is given, else the client. */
  answeredElsewhere({ command, page }: CallContext): void {
    if (page) return;
    this.#earlierAnswers[command === undefined ? 'client' : 'command'].answered('');
  }

  /** Calls the tool NAME for code in the image. Notices are kept for the next answer that a model reads. */
  async executeForCode(name: string, args: unknown, context: CallContext = {}): Promise<Outcome> {
    const alone = { ...context, canAsk: false };
    const outcome = await this.#run(name, args, { context: alone, caller: 'code', verdict: undefined });
    return { ...outcome, notices: [] };
  }

  async #run(
    name: string,
    args: unknown,
    how: Omit<Call, 'tool' | 'registered' | 'args'>,
  ): Promise<BareOutcome> {
    try {
      await this.#options.ready;
      const registered = this.#registry.getTool(name);
      if (registered === null) return failure(`Unknown tool: ${printable(String(name))}`);
      const valid = validateArguments(registered, args);
      const tool = withRaisedLevel(registered, valid);
      const call = { tool, registered, args: valid, ...how };
      const level = tool.isReadOnly?.(call.args) ? 'safe' : tool.safetyLevel;
      const decision = decide(level, this.#options.ask ?? 'dangerous');
      // A human's verdict on the call applies even if the tool no longer needs an approval.
      if (how.verdict !== undefined) return await this.#performDecided(call, how.verdict);
      return decision === 'run' ? await this.#perform(call, 'level') : await this.#performOrAsk(call);
    } catch (error) {
      return failureOf(error);
    }
  }

  /** Runs CALL if it needs no approval or has one. Otherwise returns an outcome with the question. */
  async #performOrAsk(call: Call): Promise<BareOutcome> {
    const preview = await previewOf(call);
    if (preview.free) return this.#perform(withFingerprint(call, preview), 'nothing at stake');
    return this.#isStandingApproved(call, preview)
      ? this.#perform(withFingerprint(call, preview), 'standing')
      : this.#questionOutcome(call, renderPreview(preview));
  }

  /** Runs CALL if VERDICT approves it. The human may have changed its arguments. */
  async #performDecided(call: Call, verdict: Verdict): Promise<BareOutcome> {
    if (verdict.kind !== 'approved' && verdict.kind !== 'modified') return this.#notApproved(call, verdict);
    const { tool } = call;
    const preview = await previewOf(call);
    if (verdict.fingerprint !== undefined && verdict.fingerprint !== preview.fingerprint) {
      const text = `What ${tool.name} would do has changed since it was approved, so nothing was done. Call it again to ask anew.`;
      return this.#refuse(call, 'human', text);
    }
    if (verdict.kind === 'modified') return this.#performChanged(call, verdict.args);
    if (verdict.session && call.caller === 'client' && this.#canHoldForSession(renderPreview(preview))) {
      for (const required of this.#requiredTools(call))
        this.#options.standing?.allowForSession(approvedAs(required), ...placesOf(preview));
    }
    const authority = verdict.where === undefined ? 'human' : 'human, in an editor';
    return this.#perform(withFingerprint(call, preview), authority);
  }

  /** Returns the tools that standing approvals must cover so that CALL runs without a question. The first is `tool`,
   * the tool with the level of this call. If `raisedBy` has raised this level, `registered` is the tool as it is
   * otherwise, and must be covered too when its own level needs an approval. */
  #requiredTools({ tool, registered }: Call): Tool[] {
    const registeredRuns =
      tool === registered || decide(registered.safetyLevel, this.#options.ask ?? 'dangerous') === 'run';
    return registeredRuns ? [tool] : [tool, registered];
  }

  #isStandingApproved(call: Call, preview: Preview): boolean {
    const { standing } = this.#options;
    const places = placesOf(preview);
    return this.#requiredTools(call).every((tool) =>
      call.caller === 'command'
        ? standing?.coversFromStart(approvedAs(tool), ...places)
        : standing?.covers(approvedAs(tool), ...places),
    );
  }

  /** Runs CALL with ARGS, which a human gave in place of the model's arguments. */
  async #performChanged(call: Call, args: unknown): Promise<BareOutcome> {
    try {
      const context = { ...call.context, changedByHuman: true };
      const { registered } = call;
      const valid = validateArguments(registered, args);
      const changed = { ...call, context, args: valid, tool: withRaisedLevel(registered, valid) };
      const changedCall = withFingerprint(changed, await previewOf(changed));
      const outcome = await this.#perform(changedCall, 'human, with changes');
      return { ...outcome, changed: changedNames(call.args, changed.args) };
    } catch (error) {
      return this.#refuse(call, 'human, with changes', errorText(error));
    }
  }

  async #notApproved(
    call: Call,
    verdict: Extract<Verdict, { kind: 'denied' | 'unanswered' | 'void' }>,
  ): Promise<BareOutcome> {
    const { tool } = call;
    if (verdict.kind === 'void') return this.#refuse(call, 'nobody', verdict.why);
    // The preview fails when the file of the call no longer exists. Then '' stands for this file. Without a preview
    // of its own, a tool has calls without files.
    const placesWithoutPreview: PlacesOf = tool.preview ? { place: '' } : {};
    const places: PlacesOf = await previewOf(call).catch(() => placesWithoutPreview);
    const about = { ...places, tool, requiredTools: this.#requiredTools(call), caller: call.caller };
    if (verdict.kind === 'unanswered')
      return {
        ...this.#refuse(call, 'nobody', unansweredText(about)),
        ...(call.caller === 'command' && { cause: 'human' }),
      };
    return { ...this.#refuse(call, 'denied', DENIED), hint: deniedHint(about, verdict) };
  }

  /** Returns a failure with a question that shows PREVIEW. If no human can be asked, also records the refusal of the
   * call. */
  #questionOutcome(call: Call, preview: RenderedPreview): BareOutcome {
    const { tool, args, caller, context } = call;
    const about = { ...preview, tool, requiredTools: this.#requiredTools(call), caller };
    const refusal = refusalText(about);
    const recordedCall = { ...call, args: withBoundedValues(args), context: {} };
    const recordRefusal = (authority: Authority, why: string) => {
      try {
        this.#refuse(recordedCall, authority, why);
      } catch {} // No caller could handle this error. If the fault persists, the next call fails.
    };
    const timeoutText = unansweredText(about, true);
    // The connection of a command ends soon, and an approval for the session would end with it.
    const allowsSession = caller === 'client' && this.#canHoldForSession(preview);
    const { image } = this.#options;
    const where = image === undefined ? {} : { image };
    const question = { tool, ...where, args, preview, allowsSession, recordRefusal, timeoutText };
    return {
      ...(context.canAsk === false ? this.#refuse(call, 'cannot ask', refusal) : failure(refusal)),
      question,
    };
  }

  #canHoldForSession(preview: RenderedPreview): boolean {
    return this.#options.standing?.canHoldForSession(...placesOf(preview)) === true;
  }

  #refuse(call: Call, authority: Authority, error: string): { success: false; error: string } {
    this.#beginRecord(call, authority)?.({ success: false, error, milliseconds: 0 });
    return failure(error);
  }

  async #perform(call: Call, authority: Authority): Promise<BareOutcome> {
    if (call.context.signal?.aborted)
      throw new CallError('The call was cancelled before it ran; nothing was done.');
    // A read-only call of a tool that is not safe, such as a dry run, is recorded too.
    if (call.tool.safetyLevel === 'safe') return run(call);
    const end = this.#beginRecord(call, authority);
    const startedAt = performance.now();
    const outcome = await run(call).catch((error: unknown) => failureOf(error));
    const milliseconds = Math.round(performance.now() - startedAt);
    end?.({ success: outcome.success, ...(!outcome.success && { error: outcome.error }), milliseconds });
    return outcome;
  }

  #beginRecord(call: Call, authority: Authority): ReturnType<AuditTrail['begin']> | undefined {
    try {
      return this.#options.audit?.begin(audited(call), authority);
    } catch (error) {
      throw new CallError(
        `The call could not be recorded in the audit log (${messageOf(error)}), so nothing was done. A person can name another file when they start the server: --audit FILE`,
      );
    }
  }
}

async function run({ tool, args, context }: Call): Promise<BareOutcome> {
  const { text, data, failed, result, absent, structured, note } = toResult(
    await withinLimit(tool, context, (limited) => tool.handler(withDefaults(tool, args), limited)),
  );
  const bounded = boundText(text);
  const more = { data, ...(note && { note }), ...(context.command && bounded !== text && { whole: text }) };
  if (failed || (absent && (context.forData || context.command)))
    return { success: false, error: bounded, ...more, ...(result !== undefined && { result }) };
  return { success: true, text: bounded, ...more, ...(structured && { structured }) };
}

async function previewOf({ tool, args, context }: Call): Promise<Preview> {
  const ownPreview = tool.preview?.bind(tool);
  // Without a preview of its own, the tool's name for approvals is the fingerprint. It changes when code in the image
  // registers the tool again, so that an approval does not cover the new definition.
  return ownPreview
    ? await withinLimit(tool, context, (limited) => ownPreview(withDefaults(tool, args), limited))
    : argumentsPreview(args, approvedAs(tool));
}

/** Maximum number of characters of each argument in the stored call of an open question. Many questions can be open for
 * a long time, so they must be small. */
const VALUE_LIMIT = 2000;

function withBoundedValues(args: Arguments): Arguments {
  const bounded = Object.entries(args).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return [name, text.length <= VALUE_LIMIT ? value : `${text.slice(0, VALUE_LIMIT)}...`];
  });
  return Object.fromEntries(bounded);
}

function changesText(names: string[]): string {
  if (names.length === 0) return 'The user approved the call as it was.';
  return `The user changed these arguments and approved: ${names.join(', ')}. The call ran with the user's values, not with yours.`;
}

function changedNames(before: Arguments, after: Arguments): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
}

function withFingerprint(call: Call, { fingerprint }: Preview): Call {
  return { ...call, context: { ...call.context, fingerprint } };
}

function approvedAs(tool: Tool): string {
  return tool.approvedAs ?? tool.allowedAs ?? tool.name;
}

function audited({ tool, args, caller }: Call): AuditedCall {
  return { tool: tool.name, level: tool.safetyLevel, args, caller };
}

function failure(error: string): { success: false; error: string } {
  return { success: false, error: boundText(error) };
}

function failureOf(error: unknown): BareOutcome {
  const cause = error instanceof ArgumentError ? 'usage' : isOfImage(error) ? 'image' : undefined;
  return { ...failure(errorText(error)), ...(cause && { cause }) };
}

function isOfImage(error: unknown): error is SetupError | ImageError {
  return error instanceof SetupError || error instanceof ImageError;
}

function errorText(error: unknown): string {
  const ours = error instanceof CallError || isOfImage(error);
  return ours ? error.message : `Tool error: ${messageOf(error)}`;
}
