// Directs each call to the image that the call names, when the server has several images. Each image has its own
// assembly (assembly.ts): a registry, executor, questions and so on. So ids, held errors, notices and approvals of one
// image are never taken for those of another.

import { type Assembly, type AssemblyOptions, assemble, type OneOfSeveral } from './assembly.ts';
import { Catalog, contractSpelling } from './catalog/catalog.ts';
import type { Config } from './config.ts';
import { Editors } from './door/editors.ts';
import { ArgumentError } from './errors.ts';
import { indexOfSeries } from './image/wire/series.ts';
import type { Verdict } from './kernel/approval.ts';
import type { Executor } from './kernel/executor.ts';
import { mergedTool, type Version } from './kernel/merged-tool.ts';
import type { NoticeReader } from './kernel/notice-board.ts';
import type { Outcome } from './kernel/outcome.ts';
import type { Arguments, Parameter } from './kernel/parameter.ts';
import { OpenQuestions } from './kernel/questions.ts';
import type { ToolRegistry } from './kernel/registry.ts';
import { printable, validateArguments } from './kernel/schema.ts';
import type { CallContext, Tool } from './kernel/tool.ts';
import { Observations } from './records/observations.ts';

/** The parts of an assembly that the server uses. If the server has several images, each part serves all of them. */
export interface Served extends Pick<Assembly, 'catalog' | 'questions' | 'editors' | 'observations'> {
  images: readonly Assembly['image'][];
  registry: ServedRegistry;
  executor: ServedExecutor;
}

type ServedRegistry = Pick<ToolRegistry, 'getTool' | 'unknownTool' | 'onChange'>;
type ServedExecutor = Pick<Executor, 'execute' | 'command'>;

/** Returns the parts that serve the images of CONFIG. Does not start an image. */
export function assembleServed(config: Config, options: AssemblyOptions): Served {
  if (config.images.length > 0) return assembleSeveral(config, options);
  const { image, ...parts } = assemble(config, options);
  return { images: [image], ...parts };
}

/** The assembly of one of several images, with the name by which calls refer to the image. */
interface Member extends Assembly {
  name: string;
}

function assembleSeveral(config: Config, options: AssemblyOptions): Served {
  const { images } = config;
  let rolledBack: Promise<string[]> | undefined;
  const tools = new ToolsOfAll(images.map(({ image }) => image));
  const shared: Omit<OneOfSeveral, 'name' | 'series'> = {
    catalog: new Catalog(tools, config.contractNames ? contractSpelling : undefined),
    questions: new OpenQuestions(config.answerSeconds),
    editors: new Editors(config.root, options.unsavedMs),
    observations: new Observations(config.profiles, config.root),
    changes: { last: Promise.resolve() },
    rollBackOnce: async (rollBack) => {
      if (rolledBack !== undefined) return rolledBack.then(() => []);
      rolledBack = rollBack();
      return rolledBack;
    },
  };
  const members = images.map((choice, index): Member => {
    const series = { count: images.length, index };
    const oneOfSeveral = { ...shared, name: choice.image, series };
    return { name: choice.image, ...assemble(configOf(config, choice), { ...options, oneOfSeveral }) };
  });
  // The assemblies need the catalog, and the catalog needs TOOLS, so TOOLS gets its members last.
  tools.members = members;
  return {
    images: members.map(({ image }) => image),
    registry: tools,
    executor: new ExecutorOfAll(members, tools),
    ...shared,
  };
}

/** Returns the configuration for one of several images, CHOICE. If a command starts the image, leaves out options for
 * an SBCL on this machine. */
function configOf(config: Config, choice: Config['images'][number]): Config {
  const { noSandboxReason: _, ...elsewhere } = { ...config, sandbox: 'off', init: undefined } as const;
  return { ...(choice.imageCommand === undefined ? config : elsewhere), ...choice, images: [] };
}

/** Returns the name of the image for calls that name no image; undefined when each call must name one. At most one of
 * NAMES is `auto` or `own` (see `image` in config.ts). */
function defaultOf(names: readonly string[]): string | undefined {
  return names.find((name) => name === 'auto' || name === 'own');
}

