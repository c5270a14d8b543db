// Which directories the file tools reach: --root, --read-root, the sources of loaded systems, and where nobody named any.

import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cacheFolder } from '../../src/paths.ts';
import { type Answer, temporaryFolder, warmCache } from '../harness.ts';
import { within } from '../load.ts';
import { gone, imageOf, until } from '../server/processes.ts';
import { ownSession, sharedSession } from '../shared.ts';
import { type FileSession, openWorkspace } from './sessions.ts';

const folder = temporaryFolder();
const base = realpathSync(folder.path);
afterAll(folder.remove);

function put(path: string, text: string): string {
  const file = join(base, path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, text);
  return file;
}

function failed(text: string): Answer {
  return { text, notices: [], isError: true };
}

describe('several roots', () => {
  const [one, two, library] = ['one', 'two', 'library'].map((name) => join(base, name));
  const args = ['--root', `${one}`, '--root', `${two}`, '--read-root', `${library}`, '--allow', 'write_file'];
  beforeAll(() => {
    put('one/a.txt', 'in one\n');
    put('two/b.txt', 'in two\n');
    put('library/c.txt', 'in library\n');
  });

  const session = sharedSession({ args });

  test('are all read and written; relative paths start at the first, where the image is too', async () => {
    expect(await session.text('read_file', { path: 'a.txt' })).toContain('a.txt, line 1 of 1');
    expect(await session.text('read_buffer', { buffer: 'b.txt' })).toContain(`${two}/b.txt, line 1 of 1`);
    expect(await session.text('write_file', { path: `${two}/new/x`, content: 'x' })).toBe(
      `Wrote 1 bytes to ${two}/new/x`,
    );
    expect(await session.eval('*default-pathname-defaults*')).toContain(`${one}/`);
    expect(await session.text('search_in_buffer', { pattern: 'in t' })).toBe(
      `Found 1 match of 'in t' in 1 of 3 files:\n\n  ${two}/b.txt:\n    1:1  in two`,
    );
  });

  test('a read root is read and searched when named, and not written', async () => {
    const path = `${library}/c.txt`;
    expect(await session.text('read_file', { path })).toBe(`${path}, line 1 of 1, 11 bytes\n\nin library`);
    expect(await session.text('search_in_buffer', { pattern: 'lib', buffer: library })).toContain(
      ':\n    1:4  in library',
    );
    expect(await session.call('write_file', { path, content: 'x' })).toEqual(
      failed(
        `Path ${path} is in a read-only directory. Write inside the workspaces ${one}, ${two}; the user can add a root with --root DIR.`,
      ),
    );
    expect(readFileSync(path, 'utf8')).toBe('in library\n');
  });
});

describe('the home directory and the root of the file system', () => {
  const home = join(base, 'home');
  const env = {
    HOME: home,
    XDG_STATE_HOME: join(base, 'state'),
    XDG_CACHE_HOME: dirname(cacheFolder()),
  };
  const WHY = (start: string) =>
    `The server was started in ${start}, which is too broad for a workspace: it is or contains the home directory, or is the root. The user can still name any directory: --root DIR.`;
  beforeAll(() => {
    put('home/notes', 'mine\n');
  });

  test.each([
    ['home', home, 'notes'],
    ['root', '/', 'etc/passwd'],
  ])('the %s: without --root files are refused, and the image works', async (_, cwd, path) => {
    const session = await ownSession({ args: ['--allow', 'write_file'], cwd, env });
    const refused = failed(`Path ${path} is in no workspace. ${WHY(cwd)}`);
    expect(await session.call('read_file', { path })).toEqual(refused);
    expect(await session.call('read_buffer', { buffer: path })).toEqual(refused);
    expect(await session.call('write_file', { path, content: 'x' })).toEqual(refused);
    expect(await session.call('search_in_buffer', { pattern: 'mine' })).toEqual(
      failed(`There is no workspace to search. ${WHY(cwd)}`),
    );
    expect(await session.call('propose_file_edit', { path, original: 'm', modified: 'x' })).toEqual(refused);
    expect(await session.eval('(+ 1 2)')).toBe('3');
  });

  test('the home: named with --root it is one', async () => {
    const session = await ownSession({ args: ['--root', '.'], cwd: home, env });
    expect(await session.text('read_file', { path: 'notes' })).toContain('notes, line');
  });

  test('a read root is read where there is no workspace', async () => {
    const path = put('library2/x', 'text\n');
    const session = await ownSession({ args: ['--read-root', join(base, 'library2')], cwd: home, env });
    expect(await session.text('read_file', { path })).toContain('\n\ntext');
    expect(await session.call('read_file', { path: `${path}y` })).toEqual(
      failed(`There is no file ${path}y. Relative paths start at ${home}.`),
    );
    expect((await session.call('write_file', { path, content: '' })).text).toBe(
      `Path ${path} is in a read-only directory. ${WHY(home)}`,
    );
  });
});

