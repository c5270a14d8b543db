// Creates the parts of the server and connects them: `assemble` for the program, `assembleParts` and
// `registerBuiltIns` for the library (agent-q.ts).

import { resolve } from 'node:path';
import { CALL_TOOL } from './catalog/call-tool.ts';
import { Catalog, contractSpelling } from './catalog/catalog.ts';
import { searchToolsTool } from './catalog/search-tools.ts';
import type { Config } from './config.ts';
import { Editors } from './door/editors.ts';
import { UsageError } from './errors.ts';
import { realPathOf } from './files/answering.ts';
import { Intents } from './files/intents.ts';
import { rollBackUnfinished } from './files/together.ts';
import { Workspace } from './files/workspace.ts';
import type { ChosenImage } from './image/choice/chosen-image.ts';
import type { Image, ImageTools } from './image/image.ts';
import { SbclImage } from './image/own/sbcl-image.ts';
import { putRevision } from './image/process/revision.ts';
import type { Sandbox } from './image/sandbox/sandbox.ts';
import { HeldCalls } from './image/session/held.ts';
import { systemSources } from './image/system-sources.ts';
import { mappedPath } from './image/wire/far-paths.ts';
import { codeCaller } from './image/wire/origin.ts';
import type { Series } from './image/wire/series.ts';
import type { Times } from './image/wire/times.ts';
import { type Connections, chosenImage, type ImageParts, imageOptions } from './images.ts';
import { callFromCode } from './kernel/code-call.ts';
import { Executor } from './kernel/executor.ts';
import { OpenQuestions } from './kernel/questions.ts';
import { ToolRegistry } from './kernel/registry.ts';
import { readStandingApproval, type StandingApproval, StandingApprovals } from './kernel/standing.ts';
import type { Result } from './kernel/tool.ts';
import { complain } from './output.ts';
import { homeFolder, isInside, isTooWide, realPath } from './paths.ts';
import { AuditLog } from './records/audit-log.ts';
import { Observations } from './records/observations.ts';
import { ReplHistory, workspaceFile } from './records/repl-history.ts';
import { sandboxOf, sandboxText } from './sandboxing.ts';
import { ChangeTurns } from './tools/changing.ts';
import type { HeldToolCalls } from './tools/debug/hold.ts';
import type { ToolDependencies, WithFresh } from './tools/dependencies.ts';
import { LongCalls } from './tools/execution/long-calls.ts';
import { agentQTools, furtherTools } from './tools/index.ts';
import { LispTools } from './tools/lisp.ts';
import { noticeText } from './tools/notice-text.ts';
import { Places } from './tools/places.ts';
import { newcomerText, refusedBySandbox } from './tools/sandbox-text.ts';
import { ShownWarnings } from './tools/shown-warnings.ts';
import type { ReadElsewhere, ReadLoaded } from './tools/sources.ts';

/** The parts of the server that work for one image. */
export interface Assembly {
  image: ChosenImage;
  registry: ToolRegistry;
  catalog: Catalog;
  executor: Executor;
  questions: OpenQuestions;
  editors: Editors;
  observations: Observations;
  toolDependencies: ToolDependencies;
}

/** Times that no flag sets. Each has a default; tests use others. */
export interface Timeouts {
  image?: Times;
  /** Milliseconds in which the search for a pattern in one text must end. */
  matchMs?: number;
  /** Milliseconds after which the answers of other calls mention a running call. */
  longMs?: number;
  /** Milliseconds for which a question about unsaved changes waits for the answer of an editor. */
  unsavedMs?: number;
}

/** The options of an assembly that are not in its configuration. */
export interface AssemblyOptions extends Timeouts {
  /** Notices for the first answer. That answer removes them from this array. */
  notices?: string[];
  /** The internals of SBCL and the abilities that the backend must not use (see BackendOptions). If absent, the server
   * decides this when an image starts. */
  without?: readonly string[];
  /** Set when the server has several images. Each image then has its own assembly. */
  oneOfSeveral?: OneOfSeveral;
}

/** For a server with several images: the name of one image, and the objects that all images share. */
export interface OneOfSeveral {
  name: string;
  /** The numbers that the image uses as ids, so that no two images have the same id. */
  series: Series;
  /** The catalog of the tools of all images, in which search_tools searches. */
  catalog: Catalog;
  questions: OpenQuestions;
  editors: Editors;
  observations: Observations;
  /** `last` is a promise for the end of the latest change of a file. The next change waits for it. */
  changes: { last: Promise<unknown> };
  /** Calls `rollBack`, which undoes what killed servers left unfinished, and resolves with its texts. All images share
   * this function. Only its first call calls `rollBack`. Later calls wait for that, and resolve with no texts. */
  rollBackOnce: (rollBack: () => Promise<string[]>) => Promise<string[]>;
}