/** The tools of all images. Tools that need an image have a parameter that names it. */
class ToolsOfAll implements ServedRegistry {
  members: readonly Member[] = [];
  readonly #default: string | undefined;

  constructor(names: readonly string[]) {
    this.#default = defaultOf(names);
  }

  get revision(): number {
    return this.members.reduce((sum, { registry }) => sum + registry.revision, 0);
  }

  tools(): Tool[] {
    const names = new Set(this.members.flatMap(({ registry }) => registry.tools().map(({ name }) => name)));
    return [...names].flatMap((name) => {
      const [first, ...others] = this.versions(name);
      return first === undefined ? [] : this.withImage(mergedTool([first, ...others]));
    });
  }

  /** Returns the tool NAME of each image that has such a tool. Tools that code has defined can differ between
   * images. */
  versions(name: string): Version[] {
    return this.members.flatMap((member) => {
      const tool = member.registry.getTool(name);
      return tool === null ? [] : { image: member.name, tool };
    });
  }

  /** Returns TOOL with the parameter that names the image; without it if TOOL needs no image. */
  withImage(tool: Tool): Tool {
    if (tool.images === 'any') return tool;
    const names = this.having(tool.name).map(({ name }) => name);
    const needed =
      tool.images === undefined && (this.#default === undefined || !names.includes(this.#default));
    const parameter: Parameter = {
      name: 'image',
      type: 'string',
      enum: names,
      ...(tool.images === 'all'
        ? { description: 'All without it' }
        : !needed && { description: `${this.#default} without it` }),
    };
    const required = needed ? [...tool.required, parameter.name] : tool.required;
    return { ...tool, parameters: [...tool.parameters, parameter], required };
  }

  having(name: string): Member[] {
    return this.members.filter(({ registry }) => registry.getTool(name) !== null);
  }

  getTool(name: string): Tool | null {
    return this.having(name)[0]?.registry.getTool(name) ?? null;
  }

  unknownTool(name: string): string {
    return this.members[0]?.registry.unknownTool(name) ?? '';
  }

  onChange(listener: () => void): () => void {
    const stops = this.members.map(({ registry }) => registry.onChange(listener));
    return () => {
      for (const stop of stops) stop();
    };
  }
}

function takes({ parameters }: Tool, name: string): boolean {
  return parameters.some((parameter) => parameter.name === name);
}

/** Executes each call in the image that the argument `image` names. */
class ExecutorOfAll implements ServedExecutor {
  readonly #members: readonly [Member, ...Member[]];
  readonly #tools: ToolsOfAll;
  /** Each command has one notice reader here, and one in the executor of each image. Maps the former to an array of the
   * latter, in the order of #members. */
  readonly #readers = new WeakMap<NoticeReader, readonly NoticeReader[]>();

  constructor(members: readonly Member[], tools: ToolsOfAll) {
    this.#members = members as [Member, ...Member[]];
    this.#tools = tools;
  }

  command(): NoticeReader {
    const readers = this.#members.map(({ executor }) => executor.command());
    // Only a key of #readers: each image counts the notices in a reader of its own.
    const reader = { passed: 0 };
    this.#readers.set(reader, readers);
    return reader;
  }

