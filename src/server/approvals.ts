// Decides how a human is asked through their MCP client, and what counts as an answer.

import { createHash, randomBytes, randomUUID } from 'node:crypto';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { CallError, messageOf } from '../errors.ts';
import { folderOf, type Question, type Verdict } from '../kernel/approval.ts';
import type { AskedQuestion, OpenQuestions } from '../kernel/questions.ts';
import { visibleName } from '../visible.ts';

export interface ApprovalOptions {
  questions: OpenQuestions;
  /** Whether the connection is one person's, so that an approval can hold for a session. */
  session: boolean;
}

/** The name of the question in MCP's messages. */
const KEY = 'approval';
const APPROVE = 'approve';
const APPROVE_FOR_SESSION = 'approve for this session';
const DENY = 'deny';

export class Approvals {
  readonly #options: ApprovalOptions;
  readonly #codec;

  constructor(options: ApprovalOptions) {
    this.#options = options;
    // The codec counts whole seconds; the open questions count exactly.
    const ttlSeconds = options.questions.seconds + 2;
    this.#codec = createRequestStateCodec<{ id: string }>({ key: randomBytes(32), ttlSeconds });
  }

  /** Milliseconds to wait for the answer of a client that is asked directly, a little longer than it counts. */
  get patienceMs(): number {
    return this.#options.questions.seconds * 1000 + 1000;
  }

  /** Returns the request to the client that asks a human QUESTION, which came of the call of NAME with ARGS. */
  async ask(question: Question, name: string, args: unknown): Promise<InputRequiredResult> {
    const id = randomUUID();
    this.#options.questions.add(id, question, subjectOf(name, args));
    return inputRequired({
      inputRequests: {
        [KEY]: inputRequired.elicit({ message: messageFor(question), requestedSchema: this.#form(question) }),
      },
      requestState: await this.#codec.mint({ id }),
    });
  }

  /** Returns what a human said to the call of NAME with ARGS, or undefined when nobody was asked yet. Throws a
   *  CallError when CONTEXT has an answer that counts for nothing. */
  async verdict(name: string, args: unknown, context: ServerContext): Promise<Verdict | undefined> {
    const { requestState, inputResponses } = context.mcpReq;
    const state = requestState<string>();
    if (state === undefined && inputResponses === undefined) return undefined;
    const { id } = await this.#opened(String(state), context);
    const question = this.#options.questions.take(id, subjectOf(name, args));
    const response = inputResponse(inputResponses, KEY);
    if (response.kind !== 'elicit' || response.action === 'cancel') return { kind: 'unanswered' };
    if (response.action !== 'accept') return { kind: 'denied' };
    return this.#read(question, response.content ?? {});
  }

  async #opened(state: string, context: ServerContext): Promise<{ id: string }> {
    try {
      return await this.#codec.verify(state, context);
    } catch {
      throw new CallError(
        'This approval expired, or what the client sent back with it is not what it was given, so nothing was done. Call the tool again to ask anew.',
      );
    }
  }

  #read(question: AskedQuestion, content: Record<string, unknown>): Verdict {
    const { decision, arguments: changed } = content;
    if (decision === undefined) return { kind: 'unanswered' };
    if (decision !== APPROVE && !(decision === APPROVE_FOR_SESSION && this.#options.session)) {
      return { kind: 'denied' };
    }
    const { fingerprint } = question.preview;
    if (typeof changed === 'string' && changed.trim() !== '') {
      return { kind: 'modified', args: parseArguments(changed), fingerprint };
    }
    return { kind: 'approved', fingerprint, session: decision === APPROVE_FOR_SESSION };
  }

  #form({ tool, preview }: Question) {
    const session = `${APPROVE_FOR_SESSION}: ${tool.name}${filesText(preview.place)} without asking again`;
    return {
      type: 'object' as const,
      properties: {
        decision: {
          type: 'string' as const,
          title: 'Decision',
          description: this.#options.session ? session : `${tool.name}, once`,
          enum: this.#options.session ? [APPROVE, APPROVE_FOR_SESSION, DENY] : [APPROVE, DENY],
        },
        arguments: {
          type: 'string' as const,
          title: 'Changed arguments',
          description:
            'To approve other arguments than these: all of them, as a JSON object. Else leave it empty.',
        },
      },
      required: ['decision'],
    };
  }
}

/** Returns whether the client behind CONTEXT can show a form to its human. */
export function canAsk(server: Server, context: ServerContext): boolean {
  const envelope = context.mcpReq.envelope as Record<string, ClientCapabilities> | undefined;
  const { elicitation } = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities() ?? {};
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** Returns a digest of the call of NAME with ARGS, so that an answer holds for no other. */
function subjectOf(name: string, args: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify([name, args ?? {}]))
    .digest('hex');
}

function messageFor({ tool, preview }: Question): string {
  const where = preview.place === undefined ? '' : ` in ${visibleName(preview.place)}`;
  return `May the agent call ${tool.name} (${tool.safetyLevel})${where}?\n\n${preview.text}`;
}

/** Returns for which files an approval for the session holds that was asked for one at PLACE. */
function filesText(place: string | undefined): string {
  if (place === undefined) return '';
  const folder = folderOf(place);
  return ` for files directly in ${folder === '.' ? 'the workspace root' : visibleName(folder) || '/'}`;
}

function parseArguments(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CallError(
      `The arguments that the human gave instead are no JSON (${messageOf(error)}), so nothing was done. Call the tool again to ask anew.`,
    );
  }
}
