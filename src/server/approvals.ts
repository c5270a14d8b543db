// Asks a human for approval through their MCP client, and decides which answers are valid.
//
// There are three ways. In MCP's modern era, `ask` makes the question the result of the call. The client then sends the
// call again with the answer, which `verdict` reads. For other clients, `askBySending` sends forms while the call
// waits. When the client can show no form, `askInEditor` asks only in the human's editors.
// Each form is opened under a new id. OpenQuestions.take closes this id, so that no answer counts twice.

import { createHash, randomBytes, randomUUID } from 'node:crypto';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type ElicitRequestFormParams,
  type ElicitResult,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type RequestId,
  SdkError,
  SdkErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { CallError, NoHumanAnswerError } from '../errors.ts';
import type { OpenQuestion, Verdict } from '../kernel/approval.ts';
import type { EditorQuestion, HumanEditors } from '../kernel/human-editor.ts';
import { type OpenQuestions, type PendingQuestion, pendingQuestion } from '../kernel/questions.ts';
import { APPROVE_FOR_SESSION, choices, DENY, decisionForm, MORE, sessionScopeText } from './approval-form.ts';
import { fits, type MessageSize, messageIn, surelyVisible } from './message-size.ts';
import type { PreviewFiles } from './preview-files.ts';
import { pagesOf, questionHeadline } from './question-text.ts';

interface ApprovalOptions {
  questions: OpenQuestions;
  files: PreviewFiles;
  /** The human's editors. A question is shown in them and in the client, and the first answer counts. */
  editors: HumanEditors;
  /** True when the connection has one person, whose approval can also cover later calls of the session. */
  allowsSessionApproval: boolean;
  /** A client that declines a question after fewer milliseconds has asked no person. */
  soonestDeclineMs?: number | undefined;
}

/** An answer from the client. Its values are not checked yet. */
type ClientAnswer = { action: ElicitResult['action']; content?: Record<string, unknown> };

/** The form to send to the client next, the question that it asks, and the id of this open question. */
interface Next {
  kind: 'next';
  form: ElicitRequestFormParams;
  id: string;
  question: PendingQuestion;
}

type Answer = Verdict | Next;

/** A call of the tool `name` with `args` that waits for the human. `signal` aborts when it is cancelled. `onProgress`
 * receives a text about the wait. */
export interface WaitingCall {
  name: string;
  args: unknown;
  signal: AbortSignal;
  onProgress?: (message: string) => void;
}

/** Sends `form` to the client. Resolves with the client's answer, or with undefined after `milliseconds`. Withdraws the
 * form when `signal` aborts. Never throws. */
export type Send = (
  form: ElicitRequestFormParams,
  milliseconds: number,
  signal: AbortSignal,
) => Promise<ElicitResult | undefined>;

/** Number of columns by which clients indent the text that is below a field. */
const INDENT = 4;

/** No person reads a form and declines it in this time. */
const SOONEST_DECLINE_MS = 500;

/** Key of the question in MCP's input requests and input responses. */
const KEY = 'approval';

export class Approvals {
  readonly #options: ApprovalOptions;
  readonly #codec;

  constructor(options: ApprovalOptions) {
    this.#options = options;
    // The codec rounds to whole seconds, so the state must live a little longer than the questions.
    const ttlSeconds = options.questions.seconds + 2;
    this.#codec = createRequestStateCodec<{ id: string }>({ key: randomBytes(32), ttlSeconds });
  }

  /** Returns the MCP result that asks the human QUESTION about CALL. Only for clients of MCP's modern era (see
   * isModern), which send the answer in a new request. SIZE is the space that the client has for a question. */
  async ask(question: OpenQuestion, call: WaitingCall, size: MessageSize): Promise<InputRequiredResult> {
    return this.#request(this.#openFirst(question, subjectOf(call), size));
  }

  /** Asks the human QUESTION about CALL with forms that the function SEND sends to the client, and resolves with the
   * verdict. For clients of MCP's legacy era (see isModern). SIZE is the space that the client has for a question.
   * Throws a NoHumanAnswerError when no answer comes in time. */
  async askBySending(
    question: OpenQuestion,
    call: WaitingCall,
    { size, send }: { size: MessageSize; send: Send },
  ): Promise<Verdict> {
    const { questions } = this.#options;
    const subject = subjectOf(call);
    let answer: Answer = this.#openFirst(question, subject, size);
    let asked = answer.question;
    while (answer.kind === 'next') {
      const { id, form } = answer;
      asked = answer.question;
      const first = await firstAnswer((withdrawn) => send(form, questions.seconds * 1000, withdrawn), asked);
      if (first === undefined || !questions.isOpen(id)) {
        questions.expire(id);
        throw new NoHumanAnswerError(question.timeoutText);
      }
      const taken = questions.take(id, subject);
      if ('verdict' in first) {
        taken.onClose();
        return first.verdict;
      }
      answer = this.#read(taken, subject, first.result);
    }
    // When nobody answers in the client, the question stays in the editors.
    return answer.kind === 'unanswered' ? this.#fromEditor(asked, call) : answer;
  }

