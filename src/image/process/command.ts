// Decides what it takes to start a program, and to lock it in.

/** What is run, and with which environment. */
export interface Command {
  program: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  /** Whether it exits with 128 and the number of the signal, as a shell does, when that ended what it runs. */
  tellsSignals?: boolean;
}

/** What images are locked in, where they are. Each function throws a SetupError that says why it cannot. */
export interface Cell {
  /** Returns how COMMAND is run in it. */
  lockIn(command: Command): Command;
  /** Runs COMMAND, which puts the compiled agent into the cache: images in it can only read that. */
  compileAgent(command: Command): Promise<void>;
  /** Finds out whether an image can be locked in here. */
  check(): Promise<void>;
}
