// Runs a verb of the command line: finds the session of the workspace, calls its tools and prints the
// answers.

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { IDLE_MINUTES } from '../door/idle.ts';
import { type CallEnd, OUTCOME_KEY } from '../door/outcome.ts';
import { type Session, sessionsIn } from '../door/sessions.ts';
import { messageOf, SetupError, UsageError } from '../errors.ts';
import type { Signature } from '../kernel/schema.ts';
import { complain, print, printPart } from '../output.ts';
import { isTooWide, realPath, servingFolder, sessionsFolder } from '../paths.ts';
import { type RequestResult, SessionClient, type SessionReply } from './client.ts';
import { askOnTerminal, canAskOnTerminal, isQuestion } from './question.ts';
import {
  connectedAmong,
  findSession,
  newWorkspace,
  type Search,
  sessionLine,
  startSession,
  stopSession,
} from './sessions.ts';
import { checkArguments, signatureOf } from './signatures.ts';
import { callsOf, inVerbs, isVerb, usageOf, VERBS, type Verb, type VerbCall } from './verbs.ts';
import { keptText } from './whole-answers.ts';
import { argumentsOf, type OptionTypes, optionOf, optionsIn } from './words.ts';

/** Exit codes. */
const EXIT = { good: 0, failed: 1, usage: 2, human: 3, image: 4, interrupted: 5 } as const;

/** Milliseconds within which a session must answer before it is used. A machine on which a hundred commands start at
 *  once takes some of them. */
const ANSWER_MS = 20_000;
/** Milliseconds within which a session must say how an interrupted call ended. */
const INTERRUPT_MS = 15_000;

/** The options that all verbs take. */
interface Options {
  json: boolean;
  root?: string;
  session?: number;
}

/** Runs the command line WORDS and resolves with its exit code. Resolves with undefined when the first word
 *  is no verb, or when the user asks for help. PROGRAM is the command line that starts this program, for a
 *  new session. Never throws. */
export async function runVerb(
  words: readonly string[],
  program: readonly string[],
): Promise<number | undefined> {
  if (!isVerb(words[0]) || words.includes('--help')) return undefined;
  process.stdout.on('error', reportOutput);
  process.stderr.on('error', () => {});
  try {
    return await run(words, program);
  } catch (error) {
    complain(error);
    return error instanceof UsageError ? EXIT.usage : EXIT.image;
  }
}

/** Handles an error of stdout: reports that the output was not written, unless its reader, such as `head
 *  -1`, has just ended. */
function reportOutput({ code, message }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE') return;
  complain(`The call has run, but its output could not be written (${message}).`);
  process.once('exit', () => {
    process.exitCode = EXIT.failed;
  });
}

async function run([verb = '', ...words]: readonly string[], program: readonly string[]): Promise<number> {
  const { options, rest } = takeOptions(words);
  if (verb === 'sessions' || verb === 'stop') return manage(verb, options, rest);
  const planned = await callsFor(verb, rest);
  const { session, socket } = await connection(options, program);
  const written = new WrittenText();
  const client = new SessionClient(socket, {
    version: ownVersion(),
    canAsk: canAskOnTerminal(),
    onProgress: showProgress,
    onOutput: options.json ? undefined : (text) => written.add(text),
  });
  try {
    await checkAnswers(session, client);
    const calls = Array.isArray(planned) ? planned : [await withParameters(planned, client)];
    return await performAll(calls, client, options, written);
  } finally {
    client.end();
  }
}

/** Separates the options that all verbs take from the other WORDS. */
function takeOptions(words: readonly string[]): { options: Options; rest: string[] } {
  const end = words.indexOf('--');
  const [own, behind] = end === -1 ? [words, []] : [words.slice(0, end), words.slice(end)];
  const options: Options = { json: false };
  const rest: string[] = [];
  const left = [...own];
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    const [name, attached] = word.split(/=(.*)/s);
    const value = () => attached ?? left.shift() ?? '';
    if (word === '--json') options.json = true;
    else if (name === '--root') options.root = onlyOnce(name, options.root, value());
    else if (name === '--session') options.session = Number(onlyOnce(name, options.session, value()));
    else rest.push(word);
  }
  if (options.session !== undefined && !(options.session > 0))
    throw new UsageError(
      'The option --session takes the process id of a session; live-lisp sessions lists them.',
    );
  return { options, rest: [...rest, ...behind] };
}

