// Where the program cannot run it says so in a sentence, and with a reader that has gone it ends well.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { obstacleHere } from '../../src/surroundings.ts';
import { PROJECT, SERVER } from '../harness.ts';
import { before, run } from './run.ts';

const OLD =
  'This is Node 18.20.8, and live-lisp needs Node 20.19, 22.2 or newer: install one (https://nodejs.org) and start live-lisp with it.';
const WINDOWS =
  'Windows itself cannot run live-lisp: use WSL, or Docker with the Dockerfile of live-lisp (docs/install.md).';

describe('an old Node', () => {
  const fake = before(
    "Object.defineProperty(process,'versions',{value:{...process.versions,node:'18.20.8'}})",
  );

  test.each([[['--version']], [['call', 'eval_form', '{}']]])(
    'gets one sentence and exit 1 for %j',
    async (args) => {
      expect(await run(args, fake)).toEqual({ code: 1, stdout: '', stderr: `live-lisp: ${OLD}\n` });
    },
  );

  test('can read the entry: its syntax is as old, and it imports nothing before the look', () => {
    const entry = readFileSync(SERVER, 'utf8');
    const written = (target: string) => transformSync(entry, { target, format: 'esm' }).code;
    expect(written('node16')).toBe(written('esnext'));
    expect(entry.match(/\bimport\b.{8}/g)?.sort()).toEqual(['import("./comm', 'import("./star']);
    expect(entry).not.toMatch(/\bexport\b|\brequire\b/);
  });

  test.each([
    ['20.18.3', false],
    ['20.19.0', true],
    ['21.7.3', false],
    ['22.1.0', false],
    ['22.2.0', true],
    ['24.21.0', true],
  ])('is told from a newer one: %s', (version, works) => {
    expect(obstacleHere(version, 'linux') === undefined).toBe(works);
  });

  test('is what package.json says too', () => {
    const { engines } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as {
      engines: { node: string };
    };
    expect(engines.node).toBe('^20.19.0 || >=22.2.0');
  });
});

test('Windows is told what to use instead, exit 1', async () => {
  const fake = before("Object.defineProperty(process,'platform',{value:'win32'})");
  expect(await run(['doctor'], fake)).toEqual({ code: 1, stdout: '', stderr: `live-lisp: ${WINDOWS}\n` });
});

describe('output', () => {
  test('that nobody reads is dropped, exit 0', async () => {
    const child = spawn(process.execPath, [SERVER, 'tools'], { cwd: PROJECT });
    child.stdout.destroy();
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect([code, stderr]).toEqual([0, '']);
  });

  test('that cannot be written is told, exit 1', async () => {
    const fail = "process.stdout.write=()=>{process.stdout.emit('error',new Error('ENOSPC: no space left'))}";
    expect(await run(['--version'], before(fail))).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'live-lisp: The output could not be written (ENOSPC: no space left). Make room for it, or redirect it, and run the command again.\n',
    });
  });
});

test('a person who starts the server in a terminal reads what it is for', async () => {
  const terminal = before(
    "Object.defineProperty(process.stdin,'isTTY',{value:true});const{write}=process.stderr;process.stderr.write=function(...all){setTimeout(()=>process.kill(process.pid,'SIGINT'));return write.apply(this,all)}",
  );
  const { stdout, stderr } = await run([], terminal);
  expect([stdout, stderr]).toEqual([
    '',
    'live-lisp: This MCP server uses stdin and stdout, so a client must start it: live-lisp install sets that up. Ctrl-C ends the server.\n',
  ]);
});
