// Decides the tools that load files and systems.

import { createHash } from 'node:crypto';
import { type Stats, statSync } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { CallError } from '../../errors.ts';
import { wholeContent } from '../../files/diff.ts';
import { fileFailure } from '../../files/failure.ts';
import { WHOLE } from '../../files/lines.ts';
import { decode } from '../../files/text.ts';
import type { Image } from '../../image/image.ts';
import type { Reply } from '../../image/wire/call.ts';
import { nearest } from '../../kernel/nearest.ts';
import { joinSections } from '../../kernel/reply.ts';
import {
  type Arguments,
  type CallContext,
  defineTool,
  keywordList,
  type Preview,
  type Result,
  type ToolDefinition,
} from '../../kernel/tool.ts';
import { visibleName } from '../../visible.ts';
import { callOptions, limitOption, TIMEOUT, timeoutAdvice } from '../arguments.ts';
import { conditionText, endingText, outputSection, waitedSection } from '../outcome.ts';
import type { Places } from '../places.ts';
import { groupedWarnings, readtableSection, redefinedSection } from '../remarks.ts';
import { withTemporaryFolder } from '../temporary.ts';

const LOAD_TIMEOUT = { ...TIMEOUT, description: `${TIMEOUT.description} (600 when absent)` };

const LOAD_FILE: Omit<ToolDefinition, 'handler'> = {
  name: 'load_file',
  title: 'Load Lisp file',
  description:
    'Compile a Lisp source file and load it into the running image, so that cross references and compiler warnings exist. Nothing is written beside the source. Returns warnings by definition and line.',
  parameters: [
    { name: 'path', type: 'string', description: 'The file, relative to the workspace root' },
    LOAD_TIMEOUT,
  ],
  required: ['path'],
  limitMs: Number.POSITIVE_INFINITY,
  safetyLevel: 'cautious',
  categories: ['execution'],
  shortDescription: 'Compile a Lisp source file and load it',
  complexity: 'moderate',
  keywords: keywordList(`
    load a file, compile a file, compiler warnings of a file, reload a file after editing, source file, syntax
    check, lint a file, compilation errors, recompile, does the file compile cleanly, does it still compile,
    .lisp, diagnostics of a file, style warnings, problems view, error list, mistakes in my file, faults, is my
    code in the file correct, red squiggles, unbalanced or missing parentheses, undefined functions or variables
    in a file, apply an edit to the running image, apply a patch to the live image, pick up changes, get my
    edited code into the session, new definitions into the image, take it into the running program, use the new
    version, without restarting, hot reload, hot swap, edit and continue, nodemon, watch, live reload, refresh
    definitions, refresh from disk, re-read, reread, read again, I modified it, I edited it, I saved it, saved
    changes, changed on disk, changed file, file I touched, after a merge conflict, out of date, sync with disk,
    rebuild one file, rebuild only this, build the current buffer, compile just this unit, did my save break
    anything, run a script, execute a script, exec, python script.py, standalone script, seed data fixtures,
    require helpers, include, importlib.reload, javac, flake8, type check, callers or cross references are
    missing, code was pasted into the REPL, evaluated only, no fasl, compile-file, slime-compile-and-load-file,
    C-c C-k, C-c C-l, Ctrl+F9, evaluate the whole file, reevaluate, eval-buffer, C-c M-k, node script.js,
    ts-node, ruby script.rb, perl script, webpack --watch, hot module replacement, redefinition, stale
    definitions, make my changes live, bring the image up to date, take over my changes, verify my edit, check
    the file for errors, errors after my change, warnings after editing, pylint, rubocop, eslint on a file,
    python -m py_compile, cl:load, load-source, compile and load a file, file has errors, load my changes,
    (load), recompile and load, compile and reload, update the definitions, reimport, re-execute, run the file,
    run once, hot patch, single source file, one source file, bring my edits, take them over, changed functions
    in a file, two functions in, new version of the file, updated file, rewritten file, after editing, after
    saving, check the file, healthy, clean compile, build errors, broken file, errors and warnings, warnings
    with line numbers, validate the edited source, post-edit check, unmatched parenthesis, end of file error,
    populate xref data, startup script, setup script, demo script, M-x load-file,
    slime-load-file, sly-load-file, Ctrl+Shift+F9, %run, runpy, dofile, loading a file, load a single file,
    compile and run a file, in the edited file, still compiles, verify that it compiles, program with my saved
    changes, take the new version, load the source again, compile this .lisp file, compile errors of a file,
    does the file build, get rid of stale code, compilation of the file fails, what does the compiler say about
    the file, file changed by somebody else, old version in the image, latest version of the file, eval the
    buffer, check all definitions in a file, I fixed the file on disk, autoreload, ghci :r, :load, read in a
    file, reflect my edit in the running program, I changed the source, rerun the script after changing it`),
};