  /** Asks QUESTION about CALL only in the human's editors, and resolves with the verdict. Resolves with undefined when
   * no editor is connected. Throws a NoHumanAnswerError when no answer comes in time. */
  async askInEditor(question: OpenQuestion, call: WaitingCall): Promise<Verdict | undefined> {
    const editor = this.#askEditors(question);
    if (editor === undefined) return undefined;
    const pending = pendingQuestion(question, { pages: [], editor, onClose: () => {} });
    const verdict = await this.#fromEditor(pending, call);
    return verdict.kind === 'unanswered' ? undefined : verdict;
  }

  /** Shows QUESTION in the human's editors. Returns undefined when no editor is connected. */
  #askEditors(question: OpenQuestion): EditorQuestion | undefined {
    return this.#options.editors.ask(question, {
      headline: String(questionHeadline(question)),
      ...(this.#coversSession(question) && { sessionScope: sessionScopeText(question) }),
    });
  }

  #coversSession({ allowsSession }: OpenQuestion): boolean {
    return allowsSession && this.#options.allowsSessionApproval;
  }

  /** Waits for an editor's verdict on QUESTION about CALL. The verdict is `unanswered` when no editor is left, or the
   * call is cancelled. Throws a NoHumanAnswerError when no verdict comes in time. */
  async #fromEditor(question: PendingQuestion, call: WaitingCall): Promise<Verdict> {
    const { editor } = question;
    const { signal, onProgress } = call;
    if (editor === undefined) return { kind: 'unanswered' };
    onProgress?.(`waits until the user approves or denies it in ${editor.where}`);
    const { questions } = this.#options;
    const [id, subject] = [randomUUID(), subjectOf(call)];
    // This entry is only for the time limit. The client's answer has called `onClose` already.
    questions.add(id, { ...question, onClose: () => {} }, subject);
    const cancelled = new Promise<undefined>((resolve) => {
      if (signal.aborted) resolve(undefined);
      signal.addEventListener('abort', () => resolve(undefined), { once: true });
    });
    const verdict = await Promise.race([editor.answer, cancelled]);
    if (!questions.isOpen(id)) throw new NoHumanAnswerError(question.timeoutText);
    questions.take(id, subject);
    editor.close('the call was cancelled'); // Has no effect after a verdict.
    return verdict ?? { kind: 'unanswered' };
  }

  /** Reads the client's answer in the request of CONTEXT, which is for CALL. Returns the human's verdict, or the
   * request for the next form. Returns undefined when the request has no answer, because nobody was asked yet. Throws
   * a CallError for an invalid answer. */
  async verdict(
    call: WaitingCall,
    context: ServerContext,
  ): Promise<Verdict | { kind: 'next'; request: InputRequiredResult } | undefined> {
    const { requestState, inputResponses } = context.mcpReq;
    const state = requestState<string>();
    if (state === undefined && inputResponses === undefined) return undefined;
    const { id } = await this.#verifiedState(String(state), context);
    const subject = subjectOf(call);
    const question = this.#options.questions.take(id, subject);
    const response = inputResponse(inputResponses, KEY);
    const answer = this.#read(
      question,
      subject,
      response.kind === 'elicit' ? response : { action: 'cancel' },
    );
    // The human may have answered in an editor first. Nothing was done yet, so a denial in the client still counts.
    const fromEditor = question.editor?.given;
    if (fromEditor !== undefined && answer.kind !== 'denied') {
      if (answer.kind === 'next') this.#options.questions.take(answer.id, subject).onClose();
      return fromEditor;
    }
    if (answer.kind === 'unanswered') return this.#fromEditor(question, call);
    return answer.kind === 'next' ? { kind: 'next', request: await this.#request(answer) } : answer;
  }

  async #verifiedState(state: string, context: ServerContext): Promise<{ id: string }> {
    try {
      return await this.#codec.verify(state, context);
    } catch {
      throw new CallError(
        'This approval expired, or the client sent it back with changed data, so nothing was done. Call the tool again to ask anew.',
      );
    }
  }

  async #request({ form, id }: Next): Promise<InputRequiredResult> {
    return inputRequired({
      inputRequests: { [KEY]: inputRequired.elicit(form) },
      requestState: await this.#codec.mint({ id }),
    });
  }

  /** Opens QUESTION about the call with digest SUBJECT, and returns its first form. Writes the complete preview to a
   * file, which exists until the question is closed. Offers an approval for the session only when SIZE has space for
   * the complete preview. */
  #openFirst(question: OpenQuestion, subject: string, size: MessageSize): Next {
    const file = this.#options.files.write(question.preview.whole());
    const editor = this.#askEditors(question);
    const { pages, whole } = pagesOf(question, file, size, editor?.where);
    const [message = '', ...more] = pages;
    const isWholeVisible = whole && surelyVisible(message, size);
    const sessionScope = sessionScopeText(question);
    const scopeFits = fits({ lines: [sessionScope] }, { ...size, rows: 1, columns: size.columns - INDENT });
    const sessionAllowed = this.#coversSession(question) && isWholeVisible && scopeFits;
    const pending = pendingQuestion(question, {
      pages: more,
      ...(editor && { editor }),
      onClose: 'path' in file ? file.remove : () => {},
      ...(sessionAllowed && { sessionScope: messageIn({ lines: [sessionScope] }, size) }),
    });
    return this.#next(pending, subject, decisionForm(pending, message, isWholeVisible && more.length === 0));
  }

  /** Opens QUESTION about the call with digest SUBJECT under a new id. Returns this id with FORM. */
  #next(question: PendingQuestion, subject: string, form: ElicitRequestFormParams): Next {
    const id = randomUUID();
    this.#options.questions.add(id, { ...question, shownAt: Date.now() }, subject);
    return { kind: 'next', form, id, question };
  }

  /** Reads the client's answer to QUESTION, and returns its verdict. If the human instead asked for the next page of
   * QUESTION, returns the form with this page. SUBJECT is the digest of the call. */
  #read(question: PendingQuestion, subject: string, { action, content = {} }: ClientAnswer): Answer {
    const decisions: unknown[] = choices(question);
    const { decision } = content;
    const [message, ...pages] = question.pages;
    if (action === 'accept' && decision === MORE && message !== undefined) {
      const nextPage = { ...question, pages };
      return this.#next(nextPage, subject, decisionForm(nextPage, message, false));
    }
    question.onClose();
    if (action === 'cancel' || (action === 'decline' && this.#isLeftToEditors(question)))
      return { kind: 'unanswered' };
    if (action !== 'accept' || decision === DENY) {
      question.editor?.close('denied in the client');
      return { kind: 'denied' };
    }
    if (!decisions.includes(decision)) return { kind: 'unanswered' };
    question.editor?.close('approved in the client');
    const { fingerprint } = question.preview;
    return { kind: 'approved', fingerprint, session: decision === APPROVE_FOR_SESSION };
  }

  /** True when a decline of QUESTION comes too soon for a person, and an editor shows QUESTION too. */
  #isLeftToEditors({ editor, shownAt }: PendingQuestion): boolean {
    if (editor === undefined || shownAt === undefined) return false;
    return Date.now() - shownAt < (this.#options.soonestDeclineMs ?? SOONEST_DECLINE_MS);
  }
}

