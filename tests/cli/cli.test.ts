// The command line: what each command prints, where, and with which exit code. What is wrong with its words is in
// words.test.ts.

import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { NO_SYSTEMS, PROJECT, SERVER } from '../harness.ts';
import { BUILT_IN } from '../names.ts';
import { sandboxTest } from '../sandbox/namespaces.ts';
import { marked } from '../server/processes.ts';
import { sharedFolder } from '../shared.ts';
import { before, run, WITHOUT_SBCL } from './run.ts';

const folder = sharedFolder();

function write(name: string, text: string): string {
  const path = join(folder.path, name);
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

describe('call', () => {
  test('prints the text of the tool, exit 0, and leaves nothing running', async () => {
    const mark = randomUUID();
    const form = '{"form":"(+ 1 2)"}';
    expect(await run(['call', 'eval_form', form], { LIVE_LISP_TEST: mark })).toEqual({
      code: 0,
      stdout: '3\n',
      stderr: '',
    });
    expect(marked(mark)).toEqual([]);
  });

  test.each([
    ['who-calls', '{"name":"nope"}', 'Symbol NOPE not found in package CL-USER (status: NIL)\n'],
    ['who_calls', '{"name":"nope"}', 'Symbol NOPE not found in package CL-USER (status: NIL)\n'],
    [
      'apropos-search',
      '{"pattern":"mapcar","package":"CL"}',
      /^Found 1 symbol matching 'mapcar':\n\n {2}COMMON-LISP::MAPCAR \[FUNCTION\]\n$/,
    ],
  ])('of %s with %s prints the answer', async (name, json, text) => {
    const { code, stdout, stderr } = await run(['call', name, json, ...NO_SYSTEMS]);
    expect([code, stderr]).toEqual([0, '']);
    if (typeof text === 'string') expect(stdout).toBe(text);
    else expect(stdout).toMatch(text);
  });

  test.each([
    [
      'an error',
      ['call', 'eval_form', '{"form":"(error \\"boom\\")"}'],
      /^Error: boom\nType: COMMON-LISP::SIMPLE-ERROR\n$/,
    ],
    ['a missing argument', ['call', 'eval_form'], /^Required parameter 'form' missing\n$/],
    ['null', ['call', 'eval_form', 'null'], /^Required parameter 'form' missing\n$/],
    [
      'an array',
      ['call', 'eval_form', '[1]'],
      /^The arguments of eval_form must be an object, not an array\.\n$/,
    ],
    ['an unknown argument', ['call', 'eval_form', '{"fom":"1"}'], /'form' missing|Unknown parameter 'fom'/],
    [
      'a lost image',
      ['call', 'eval_form', '{"form":"(exit)"}'],
      /^Error: The Lisp image was lost during this call: it exited with code 0\./,
    ],
    [
      'no SBCL',
      ['call', '--sbcl', '/no/sbcl', 'eval_form', '{"form":"1"}'],
      /^There is no executable SBCL at \/no\/sbcl\. /,
    ],
    [
      'a limit',
      ['call', 'eval_form', '{"form":"(loop)"}', '--eval-timeout', '0.3'],
      /^Error: Interrupted after \d+\.\d s/,
    ],
  ])('that fails by %s prints why, exit 1', async (_, args, text) => {
    const { code, stdout, stderr } = await run(args);
    expect([code, stderr]).toEqual([1, '']);
    expect(stdout).toMatch(text);
  });

  test('of a long answer prints all of it into a pipe', async () => {
    const { stdout, code } = await run(['call', 'apropos_search', '{"pattern":"","limit":500}']);
    expect(code).toBe(0);
    expect(stdout.split('\n').length).toBeGreaterThan(500);
  });

  test('prints what there is to tell besides under the text', async () => {
    const init = write('bad-init.lisp', '(error "bad init")\n');
    const { code, stdout } = await run(['call', 'eval_form', '{"form":"(+ 1 2)"}', '--init', init]);
    expect(code).toBe(0);
    expect(stdout.startsWith(`3\n\nThe start file ${init} was not loaded to its end: bad init`)).toBe(true);
  });

  test('starts in --root, else where it is called', async () => {
    write('there.lisp', '(defvar *there* 1)\n');
    const json = '{"path":"there.lisp"}';
    expect((await run(['call', 'load_file', json, '--root', folder.path])).stdout).toBe(
      'Loaded there.lisp\n',
    );
    expect((await run(['call', 'load_file', json], {}, folder.path)).stdout).toBe('Loaded there.lisp\n');
  });
});

describe('what needs no image', () => {
  const version = (JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as { version: string })
    .version;

  test('--version prints the version of the package, whatever else is asked', async () => {
    for (const args of [['--version'], ['doctor', '--version'], ['--version', '--heap', '1GB']]) {
      expect(await run(args)).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
    }
  });

  test('--help names every command and flag', async () => {
    const { code, stdout, stderr } = await run(['--help']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^live-lisp: /);
    expect([...stdout.matchAll(/^ {2}(\S+)/gm)].map((match) => match[1])).toEqual([
      'serve',
      'call',
      'tools',
      'search',
      'doctor',
      'attach',
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
      '--catalog',
      '--history',
      '--audit-texts',
      '--keep-days',
      '--client',
      '--scope',
      '--trust',
      '--dry-run',
      '--help',
      '--version',
    ]);
    expect((await run(['call', '--help'])).stdout).toBe(stdout);
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
      stdout: `Wrote ${file}\nStart Cursor anew. What it has: live-lisp doctor --client cursor\n`,
      stderr: '',
    });
    const doctor = await run(['doctor', '--client', 'cursor'], env);
    expect(doctor.code).toBe(0);
    expect(doctor.stdout).toContain(`ok   user: ${file} starts ${process.execPath} ${SERVER}\n`);
    expect((await run(['uninstall', '--client', 'cursor'], env)).stdout).toBe(`Removed ${file}\n`);
    expect((await run(['doctor', '--client', 'cursor'], env)).code).toBe(1);
  });

  sandboxTest('takes the end of input at its question for no', async () => {
    const terminal = before('process.stdin.isTTY=process.stdout.isTTY=true');
    const args = ['install', '--client', 'codex', '--scope', 'project'];
    const project = join(folder.path, 'asked');
    mkdirSync(project);
    const all = { ...env, ...terminal, PATH: process.env['PATH'] ?? '' };
    const { code, stdout, stderr } = await run(args, all, project);
    expect(stdout).toBe(`Shall Codex run code without asking you, in a sandbox only? [y/N] 
Wrote ${project}/.codex/config.toml
Codex runs the tools that only look without a question, and asks before code runs; --trust has it run that too, in a sandbox only.
Start Codex anew. What it has: live-lisp doctor --client codex
`);
    expect([code, stderr]).toEqual([0, '']);
  });

  test('that cannot be done is told on stderr, exit 1', async () => {
    mkdirSync(join(env.HOME, '.gemini'), { recursive: true });
    const file = write('home/.gemini/settings.json', '{');
    expect(await run(['install', '--client', 'gemini'], env)).toEqual({
      code: 1,
      stdout: '',
      stderr: `live-lisp: ${file} is not JSON that can be read (CloseBraceExpected in line 1), and was left as it is. Correct it, and run this again.\n`,
    });
  });
});
