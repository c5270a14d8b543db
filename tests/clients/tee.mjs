// Runs the server of an MCP client and writes each line between both to a file: node tee.mjs FILE PROGRAM ARGS...

import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [file, program, ...args] = process.argv.slice(2);
const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
const note = (from, line) => appendFileSync(file, `${JSON.stringify({ from, line })}\n`);

for (const [from, source, sink] of [
  ['client', process.stdin, child.stdin],
  ['server', child.stdout, process.stdout],
]) {
  createInterface({ input: source }).on('line', (line) => note(from, line));
  source.pipe(sink);
  sink.on('error', () => {});
}
process.stdin.on('end', () => note('client', ''));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code) => process.exit(code ?? 1));