describe('sources of systems', () => {
  const source = put('systems/shelf/src/shelf.lisp', '(defvar *shelf* 1)\n');
  put('systems/shelf/shelf.asd', '(asdf:defsystem "shelf" :pathname "src/" :components ((:file "shelf")))\n');
  const beside = put('systems/other.txt', 'other\n');
  let at: FileSession;
  beforeAll(async () => {
    warmCache(join(base, 'cache'));
    at = await openWorkspace({
      env: {
        CL_SOURCE_REGISTRY: `${base}/systems//:`,
        XDG_CACHE_HOME: join(base, 'cache'),
        HOME: join(base, 'systems'),
      },
      args: ['--allow', 'write_file', '--replay', 'off'],
    });
  });
  afterAll(() => at.close());
  const read = (path: string) => at.answer('read_file', { path });

  test('are refused before the system is loaded, which does not load ASDF', async () => {
    expect(await read(source)).toMatch(/^failed: Path .* is outside the workspace /);
    expect(await at.session.eval('(find-package "ASDF")')).toBe('NIL');
  });

  test('are read once it is, with its definition, and not written; what is beside is not read', async () => {
    expect(await at.answer('load_system', { system: 'shelf' })).toBe('Loaded system shelf');
    expect(await read(source)).toBe(`${source}, line 1 of 1, 19 bytes\n\n(defvar *shelf* 1)`);
    expect(await read(join(base, 'systems/shelf/shelf.asd'))).toContain('(asdf:defsystem "shelf"');
    expect(
      await at.answer('search_in_buffer', { pattern: '*shelf*', buffer: join(base, 'systems/shelf') }),
    ).toMatch(/^Found 1 match /);
    expect(await at.answer('write_file', { path: source, content: '' })).toMatch(
      /^failed: Path .* is in a read-only directory\. Write inside the workspace /,
    );
    expect(await read(beside)).toMatch(/^failed: Path .* is outside /);
  });

  test.each(['/', join(base, 'systems')])('are not everything when a system claims %s', async (path) => {
    const name = `wide-${path.length}`;
    await at.session.eval(
      `(progn (asdf:defsystem "${name}" :pathname "${path}/") (asdf:load-system "${name}"))`,
    );
    const loaded = `(member "${name}" (asdf:already-loaded-systems) :test #'equal)`;
    expect(await at.session.eval(loaded)).not.toBe('NIL');
    expect(await read(beside)).toMatch(/^failed: Path .* is outside /);
  });

  test('are read while evaluations run, and paths are refused in time while the image is frozen', async () => {
    const slow = at.session.call('eval_form', { form: '(loop)', timeout: 1.5 });
    expect(await read(source)).toContain('(defvar *shelf* 1)');
    await slow;
    const image = await imageOf(at.session.pid);
    process.kill(image, 'SIGSTOP');
    expect(await within(6000, () => read(beside))).toMatch(/^failed: Path .* is outside /);
    process.kill(image, 'SIGCONT');
  });

  test('are those of the image that runs: none after it was lost', async () => {
    const image = await imageOf(at.session.pid);
    process.kill(image, 'SIGKILL');
    await gone(image, 60_000);
    await until('the refusal', 60_000, async () => /^failed: Path .* is outside /.test(await read(source)));
  });
});

test('where no image can be started, files are read, and paths outside refused', async () => {
  const session = await ownSession({ args: ['--root', join(base, 'one'), '--sbcl', '/no/sbcl'] });
  expect(await session.text('read_file', { path: 'a.txt' })).toContain('in one');
  expect((await session.call('read_file', { path: '/etc/passwd' })).text).toMatch(
    /^Path \/etc\/passwd is outside /,
  );
});
