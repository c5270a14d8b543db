// Runs a verb of the command line: finds the session for the workspace, calls its tools, and prints the answers.

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Answered } from '../door/connection.ts';
import { type Session, sessionsIn } from '../door/sessions.ts';
import { SetupError, UsageError } from '../errors.ts';
import { complain, print } from '../output.ts';
import { realPath, servingFolder, sessionsFolder } from '../paths.ts';
import { printResult, type RequestResult, textsIn, WrittenText } from './answer.ts';
import { SessionClient } from './client.ts';
import { showPage } from './page.ts';
import { askOnTerminal, canAskOnTerminal, questionIn } from './question.ts';
import {
  connectedAmong,
  findOrStart,
  findSession,
  type Search,
  sessionLine,
  stopSession,
} from './sessions.ts';
import { type Arguments, type Verb, verbNamed } from './verbs.ts';
import {
  argumentsOf,
  checkArguments,
  givenTwice,
  namedArguments,
  type OptionTypes,
  parametersOf,
  wrongUse,
} from './words.ts';

/** The exit code for each way in which a call ends (see EndKind), and for Ctrl-C. `image` is also the code when the
 * command itself cannot go on, for example because it finds no session. */
const EXIT = { good: 0, failed: 1, usage: 2, human: 3, image: 4, interrupted: 5 } as const;

/** Milliseconds in which a session must answer a first request. The limit is high, because a hundred commands may start
 * at once. */
const ANSWER_MS = 20_000;
/** Milliseconds in which a session must answer an interrupted call. */
const INTERRUPT_MS = 15_000;

const ENDED = 'The session ended before it answered. The next command starts a new one.';
const NO_ANSWER =
  "This version of live-lisp cannot read the session's answer. End the session: live-lisp stop. The next command starts a new one.";
const LATE =
  'Interrupted, but the session has not reported how the call ended. live-lisp status shows whether the image was kept.';

const COMMON = {
  json: { type: 'boolean' },
  root: { type: 'string' },
  session: { type: 'integer' },
} as const;

interface CommonOptions {
  json?: boolean;
  root?: string;
  session?: number;
}

interface ToolCall {
  tool: string;
  args: Arguments;
}

/** Runs the command line WORDS and resolves with its exit code. Resolves with undefined when the first word is not a
 * verb, or when the user asks for help. PROGRAM is the command line by which this program starts a new session. Never
 * throws. */
export async function runVerb(
  words: readonly string[],
  program: readonly string[],
): Promise<number | undefined> {
  const verb = verbNamed(words[0]);
  if (verb === undefined || words.includes('--help')) return undefined;
  process.stdout.on('error', reportOutput);
  process.stderr.on('error', () => {});
  try {
    return await run(verb, words, program);
  } catch (error) {
    complain(error);
    return error instanceof UsageError ? EXIT.usage : EXIT.image;
  }
}

/** Handles an error of stdout: reports that the output could not be written. Reports nothing when the reader of the
 * output, such as `head -1`, has ended. */
function reportOutput({ code, message }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE') return;
  complain(`The call has run, but its output could not be written (${message}).`);
  // Not before the exit, because the caller of runVerb sets the exit code too.
  process.once('exit', () => {
    process.exitCode = EXIT.failed;
  });
}

/** Runs VERB. The second parameter is the command line: first the name of VERB, then its operands and options. */
async function run(
  verb: Verb,
  [name = '', ...words]: readonly string[],
  program: readonly string[],
): Promise<number> {
  const types = { ...(verb.tool !== undefined && parametersOf(verb.tool)), ...COMMON };
  const { operands, args } = argumentsOf(words, types, name, verb.options);
  const { json = false, root, session: pid, ...options } = args as CommonOptions & Arguments;
  const search = searchOf(root, pid);
  if (name === 'sessions' || name === 'stop') {
    if (operands.length > 0) throw wrongUse(name);
    return name === 'stop' ? stop(search) : list(search, json);
  }
  if (name === 'page') {
    if (operands.length > 0) throw wrongUse(name);
    const { session, socket } = await findOrStart(search, program);
    return showPage(session, socket, json);
  }
  const calls = name === 'call' ? builtInCalls(operands) : await verbCalls(name, verb, operands, options);
  const { session, socket } = await findOrStart(search, program);
  const written = new WrittenText();
  const client = new SessionClient(socket, {
    version: ownVersion(),
    canAsk: canAskOnTerminal(),
    onProgress: showProgress,
    onOutput: json ? undefined : (text) => written.add(text),
  });
  try {
    await checkAnswers(session, client);
    // Only the session knows the parameters of a tool that is not built in.
    for (const call of calls ?? [namedCall(operands, await listedParameters(toolIn(operands), client))]) {
      const code = await perform(call, client, json, written);
      if (code !== EXIT.good) return code;
    }
    return EXIT.good;
  } finally {
    client.end();
  }
}

