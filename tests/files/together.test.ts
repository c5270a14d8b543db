// Several files that are replaced: all or none, whatever fails and whenever the server is killed.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { build } from 'esbuild';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { messageOf } from '../../src/errors.ts';
import { Intents } from '../../src/files/intents.ts';
import { replaceTogether, rollBackUnfinished } from '../../src/files/together.ts';
import { PROJECT, startSession } from '../harness.ts';
import { makeWorkspace, type TestWorkspace, tree } from './workspaces.ts';

const NAMES = ['a.lisp', 'b.lisp', 'sub/c.lisp'];
/** A process that does not run. */
const GONE = 2 ** 22 + 1;

let at: TestWorkspace;
let folder: string;
let intents: Intents;
beforeEach(() => {
  at = makeWorkspace();
  folder = join(at.outside, 'edits');
  intents = new Intents(folder);
  for (const name of NAMES) at.put(name, 'old');
});
afterEach(() => at.remove());

function contents(): string[] {
  return NAMES.map((name) => readFileSync(join(at.root, name), 'utf8'));
}

function replace(confirm: (name: string) => void = () => {}, signal?: AbortSignal): Promise<void> {
  const all = NAMES.map((path) => ({ path, bytes: Buffer.from('new'), confirm: () => confirm(path) }));
  return replaceTogether(at.workspace, intents, all, signal);
}

/** Expects that all files have TEXT and nothing else is left. */
function expectAll(text: string): void {
  expect([contents(), tree(at.root), readdirSync(folder)]).toEqual([
    NAMES.map(() => text),
    ['a.lisp', 'b.lisp', 'sub', 'sub/c.lisp'],
    [],
  ]);
}

test('all are replaced, with their modes', async () => {
  chmodSync(join(at.root, 'b.lisp'), 0o750);
  await replace();
  expectAll('new');
  expect(statSync(join(at.root, 'b.lisp')).mode & 0o777).toBe(0o750);
});

test('none is when one must not be, the call is cancelled, or the note cannot be made', async () => {
  mkdirSync(folder);
  const refuse = (name: string) => {
    if (name === 'sub/c.lisp') throw new Error('Not this.');
  };
  await expect(replace(refuse)).rejects.toThrow('Not this.');
  expectAll('old');
  await expect(replace(undefined, AbortSignal.abort())).rejects.toThrow(
    'The call was cancelled before the file was changed; nothing was written.',
  );
  expectAll('old');
  chmodSync(join(at.root, 'b.lisp'), 0o444);
  await expect(replace()).rejects.toThrow(
    'b.lisp is not writable (mode 444); nothing was written. Ask the user to make it writable.',
  );
  expectAll('old');
  chmodSync(join(at.root, 'b.lisp'), 0o644);
  intents = new Intents(join(at.outside, 'secret.txt', 'edits'));
  await expect(replace()).rejects.toThrow(
    /^live-lisp could not record this change of several files before making it \(ENOTDIR.*\), so nothing was written\. Change the files one at a time\.$/,
  );
  expectAll('old');
});

test('a file that cannot be renamed leaves the others as before, and no note for the next server', async () => {
  let confirmed = 0;
  const intrude = () => {
    if (++confirmed < 2 * NAMES.length) return;
    rmSync(join(at.root, 'b.lisp'));
    mkdirSync(join(at.root, 'b.lisp'));
  };
  await expect(replace(intrude)).rejects.toThrow('b.lisp');
  expect(['a.lisp', 'sub/c.lisp'].map((name) => readFileSync(join(at.root, name), 'utf8'))).toEqual([
    'old',
    'old',
  ]);
  expect(readdirSync(folder)).toEqual([]);
});