export function loadFile(image: Image, places: Places, root: string) {
  return defineTool({
    ...LOAD_FILE,
    preview: async (args) => {
      const path = String(args['path']);
      const file = sourceFile(root, path);
      return loadPreview(places, file).catch((error: unknown) => {
        throw fileFailure(error, path, 'read');
      });
    },
    handler: async (args, context) => {
      const file = sourceFile(root, String(args['path']));
      return withTemporaryFolder(async (folder) => {
        const reply = await image.call(
          'load-file',
          { file, fasl: join(folder, 'loaded.fasl') },
          { ...callOptions(context), ...limitOption(args['timeout']) },
        );
        return loadResult(reply, fileHeadline(reply, places.fileName(file)), places);
      });
    },
  });
}

/** Returns what a human is shown of FILE before it is loaded; what they approve holds for that content only. */
async function loadPreview(places: Places, file: string): Promise<Preview> {
  const place = places.fileName(await realpath(file));
  if ((await stat(file)).size > WHOLE) {
    throw new CallError(
      `${visibleName(place)} is larger than ${WHOLE / 1024 / 1024} MB, too large to show to a human for approval. Load it with eval_form and (load ...), or ask the user to start the server without --ask cautious.`,
    );
  }
  const bytes = await readFile(file);
  const fingerprint = createHash('sha256').update(bytes).digest('hex');
  return { text: wholeContent(visibleName(place), decode(bytes)), place, fingerprint };
}

function sourceFile(root: string, path: string): string {
  if (path.includes('\0')) throw new CallError('The path must not contain a NUL character.');
  const file = resolve(root, path);
  const stats = statsOf(file, path);
  if (stats === undefined) throw new CallError(`There is no file ${file}. Relative paths start at ${root}.`);
  if (!stats.isFile()) throw new CallError(`${file} is not a file. Name a Lisp source file.`);
  return file;
}

function statsOf(file: string, path: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch (error) {
    throw fileFailure(error, path, 'read');
  }
}

function fileHeadline({ data, ending }: Reply<'load-file'>, name: string): string {
  if (data.value?.notLoaded)
    return `Not loaded: ${name} could not be compiled. What it does at compile time (packages, macros) may be in the image.`;
  if (ending.kind !== 'done' && data.phase === 'compile')
    return `Not loaded: the compilation of ${name} was left early. What it did at compile time until then (packages, macros) is in the image.`;
  if (ending.kind !== 'done') return `${name} was not loaded to its end; the forms before were.`;
  return data.value?.failed
    ? `Loaded ${name}, but some forms have errors (below) and will signal when they run.`
    : `Loaded ${name}`;
}

