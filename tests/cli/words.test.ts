// What the program refuses in the words that it is started with, before it does anything.

import { describe, expect, test } from 'vitest';
import { assemble } from '../../src/assembly.ts';
import { readConfig } from '../../src/config.ts';
import { UsageError } from '../../src/errors.ts';
import { PROJECT, SERVER } from '../harness.ts';
import { run } from './run.ts';

/** Returns what the program refuses ARGS with, in this process. */
function refusal(args: string[]): unknown {
  try {
    const config = readConfig(args, process.env);
    assemble(config);
    return undefined;
  } catch (error) {
    return error;
  }
}

describe('what is wrong with the words is one sentence on stderr, exit 2', () => {
  const UNKNOWN_TOOL = '--allow: Unknown tool: writefile. Did you mean write_file?';
  const HEAP = (value: string) =>
    `--heap must be a size from 128MB to 1024GB, such as 512MB or 8GB, not ${value}.`;
  const TIMEOUT = (value: string) =>
    `--eval-timeout must be a number of seconds from 0.1 to 86400, not ${value}.`;

  test.each([
    [['bogus'], 'Unknown command bogus; live-lisp --help lists the commands.'],
    [
      ['load_system'],
      'Unknown command load_system; live-lisp call load_system calls the tool of that name, and live-lisp --help lists the commands.',
    ],
    [
      ['--root', '.', 'eval', '1'],
      'The command eval must be the first word: live-lisp eval ... with its options after it.',
    ],
    [['--bogus'], 'Unknown flag --bogus; see live-lisp --help. Put the options of a command after its name.'],
    [['-x'], 'Unknown flag -x; see live-lisp --help. Put the options of a command after its name.'],
    [['--heap='], 'The flag --heap needs a value: --heap SIZE.'],
    [['--root', ''], 'The flag --root needs a value: --root DIR.'],
    [['--init'], 'The flag --init needs a value: --init FILE.'],
    [['--version=1'], 'The flag --version takes no value.'],
    [['--sandbox=net'], '--sandbox must be auto, on or strict, not net.'],
    [['--no-sandbox', '--sandbox=on'], 'Give --sandbox or --no-sandbox, not both.'],
    [['--libraries=ql'], '--libraries must be auto, none, quicklisp, qlot or ocicl, not ql.'],
    [['--heap', '5'], HEAP('5')],
    [['--heap', '1.5GB'], HEAP('1.5GB')],
    [['--heap', '127MB'], HEAP('127MB')],
    [['--heap', '2000GB'], HEAP('2000GB')],
    [['--eval-timeout', '0'], TIMEOUT('0')],
    [['--eval-timeout', '30s'], TIMEOUT('30s')],
    [['--eval-timeout', '86401'], TIMEOUT('86401')],
    [['--root', '/no/such/folder'], '--root must be an existing directory; /no/such/folder is not one.'],
    [['--read-root', SERVER], `--read-root must be an existing directory; ${SERVER} is not one.`],
    [['--init', PROJECT], `--init must be an existing file; ${PROJECT} is not one.`],
    [['--tool-names', 'kebab'], '--tool-names must be snake or contract, not kebab.'],
    [['--list', 'all'], '--list must be full, lightweight, summary or search, not all.'],
    [['tools', 'extra'], 'The command tools takes no extra; see live-lisp --help.'],
    [
      ['install', '--client', 'vi'],
      '--client must be claude, codex, gemini, opencode, cursor, vscode, zed, emacs, windsurf or claude-desktop, not vi.',
    ],
    [['install', '--scope', 'here'], '--scope must be user or project, not here.'],
    [
      ['install', '--client', 'codex', '--heap', '1GB'],
      "The command install takes no --heap. Add it after live-lisp.js in the client's configuration; a later install keeps it there.",
    ],
    [['--scope', 'user'], 'The flag --scope is for install and uninstall, not for serve.'],
    [
      ['session', '--allow', 'write_file'],
      'The flag --allow is for serve and doctor and tools, not for session.',
    ],
  ])('%j', (args, sentence) => {
    expect(refusal(args)).toEqual(new UsageError(sentence));
  });

  test.each([
    [
      'a flag',
      ['--bogus'],
      'Unknown flag --bogus; see live-lisp --help. Put the options of a command after its name.',
    ],
    ['a client', ['uninstall'], 'The command uninstall needs the client: live-lisp uninstall --client NAME.'],
    ['what is allowed', ['tools', '--allow', 'writefile'], UNKNOWN_TOOL],
  ])('whether it is %s', async (_, args, sentence) => {
    expect(await run(args)).toEqual({ code: 2, stdout: '', stderr: `live-lisp: ${sentence}\n` });
  });
});