/** Creates the parts of the server for CONFIG, with all built-in tools, and returns them. Does not start the image. */
export function assemble(config: Config, options: AssemblyOptions = {}): Assembly {
  const registry = new ToolRegistry([CALL_TOOL.name]);
  const catalog = new Catalog(registry, config.contractNames ? contractSpelling : undefined);
  const assembly = assembleParts(config, registry, catalog, options);
  registerBuiltIns(assembly, options.oneOfSeveral?.catalog);
  for (const rule of config.allow.map(parseAllowed)) {
    // A rule may name a tool that the start file (--init) will define later.
    if (config.init === undefined || registry.getTool(rule.tool) !== null) checkAllowed(rule, registry);
  }
  return assembly;
}

/** Registers all built-in tools in the registry of an assembly: the eighteen tools of the contract, and the others as
 * uncounted tools (see ToolRegistry). SEARCHED is the catalog in which search_tools searches for clients. */
export function registerBuiltIns(
  { registry, catalog, toolDependencies }: Assembly,
  searched: Catalog = catalog,
): void {
  for (const tool of agentQTools(toolDependencies)) registry.register(tool);
  const searchTools = searchToolsTool(() => (codeCaller() === undefined ? searched : catalog));
  for (const tool of [...furtherTools(toolDependencies), searchTools]) registry.registerUncounted(tool);
}

/** Creates the parts of the server for CONFIG, but no tools, and returns them. REGISTRY will contain the tools, and
 * CATALOG makes them searchable. */
export function assembleParts(
  config: Config,
  registry: ToolRegistry,
  catalog: Catalog,
  { image: times, matchMs, longMs, unsavedMs, notices = [], without, oneOfSeveral }: AssemblyOptions = {},
): Assembly {
  const holds = new HeldCalls<Result>(config.holdSeconds);
  const sandbox = config.sandbox === 'off' ? undefined : sandboxOf(config);
  // The image calls these functions only later, when WORKSPACE, EXECUTOR and TOOL_DEPENDENCIES below exist.
  const connections: Connections = {
    limitMs: config.evalTimeoutMs,
    ...(times && { times }),
    series: oneOfSeveral?.series,
    // Answers are rendered synchronously, so the files that REPLY names are read here.
    onReply: (reply) => toolDependencies.places.prepareFor(reply),
    callTool: (name, args, signal, how) => callFromCode(executor, registry, name, args, signal, how),
    onFailure: complain,
    tools: imageTools(registry, holds, () => toolDependencies, oneOfSeveral !== undefined),
  };
  const forbids = (real: string) => workspace.forbids(real);
  const imageParts: ImageParts = { sandbox, without, forbids, connections };
  const image = chosenImage(config, imageParts);
  const { editors = new Editors(config.root, unsavedMs), changes } = oneOfSeveral ?? {};
  const workspace = workspaceOf(config, image, sandbox, { editors, ...(changes && { changes }) });
  const longCalls = new LongCalls(image, longMs);
  const { log, history, intents } = recordsOf(config, oneOfSeveral?.name);
  const observations = oneOfSeveral?.observations ?? new Observations(config.profiles, config.root);
  // Taken by the first answer of the server's own image, because a sandbox is only for that image.
  const sandboxNotices = config.noSandboxReason === undefined ? [] : [`Note: ${sandboxText(config)}`];
  const rollBack = () => rollBackUnfinished(workspace, intents);
  const executor = new Executor(registry, {
    image: oneOfSeveral?.name,
    ask: config.ask,
    standing: standingApprovals(config, workspace),
    audit: log,
    ready: (oneOfSeveral?.rollBackOnce(rollBack) ?? rollBack()).then((texts) => void notices.push(...texts)),
    ...(sandbox && { remark: sandboxRemark(config.root, image, sandbox) }),
    takeNotices: () => [
      ...notices.splice(0),
      ...(image.isAttached ? [] : sandboxNotices.splice(0)),
      ...image.takeNotices().map((notice) => {
        const text = noticeText(notice);
        return notice.kind === 'cancelled' ? { own: text } : text;
      }),
      ...longCalls.takeNotes(),
      ...history.takeNotes(),
      ...(image.isAttached ? [] : (sandbox?.takeNewFiles() ?? [])).map(newcomerText),
    ],
  });
  const questions = oneOfSeveral?.questions ?? new OpenQuestions(config.answerSeconds);
  const toolDependencies: ToolDependencies = {
    places: new Places(workspace.root, {
      ...placesIn(image, forbids),
      elsewhere: config.imageCommand && readElsewhere(config.image, image),
      unmapped: unmappedImage(config),
    }),
    holds,
    image,
    replaceable: image,
    workspace,
    log,
    history,
    observations,
    intents,
    turns: new ChangeTurns(image, times),
    confinement: () => sandboxText(config),
    pendingEdits: (file: string) => questions.previewsAbout(file),
    matchMs,
    shownWarnings: new ShownWarnings(),
    withFreshImage:
      config.imageCommand === undefined
        ? freshImages(config, imageParts, image, () => toolDependencies)
        : undefined,
    putRevision: (revision, into, signal) =>
      putRevision({ root: config.root, folders: workspace.realRoots, signal }, revision, into),
  };
  return { image, registry, catalog, executor, toolDependencies, questions, editors, observations };
}

