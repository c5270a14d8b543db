// Prints a session with the built server over fixtures/demo; with --transcript the README's short version.

import { existsSync } from 'node:fs';
import { SERVER, withDemo } from './session.mjs';
import { callText, LONG, perform, shortTranscript } from './transcript.mjs';

async function printDemo(client) {
  for (const step of LONG) {
    console.log(`# ${step.about}\n${callText(step, await perform(client, step))}\n`);
  }
  console.log('To use it in Claude Code: node dist/live-lisp.js install --client claude');
}

async function printTranscript(client) {
  console.log(await shortTranscript(client));
}

try {
  if (!existsSync(SERVER)) throw new Error('dist/live-lisp.js is missing; make build makes it.');
  await withDemo(process.argv.includes('--transcript') ? printTranscript : printDemo);
} catch (error) {
  console.error(`demo: ${error.message}`);
  process.exitCode = 1;
}
