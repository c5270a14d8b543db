// Decides how the parts are wired together, for the program and for the library.

import { join, resolve } from 'node:path';
import { CALL_TOOL } from './catalog/call-tool.ts';
import { Catalog, contractSpelling } from './catalog/catalog.ts';
import { SearchMemory } from './catalog/memory.ts';
import { searchToolsTool } from './catalog/search-tools.ts';
import { type Config, isTooWide } from './config.ts';
import { UsageError } from './errors.ts';
import { realPathOf } from './files/answering.ts';
import { Intents } from './files/intents.ts';
import { takeBackUnfinished } from './files/together.ts';
import { Workspace } from './files/workspace.ts';
import type { Image, ImageTools } from './image/image.ts';
import { SbclImage, type SbclOptions } from './image/own/sbcl-image.ts';
import { libraryManager } from './image/process/libraries.ts';
import { LoadedFiles } from './image/recovery/digests.ts';
import type { Sandbox } from './image/sandbox/sandbox.ts';
import { HeldCalls } from './image/session/held.ts';
import { systemSources } from './image/system-sources.ts';
import type { Times } from './image/wire/times.ts';
import { initFileNotLoaded } from './init-file.ts';
import { callFromCode } from './kernel/code-call.ts';
import { Executor } from './kernel/executor.ts';
import { OpenQuestions } from './kernel/questions.ts';
import { ToolRegistry } from './kernel/registry.ts';
import { readStandingApproval, type StandingApproval, StandingApprovals } from './kernel/standing.ts';
import type { Result } from './kernel/tool.ts';
import { homeFolder, isInside, realPath } from './paths.ts';
import { AuditLog } from './records/audit-log.ts';
import { JournalFiles } from './records/journal-files.ts';
import { ReplHistory, workspaceFile } from './records/repl-history.ts';
import { SearchRecords } from './records/search-records.ts';
import { HOME, sandboxOf, sandboxText } from './sandboxing.ts';
import type { Holds } from './tools/debug/hold.ts';
import { LongCalls } from './tools/execution/long-calls.ts';
import { agentQTools, furtherTools, type Grounds } from './tools/index.ts';
import { LispTools } from './tools/lisp.ts';
import { namedFiles } from './tools/named-files.ts';
import { noticeText } from './tools/notice-text.ts';
import { Places } from './tools/places.ts';
import { newcomerText, refusedBySandbox } from './tools/sandbox-text.ts';

/** Returns the options of the image that CONFIG asks for, in SANDBOX if there is to be one. */
export function imageOptions(
  config: Config,
  sandbox = config.sandbox === 'off' ? undefined : sandboxOf(config),
): SbclOptions {
  return {
    sbcl: config.sbcl,
    lispFolder: join(HOME, 'lisp'),
    cacheFolder: config.cache,
    root: config.root,
    heapMb: config.heapMb,
    limitMs: config.evalTimeoutMs,
    trees: config.roots,
    startFiles: () => startFiles(config),
    libraries: () => ({ ...libraryManager(config), initFile: initFileNotLoaded(config.init) }),
    ...(sandbox && { sandbox }),
  };
}

function startFiles({ init }: Config): string[] {
  return init === undefined ? [] : [init];
}

/** Returns where it is kept what built the image, if CONFIG says that it is. What code in the sandbox defined must not be
 *  built again outside of it. */
function journalOf({ journals, sandbox, replay, command, root }: Config): Pick<SbclOptions, 'journal'> {
  // A single call from the command line has no image to lose, and must not push out the journals of servers.
  if (!replay || command === 'call') return {};
  const line = sandbox === 'strict' ? 'off-line' : 'on-line';
  const folder = sandbox === 'off' ? journals : join(journals, 'sandboxed', line);
  return { journal: new JournalFiles(folder, root) };
}

export interface Assembly {
  image: SbclImage;
  registry: ToolRegistry;
  /** The catalog of that registry. */
  catalog: Catalog;
  executor: Executor;
  questions: OpenQuestions;
  grounds: Grounds;
}