/** Returns the function by which a tool runs work in a fresh image beside IMAGE. The work gets a copy of
 * TOOL_DEPENDENCIES in which the objects of the fresh image replace those of IMAGE. */
function freshImages(
  config: Config,
  { sandbox, without, forbids, connections }: ImageParts,
  image: ChosenImage,
  toolDependencies: () => ToolDependencies,
): WithFresh {
  // Code in a fresh image gets no connection to call tools, because tools work in IMAGE.
  const { callTool: _, tools: __, ...alike } = connections;
  return (fasls, work, root = config.root) => {
    const fresh: SbclImage = new SbclImage({
      ...imageOptions(config, sandbox),
      ...alike,
      ...(without && { without }),
      root,
      trees: config.roots.map((each) => (each === config.root ? root : each)),
      fasls,
      fresh: true,
      onReply: (reply) => places.prepareFor(reply),
    });
    // The sandbox hides nothing in a copy of the workspace, but the copy itself can be in a hidden folder.
    const isInCopy = (real: string) => root !== config.root && isInside(root, real);
    const places = new Places(
      root === config.root ? toolDependencies().workspace.root : root,
      placesIn(fresh, (real) => (isInCopy(real) ? undefined : forbids(real))),
    );
    const replacements = {
      image: fresh,
      replaceable: undefined,
      places,
      holds: new HeldCalls<Result>(0),
      history: new ReplHistory(undefined),
      shownWarnings: new ShownWarnings(),
    };
    return image.withExtraImage(fresh, () => work({ ...toolDependencies(), ...replacements }));
  };
}

function placesIn(image: Image, forbids: ImageParts['forbids']) {
  return { readLoaded: loadedTexts(image), forbids, features: () => image.features };
}

/** Returns the name of the remote image that the command in CONFIG starts, if none of its path mappings (`maps`) covers
 * a folder of the workspace. Returns undefined when one does, or when CONFIG has no such command. */
function unmappedImage({ imageCommand, root, roots }: Config): string | undefined {
  const maps = imageCommand?.maps ?? [];
  const isMapped = [root, ...roots].some((folder) => mappedPath(folder, maps) !== undefined);
  return isMapped ? undefined : imageCommand?.name;
}

/** Returns an object that reads files on the machine of IMAGE, the remote image NAME. Answers write such a file as
 * NAME:/PATH. */
function readElsewhere(name: string, image: Image): ReadElsewhere {
  return {
    isOne: (file) => file.startsWith(`${name}:/`),
    read: async (file, written) => {
      const { data } = await image.call('source-text', { file, ...(written !== undefined && { written }) });
      const { text, written: date } = data.value ?? {};
      if (date === undefined) return undefined;
      return { written: date, ...(text !== undefined && { octets: Buffer.from(text, 'latin1') }) };
    },
  };
}

/** Returns a function that reads the texts of sources as IMAGE has loaded them. It returns no texts when IMAGE cannot
 * answer, for example because too many calls wait. Answers then say that changes of a file are unknown. */
function loadedTexts(image: Image): ReadLoaded {
  return async (versions) => {
    try {
      return (await image.call('loaded-texts', { versions })).data.value ?? [];
    } catch {
      return [];
    }
  };
}

/** Returns a function that takes the text of an answer of IMAGE. If the text shows that SANDBOX refused an operation,
 * the function resolves with an explanation for the model, else with undefined. An image that somebody else runs is in
 * no sandbox. */
