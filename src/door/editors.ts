// Shows calls in the human's editors that are connected to this server, and on the page in a browser. Asks questions
// there, and asks the editors for the names and texts of files with unsaved changes.

import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { resolve } from 'node:path';
import { CallError } from '../errors.ts';
import type { FileEditors, Unsaved, UnsavedFile } from '../files/unsaved.ts';
import type { OpenQuestion, Verdict } from '../kernel/approval.ts';
import {
  type CallInEditors,
  type EditorQuestion,
  type HumanEditors,
  type QuestionWords,
  type ShownAnswer,
  type ShownCall,
  UNNAMED_EDITOR,
} from '../kernel/human-editor.ts';
import type { Arguments } from '../kernel/parameter.ts';
import { argumentsLines } from '../kernel/shown.ts';
import { visibleLine, visibleName } from '../visible.ts';
import { type Answered, Connection, type Params } from './connection.ts';

type Shown =
  | {
      method: 'live-lisp/began';
      params: { id: number; time: number; client: string; tool: string; lines: string[] };
    }
  | {
      method: 'live-lisp/ended';
      params: { id: number; isError: boolean; milliseconds: number; line: string };
    };

/** A program that shows calls and questions to the human: an editor, or the page in a browser. */
export interface Viewer {
  /** The name of the program, such as `Emacs`. */
  name: string;
  notify: (method: string, params: Params) => void;
  /** Asks the editor which files have unsaved changes. Absent for programs that edit no files. */
  askUnsaved?: (params: Params) => Promise<Answered>;
}

/** An open question, as editors and the page show it. */
export interface AskedQuestion extends QuestionWords {
  id: string;
  /** The number of the call that waits for the answer, if the call is shown. */
  call: number | undefined;
  tool: string;
  args: Arguments;
  /** A text for the human that says what the call would do. */
  text: string;
  fingerprint: string;
}

/** An open question, and a function that ends it in all editors, with a verdict or without. */
interface Open {
  question: AskedQuestion;
  finish: (verdict: Verdict | undefined, why: string) => void;
}

/** The human's answer, as an editor or the page sends it. */
export type Decision =
  | { kind: 'approved' }
  | { kind: 'approved for the session' }
  | { kind: 'modified'; args: unknown }
  | { kind: 'denied'; words: unknown };

/** Number of messages about the last calls that a newly connected editor gets. */
const RECENT_LIMIT = 100;
/** Maximum number of characters that editors show of an argument. */
const VALUE_LIMIT = 4000;
const ANSWER_LIMIT = 300;
/** Maximum number of characters of the human's words to the model. */
const WORDS_LIMIT = 2000;
/** The default number of milliseconds for which a question about unsaved changes waits for the answer of an editor. */
const UNSAVED_MS = 1000;
/** Maximum number of octets of all texts in one answer of an editor. In base64, these texts still fit into the longest
 * line that a connection accepts. */
const TEXT_LIMIT = 1024 * 1024;

export class Editors implements HumanEditors, FileEditors {
  readonly #editors = new Set<Viewer>();
  /** Functions that return the last messages about calls. They run only when somebody watches. */
  readonly #recent: (() => Shown)[] = [];
  readonly #questions = new Map<string, Open>();
  readonly #workspace: string;
  readonly #unsavedMs: number;
  #calls = 0;

  /** WORKSPACE is the folder in which relative paths in the arguments of tools start. A question
   * to an editor about unsaved changes waits UNSAVED_MS milliseconds for its answer. */
  constructor(workspace: string, unsavedMs: number = UNSAVED_MS) {
    this.#workspace = workspace;
    this.#unsavedMs = unsavedMs;
  }

  get watching(): boolean {
    return this.#editors.size > 0;
  }

