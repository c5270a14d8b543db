// Builds the server and its backend once before the tests, so that they always run what the sources say.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { compilingCommand, isCompiled, WITHOUT_EVERYTHING } from '../src/image/process/backend.ts';
import { cacheFolder } from '../src/paths.ts';
import { untrueAnswers } from './declared.ts';
import { LIBRARIES_AS_COMPILED, LISP, PROJECT, startSession, testSbcl, untilCoreKept } from './harness.ts';
import { mountObstacle, obstacle } from './sandbox/namespaces.ts';

/** Returns a form that compiles the libraries of the tests, so that no test does: to compile one takes longer than most
 *  tests. */
function compilation(): string {
  const names = execFileSync(process.execPath, ['scripts/libraries.mjs'], { cwd: PROJECT, encoding: 'utf8' });
  const systems = names
    .trim()
    .split('\n')
    .map((name) => JSON.stringify(name));
  return `(dolist (system '(${systems.join(' ')}))
    (when (asdf:find-system system nil) (asdf:load-system system)))`;
}

/** Has a server with ENV compile the backend and the core, where that was not done before. Returns whether it has an
 * image. */
async function compileBackend(env: Record<string, string>): Promise<boolean> {
  const session = await startSession({ env });
  try {
    const { isError } = await session.call('eval_form', { form: '1' });
    if (!isError) await untilCoreKept();
    return !isError;
  } finally {
    await session.close();
  }
}

/** Has a server with ARGS and ENV compile the libraries, where that was not done before. */
async function compileLibraries(args: readonly string[], env: Record<string, string>): Promise<void> {
  const session = await startSession({ args, env });
  await session.eval(compilation(), { timeout: 600 }).finally(() => session.close());
}

/** Compiles the backend that uses only what SBCL documents, to which images can come that end by themselves. */
function compilePlainBackend(): void {
  const places = { lispFolder: LISP, cacheFolder: cacheFolder(), root: PROJECT };
  const options = { ...places, heapMb: 1024, trees: [], without: WITHOUT_EVERYTHING };
  if (isCompiled(options)) return;
  const { program, args, env } = compilingCommand(testSbcl(), options);
  execFileSync(program, args, { env, stdio: 'ignore' });
}

/** Prints how many tests of PROJECT were left out, and why. */
function reportLeftOut({ vitest }: TestProject): void {
  const left = vitest.state.getTestModules().flatMap((file) => [...file.children.allTests('skipped')]);
  if (left.length > 0)
    console.log(
      `${left.length} tests left out: they need user namespaces and mounts in them (${obstacle() ?? mountObstacle()})`,
    );
}

/** Prints the answers that tests have seen and that are not as their operations declare them, and has the run fail then. */
function reportUntrue(): void {
  const file = untrueAnswers(join(PROJECT, 'dist-tests'));
  if (!existsSync(file)) return;
  const different = new Set(readFileSync(file, 'utf8').trim().split('\n'));
  console.error(`Answers differ from what lisp/ declares:\n${[...different].join('\n')}`);
  // Vitest exits with 0 when this function throws.
  process.exitCode = 1;
}

/** Prepares the tests. Returns what tells which were left out, and removes what their servers have kept. */
export default async function setup(project: TestProject): Promise<() => void> {
  execFileSync(process.execPath, ['scripts/build.mjs', '--for-tests'], { cwd: PROJECT, stdio: 'inherit' });
  const { XDG_STATE_HOME = '', LIVE_LISP_SERVING = '' } = project.config.env;
  const env = { XDG_STATE_HOME, LIVE_LISP_SERVING };
  // Where there is no SBCL the tests that need one tell so.
  if (await compileBackend(env)) {
    // What a sandbox compiles is for its root alone.
    const ways = [[], LIBRARIES_AS_COMPILED];
    await Promise.all(ways.map((args) => compileLibraries(args, env)));
    compilePlainBackend();
  }
  return () => {
    reportLeftOut(project);
    reportUntrue();
    rmSync(XDG_STATE_HOME, { recursive: true, force: true, maxRetries: 5 });
  };
}