async function list({ folder }: Search, json: boolean): Promise<number> {
  const connected = await connectedAmong(sessionsIn(folder));
  for (const { socket } of connected) socket.destroy();
  const sessions = connected.map(({ session }) => session);
  if (json) return print(JSON.stringify(sessions));
  return print(sessions.length === 0 ? 'No session runs.' : sessions.map(sessionLine).join('\n'));
}

async function stop(search: Search): Promise<number> {
  const found = await findSession(search);
  if (found === undefined) throw new SetupError(`No session serves ${search.directory}.`);
  const { pid, workspace } = found.session;
  const refusal = await stopSession(found.socket);
  if (refusal !== undefined)
    throw new SetupError(`The session ${pid} of ${workspace} was not stopped: ${refusal}.`);
  return print(`Stopped the session ${pid} of ${workspace}.`);
}

/** Throws a SetupError when the session that CLIENT is connected to does not answer a request in time. */
async function checkAnswers({ pid, workspace }: Session, client: SessionClient): Promise<void> {
  const answered = await client.request('server/discover', {}, ANSWER_MS);
  if (answered !== undefined && 'result' in answered) return;
  const why = answered === undefined ? 'does not answer' : `refuses this command (${answered.error})`;
  throw new SetupError(
    `The session ${pid} of ${workspace} ${why}. End it: live-lisp stop, or, if it hangs, kill -9 ${pid}. The next command starts a new one.`,
  );
}

function searchOf(root: string | undefined, pid: number | undefined): Search {
  const serving = servingFolder(process.env);
  if (serving === undefined)
    throw new SetupError('There is no home folder, so no session can be found. Set HOME.');
  const directory = realPath(resolve(currentFolder(), root ?? '.'));
  const isNamed = root !== undefined;
  return { folder: sessionsFolder(serving), directory, isNamed, ...(pid !== undefined && { pid }) };
}

function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    throw new UsageError('The current directory no longer exists. Change to another one.');
  }
}

