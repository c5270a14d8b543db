#!/usr/bin/env node
// Decides that this process is the program, where it can be. An old Node must be able to read this file. What could end
// it with a stack trace is imported only once Node is known to be new enough.

import { answerWhy } from './cannot-serve.ts';
import { obstacleHere } from './surroundings.ts';

/** Starts the program, and returns why that cannot be, if it cannot. */
async function obstacleToStart(): Promise<string | undefined> {
  const { start } = await import('./start.ts');
  return start();
}

const obstacle = obstacleHere(process.versions.node, process.platform) ?? (await obstacleToStart());
if (obstacle !== undefined) {
  process.stderr.write(`live-lisp: ${obstacle}\n`);
  process.exitCode = 1;
  if (!answerWhy(obstacle, process.argv.slice(2))) process.exit();
}
