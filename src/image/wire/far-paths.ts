// Converts the paths in messages to and from a remote image, which has another file system. All other code uses
// paths of this machine. A file that exists only on the other machine has a name such as `build:/srv/x.lisp`, where the
// name of the image precedes the colon.

/** A folder of this machine, and its path where the image runs. Neither path ends with a slash. */
export interface PathMap {
  here: string;
  there: string;
}

/** Names of the members of messages whose value is a path or a list of paths. */
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
/** Name of a member that is a list of paths in some answers. In others it is a text or an object. */
const LIST_MEMBER = 'value';

/** Names of members that contain data of the program. Nothing in them is converted. */
const DATA_MEMBERS: ReadonlySet<string> = new Set(['data', 'arguments', 'values', 'output']);

/** Maps an operation that loads a file to the name of the argument for the text of the file. */
const TEXT_ARGUMENTS: ReadonlyMap<string, string> = new Map([
  ['load-file', 'content'],
  ['load-forms', 'text'],
]);

/** Maximum number of paths of this machine that are remembered. */
const MAX_SENT = 10_000;

export class FarPaths {
  readonly #name: string;
  readonly #maps: readonly PathMap[];
  readonly #textOf: (file: string) => string | undefined;
  /** Paths of this machine that were sent unchanged, because no map contains them. Such a path in an answer means the
   * path of this machine. */
  readonly #sent = new Set<string>();

  /** Converts the paths of the image NAME. The first of MAPS that fits a path is used. TEXT_OF returns the content of a
   * file of this machine, with one character for each octet; undefined when the file cannot be read. */
  constructor(name: string, maps: readonly PathMap[], textOf: (file: string) => string | undefined) {
    this.#name = name;
    this.#maps = maps;
    this.#textOf = textOf;
  }

  /** Returns ARGS, of the operation NAME, with paths of the image. If the operation loads a file, adds the text of the
   * file, because the image can have another file at this path or none. */
  request(name: string, args: object): object {
    const { file } = args as { file?: unknown };
    const argument = TEXT_ARGUMENTS.get(name);
    const isGiven = argument !== undefined && !(argument in args) && typeof file === 'string';
    const text = isGiven ? this.#textOf(file) : undefined;
    const translated = translate(args, (path) => this.there(path)) as object;
    return text === undefined ? translated : { ...translated, [argument ?? '']: text };
  }

  /** Returns MESSAGE, from the image, with paths of this machine. */
  message<Message extends object>(message: Message): Message {
    return translate(message, (path) => this.here(path)) as Message;
  }

  /** Returns the path in the image for PATH, a path of this machine. */
  there(path: string): string {
    const prefix = `${this.#name}:`;
    if (path.startsWith(`${prefix}/`)) return path.slice(prefix.length);
    if (!path.startsWith('/')) return path;
    const mapped = mappedPath(path, this.#maps);
    if (mapped !== undefined) return mapped;
    const [oldest] = this.#sent;
    if (this.#sent.size >= MAX_SENT && oldest !== undefined) this.#sent.delete(oldest);
    this.#sent.add(path);
    return path;
  }

  /** Returns the path of this machine for PATH, a path in the image. */
  here(path: string): string {
    if (!/^\/./.test(path)) return path;
    // A path with `..` could lead out of the folder of the map, and so let code there use other files of this machine.
    const leavesFolder = path.split('/').includes('..');
    const mapped = leavesFolder ? undefined : moved(path, this.#maps, 'there', 'here');
    return mapped ?? (this.#sent.has(path) ? path : `${this.#name}:${path}`);
  }
}

/** Returns the path in the image for PATH, a path on this machine; undefined when none of MAPS contains PATH. Both
 * paths can be equal. */
export function mappedPath(path: string, maps: readonly PathMap[]): string | undefined {
  return moved(path, maps, 'here', 'there');
}

/** Converts PATH by the first of MAPS whose folder FROM contains it: replaces this folder by the folder TO of the map.
 * Returns undefined when no map fits. */
function moved(
  path: string,
  maps: readonly PathMap[],
  from: keyof PathMap,
  to: keyof PathMap,
): string | undefined {
  const map = maps.find((each) => path === each[from] || path.startsWith(`${each[from]}/`));
  return map && map[to] + path.slice(map[from].length);
}

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