/** The first answer to a question: the client's, or an editor's verdict. */
type FirstAnswer = { result: ElicitResult } | { verdict: Verdict };

/** Sends a form by SEND, and resolves with the first answer, from the client or an editor. If an editor answers first,
 * withdraws the form. Resolves with undefined when no answer comes in time. */
async function firstAnswer(
  send: (signal: AbortSignal) => Promise<ElicitResult | undefined>,
  { editor }: PendingQuestion,
): Promise<FirstAnswer | undefined> {
  const withdrawal = new AbortController();
  const fromClient: Promise<FirstAnswer | undefined> = send(withdrawal.signal).then(
    (result) => result && { result },
  );
  if (editor === undefined) return fromClient;
  const fromEditor = editor.answer.then<FirstAnswer | undefined>((verdict) =>
    verdict === undefined ? fromClient : { verdict },
  );
  const first = await Promise.race([fromClient, fromEditor]);
  withdrawal.abort();
  return first;
}

/** Returns true when the client can show forms to its human. SERVER is the connection to the client, CONTEXT that of
 * the request. Clients of MCP's legacy era send their capabilities only when they connect. */
export function canAsk(server: Server, context?: ServerContext): boolean {
  const envelope = context?.mcpReq.envelope as Record<string, ClientCapabilities> | undefined;
  const { elicitation } = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities() ?? {};
  // Before MCP had `form` and `url`, an empty `elicitation` meant forms.
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** Returns true when the request of CONTEXT has one of the newer protocol versions of MCP, which MCP's SDK calls the
 * modern era. There, each request contains the name and the capabilities of the client, and the result of a tool call
 * can ask the human. In older versions, a client sends its name and capabilities only once, when it connects. */
export function isModern(context: ServerContext): boolean {
  return context.mcpReq.envelope !== undefined;
}

/** Returns a function that shows a form to the human: it sends the form to the client of SERVER as an elicitation
 * request, which ends when SIGNAL aborts. If RELATED_REQUEST_ID is given, the client is told that the form belongs to
 * the request with this id. If the client returns an error, the human counts as having cancelled the form. */
export function sender(server: Server, signal: AbortSignal, relatedRequestId?: RequestId): Send {
  return async (form, timeout, withdrawn) => {
    const options = {
      timeout,
      signal: AbortSignal.any([signal, withdrawn]),
      ...(relatedRequestId !== undefined && { relatedRequestId }),
    };
    try {
      return await server.request(
        { method: 'elicitation/create', params: { mode: 'form', ...form } },
        options,
      );
    } catch (error) {
      const timedOut = error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
      if (timedOut && !signal.aborted) return undefined;
      return { action: 'cancel' };
    }
  };
}

/** Returns the digest of a call. An answer is valid only for a call with the same digest. */
function subjectOf({ name, args }: WaitingCall): string {
  return createHash('sha256')
    .update(JSON.stringify([name, args ?? {}]))
    .digest('hex');
}
