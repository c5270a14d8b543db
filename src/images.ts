// Makes the image of a configuration: one that the server starts, or one that somebody else runs.

import { join } from 'node:path';
import { attachLine } from './attach.ts';
import type { Config } from './config.ts';
import { SetupError } from './errors.ts';
import type { BackendConnection } from './image/attached/attached-peer.ts';
import { parseServedImage } from './image/attached/serving.ts';
import type { SwankAddress } from './image/attached/swank.ts';
import { ThroughSwank } from './image/attached/through-swank.ts';
import { ChosenImage } from './image/choice/chosen-image.ts';
import { SbclImage, type SbclOptions } from './image/own/sbcl-image.ts';
import { type CommandWire, openCommandWire } from './image/process/command-wire.ts';
import { farPaths, type ImageCommand } from './image/process/image-command.ts';
import { libraryManager } from './image/process/libraries.ts';
import { isStopped } from './image/process/process-state.ts';
import { whyUnsupported } from './image/process/sbcl-versions.ts';
import { LoadedFileReader } from './image/recovery/digests.ts';
import type { Sandbox } from './image/sandbox/sandbox.ts';
import type { Served } from './image/wire/served.ts';
import { TIMES, type Times } from './image/wire/times.ts';
import { initFileNotLoaded } from './init-file.ts';
import { isTooWide } from './paths.ts';
import { JournalFiles } from './records/journal-files.ts';
import { PACKAGE_FOLDER, sandboxOf } from './sandboxing.ts';

/** The options by which an image is connected to the rest of the server. */
export type Connections = Required<
  Pick<SbclOptions, 'limitMs' | 'onReply' | 'callTool' | 'onFailure' | 'tools'>
> &
  Pick<SbclOptions, 'times' | 'series'>;

/** The parts that images are made of, besides a configuration. */
export interface ImageParts {
  sandbox: Sandbox | undefined;
  /** The internals of SBCL and the abilities that the backend must not use (see BackendOptions). If undefined, the
   * server decides this when an image starts. */
  without: readonly string[] | undefined;
  /** Returns the reason why a file may not be read. */
  forbids: (real: string) => string | undefined;
  connections: Connections;
}

/** Returns the image of CONFIG, in which calls run. Does not start it. */
export function chosenImage(
  config: Config,
  { sandbox, without, forbids, connections }: ImageParts,
): ChosenImage {
  const { times } = connections;
  const dial = config.imageCommand && commandConnector(config.imageCommand, config.root, times);
  return new ChosenImage({
    // A command usually starts the server's own image. But it can also connect to an image that somebody else runs. The
    // server learns this only after it has started the command. It then uses `attached` and `findByAddress`. So both
    // get functions of `dial`, which connect by the command.
    choice: config.imageCommand === undefined ? config.image : 'own',
    folder: config.serving,
    root: config.root,
    isTooWide,
    ownImageRequiredBy: config.ownImageRequiredBy,
    makeOwn: () =>
      new SbclImage({
        ...imageOptions(config, sandbox),
        ...journalOf(config),
        ...(without && { without }),
        loadedFiles: new LoadedFileReader(forbids),
        ...connections,
      }),
    attached: {
      attachLine: attachLine(),
      trees: config.roots,
      // If the image runs on another machine, this machine cannot observe its process.
      isStopped: (pid) => dial === undefined && isStopped(pid),
      ...connections,
      ...(config.init !== undefined && { startFile: config.init }),
      // These replace `attachLine`, so they come last.
      ...dial?.options,
    },
    findByAddress: dial?.find ?? (config.swank && findThroughSwank(config.swank, config.serving, times)),
  });
}

/** Returns the options of the image for CONFIG. SANDBOX is the sandbox, which a caller passes if it exists already. */
export function imageOptions(
  config: Config,
  sandbox = config.sandbox === 'off' ? undefined : sandboxOf(config),
): SbclOptions {
  return {
    sbcl: config.sbcl,
    lispFolder: join(PACKAGE_FOLDER, 'lisp'),
    cacheFolder: config.cache,
    root: config.root,
    heapMb: config.heapMb,
    limitMs: config.evalTimeoutMs,
    trees: config.roots,
    command: config.imageCommand,
    startFiles: () => startFiles(config),
    // A command runs SBCL as some user, and SBCL loads this user's init file itself.
    ...(config.imageCommand === undefined && {
      libraries: () => ({ ...libraryManager(config), initFile: initFileNotLoaded(config.init) }),
    }),
    ...(sandbox && { sandbox }),
  };
}

function startFiles({ init }: Config): string[] {
  return init === undefined ? [] : [init];
}

/** Returns the option that says where the journal is stored; {} when CONFIG turns the journal off. Images in a sandbox
 * have a store of their own, because code from a sandbox must not be evaluated outside it. Images on other machines
 * also have one. */
function journalOf(config: Config): Pick<SbclOptions, 'journal'> {
  const { journals, sandbox, replay, root, imageCommand } = config;
  if (!replay) return {};
  // A strict sandbox has no network.
  const line = sandbox === 'strict' ? 'off-line' : 'on-line';
  const apart =
    imageCommand !== undefined
      ? ['elsewhere', imageCommand.name]
      : sandbox === 'off'
        ? []
        : ['sandboxed', line];
  const folder = join(journals, ...apart);
  return { journal: new JournalFiles(folder, root) };
}

/** Returns the functions that find an image that somebody else runs and connect to it. COMMAND is the command line by
 * which a connection is made, CWD the working directory of COMMAND. `find` runs COMMAND and stores the connection,
 * which `connect` returns. So `find` must be called before `connect`. */
export function commandConnector(command: ImageCommand, cwd: string, times: Times = TIMES) {
  let opened: CommandWire | undefined;
  const find = async (): Promise<Served> => {
    opened = await openCommandWire(command, cwd, times);
    const served = parseServedImage(opened.entry, command.name);
    if (served !== undefined) return served;
    opened.stream.destroy();
    throw new SetupError(
      `The command of --image ${command.name} sent a description of its image that this live-lisp cannot read. Update live-lisp here and where that image runs.`,
    );
  };
  const connect = (): BackendConnection => {
    if (opened === undefined) throw new Error('connect was called before find.');
    return { stream: opened.stream, ended: opened.ended, paths: farPaths(command) };
  };
  // Texts for the user end in the attach line. The one of the far image is not known here.
  return { find, options: { connect, attachLine: 'the one that live-lisp attach prints there' } };
}

/** Returns a function that finds the image that serves Swank at ADDRESS. FOLDER is the folder of the sockets on which
 * images accept connections from servers. */
export function findThroughSwank(
  address: SwankAddress,
  folder: string | undefined,
  times: Times = TIMES,
): () => Promise<Served> {
  const connector = new ThroughSwank({
    address,
    folder,
    attachLine: attachLine(),
    qualifiedAttachLine: attachLine('cl:load'),
    whyUnsupported,
    times,
  });
  return () => connector.find();
}