/** Returns the version in package.json. This file is bundled into a file of the folder dist, beside package.json. */
function ownVersion(): string {
  const file = join(import.meta.dirname, '..', 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

/** Returns the calls that VERB, with the name NAME, makes for OPERANDS and for the arguments OPTIONS. Throws a
 * UsageError for wrong operands or options. No session is started before this check. */
async function verbCalls(
  name: string,
  { tool = '', tools = {}, reads, calls }: Verb,
  operands: readonly string[],
  options: Arguments,
): Promise<ToolCall[]> {
  const endsInDash = reads !== undefined && operands.at(-1) === '-';
  const given = endsInDash ? operands.slice(0, -1) : operands;
  const doesRead = endsInDash || reads === 'always' || (reads !== undefined && given.length === 0);
  const input = doesRead ? [await standardInput(name)] : [];
  const all = input.some((text) => text.trim() === '') ? undefined : calls?.([...given, ...input]);
  if (all === undefined) throw wrongUse(name);
  return all.map((own) => {
    const twice = Object.keys(options).find((option) => Object.hasOwn(own, option));
    if (twice !== undefined) throw givenTwice(twice);
    const [replacement] = Object.keys(own).flatMap((each) => tools[each] ?? []);
    const called = replacement ?? tool;
    const args = { ...own, ...options };
    checkArguments(called, args, name);
    return { tool: called, args: withResolvedPaths(args) };
  });
}

function toolIn([tool]: readonly string[]): string {
  if (tool === undefined) throw wrongUse('call');
  return tool.replaceAll('-', '_');
}

/** Returns the call that the verb `call` makes for OPERANDS. PARAMETERS are those of its tool. */
function namedCall(operands: readonly string[], parameters: OptionTypes): ToolCall {
  const tool = toolIn(operands);
  const args = namedArguments(operands.slice(1), parameters, tool);
  checkArguments(tool, args);
  return { tool, args: withResolvedPaths(args) };
}

/** Returns a list with the call that the verb `call` makes for OPERANDS; undefined when the tool is not built in.
 * Throws a UsageError for wrong operands, so that no session is started for them. */
function builtInCalls(operands: readonly string[]): ToolCall[] | undefined {
  const parameters = parametersOf(toolIn(operands));
  return parameters && [namedCall(operands, parameters)];
}

/** A tool in the answer to tools/list, with only the members that this file uses. */
interface ListedTool {
  name: string;
  inputSchema: { properties?: OptionTypes };
}

async function listedParameters(tool: string, client: SessionClient): Promise<OptionTypes> {
  const listed = await client.request('tools/list');
  if (listed === undefined) throw new SetupError(ENDED);
  const { tools = [] } = Object(Object(listed).result) as { tools?: ListedTool[] };
  const found = tools.find(({ name }) => name === tool);
  if (found === undefined) throw new UsageError(`Unknown tool: ${tool}; live-lisp tools lists them.`);
  return found.inputSchema.properties ?? {};
}

/** Returns ARGS with an absolute `path`. A relative path starts in the current folder of this process, but the session
 * would start it in the workspace. */
function withResolvedPaths(args: Arguments): Arguments {
  const { path, edits } = args;
  if (typeof path === 'string') return { ...args, path: resolve(path) };
  if (!Array.isArray(edits)) return args;
  return { ...args, edits: edits.map((edit: object) => withResolvedPaths({ ...edit })) };
}

async function standardInput(verb: string): Promise<string> {
  if (process.stdin.isTTY)
    throw new UsageError(
      `The command ${verb} reads standard input, which is a terminal here. Give it text, for example with: live-lisp ${verb} <<'EOF'`,
    );
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new UsageError(
      `Standard input is not UTF-8, so nothing was done. Convert it, for example with iconv -t UTF-8.`,
    );
  }
}

/** Makes a call, and prints the answer. If the call needs an approval, the session returns a question instead: asks the
 * user, and sends the call again with the user's answer. Returns the exit code. */
async function perform(
  { tool, args }: ToolCall,
  client: SessionClient,
  json: boolean,
  written: WrittenText,
): Promise<number> {
  let more: object = {};
  for (;;) {
    const { answered, isInterrupted } = await interruptible(
      client.request('tools/call', { name: tool, arguments: args, ...more }),
      client,
    );
    if (answered === 'late') return interrupted(LATE);
    if (answered === undefined) throw new SetupError(ENDED);
    if ('error' in answered) throw new UsageError(answered.error);
    const result = Object(answered.result) as RequestResult;
    const [question, texts] = [questionIn(result), textsIn(result)];
    if (texts !== undefined) {
      written.end();
      const code = EXIT[printResult(result, texts, json)];
      return isInterrupted && code !== EXIT.image ? EXIT.interrupted : code;
    }
    if (question === undefined) throw new SetupError(NO_ANSWER);
    const answer = isInterrupted ? 'interrupted' : await askOnTerminal(question);
    if (answer === 'interrupted') return interrupted('Interrupted. Nothing was done.');
    more = { inputResponses: { approval: answer }, requestState: result['requestState'] };
  }
}

function interrupted(text: string): number {
  complain(text);
  return EXIT.interrupted;
}

/** Waits for ANSWER. After Ctrl-C, asks the session to interrupt the call, and still waits, because the answer says how
 * the call ended. Resolves with `late` when no answer comes in time after this. A second Ctrl-C ends this process. */
function interruptible(answer: Promise<Answered>, client: SessionClient) {
  let isInterrupted = false;
  return new Promise<{ answered: Answered | 'late'; isInterrupted: boolean }>((resolve) => {
    const interrupt = () => {
      isInterrupted = true;
      client.interrupt();
      setTimeout(resolve, INTERRUPT_MS, { answered: 'late', isInterrupted }).unref();
    };
    process.once('SIGINT', interrupt);
    void answer.then((answered) => {
      process.off('SIGINT', interrupt);
      resolve({ answered, isInterrupted });
    });
  });
}

function showProgress(message: string): void {
  if (process.stderr.isTTY) complain(message);
}
