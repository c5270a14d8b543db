#!/usr/bin/env node
// Decides that this process is the program, where it can be. An old Node must be able to read this file. What could end
// it with a stack trace is imported only once Node is known to be new enough.

import { answerWhy } from './cannot-serve.ts';
import { obstacleHere } from './surroundings.ts';

const obstacle = obstacleHere(process.versions.node, process.platform);
if (obstacle === undefined) {
  const { start } = await import('./start.ts');
  await start();
} else {
  process.stderr.write(`live-lisp: ${obstacle}\n`);
  process.exitCode = 1;
  answerWhy(obstacle, process.argv.slice(2));
}