/** How long things are waited for that the user has no say in; what is absent is as always. */
export interface Waits {
  /** The times of the image. */
  image?: Times;
  /** Milliseconds that a pattern may take in one text. */
  matchMs?: number;
}

/** What an assembly is told besides its configuration. */
export interface Surroundings extends Waits {
  /** What the first answer tells besides its own text; it is taken out of here. */
  notices?: string[];
  /** The parts that the agent does without, by name; when absent the server itself leaves out what it must. */
  without?: readonly string[];
}

/** Returns the parts that CONFIG asks for with all built-in tools, the image not started yet. */
export function assemble(config: Config, surroundings: Surroundings = {}): Assembly {
  const registry = new ToolRegistry([CALL_TOOL.name]);
  const catalog = new Catalog(registry, config.contractNames ? contractSpelling : undefined);
  const assembly = assembleParts(config, registry, catalog, surroundings);
  registerBuiltIns(assembly);
  for (const rule of config.allow.map(allowed)) {
    // What the start file registers is not known yet.
    if (config.init === undefined || registry.getTool(rule.tool) !== null) checkAllowed(rule, registry);
  }
  return assembly;
}

/** Adds the eighteen tools of the contract to the registry of ASSEMBLY, and the other built-in ones apart (C5, S4.9). */
export function registerBuiltIns({ registry, catalog, grounds }: Assembly): void {
  for (const tool of agentQTools(grounds)) registry.register(tool);
  for (const tool of [...furtherTools(grounds), searchToolsTool(catalog)]) registry.registerApart(tool);
}

/** Returns the parts that CONFIG asks for over the tools of REGISTRY, of which CATALOG is the catalog. */
export function assembleParts(
  config: Config,
  registry: ToolRegistry,
  catalog: Catalog,
  { image: times, matchMs, notices = [], without }: Surroundings = {},
): Assembly {
  const holds = new HeldCalls<Result>(config.holdSeconds);
  const forbids = (real: string) => workspace.forbids(real);
  const sandbox = config.sandbox === 'off' ? undefined : sandboxOf(config);
  const image: SbclImage = new SbclImage({
    ...{
      ...imageOptions(config, sandbox),
      ...journalOf(config),
      ...(times && { times }),
      ...(without && { without }),
    },
    loadedFiles: new LoadedFiles(forbids),
    // An answer is told in one piece, for which files are at hand.
    replies: (reply) => grounds.places.prepare(namedFiles(reply)),
    callTool: (name, args, signal, how) => callFromCode(executor, registry, name, args, signal, how),
    tools: imageTools(registry, holds, () => grounds),
  });
  const workspace = workspaceOf(config, image, sandbox);
  const longCalls = new LongCalls(image.jobs);
  const { log, history, intents } = recordsOf(config);
  if (config.unboxed !== undefined) notices.push(`Note: ${sandboxText(config)}`);
  const memory = memoryOf(config, catalog);
  const executor = new Executor(registry, {
    ask: config.ask,
    onEnd: (call) => memory?.ended(call),
    standing: standingApprovals(config, workspace),
    audit: log,
    ready: takeBackUnfinished(workspace, intents).then((told) => void notices.push(...told)),
    ...(sandbox && { remark: refusals(config.root, sandbox) }),
    takeNotices: () => [
      ...notices.splice(0),
      ...image.takeNotices().map(noticeText),
      ...longCalls.takeNotes(),
      ...history.takeNotes(),
      ...(sandbox?.takeNewcomers() ?? []).map(newcomerText),
    ],
  });
  const questions = new OpenQuestions(config.answerSeconds);
  const grounds: Grounds = {
    places: new Places(workspace.root, { forbids, features: () => image.features }),
    holds,
    image,
    replaceable: image,
    workspace,
    log,
    history,
    intents,
    confinement: sandboxText(config),
    pendingEdits: (file: string) => questions.about(file),
    matchMs,
  };
  return { image, registry, catalog, executor, grounds, questions };
}