function sandboxRemark(
  root: string,
  image: Image,
  sandbox: Sandbox,
): (text: string) => Promise<string | undefined> {
  const { writable, strict } = sandbox;
  const limits = { root, writable, strict, isInside, hides: (real: string) => sandbox.hides(real) };
  return async (text) => (image.isAttached ? undefined : refusedBySandbox(text, limits));
}

/** Returns the records that are stored on the disk: of calls, of evaluations, and of replacements of several files.
 * IMAGE is the name of the image in the record of calls, if the server has several images. */
function recordsOf(
  config: Config,
  image: string | undefined,
): Pick<ToolDependencies, 'log' | 'history' | 'intents'> {
  const { root, histories } = config;
  return {
    log: new AuditLog(config.audit, root, config.auditTexts, image),
    history: new ReplHistory(config.history ? workspaceFile(histories, root) : undefined, image),
    intents: new Intents(config.edits),
  };
}

/** Returns the object that exchanges tools between REGISTRY and the image of TOOL_DEPENDENCIES. The image gets the
 * eighteen tools of the contract as functions, and REGISTRY gets the tools that code in the image defines. `clear`,
 * which is called when the image is lost, removes these tools and the held calls in HOLDS. CALLS_NAME_IMAGE is true
 * when calls have the argument `image`, so that no tool may have a parameter of this name. */
function imageTools(
  registry: ToolRegistry,
  holds: HeldToolCalls,
  toolDependencies: () => ToolDependencies,
  callsNameImage: boolean,
): ImageTools {
  const tools = new LispTools(
    registry.mirror,
    () => toolDependencies().image,
    () => agentQTools(toolDependencies()),
    toolDependencies,
    callsNameImage,
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

/** Returns the workspace: the folders of CONFIG, and the source folders of the systems that IMAGE has loaded. Code in
 * the image can change the list of source folders, so those that are too wide, or that SANDBOX hides, are left out.
 * SHARED has the editors that report files with unsaved changes and, if the server has several images, the `changes` of
 * OneOfSeveral. */
function workspaceOf(
  { roots, root, readRoots, imageCommand }: Config,
  image: Image,
  sandbox: Sandbox | undefined,
  shared: { editors: Editors } & Partial<Pick<OneOfSeveral, 'changes'>>,
): Workspace {
  // Code in an image that somebody else runs does not run in a sandbox.
  const hides = (real: string) => !image.isAttached && sandbox?.hides(real) === true;
  const home = realPath(homeFolder() ?? '/');
  const sources = async () => {
    const folders: string[] = [];
    for (const folder of await systemSources(image)) folders.push(await realPathOf(resolve(folder)));
    return folders.filter((real) => !isTooWide(real, home) && !hides(real));
  };
  // If a file system does not answer, the next start of an image reports this, so the error is ignored here.
  const secretsKnown = sandbox?.findSecrets().catch(() => {});
  return new Workspace({
    roots,
    start: root,
    readRoots,
    sources,
    hides,
    elsewhere: imageCommand?.name,
    ...shared,
    ...(secretsKnown && { secretsKnown }),
  });
}

/** Returns the approvals that --allow gives. The start file (--init) is excluded from approvals for the session. */
function standingApprovals({ allow, init }: Config, workspace: Workspace): StandingApprovals {
  return new StandingApprovals(
    allow.map(parseAllowed),
    init === undefined ? [] : [workspace.name(realPath(init))],
  );
}

/** Parses TEXT, the value of an option --allow. Throws a UsageError when TEXT is malformed. */
function parseAllowed(text: string): StandingApproval {
  const rule = readStandingApproval(text);
  if (rule === undefined) throw new UsageError(`--allow must be TOOL or TOOL:GLOB, not ${text}.`);
  return rule;
}

function checkAllowed({ tool: name, glob }: StandingApproval, registry: ToolRegistry): void {
  const tool = registry.getTool(name);
  if (tool === null) throw new UsageError(`--allow: ${registry.unknownTool(name)}`);
  if (tool.safetyLevel === 'safe')
    throw new UsageError(`--allow: ${name} is safe and runs without asking. Leave this --allow out.`);
  if (glob !== undefined && tool.preview === undefined) {
    throw new UsageError(`--allow: ${name} changes no file, so it takes no glob. Give --allow ${name}.`);
  }
  if (glob?.endsWith('/')) {
    throw new UsageError(`--allow: ${glob} matches no file, only ${glob}** does.`);
  }
}