test('a file that cannot be put back keeps its old content beside it, and the error tells where', async () => {
  const [a, d] = ['a.lisp', 'd.lisp'].map((name) => join(at.root, name)) as [string, string];
  const paths = ['d.lisp', ...NAMES];
  let [confirmed, watches] = [0, true];
  const confirm = () => {
    if (++confirmed === 2 * paths.length) block(join(at.root, 'sub/c.lisp'));
  };
  const block = (path: string) => {
    rmSync(path);
    mkdirSync(path);
    writeFileSync(join(path, 'in the way'), '');
  };
  // Somebody puts folders where a.lisp and d.lisp were, as soon as they have their new content.
  const watch = () => {
    if (readFileSync(a, 'utf8') === 'new') for (const path of [a, d]) block(path);
    else if (watches) setImmediate(watch);
  };
  watch();
  const all = paths.map((path) => ({ path, bytes: Buffer.from('new'), confirm }));
  const error = await replaceTogether(at.workspace, intents, all).catch(messageOf);
  watches = false;
  const kept = readdirSync(at.root).filter((name) => name.startsWith('a.lisp-'));
  expect(error).toBe(
    `sub/c.lisp cannot be written: it changed while it was opened. Before it, other files were written, and these could not be put back: d.lisp (it did not exist before), a.lisp (its old content is in ${kept[0]}). Put them back before you call again.`,
  );
  expect(kept.map((name) => readFileSync(join(at.root, name), 'utf8'))).toEqual(['old']);
  expect(readFileSync(join(at.root, 'b.lisp'), 'utf8')).toBe('old');
  expect(readdirSync(at.root).filter((name) => name.startsWith('.live-lisp'))).toEqual([]);
  expect(readdirSync(folder)).toEqual([]);
});

/** Makes what a server leaves that was killed when it had renamed DONE of the files. */
function cutOff(done: number): void {
  mkdirSync(folder, { recursive: true });
  const digest = (text: string) => createHash('sha256').update(text).digest('hex');
  const files = NAMES.map((name, index) => {
    const [path, old] = [join(at.root, name), `.live-lisp-000000000000000${index}.old`];
    const fresh = join(path, '..', `.live-lisp-000000000000000${index}.tmp`);
    linkSync(path, join(path, '..', old));
    writeFileSync(fresh, 'new');
    if (index < done) renameSync(fresh, path);
    return { path, old, before: digest('old'), after: digest('new') };
  });
  writeFileSync(join(folder, `${GONE}-0000000000000000.json`), JSON.stringify(files));
}

const CUT_OFF =
  'A change of a.lisp, b.lisp, sub/c.lisp was cut off when the server was killed, so live-lisp has undone it:';

test('what a kill cut off is taken back by the next server', async () => {
  cutOff(2);
  expect(contents()).toEqual(['new', 'new', 'old']);
  expect(await rollBackUnfinished(at.workspace, intents)).toEqual([
    `${CUT_OFF} a.lisp, b.lisp, sub/c.lisp are as before.`,
  ]);
  expect([contents(), readdirSync(folder)]).toEqual([['old', 'old', 'old'], []]);
  expect(await rollBackUnfinished(at.workspace, intents)).toEqual([]);
});

test('a new file comes with the others, or goes again with what a kill cut off', async () => {
  const one = (path: string) => ({ path, bytes: Buffer.from('new'), confirm: () => {} });
  await replaceTogether(at.workspace, intents, ['a.lisp', 'sub/d.lisp'].map(one));
  expect([...contents(), readFileSync(join(at.root, 'sub/d.lisp'), 'utf8'), ...readdirSync(folder)]).toEqual([
    ...['new', 'old', 'old'],
    'new',
  ]);
  const after = createHash('sha256').update('new').digest('hex');
  const before = createHash('sha256').update('other').digest('hex');
  const files = [
    { path: join(at.root, 'sub/d.lisp'), old: '', before: '', after },
    { path: join(at.root, 'sub/e.lisp'), old: '', before: '', after },
    { path: join(at.root, 'a.lisp'), old: '.live-lisp-0000000000000000.old', before, after: before },
  ];
  writeFileSync(join(folder, `${GONE}-0000000000000000.json`), JSON.stringify(files));
  expect(await rollBackUnfinished(at.workspace, intents)).toEqual([
    'A change of sub/d.lisp, sub/e.lisp, a.lisp was cut off when the server was killed, so live-lisp has undone it: sub/d.lisp, sub/e.lisp are as before. Somebody has changed these files since, so live-lisp has not restored them: a.lisp.',
  ]);
  expect(tree(at.root)).toEqual(['a.lisp', 'b.lisp', 'sub', 'sub/c.lisp']);
});

test('what all files have got stays', async () => {
  cutOff(3);
  expect(await rollBackUnfinished(at.workspace, intents)).toEqual([]);
  expectAll('new');
});

test('that of another workspace, of a server that runs, and half a note are left alone', async () => {
  cutOff(1);
  const other = makeWorkspace();
  expect(await rollBackUnfinished(other.workspace, intents)).toEqual([]);
  other.remove();
  renameSync(
    join(folder, `${GONE}-0000000000000000.json`),
    join(folder, `${process.ppid}-0000000000000000.json`),
  );
  writeFileSync(join(folder, `${GONE}-0000000000000001.json`), '[{"path": "/');
  expect(await rollBackUnfinished(at.workspace, intents)).toEqual([]);
  expect([contents(), readdirSync(folder)]).toEqual([
    ['new', 'old', 'old'],
    [`${process.ppid}-0000000000000000.json`],
  ]);
});

