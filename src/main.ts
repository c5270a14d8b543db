#!/usr/bin/env node
// Decides that this process is the program, where it can be. An old Node must be able to read this file. What could end
// it with a stack trace is loaded only once Node is known to be new enough. It is bundled for CommonJS: Node's loader of
// modules takes as long to begin as a tenth of our start.

import { obstacleHere } from './surroundings.ts';

const obstacle = obstacleHere(process.versions.node, process.platform);
if (obstacle === undefined) {
  void import('./start.ts').then(({ start }) => start());
} else {
  process.stderr.write(`live-lisp: ${obstacle}\n`);
  process.exitCode = 1;
}
