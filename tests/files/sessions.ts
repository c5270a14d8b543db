// A server over a workspace in a temporary folder, and a human who answers its questions.

import { realpathSync } from 'node:fs';
import type { ElicitRequestFormParams, ElicitResult } from '@modelcontextprotocol/client';
import { afterAll, beforeAll } from 'vitest';
import { Session, type StartOptions } from '../harness.ts';
import { withoutFile } from '../said.ts';
import { makeWorkspace, type TestWorkspace } from './workspaces.ts';

export const APPROVE = accept({ decision: 'approve' });
export const DENY = accept({ decision: 'deny' });

export function accept(content: Record<string, string>): ElicitResult {
  return { action: 'accept', content };
}

/** What a human does with a question; they may do something else first, or take their time. */
export type Human = (message: string, form: ElicitRequestFormParams) => ElicitResult | Promise<ElicitResult>;

export interface FileSession extends TestWorkspace {
  session: Session;
  /** The messages of the questions so far. */
  questions: string[];
  /** Is asked next; denies until a test sets it. */
  human: Human;
  /** Calls the tool NAME and returns its text; `failed: ` before it tells that the call failed. */
  answer(name: string, args: object): Promise<string>;
  close(): Promise<void>;
}

/** Starts a server over a new workspace, whose human denies; OPTIONS can name more arguments. */
export async function openWorkspace(options: StartOptions = {}): Promise<FileSession> {
  const { opened, start } = newWorkspace(options);
  await start();
  return opened;
}

/** Returns a server over a new workspace as openWorkspace does. It is started before the tests and ended behind them. */
export function sharedWorkspace(options: StartOptions = {}): FileSession {
  const { opened, start } = newWorkspace(options);
  beforeAll(start);
  afterAll(opened.close);
  return opened;
}

/** Returns a new workspace, and what starts its server with OPTIONS. */
function newWorkspace(options: StartOptions): { opened: FileSession; start: () => Promise<void> } {
  const at = makeWorkspace();
  const questions: string[] = [];
  const session = new Session();
  const start = async () => {
    await session.start({
      ...options,
      args: ['--root', at.root, ...(options.args ?? [])],
      onQuestion: (form: ElicitRequestFormParams) => {
        questions.push(withoutFile(form.message));
        return opened.human(form.message, form);
      },
    });
  };
  const opened: FileSession = {
    ...at,
    session,
    questions,
    human: () => DENY,
    answer: async (name, args) => {
      const { text, isError } = await session.call(name, { ...args });
      return (isError ? 'failed: ' : '') + text;
    },
    close: async () => {
      await session.close();
      at.remove();
    },
  };
  return { opened, start };
}

/** Returns TEXT with the root of AT as /ROOT. */
export function withoutRoot({ root }: TestWorkspace, text: string): string {
  return text.replaceAll(realpathSync(root), '/ROOT');
}