  /** Serves the editor that is connected by SOCKET. The first request of the editor must be live-lisp/watch. */
  connect(socket: Socket): void {
    let editor: Viewer | undefined;
    const connection: Connection = new Connection(socket, (method, params) => {
      if (method === 'live-lisp/watch') {
        editor ??= editorBehind(connection, params, this.#unsavedMs);
        this.#editors.add(editor);
        const watching = editor;
        // The answer to this request goes first.
        setImmediate(() => this.showAll(watching));
        return { workspace: this.#workspace, pid: process.pid };
      }
      if (method === 'live-lisp/answer' && editor !== undefined)
        return this.answer(String(params['id']), decisionIn(params), editor.name);
      throw new CallError(
        'The first request on this socket must be live-lisp/watch; later ones can be live-lisp/answer.',
      );
    });
    void connection.ended.then(() => {
      if (editor !== undefined) this.leave(editor);
    });
  }

  /** Shows all later calls and questions to VIEWER. */
  join(viewer: Viewer): void {
    this.#editors.add(viewer);
  }

  leave(viewer: Viewer): void {
    this.#editors.delete(viewer);
    if (!this.watching)
      for (const { finish } of [...this.#questions.values()]) finish(undefined, 'no editor is left');
  }

  /** Shows the last calls and the open questions by `notify`. Not a part of `join`, because the page is one viewer, but
   * each of its new tabs needs this. */
  showAll({ notify }: Pick<Viewer, 'notify'>): void {
    for (const shown of this.#recent) {
      const { method, params } = shown();
      notify(method, params);
    }
    for (const { question } of this.#questions.values()) notify('live-lisp/asked', askedParams(question));
  }

  /** Returns the open question ID; undefined when there is none. */
  question(id: string): AskedQuestion | undefined {
    return this.#questions.get(id)?.question;
  }

  callBegan({ client, tool, args }: ShownCall): CallInEditors {
    const id = ++this.#calls;
    const began = Date.now();
    const shownArgs = shortened(args);
    this.#show(() => ({
      method: 'live-lisp/began',
      params: {
        id,
        time: began / 1000,
        client: visibleName(client).slice(0, 100),
        tool: visibleName(tool),
        lines: argumentsLines(shownArgs).map(String),
      },
    }));
    const ended = ({ text, isError }: ShownAnswer) => {
      const [first = ''] = text.slice(0, ANSWER_LIMIT).split('\n', 1);
      const milliseconds = Date.now() - began;
      this.#show(() => ({
        method: 'live-lisp/ended',
        params: { id, isError, milliseconds, line: visibleLine(first) },
      }));
    };
    return { id, ended };
  }

  #show(shown: () => Shown): void {
    this.#recent.push(shown);
    if (this.#recent.length > RECENT_LIMIT) this.#recent.shift();
    if (!this.watching) return;
    const { method, params } = shown();
    this.#notifyAll(method, params);
  }

  #notifyAll(method: string, params: Params): void {
    for (const { notify } of this.#editors) notify(method, params);
  }

  ask(
    { tool, args, preview, shownCall: call }: OpenQuestion,
    words: QuestionWords,
  ): EditorQuestion | undefined {
    const [first] = this.#editors;
    if (first === undefined) return undefined;
    const id = randomUUID();
    let given: Verdict | undefined;
    let resolveAnswer: (verdict: Verdict | undefined) => void = () => {};
    const answer = new Promise<Verdict | undefined>((resolve) => {
      resolveAnswer = resolve;
    });
    const finish = (verdict: Verdict | undefined, why: string) => {
      if (!this.#questions.delete(id)) return;
      given = verdict;
      this.#notifyAll('live-lisp/closed', { id, why });
      resolveAnswer(verdict);
    };
    const { fingerprint } = preview;
    const question = { ...words, id, call, tool: tool.name, args, text: preview.whole(), fingerprint };
    this.#questions.set(id, { question, finish });
    this.#notifyAll('live-lisp/asked', askedParams(question));
    return {
      where: first.name,
      answer,
      get given() {
        return given;
      },
      close: (why) => finish(undefined, why),
    };
  }

  /** Answers the question ID with DECISION, which the human made in the program NAME. Returns a text for the human, and
   * whether the answer counts. It does not count when the question is closed already, or cannot be approved for the
   * session. */
  answer(id: string, decision: Decision, name: string): { counts: boolean; text: string } {
    const open = this.#questions.get(id);
    if (open === undefined) {
      return { counts: false, text: 'This question was answered elsewhere, or its time ran out.' };
    }
    const { finish, question } = open;
    if (decision.kind === 'approved for the session' && question.sessionScope === undefined)
      return { counts: false, text: 'This call cannot be approved for the session. Approve it once.' };
    const { verdict, why, text } = verdictFor(decision, question.fingerprint, name);
    finish(verdict, why);
    return { counts: true, text };
  }

  /** Resolves with the name of an editor in which the file REAL has unsaved changes. Resolves with undefined when no
   * editor reports such changes in time, so a busy editor counts as one without changes. */
  async unsavedIn(real: string): Promise<string | undefined> {
    const asked = [...this.#editors].map(async ({ askUnsaved, name }) =>
      Object(await askUnsaved?.({ file: real })).result === true ? name : undefined,
    );
    return (await Promise.all(asked)).find((name) => name !== undefined);
  }

  async unsavedBelow(real: string, names?: 'names'): Promise<Unsaved> {
    // With the limit 0, editors send the names of files without their texts.
    const params = { file: real, limit: names ? 0 : TEXT_LIMIT };
    const answers = [...this.#editors].map(async ({ askUnsaved, name }) => {
      const files = askUnsaved ? unsavedFiles(await askUnsaved(params), real, name) : [];
      return { name, files };
    });
    const all = await Promise.all(answers);
    const silent = all.find(({ files }) => files === undefined)?.name;
    return {
      files: oneForEach(all.flatMap(({ files = [] }) => files)),
      ...(silent !== undefined && { silent }),
    };
  }

  /** Informs the editors that a tool has changed the file REAL. */
  changed(real: string): void {
    this.#notifyAll('live-lisp/changed', { file: real });
  }
}

