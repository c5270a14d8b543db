// Translates the paths in messages to and from an image elsewhere, which has another file system. This is the one
// place that does so: all else has names of this machine, and names such as `build:/srv/x.lisp`, which no file of
// this machine has.

/** A folder of this machine, and the name that it has elsewhere. Both without a slash at the end. */
export interface PathMap {
  here: string;
  there: string;
}

/** Members of messages whose strings are paths, also within lists. */
const PATH_MEMBERS: ReadonlySet<string> = new Set([
  'file',
  'files',
  'fasl',
  'folder',
  'folders',
  'root',
  'roots',
  'trees',
  'path',
  'other',
  'gone',
  'definedIn',
  'forgetting',
  'unfinished',
  'unloaded',
  'testFiles',
  'maker',
]);
/** A member that is a list of paths in some answers, and in others one text or object. */
const LIST_MEMBER = 'value';

/** Members that have data of the program. */
const DATA_MEMBERS: ReadonlySet<string> = new Set(['data', 'arguments', 'values', 'output']);

/** Operations that load a file, with the argument that gives the image the text of it. */
const TEXT_ARGUMENTS: ReadonlyMap<string, string> = new Map([
  ['load-file', 'content'],
  ['load-forms', 'text'],
]);

/** Maximum number of names of this machine that are remembered. */
const MAX_SENT = 10_000;

export class FarPaths {
  readonly #name: string;
  readonly #maps: readonly PathMap[];
  readonly #textOf: (file: string) => string | undefined;
  /** Names of this machine that no map has, and that were sent as they are. The image says them in return. */
  readonly #sent = new Set<string>();

  /** Translates for the image NAME by MAPS, of which the first that fits is used. TEXT_OF returns the text of a file
   *  of this machine, with a character for each octet, or undefined when it cannot be read. */
  constructor(name: string, maps: readonly PathMap[], textOf: (file: string) => string | undefined) {
    this.#name = name;
    this.#maps = maps;
    this.#textOf = textOf;
  }

  /** Returns ARGS of the operation NAME as the image gets them. A file to load goes with its text, because the
   *  image can see another file of that name, or none. */
  request(name: string, args: object): object {
    const { file } = args as { file?: unknown };
    const argument = TEXT_ARGUMENTS.get(name);
    const isGiven = argument !== undefined && !(argument in args) && typeof file === 'string';
    const text = isGiven ? this.#textOf(file) : undefined;
    const translated = translate(args, (path) => this.there(path)) as object;
    return text === undefined ? translated : { ...translated, [argument ?? '']: text };
  }

  /** Returns MESSAGE of the image with paths as this machine names them. */
  message<Message extends object>(message: Message): Message {
    return translate(message, (path) => this.here(path)) as Message;
  }

  /** Returns PATH of this machine as the image names it. */
  there(path: string): string {
    const prefix = `${this.#name}:`;
    if (path.startsWith(`${prefix}/`)) return path.slice(prefix.length);
    if (!path.startsWith('/')) return path;
    const mapped = moved(path, this.#maps, 'here', 'there');
    if (mapped !== undefined) return mapped;
    const [oldest] = this.#sent;
    if (this.#sent.size >= MAX_SENT && oldest !== undefined) this.#sent.delete(oldest);
    this.#sent.add(path);
    return path;
  }

  /** Returns PATH of the image as this machine names it. */
  here(path: string): string {
    if (!/^\/./.test(path)) return path;
    // Code there could name files of this machine by such a path, and be sent what they have.
    const leavesFolder = path.split('/').includes('..');
    const mapped = leavesFolder ? undefined : moved(path, this.#maps, 'there', 'here');
    return mapped ?? (this.#sent.has(path) ? path : `${this.#name}:${path}`);
  }
}

/** Translates PATH by the first of MAPS whose folder FROM contains PATH: that folder is replaced by the
 *  folder TO of the same map. Returns undefined when no map fits. */
function moved(
  path: string,
  maps: readonly PathMap[],
  from: keyof PathMap,
  to: keyof PathMap,
): string | undefined {
  const map = maps.find((each) => path === each[from] || path.startsWith(`${each[from]}/`));
  return map && map[to] + path.slice(map[from].length);
}

/** Returns VALUE, the value of the member NAME, with all paths in it as CHANGE returns them. */
function translate(value: unknown, change: (path: string) => string, name = ''): unknown {
  if (typeof value === 'string') return PATH_MEMBERS.has(name) ? change(value) : value;
  if (Array.isArray(value)) {
    const member = name === LIST_MEMBER ? 'files' : name;
    return value.map((each) => translate(each, change, member));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([member, each]) => [
      member,
      DATA_MEMBERS.has(member) ? each : translate(each, change, member),
    ]),
  );
}
