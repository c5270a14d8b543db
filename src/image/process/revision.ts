// Writes the files of a commit to a folder. Code in the image can have changed the settings of the repository, and
// settings can name programs that git runs. So git reads the objects through a new repository without settings. The
// user's repository is not changed.

import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { CallError } from '../../errors.ts';
import { isInside, programsOf, realPath } from '../../paths.ts';

/** A folder `root` in a repository. A git in one of `folders` is not run, because code in the image could have put it
 * there. `signal` ends git. */
interface Repository {
  root: string;
  folders: readonly string[];
  signal?: AbortSignal | undefined;
}

/** Matches a revision that git would parse as an option, or as the name of a file in the index. To read the index, git
 * runs the program that the repository's setting core.fsmonitor names. */
const NO_COMMIT = /^[-:]/;

const INSTEAD = 'Nothing was done. To compare with the running image instead, call with fresh: true.';

/** Writes the files below the root of REPOSITORY, as they are in the commit REVISION, to FOLDER. SCRATCH is the path of
 * a folder that is created for git's own files. Returns the short name of the commit. Throws a CallError when this
 * fails. */
export async function putRevision(
  repository: Repository,
  revision: string,
  { folder, scratch }: { folder: string; scratch: string },
): Promise<string> {
  const { root } = repository;
  try {
    const [prefix = '', objects = ''] = await git(repository, [
      'rev-parse',
      '--show-prefix',
      '--git-path',
      'objects',
    ]);
    const wanted = ['rev-parse', '--verify', '--quiet', `${revision}^{commit}`];
    const [commit = ''] = NO_COMMIT.test(revision) ? [] : await git(repository, wanted).catch(() => []);
    if (commit === '')
      throw new CallError(
        `git finds no commit ${JSON.stringify(revision)} in ${root}, so nothing was done. Call with fresh: true, or with a commit that git log shows, such as fresh: HEAD~1.`,
      );
    await git(repository, ['init', '--quiet', '--bare', '--template=', scratch], PLAIN);
    const own = { ...PLAIN, GIT_DIR: scratch, GIT_ALTERNATE_OBJECT_DIRECTORIES: resolve(root, objects) };
    await git(repository, ['read-tree', `${commit}:${prefix}`], own);
    await git(repository, ['checkout-index', '--all', '--quiet', `--prefix=${folder}/`], {
      ...own,
      GIT_WORK_TREE: folder,
    });
    return commit.slice(0, 8);
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    if (stderr === undefined) throw error;
    const [why = ''] = stderr.trim().split('\n');
    throw new CallError(`git cannot read the files of ${revision} in ${root} (${why}). ${INSTEAD}`);
  }
}

/** Environment variables that make git ignore the user's settings, such as filters. */
const PLAIN = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };

/** Runs git with ARGS in the root of REPOSITORY. MORE are further environment variables. Returns the lines of its
 * output. */
async function git(
  { root, folders, signal }: Repository,
  args: readonly string[],
  more: NodeJS.ProcessEnv = {},
): Promise<string[]> {
  const isOutside = (program: string) => !folders.some((folder) => isInside(folder, realPath(program)));
  const program = programsOf('git').find(isOutside);
  if (program === undefined)
    throw new CallError(
      `The files of a commit cannot be read: git is not installed (there is no git on PATH outside the workspace). Install it. ${INSTEAD}`,
    );
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'));
  const env = { ...Object.fromEntries(inherited), GIT_ALLOW_PROTOCOL: 'none', LC_ALL: 'C', ...more };
  const { stdout } = await promisify(execFile)(program, args, { cwd: root, env, ...(signal && { signal }) });
  return stdout.split('\n');
}
