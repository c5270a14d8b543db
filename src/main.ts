#!/usr/bin/env node
// This is the entry point of the program. An old version of Node must be able to parse this file. Modules that such a
// Node cannot load are imported only after the version is checked.

import { answerWhy, isOfServer } from './cannot-serve.ts';
import { obstacleHere } from './surroundings.ts';

/** Starts the program. Resolves with the reason why it cannot start; undefined when it starts. */
async function obstacleToStart(): Promise<string | undefined> {
  const [, script = '', ...words] = process.argv;
  if (!isOfServer(words[0])) {
    // Few modules are loaded here, so that a command takes only a little longer than Node itself.
    const { runVerb } = await import('./command/command.ts');
    const code = await runVerb(words, [process.execPath, script]);
    if (code !== undefined) {
      process.exitCode = code;
      return undefined;
    }
  }
  const { start } = await import('./start.ts');
  return start();
}

const obstacle = obstacleHere(process.versions.node, process.platform) ?? (await obstacleToStart());
if (obstacle !== undefined) {
  process.stderr.write(`live-lisp: ${obstacle}\n`);
  process.exitCode = 1;
  if (!answerWhy(obstacle, process.argv.slice(2))) process.exit();
}