/** Returns the verdict of DECISION, which the human made in the program NAME about the preview with FINGERPRINT. `why`
 * tells the other programs why the question is closed, and `text` is the answer to the human. */
function verdictFor(
  decision: Decision,
  fingerprint: string,
  name: string,
): { verdict: Verdict; why: string; text: string } {
  switch (decision.kind) {
    case 'denied': {
      const words = typeof decision.words === 'string' ? decision.words.trim().slice(0, WORDS_LIMIT) : '';
      const verdict: Verdict = { kind: 'denied', where: name, ...(words !== '' && { words }) };
      return { verdict, why: `denied in ${name}`, text: 'Denied.' };
    }
    case 'modified': {
      const verdict: Verdict = { kind: 'modified', args: decision.args, fingerprint };
      return { verdict, why: `approved with changes in ${name}`, text: 'Approved with your changes.' };
    }
    case 'approved': {
      const verdict: Verdict = { kind: 'approved', fingerprint, where: name };
      return { verdict, why: `approved in ${name}`, text: 'Approved.' };
    }
    case 'approved for the session': {
      const verdict: Verdict = { kind: 'approved', fingerprint, where: name, session: true };
      return { verdict, why: `approved in ${name}`, text: 'Approved for this session.' };
    }
  }
}

/** Returns a viewer that stands for the editor at the other end of CONNECTION. The second argument is the `params` of
 * the request live-lisp/watch from this editor. A question to the editor about unsaved changes waits UNSAVED_MS
 * milliseconds for its answer. */
function editorBehind(connection: Connection, { editor }: Params, unsavedMs: number): Viewer {
  return {
    name: editorName(editor),
    notify: (method, params) => connection.notify(method, params),
    askUnsaved: (params) => connection.request('live-lisp/unsaved', params, unsavedMs),
  };
}

/** Returns the decision that the parameters of an editor's request contain. Decisions of the other kinds come only from
 * the page. */
function decisionIn({ approve, words }: Params): Decision {
  return approve === true ? { kind: 'approved' } : { kind: 'denied', words };
}

/** Returns what a notification says about QUESTION. The page gets the rest by `Editors.question`. */
function askedParams({ id, call, headline, tool, text }: AskedQuestion): Params {
  return { id, call, headline, tool, text };
}

function editorName(given: unknown): string {
  return typeof given === 'string' && /^[A-Za-z][A-Za-z ]{0,19}$/.test(given) ? given : UNNAMED_EDITOR;
}

/** ANSWERED is the answer of the editor EDITOR to the question whether it has unsaved changes of the file REAL, a real
 * path. The answer is true or false for REAL alone, or a list of files, each with the octets of its text in base64 or
 * without. Returns the files that have unsaved changes according to this answer; undefined when it is invalid. */
function unsavedFiles(answered: Answered, real: string, editor: string): UnsavedFile[] | undefined {
  if (answered === undefined || !('result' in answered)) return undefined;
  const { result } = answered;
  if (result === true) return [{ file: real, editor }];
  if (!Array.isArray(result)) return result === false || result === null ? [] : undefined;
  const files = result.map((each: unknown): UnsavedFile | undefined => {
    const { file, octets } = Object(each) as Params;
    if (typeof file !== 'string' || resolve(file) !== file) return undefined;
    if (octets === undefined) return { file, editor };
    return typeof octets === 'string' ? { file, editor, octets: Buffer.from(octets, 'base64') } : undefined;
  });
  return files.every((file) => file !== undefined) ? files : undefined;
}

/** Returns FILES sorted by path, with one entry for each path. If several buffers have unsaved changes of one file, the
 * entry has the text of the first, and says so. */
function oneForEach(files: readonly UnsavedFile[]): UnsavedFile[] {
  return [...new Set(files.map(({ file }) => file))].sort().map((path) => {
    const [first, ...more] = files.filter(({ file }) => file === path) as [UnsavedFile, ...UnsavedFile[]];
    if (more.length === 0) return first;
    const { octets } = [first, ...more].find((each) => each.octets !== undefined) ?? first;
    return {
      file: path,
      editor: `one of ${more.length + 1} editor buffers`,
      ...(octets !== undefined && { octets }),
    };
  });
}

/** Returns ARGS, which are not validated, with each value as a short text. */
function shortened(args: unknown): Arguments {
  return Object.fromEntries(
    Object.entries(Object(args)).map(([name, value]) => {
      const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
      return [name, text.length > VALUE_LIMIT ? `${text.slice(0, VALUE_LIMIT)}\n[...]` : text];
    }),
  );
}