function onlyOnce(name: string, earlier: unknown, value: string): string {
  if (earlier !== undefined) throw new UsageError(`The option ${name} is given twice; give it once.`);
  if (value === '') throw new UsageError(`The option ${name} needs a value.`);
  return value;
}

/** Performs the verbs `sessions`, which lists all sessions, and `stop`, which stops the session of the
 *  workspace. */
async function manage(verb: 'sessions' | 'stop', options: Options, rest: readonly string[]): Promise<number> {
  if (rest.length > 0) throw new UsageError(`The command ${verb} takes no ${rest[0]}.`);
  const search = searchOf(options);
  if (verb === 'sessions') {
    const connected = await connectedAmong(sessionsIn(search.folder));
    for (const { socket } of connected) socket.destroy();
    const sessions = connected.map(({ session }) => session);
    if (options.json) print(JSON.stringify(sessions));
    else print(sessions.length === 0 ? 'No session runs.' : sessions.map(sessionLine).join('\n'));
    return EXIT.good;
  }
  const found = await findSession(search);
  if (found === undefined) throw new SetupError(`No session serves ${search.directory}.`);
  const { pid, workspace } = found.session;
  const refusal = await stopSession(found.socket);
  if (refusal !== undefined)
    throw new SetupError(`The session ${pid} of ${workspace} was not stopped: ${refusal}.`);
  print(`Stopped the session ${pid} of ${workspace}.`);
  return EXIT.good;
}

/** Connects to the session of the workspace. Starts a session when there is none. */
async function connection(options: Options, program: readonly string[]) {
  const search = searchOf(options);
  const found = await findSession(search);
  if (found !== undefined) return found;
  const workspace = options.root === undefined ? newWorkspace(search) : search.directory;
  const { session, socket, isNew } = await startSession(search, workspace, program);
  if (isNew)
    complain(
      `Started a session for ${workspace} (process ${session.pid}). It ends ${IDLE_MINUTES} minutes after its last call, or by live-lisp stop.`,
    );
  return { session, socket };
}

/** Throws a SetupError unless the session behind CLIENT answers a request in time. */
async function checkAnswers({ pid, workspace }: Session, client: SessionClient): Promise<void> {
  const late = new Promise<'late'>((resolve) => setTimeout(resolve, ANSWER_MS, 'late').unref());
  const reply = await Promise.race([client.request('server/discover'), late]);
  if (reply !== 'late' && reply !== undefined && 'result' in reply) return;
  if (reply !== 'late' && reply !== undefined)
    throw new SetupError(
      `The session ${pid} of ${workspace} refuses this command: ${reply.error}. If it is of another version, end it: live-lisp stop. The next command starts a new one.`,
    );
  throw new SetupError(
    `The session ${pid} of ${workspace} does not answer. If it hangs, end it: kill -9 ${pid}. The next command starts a new one.`,
  );
}

function searchOf({ root, session: pid }: Options): Search {
  const serving = servingFolder(process.env);
  if (serving === undefined) throw new SetupError('There is no home folder, so no session can be found.');
  const directory = realPath(resolve(currentFolder(), root ?? '.'));
  return { folder: sessionsFolder(serving), directory, ...(pid !== undefined && { pid }), isTooWide };
}

function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    throw new UsageError('The folder in which this command runs was removed. Change to one that is there.');
  }
}