  async execute(name: string, args: unknown, context: CallContext, verdict?: Verdict): Promise<Outcome> {
    try {
      const tool = this.#tools.getTool(name);
      const { image, ...others } = Object(args) as Arguments;
      const named = image === null || image === '' ? undefined : image;
      // If TOOL is null, the executor of the first image says that there is no such tool.
      if (tool === null || tool.images === 'any')
        return this.#run(this.#members[0], name, args, context, verdict);
      // Undefined for a call in all images.
      const member = named === undefined && tool.images === 'all' ? undefined : this.#chosen(tool, named);
      const called = member?.registry.getTool(name) ?? tool;
      if (member !== undefined) this.#checkNames(called, others, member);
      validateArguments(this.#tools.withImage(called), args);
      if (member === undefined) return await this.#runInAll(name, others, context);
      this.#checkIds(called, others, member);
      return await this.#run(member, name, image === undefined ? args : others, context, verdict);
    } catch (error) {
      if (!(error instanceof ArgumentError)) throw error;
      return { success: false, error: error.message, cause: 'usage', notices: [] };
    }
  }

  async #run(member: Member, name: string, args: unknown, context: CallContext, verdict?: Verdict) {
    const { command: reader } = context;
    const command = reader && this.#readers.get(reader)?.[this.#members.indexOf(member)];
    const ownContext = { ...context, ...(command && { command }) };
    const outcome = await member.executor.execute(name, args, ownContext, verdict);
    for (const { executor } of this.#members)
      if (executor !== member.executor) executor.answeredElsewhere(ownContext);
    return outcome;
  }

  /** Calls the tool NAME with ARGS in each image, and returns one outcome for all. */
  async #runInAll(name: string, args: Arguments, context: CallContext): Promise<Outcome> {
    const outcomes = await Promise.all(
      this.#members.map(async (member) => ({
        image: member.name,
        outcome: await this.#run(member, name, args, context),
      })),
    );
    const text = outcomes
      .map(({ image, outcome }) => `${image}:\n${outcome.success ? outcome.text : outcome.error}`)
      .join('\n\n');
    const data = Object.fromEntries(outcomes.map(({ image, outcome }) => [image, outcome.data]));
    const notices = outcomes.flatMap(({ image, outcome }) =>
      outcome.notices.map((notice) => `${image}: ${notice}`),
    );
    return outcomes.every(({ outcome }) => outcome.success)
      ? { success: true, text, data, notices }
      : { success: false, error: text, data, notices };
  }

  /** Returns the image that a call of TOOL with the argument IMAGE is for. Throws an ArgumentError when there is
   * none. */
  #chosen(tool: Tool, image: unknown): Member {
    const names = this.#members.map(({ name }) => name);
    const wanted = image ?? defaultOf(names);
    const all = names.join(', ');
    if (wanted === undefined)
      throw new ArgumentError(
        `This server has several images, so nothing was done. Give image: one of ${all}.`,
      );
    const member = this.#members.find(({ name }) => name === wanted);
    if (member === undefined)
      throw new ArgumentError(
        `There is no image ${printable(String(wanted))}, so nothing was done. Give image: one of ${all}.`,
      );
    const having = this.#tools.having(tool.name);
    if (having.includes(member)) return member;
    throw new ArgumentError(
      `The image ${member.name} has no tool ${tool.name}, so nothing was done. Give image: ${having.map(({ name }) => name).join(' or ')}.`,
    );
  }

  /** Throws an ArgumentError when ARGS contain a parameter that TOOL, a tool of MEMBER, lacks, but that the tool of the
   * same name in another image has. */
  #checkNames(tool: Tool, args: Arguments, member: Member): void {
    for (const name of Object.keys(args)) {
      if (takes(tool, name)) continue;
      const images = this.#tools
        .versions(tool.name)
        .flatMap((version) => (takes(version.tool, name) ? version.image : []));
      if (images.length > 0)
        throw new ArgumentError(
          `The tool ${tool.name} has the parameter '${printable(name)}' in the image ${images.join(' and ')}, but not in ${member.name}, so nothing was done. Leave it out, or give image: ${images.join(' or ')}.`,
        );
    }
  }

  /** Throws an ArgumentError when ARGS, the arguments of TOOL, contain an id of another image than MEMBER. */
  #checkIds(tool: Tool, args: Arguments, member: Member): void {
    for (const parameter of tool.parameters) {
      const number = idIn(parameter, args[parameter.name]);
      if (number === undefined) continue;
      const owner = this.#members[indexOfSeries(number, this.#members.length)];
      if (owner === undefined || owner === member) continue;
      const id = parameter.isOfImage === 'object' ? `@${number}` : number;
      throw new ArgumentError(
        `Parameter '${parameter.name}' is ${id}, an id of the image ${owner.name}, not of ${member.name}, so nothing was done. Give image: ${owner.name}, or an id from an answer of ${member.name}.`,
      );
    }
  }
}

/** Returns the number that VALUE, the argument for PARAMETER, contains if it is an id; else undefined. */
function idIn({ isOfImage }: Parameter, value: unknown): number | undefined {
  if (isOfImage === undefined) return undefined;
  const text = isOfImage === 'object' ? /^\s*@(\d+)\s*$/.exec(String(value))?.[1] : value;
  const number = Number(text ?? Number.NaN);
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
}