test('the old content that a note names stays for the next server, however old it is', async () => {
  cutOff(1);
  const unnamed = at.put('.live-lisp-00000000000000ff.old', 'x');
  const now = Date.now() + 2 * 3600 * 1000;
  const clock = vi.spyOn(Date, 'now').mockReturnValue(now);
  const one = (path: string) => ({ path, bytes: Buffer.from('new'), confirm: () => {} });
  await replaceTogether(at.workspace, intents, ['d.lisp', 'e.lisp'].map(one));
  await replaceTogether(at.workspace, intents, [one('f.lisp')]);
  clock.mockRestore();
  expect(existsSync(unnamed)).toBe(false);
  expect(await rollBackUnfinished(at.workspace, intents)).toEqual([
    `${CUT_OFF} a.lisp, b.lisp, sub/c.lisp are as before.`,
  ]);
  expect([contents(), readdirSync(folder)]).toEqual([['old', 'old', 'old'], []]);
});

test('a file that cannot be taken back keeps the note, and the answer tells it', async () => {
  mkdirSync(folder);
  const digest = (text: string) => createHash('sha256').update(text).digest('hex');
  const old = '.live-lisp-0000000000000000.old';
  renameSync(join(at.root, 'a.lisp'), join(at.root, old));
  for (const name of ['a.lisp', 'b.lisp']) at.put(name, 'new');
  // Both have the same old file, so it is gone when the second is restored.
  const two = ['a.lisp', 'b.lisp'].map((name) => ({
    path: join(at.root, name),
    old,
    before: digest('old'),
    after: digest('new'),
  }));
  // Without a third file that has its old content, the change would count as complete.
  const third = { path: join(at.root, 'sub/c.lisp'), old: '', before: digest('old'), after: digest('new') };
  const note = `${GONE}-0000000000000000.json`;
  writeFileSync(join(folder, note), JSON.stringify([...two, third]));
  expect(await rollBackUnfinished(at.workspace, intents)).toEqual([
    'A change of a.lisp, b.lisp, sub/c.lisp was cut off when the server was killed, and live-lisp could not undo all of it (b.lisp: it changed while it was opened). The next start of the server tries it again.',
  ]);
  expect(readdirSync(folder)).toEqual([note]);
});

test('the first answer of the next server tells it', async () => {
  folder = join(at.outside, 'live-lisp', 'edits');
  cutOff(2);
  const session = await startSession({ args: ['--root', at.root], env: { XDG_STATE_HOME: at.outside } });
  const { notices } = await session.call('read_file', { path: 'a.lisp' });
  await session.close();
  expect([notices, contents()]).toEqual([
    [`${CUT_OFF} a.lisp, b.lisp, sub/c.lisp are as before.`],
    ['old', 'old', 'old'],
  ]);
});

test('a kill at any moment leaves all or none', async () => {
  const program = join(at.outside, 'replacing.mjs');
  await build({
    stdin: {
      contents: `
        import { Intents } from './src/files/intents.ts';
        import { replaceTogether } from './src/files/together.ts';
        import { Workspace } from './src/files/workspace.ts';
        const [root, folder, ...names] = process.argv.slice(2);
        const workspace = new Workspace({ roots: [root] });
        for (let round = 0; ; round++) {
          const bytes = Buffer.from('round ' + round);
          await replaceTogether(workspace, new Intents(folder), names.map((path) => ({ path, bytes, confirm() {} })));
          if (round === 0) console.log('begun');
        }`,
      resolveDir: PROJECT,
      loader: 'ts',
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: program,
    logLevel: 'silent',
  });
  let taken = 0;
  for (let run = 0; run < 4; run++) {
    const child = spawn(process.execPath, [program, at.root, folder, ...NAMES], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    // The moment is what is tested: any of a few rounds.
    await setTimeout(4 * run);
    child.kill('SIGKILL');
    await once(child, 'close');
    taken += (await rollBackUnfinished(at.workspace, intents)).length;
    expect(new Set(contents()).size).toBe(1);
    expect(readdirSync(folder)).toEqual([]);
  }
  expect(taken).toBeLessThanOrEqual(4);
});