/** Returns what tells a model that SANDBOX refused something to code that runs in ROOT. */
function refusals(
  root: string,
  { writable, strict }: Sandbox,
): (text: string) => Promise<string | undefined> {
  const limits = { root, writable, strict, isInside };
  return (text) => refusedBySandbox(text, limits);
}

/** Returns what the servers of CONFIG keep on the disk: calls, evaluations, and what is being done to several files. */
function recordsOf(config: Config): Pick<Grounds, 'log' | 'history' | 'intents'> {
  const { root, histories } = config;
  return {
    log: new AuditLog(config.audit, root, config.auditTexts),
    history: new ReplHistory(config.history ? workspaceFile(histories, root) : undefined),
    intents: new Intents(config.edits),
  };
}

/** Has CATALOG learn from past searches in the workspace of CONFIG, and returns what does, unless CONFIG says that
 *  nothing is learned. */
function memoryOf({ memory, searches, root }: Config, catalog: Catalog): SearchMemory | undefined {
  if (!memory) return undefined;
  const past = new SearchMemory(new SearchRecords(workspaceFile(searches, root)));
  catalog.memory = past;
  return past;
}

/** Returns what is done in REGISTRY about tools of the image of GROUNDS, which gets proxies of the eighteen. What HOLDS
 *  knows goes with the image as they do. */
function imageTools(registry: ToolRegistry, holds: Holds, grounds: () => Grounds): ImageTools {
  const tools = new LispTools(
    registry.mirror,
    () => grounds().image,
    () => agentQTools(grounds()),
    grounds,
  );
  return {
    offered: () => tools.offered(),
    register: (definition, atStart, registration) => tools.register(definition, atStart, registration),
    clear: () => {
      holds.clear();
      tools.clear();
    },
  };
}

/** Returns the files that tools may reach: what CONFIG names, and the sources of the systems that IMAGE has loaded. Code
 *  in the image decides what it tells as sources, so none of them can be everything, or what SANDBOX hides. */
function workspaceOf(
  { roots, root, readRoots }: Config,
  image: Image,
  sandbox: Sandbox | undefined,
): Workspace {
  const hides = (real: string) => sandbox?.hides(real) === true;
  const home = realPath(homeFolder() ?? '/');
  const sources = async () => {
    const folders: string[] = [];
    for (const folder of await systemSources(image)) folders.push(await realPathOf(resolve(folder)));
    return folders.filter((real) => !isTooWide(real, home) && !hides(real));
  };
  return new Workspace({ roots, start: root, readRoots, sources, hides });
}

/** Returns what CONFIG allows in advance. No approval for the session holds for its start file in WORKSPACE. */
function standingApprovals({ allow, init }: Config, workspace: Workspace): StandingApprovals {
  return new StandingApprovals(
    allow.map(allowed),
    init === undefined ? [] : [workspace.name(realPath(init))],
  );
}

/** Returns what --allow TEXT allows. Throws a UsageError when it means nothing. */
function allowed(text: string): StandingApproval {
  const rule = readStandingApproval(text);
  if (rule === undefined) throw new UsageError(`--allow must be TOOL or TOOL:GLOB, not ${text}.`);
  return rule;
}

/** Throws a UsageError for a RULE that has no effect on the tools of REGISTRY. */
function checkAllowed({ tool: name, glob }: StandingApproval, registry: ToolRegistry): void {
  const tool = registry.getTool(name);
  if (tool === null) throw new UsageError(`--allow: ${registry.unknownTool(name)}`);
  if (tool.safetyLevel === 'safe') throw new UsageError(`--allow: ${name} is safe and never asks.`);
  if (glob !== undefined && tool.preview === undefined) {
    throw new UsageError(`--allow: ${name} is about no file, so it takes no glob: --allow ${name}.`);
  }
  if (glob?.endsWith('/')) {
    throw new UsageError(`--allow: ${glob} matches no file, only ${glob}** does.`);
  }
}
