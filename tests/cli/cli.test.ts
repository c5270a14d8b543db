// The command line: what each command prints, where, and with which exit code. What is wrong with its words is in
// words.test.ts.

import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { VERBS } from '../../src/command/verbs.ts';
import { PROJECT, SERVER } from '../harness.ts';
import { BUILT_IN } from '../names.ts';
import { sandboxTest } from '../sandbox/namespaces.ts';
import { sharedFolder } from '../shared.ts';
import { before, run, WITHOUT_SBCL } from './run.ts';

const folder = sharedFolder();

function write(name: string, text: string): string {
  const path = join(folder.path, name);
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

describe('what needs no image', () => {
  const version = (JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as { version: string })
    .version;

  test('--version prints the version of the package, whatever else is asked', async () => {
    for (const args of [['--version'], ['doctor', '--version']]) {
      expect(await run(args)).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
    }
  });

  test('--help names every command and flag', async () => {
    const { code, stdout, stderr } = await run(['--help']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^live-lisp: /);
    expect([...stdout.matchAll(/^ {2}(\S+)/gm)].map((match) => match[1])).toEqual([
      ...Object.keys(VERBS),
      'serve',
      'session',
      'help',
      'tools',
      'search',
      'doctor',
      'attach',
      'image',
      'dial',
      'install',
      'uninstall',
      'forget',
      '--root',
      '--read-root',
      '--sbcl',
      '--heap',
      '--image',
      '--map',
      '--sandbox',
      '--no-sandbox',
      '--write',
      '--eval-timeout',
      '--hold',
      '--init',
      '--libraries',
      '--tool-names',
      '--list',
      '--ask',
      '--allow',
      '--answer-time',
      '--audit',
      '--replay',
      '--history',
      '--audit-texts',
      '--keep-days',
      '--http',
      '--http-token',
      '--page',
      '--client',
      '--scope',
      '--trust',
      '--dry-run',
      '--help',
      '--version',
    ]);
    expect((await run(['help'])).stdout).toBe(stdout);
  });

  test('search prints the tools that it finds, and says what to do when it finds none', async () => {
    const { stdout } = await run(['search', 'find callers of a function']);
    expect(stdout.split('\n')[0]).toMatch(/^who_calls +ranked +Find the functions that call a given one/);
    expect(stdout).toMatch(/\nFurther matches: \w+(, \w+)*\n/);
    expect(await run(['search', 'qwrtzp'])).toMatchObject({
      code: 0,
      stdout: 'No tool matches any word of: qwrtzp. Say in other words what the tool should do.\n',
    });
    expect(await run(['search'])).toMatchObject({
      code: 2,
      stderr: 'live-lisp: The command search needs words to look for: live-lisp search "find callers".\n',
    });
  });

  test('help explains a verb or a tool, with its options', async () => {
    const { code, stdout } = await run(['help', 'interrupt']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: live-lisp interrupt\n\nStop \(a/);
    expect(stdout).toMatch(/\nOptions:\n {2}--job INTEGER .*\n {2}--all\b/);
    expect((await run(['interrupt', '--help'])).stdout).toBe(stdout);
    const tool = (await run(['help', 'class-slots'])).stdout;
    expect(tool).toMatch(/^Usage: live-lisp call class_slots NAME=VALUE \.\.\.\n/);
    expect(tool).toMatch(/\n {2}class=STRING\n/);
    expect((await run(['help', 'sessions'])).stdout).toBe('Usage: live-lisp sessions\n\nlist the sessions\n');
    const evaluating = (await run(['help', 'eval'])).stdout;
    expect(evaluating).toMatch('To check code use live-lisp call compile_form, for a file live-lisp load.');
    expect(evaluating).toMatch(/\nOptions:\n {2}--hold {19}As --on-error hold\n {2}--package STRING\n/);
    expect(evaluating).toContain('--fresh[=STRING] ');
    expect(await run(['help', 'nothing'])).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'live-lisp: There is no command or tool nothing; live-lisp --help and live-lisp tools list them.\n',
    });
    expect((await run(['help', 'a', 'b'])).stderr).toBe(
      'live-lisp: The command help takes one word: live-lisp help WORD.\n',
    );
  });

  test('tools lists each with its level, without an SBCL too', async () => {
    const { code, stdout, stderr } = await run(['tools'], WITHOUT_SBCL);
    expect([code, stderr]).toEqual([0, '']);
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/));
    expect(rows.map(([name, level]) => [name, level?.trim()])).toEqual(BUILT_IN);
    for (const [, , sentence] of rows) expect(sentence).toMatch(/^[A-Z].{10,99}[^.]$/);
  });
});

describe('install', () => {
  const env = { HOME: join(folder.path, 'home'), PATH: '/nowhere', XDG_CONFIG_HOME: '' };

  test('sets a client up to start this very program, which the doctor sees; uninstall takes it back', async () => {
    const file = join(env.HOME, '.cursor', 'mcp.json');
    mkdirSync(env.HOME);
    expect((await run(['install'], env)).stdout).toMatch(/^No client is found here\./);
    expect(await run(['install', '--client', 'cursor'], env)).toEqual({
      code: 0,
      stdout: `Wrote ${file}\nRestart Cursor. To check its set-up: live-lisp doctor --client cursor\n`,
      stderr: '',
    });
    const doctor = await run(['doctor', '--client', 'cursor'], env);
    expect(doctor.code).toBe(0);
    expect(doctor.stdout).toContain(`ok   user: ${file} starts ${process.execPath} ${SERVER}\n`);
    expect((await run(['uninstall', '--client', 'cursor'], env)).stdout).toBe(`Removed ${file}\n`);
  });

  sandboxTest('takes the end of input at its question for no', async () => {
    const terminal = before('process.stdin.isTTY=process.stdout.isTTY=true');
    const args = ['install', '--client', 'codex', '--scope', 'project'];
    const project = join(folder.path, 'asked');
    mkdirSync(project);
    const all = { ...env, ...terminal, PATH: process.env['PATH'] ?? '' };
    const { code, stdout, stderr } = await run(args, all, project);
    expect(stdout).toBe(`May Codex run code in a sandbox without asking you? [y/N] 
Wrote ${project}/.codex/config.toml
Codex asks you before code runs, but not before tools that only read. With --trust it also runs code without asking you, but only in a sandbox.
Restart Codex. To check its set-up: live-lisp doctor --client codex
`);
    expect([code, stderr]).toEqual([0, '']);
  });

  test('that cannot be done is told on stderr, exit 1', async () => {
    mkdirSync(join(env.HOME, '.gemini'), { recursive: true });
    const file = write('home/.gemini/settings.json', '{');
    expect(await run(['install', '--client', 'gemini'], env)).toEqual({
      code: 1,
      stdout: '',
      stderr: `live-lisp: ${file} is not valid JSON (CloseBraceExpected in line 1), and was not changed. Correct it, and run this again.\n`,
    });
  });
});
