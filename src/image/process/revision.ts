// Puts the files of a commit into a folder. Nothing of the repository changes, and none of its hooks, filters or remotes
// runs: code in the image can write what a repository says.

import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { CallError } from '../../errors.ts';
import { isInside, programsOf, realPath } from '../../paths.ts';

/** A place with a repository. Of a `git` inside of FOLDERS nothing is run. SIGNAL ends what runs. */
export interface Repository {
  root: string;
  folders: readonly string[];
  signal?: AbortSignal | undefined;
}

/** A file of a commit. */
interface Entry {
  mode: string;
  object: string;
  size: number;
  path: string;
}

/** Maximum number of octets that are read at once, unless one file has more. */
const AT_ONCE = 64 * 1024 * 1024;
const LINK = '120000';
const INSTEAD = 'To compare with the running image instead, call with fresh: true.';

/** Puts the files below the root of REPOSITORY, as they are in the commit REVISION, into FOLDER. Returns the short name of
 *  the commit. Throws a CallError when there is no such commit. */
export async function putRevision(repository: Repository, revision: string, folder: string): Promise<string> {
  const commit = await commitNamed(repository, revision);
  const entries = await entriesOf(repository, commit);
  if (entries.length === 0)
    throw new CallError(
      `The commit ${revision} has no files in ${repository.root}. Nothing was done. ${INSTEAD}`,
    );
  const links: [Entry, Buffer][] = [];
  for (const some of portions(entries)) {
    const contents = await contentsOf(repository, some);
    for (const [index, entry] of some.entries()) {
      const content = contents[index] ?? Buffer.alloc(0);
      if (entry.mode === LINK) links.push([entry, content]);
      else
        await writeFile(await placeOf(entry, folder), content, {
          flag: 'wx',
          mode: Number.parseInt(entry.mode.slice(-3), 8),
        });
    }
  }
  // Links come last, so that nothing is written through them.
  for (const [entry, target] of links) await symlink(target.toString(), await placeOf(entry, folder));
  return commit.slice(0, 8);
}

/** Returns the full name of the commit that REVISION names. */
async function commitNamed(repository: Repository, revision: string): Promise<string> {
  const isOption = revision.startsWith('-');
  try {
    const output = await git(repository, [
      'rev-parse',
      '--verify',
      '--quiet',
      isOption ? ':' : `${revision}^{commit}`,
    ]);
    return output.toString().trim();
  } catch (error) {
    const { code, stderr = '' } = error as { code?: unknown; stderr?: Buffer | string };
    // So --quiet tells of a name that is not known.
    if (code === 1 || isOption)
      throw new CallError(
        `git knows no commit ${JSON.stringify(revision)} in ${repository.root}, so nothing was done. Give fresh one that git log shows, such as HEAD or HEAD~1, or true.`,
      );
    if (typeof code !== 'number') throw error;
    const [why = ''] = String(stderr).trim().split('\n');
    throw new CallError(
      `git finds no repository in ${repository.root} (${why}). Nothing was done. ${INSTEAD}`,
    );
  }
}

/** Returns the files of COMMIT below the root of REPOSITORY, without submodules. */
async function entriesOf(repository: Repository, commit: string): Promise<Entry[]> {
  const output = await git(repository, ['ls-tree', '-r', '-l', '-z', commit]);
  return output
    .toString()
    .split('\0')
    .flatMap((line) => {
      const [, mode = '', object = '', size = '', path = ''] =
        /^(\d+) blob (\w+) +(\d+)\t(.*)$/s.exec(line) ?? [];
      return path === '' ? [] : { mode, object, size: Number(size), path };
    });
}

/** Returns ENTRIES in portions that are read at once. */
function portions(entries: readonly Entry[]): Entry[][] {
  const all: Entry[][] = [];
  let left = 0;
  for (const entry of entries) {
    left -= entry.size;
    if (left < 0) {
      all.push([]);
      left = AT_ONCE - entry.size;
    }
    all.at(-1)?.push(entry);
  }
  return all;
}

/** Returns the content of each of ENTRIES. */
async function contentsOf(repository: Repository, entries: readonly Entry[]): Promise<Buffer[]> {
  const output = await git(
    repository,
    ['cat-file', '--batch'],
    entries.map(({ object }) => `${object}\n`).join(''),
  );
  let at = 0;
  return entries.map(({ size }) => {
    const start = output.indexOf('\n', at) + 1;
    at = start + size + 1;
    return output.subarray(start, start + size);
  });
}

/** Makes the folder of ENTRY in FOLDER, and returns its path there. */
async function placeOf({ path }: Entry, folder: string): Promise<string> {
  const place = join(folder, path);
  if (!isInside(folder, place) || place === folder)
    throw new CallError(
      `The commit has a file outside of its repository, ${path}, so nothing was done. Look at it with git fsck.`,
    );
  await mkdir(dirname(place), { recursive: true });
  return place;
}

/** Runs git with ARGS, and INPUT as its standard input, in the root of REPOSITORY. Returns its output. */
async function git(
  { root, folders, signal }: Repository,
  args: readonly string[],
  input = '',
): Promise<Buffer> {
  const program = programsOf('git').find(
    (each) => !folders.some((folder) => isInside(folder, realPath(each))),
  );
  if (program === undefined)
    throw new CallError(
      `The files of a commit come from git, which is not installed (there is no git on PATH outside the workspace). Nothing was done. Install it. ${INSTEAD}`,
    );
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'));
  const env = {
    ...Object.fromEntries(inherited),
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_NO_LAZY_FETCH: '1',
    LC_ALL: 'C',
  };
  const options = {
    cwd: root,
    env,
    encoding: 'buffer',
    maxBuffer: Number.POSITIVE_INFINITY,
    ...(signal && { signal }),
  } as const;
  const running = promisify(execFile)(program, ['--no-replace-objects', ...args], options);
  // When git ends early, what it said counts.
  running.child.stdin?.on('error', () => {}).end(input);
  return (await running).stdout;
}