const LOAD_SYSTEM: Omit<ToolDefinition, 'handler'> = {
  name: 'load_system',
  title: 'Load ASDF system',
  description:
    "Load an ASDF system, and what it depends on, into the running image. Any system that ASDF can find: in the workspace, installed by the distribution, or in the user's source registry. Returns what was loaded and warnings by file.",
  parameters: [
    { name: 'system', type: 'string', description: 'System name, for example alexandria or my-app/tests' },
    { name: 'force', type: 'boolean', description: 'Compile and load the system itself again' },
    LOAD_TIMEOUT,
  ],
  required: ['system'],
  limitMs: Number.POSITIVE_INFINITY,
  safetyLevel: 'cautious',
  categories: ['execution'],
  shortDescription: 'Load an ASDF system with what it depends on',
  complexity: 'moderate',
  keywords: keywordList(`
    ASDF, quicklisp, load a system, load a library, dependencies, build the project, install a library,
    third-party library, quickload, ql:quickload, asdf:load-system, .asd, defsystem, require, load the whole
    application, load the project, use a library, add a library, need a library, import a library, import a
    module, from import, pip install, npm install, poetry, requirements.txt, cargo build, maven mvn compile,
    gradle, nuget, jar on the classpath, bundle install, add a package reference, pull in, bring in, bring it
    back, put it back, get it into the session, get it into the image, I need it in the image, make it available
    in the session, prerequisite, framework, library is missing, dependencies missing, resolve restore
    dependencies, with everything it needs, is it installed on this machine, can asdf find it,
    ModuleNotFoundError, package not found, package does not exist, all files in the right order, compile the
    entire system, build everything, rebuild the solution, clean and build, compile it all again, force
    recompile, from zero, from scratch, even if nothing changed, cloned a repository, checked out the project,
    reload the application, up and running, start up, boot, bootstrap, setup, initialize the environment, load
    the test system, prepare the test suite, fiveam, after a restart of the image, my application is gone,
    source registry, qlot ocicl, slime-load-system, yarn add, go get, go mod, gem install, bundler, composer
    require, conda install, uv add, dotnet restore, dotnet build, dotnet add package, msbuild, cmake, make all,
    npm ci, node_modules, package.json, pyproject, setup.py, pom.xml, #include, import numpy, using directive,
    ultralisp, clpm, sly-quickload, slime-asdf, find-system, test-system, reload the system, reload a system,
    component not found, system not found, no such package, plugin, toolkit, everything my app needs, load all
    files of the project, open the project, get the project running, load my app, web framework, regex library,
    json library, csv library, test framework, database driver, package manager, external library, set up the
    project, project setup, after cloning, entire application, full build, full rebuild, recompile everything,
    stale fasls, system definition, ASDF system, test system, cannot find package, package is missing, unknown
    package, unmet dependency, depends-on, library not loaded, not there yet, is the library there, warnings by
    file, compile the project, sly-load-system, lein deps, cabal build, stack build, mix deps.get, opam,
    luarocks, cpan, brew install, apt install, vcpkg, conan, bazel, sbt, ant, Ctrl+Shift+B, Build Solution, Sync
    Project, restore packages, PackageReference, get it going, load it so I can use its functions, loaded
    already, whole project, bring up the project, whole accounting application, in core, available to asdf,
    library to my program, codebase, client library, parser library, date-time library, loadable, is it
    loadable, does the distribution have it, install lisp packages, compile the app, bring the app up, reload
    all changed files, start working with the project, build it, load it all again, symbol unknown because the
    library is not loaded, set up a library, fetch requirements, dependency installation, make usable, load
    local project, prepare the environment, build failed on a missing dependency, re-load the whole system with
    force`),
};

export function loadSystem(image: Image, places: Places) {
  return defineTool({
    ...LOAD_SYSTEM,
    handler: async (args, context) => loadNamedSystem(image, places, args, context),
  });
}

async function loadNamedSystem(
  image: Image,
  places: Places,
  args: Arguments,
  context: CallContext,
): Promise<Result> {
  const system = String(args['system']);
  const reply = await image.call(
    'load-system',
    { name: system, force: args['force'] === true },
    { ...callOptions(context), ...limitOption(args['timeout']) },
  );
  const { value } = reply.data;
  if (value?.missing !== undefined) {
    const similar = nearest(value.missing, value.known ?? []);
    const hint =
      similar.length > 0 ? `Similar names: ${similar.join(', ')}.` : 'No system has a similar name.';
    return {
      data: value,
      text: `System ${value.missing} not found by ASDF. ${hint} It looks in the workspace, the distribution's Lisp libraries and the user's source registry.`,
      failed: true,
    };
  }
  return loadResult(reply, systemHeadline(reply, system), places);
}

function systemHeadline({ data, ending }: Reply<'load-system'>, name: string): string {
  if (ending.kind !== 'done') return `System ${name} was not loaded to its end.`;
  const loaded = (data.value?.loaded ?? []).filter((each) => each !== name.toLowerCase());
  if (data.value?.already) return `System ${name} was loaded already; changed files were loaded again.`;
  return `Loaded system ${name}${loaded.length > 0 ? `, with ${loaded.join(', ')}` : ''}`;
}

function loadResult(
  { ending, output, data, waitedMs }: Reply<'load-file'> | Reply<'load-system'>,
  headline: string,
  places: Places,
): Result {
  const failed = ending.kind !== 'done' || (data.value !== undefined && 'notLoaded' in data.value);
  const text = joinSections([
    headline,
    ending.kind === 'condition' ? conditionText(ending.condition) : endingText(ending),
    timeoutAdvice(ending),
    groupedWarnings(data, places),
    redefinedSection(data),
    readtableSection(data),
    outputSection(output),
    waitedSection(waitedMs),
  ]);
  return { data: { ...data.value, ending }, text, failed };
}
