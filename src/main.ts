#!/usr/bin/env node
// Entry point of the program. An old Node must be able to parse this file, so modules that it cannot load are
// imported only after the version check.

import { answerWhy, isOfServer } from './cannot-serve.ts';
import { obstacleHere } from './surroundings.ts';

/** Starts the program. Returns the reason when this is impossible, else undefined. */
async function obstacleToStart(): Promise<string | undefined> {
  const [, script = '', ...words] = process.argv;
  if (!isOfServer(words[0])) {
    // This module is small, so that a command takes little longer than Node itself.
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