function ownVersion(): string {
  const file = join(import.meta.dirname, '..', 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

/** Returns the calls for VERB with WORDS. For a tool that is not built in, this is a function that returns them by
 *  the tool's parameters. Throws a UsageError when the words are wrong, so that these start no session. */
async function callsFor(verb: string, words: readonly string[]): Promise<VerbCall[] | NamedCall> {
  if (verb !== 'call') return verbCalls(verb, words);
  const call = namedCall(words);
  const signature = signatureOf(call.tool);
  if (signature === undefined) return call;
  const args = call.args(optionTypesOf(signature));
  checkArguments(signature, args);
  return [{ tool: call.tool, args }];
}

function optionTypesOf({ parameters }: Signature): OptionTypes {
  return Object.fromEntries(parameters.map((each) => [each.name, each]));
}

async function verbCalls(name: string, words: readonly string[]): Promise<VerbCall[]> {
  const verb = VERBS[name] as Verb;
  const signature = signatureOf(verb.tool) as Signature;
  const { operands, args } = argumentsOf(words, optionTypesOf(signature), name, verb.options);
  const isInput = verb.reads !== undefined && operands.at(-1) === '-';
  const given = isInput ? operands.slice(0, -1) : operands;
  const reads = isInput || verb.reads === 'always' || (verb.reads !== undefined && given.length === 0);
  const calls = callsOf(verb, given, reads ? await standardInput(name) : undefined);
  if (calls === undefined) throw new UsageError(`Usage: live-lisp ${usageOf(name)}`);
  return calls.map((call) => {
    const twice = Object.keys(args).find((option) => Object.hasOwn(call.args, option));
    if (twice !== undefined)
      throw new UsageError(
        `${optionOf(twice)} is given twice, as the option and before. Usage: live-lisp ${usageOf(name)}`,
      );
    const all = { ...call.args, ...args };
    checkArguments(signatureOf(call.tool) as Signature, all, usageOf(name));
    return { ...call, args: withResolvedPaths(all) };
  });
}

/** A call of a tool that the user named, and its arguments by the tool's parameters. */
interface NamedCall {
  tool: string;
  args: (parameters: OptionTypes) => VerbCall['args'];
}

/** Returns the call for the verb `call`: WORDS are a tool, and then one JSON object or pairs NAME=VALUE. */
function namedCall(words: readonly string[]): NamedCall {
  const [name, first, ...more] = words;
  if (name === undefined) throw new UsageError("Usage: live-lisp call TOOL NAME=VALUE ... | '{JSON}'");
  const tool = name.replaceAll('-', '_');
  if (first?.trimStart().startsWith('{') && more.length === 0) {
    const args = objectOf(first);
    return { tool, args: () => withResolvedPaths(args) };
  }
  const pairs = optionsIn(words.slice(1));
  const args = (parameters: OptionTypes) => argumentsOf(pairs, parameters, `call ${tool}`).args;
  return { tool, args: (parameters) => withResolvedPaths(args(parameters)) };
}

function objectOf(json: string): { [name: string]: unknown } {
  try {
    return JSON.parse(json) as { [name: string]: unknown };
  } catch (error) {
    throw new UsageError(`The tool's arguments must be JSON: ${messageOf(error)}.`);
  }
}

/** Returns ARGS in which `path` is absolute. The user means paths from this process's folder, and the
 *  session would resolve them from the workspace. */
function withResolvedPaths(args: VerbCall['args']): VerbCall['args'] {
  const { path, edits } = args;
  if (typeof path === 'string') return { ...args, path: resolve(path) };
  if (!Array.isArray(edits)) return args;
  return { ...args, edits: edits.map((edit: object) => withResolvedPaths({ ...edit })) };
}

async function standardInput(verb: string): Promise<string> {
  if (process.stdin.isTTY)
    throw new UsageError(
      `The command ${verb} reads standard input, which is a terminal here. Give it a text, as by: live-lisp ${verb} <<'EOF'`,
    );
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new UsageError(
      `Standard input is not UTF-8, so nothing was done. Convert it, as by iconv -t UTF-8.`,
    );
  }
}

/** The used part of a tool in the answer to tools/list. */
interface ListedTool {
  name: string;
  inputSchema: { properties?: OptionTypes };
}

/** Returns CALL, of a tool that is not built in, with the arguments by its parameters. */
async function withParameters({ tool, args }: NamedCall, client: SessionClient): Promise<VerbCall> {
  const reply = await client.request('tools/list');
  if (reply === undefined) throw new SetupError(ENDED);
  const tools = 'result' in reply ? (reply.result['tools'] as ListedTool[]) : [];
  const found = tools.find(({ name }) => name === tool);
  if (found === undefined) throw new UsageError(`Unknown tool: ${tool}; live-lisp tools lists them.`);
  return { tool, args: args(found.inputSchema.properties ?? {}) };
}

const ENDED = 'The session ended before it answered. The next command starts a new one.';
const NO_ANSWER =
  'The session gave an answer that a session of this version never gives. End it: live-lisp stop. The next command starts a new one.';
const LATE =
  'Interrupted, but the session has not said how the call ended. live-lisp status tells whether the image is kept.';

/** Performs CALLS in order, up to the first that fails. Returns the exit code. */
async function performAll(
  calls: readonly VerbCall[],
  client: SessionClient,
  options: Options,
  written: WrittenText,
): Promise<number> {
  for (const call of calls) {
    const code = await perform(call, client, options, written);
    if (code !== EXIT.good) return code;
  }
  return EXIT.good;
}

/** Performs a call, asks the user when it needs an approval, prints its answer and returns the exit code. */
async function perform(
  { tool, args }: VerbCall,
  client: SessionClient,
  options: Options,
  written: WrittenText,
): Promise<number> {
  let more: object = {};
  for (;;) {
    const { reply, isInterrupted } = await interruptible(
      client.request('tools/call', { name: tool, arguments: args, ...more }),
      client,
    );
    if (reply === 'late') return interrupted(LATE);
    if (reply === undefined) throw new SetupError(ENDED);
    if ('error' in reply) throw new UsageError(reply.error);
    const { result } = reply;
    const asks = result['resultType'] === 'input_required';
    if (!(asks ? isQuestion(result) : isAnswer(result))) throw new SetupError(NO_ANSWER);
    if (!asks) {
      written.end();
      const code = printResult(result, options);
      return isInterrupted && code !== EXIT.image ? EXIT.interrupted : code;
    }
    const answer = isInterrupted ? 'interrupted' : await askOnTerminal(result);
    if (answer === 'interrupted') return interrupted('Interrupted. Nothing was done.');
    more = answer;
  }
}

function interrupted(text: string): number {
  complain(text);
  return EXIT.interrupted;
}

/** Waits for REPLY. On Ctrl-C, asks the session to interrupt the call, and still waits, because the answer
 *  says how the call ended. If it does not come in time, resolves with `late`. A second Ctrl-C ends this
 *  process. */
function interruptible(reply: Promise<SessionReply>, client: SessionClient) {
  let isInterrupted = false;
  return new Promise<{ reply: SessionReply | 'late'; isInterrupted: boolean }>((resolve) => {
    const interrupt = () => {
      isInterrupted = true;
      client.interrupt();
      setTimeout(resolve, INTERRUPT_MS, { reply: 'late', isInterrupted }).unref();
    };
    process.once('SIGINT', interrupt);
    void reply.then((received) => {
      process.off('SIGINT', interrupt);
      resolve({ reply: received, isInterrupted });
    });
  });
}

/** True when RESULT is the answer to a call. */
function isAnswer({ content }: RequestResult): boolean {
  return Array.isArray(content) && content.every((each) => typeof Object(each).text === 'string');
}

/** Prints the text of RESULT to stdout and its notices to stderr. Returns the exit code. */
function printResult(result: RequestResult, { json }: Options): number {
  const [own = '', ...notices] = (result['content'] as { text?: string }[]).map(({ text = '' }) => text);
  const { ended, data, whole } = Object(
    (result['_meta'] as RequestResult | undefined)?.[OUTCOME_KEY],
  ) as Partial<CallEnd>;
  if (json) print(JSON.stringify(data ?? { text: own }));
  else print(inVerbs(own) + (whole === undefined ? '' : `\n\n${keptText(inVerbs(whole))}`));
  for (const notice of notices) complain(inVerbs(notice));
  return EXIT[ended ?? (result['isError'] === true ? 'failed' : 'good')];
}

/** Prints the output of a call while it runs: a headline, the output, and an empty line. */
class WrittenText {
  #last = '';

  add(text: string): void {
    printPart(this.#last === '' ? `Output:\n${text}` : text);
    this.#last = text;
  }

  end(): void {
    if (this.#last !== '') print(this.#last.endsWith('\n') ? '' : '\n');
    this.#last = '';
  }
}

/** Shows the progress of a call, if stderr is a terminal. */
function showProgress(message: string): void {
  if (process.stderr.isTTY) complain(message);
}
