// What depends on the machine, as pure functions: ASDF's registry, the hint how to install, the managers.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { sourceRegistry } from '../../src/image/process/backend.ts';
import { libraryManagers } from '../../src/image/process/libraries.ts';
import { findSbcl, installHint, managerOf } from '../../src/image/process/sbcl.ts';
import { sbclPlaces } from '../../src/image/process/sbcl-places.ts';
import { cacheFolder } from '../../src/paths.ts';
import { temporaryFolder } from '../harness.ts';

const folder = temporaryFolder();
afterAll(folder.remove);

function write(path: string, mode = 0o644): string {
  const file = join(folder.path, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '', { mode });
  return file;
}

describe('sourceRegistry', () => {
  test.each([
    ['/here', ['/here'], undefined, '/here//:'],
    ['/here', [], undefined, '/here/:'],
    ['/', [], undefined, '/:'],
    ['/here', ['/here'], '/lisp//', '/here//:/lisp//'],
    ['/a:b', ['/a:b'], undefined, '(:source-registry (:tree "/a:b/") :inherit-configuration)'],
    [
      '/a:b',
      ['/a:b'],
      '/lisp//',
      '(:source-registry (:tree "/a:b/") (:tree "/lisp/") :ignore-inherited-configuration)',
    ],
    ['/a"b', ['/a"b'], undefined, '(:source-registry (:tree "/a\\"b/") :inherit-configuration)'],
    [
      '/here',
      ['/here'],
      '(:source-registry (:tree "/lisp/") :ignore-inherited-configuration)',
      '(:source-registry (:tree "/here/") (:tree "/lisp/") :ignore-inherited-configuration)',
    ],
    [
      '/here',
      [],
      ' ( :SOURCE-REGISTRY\n :inherit-configuration)',
      '(:source-registry (:directory "/here/")\n :inherit-configuration)',
    ],
    ['/here', ['/here', '/there'], '/lisp//', '/here//:/there//:/lisp//'],
  ])('of %j and the trees %j before %j', (root, trees, existing, registry) => {
    expect(sourceRegistry({ root, trees }, existing)).toBe(registry);
  });

  test('takes a root as it is, also with dollars', () => {
    expect(sourceRegistry({ root: '/', trees: ['/a$&b'] }, '(:source-registry :inherit-configuration)')).toBe(
      '(:source-registry (:tree "/a$&b/") :inherit-configuration)',
    );
  });
});

describe('installHint', () => {
  const command = (text: string) => `Ask the user to install it (${text}) or to name one with --sbcl PATH.`;

  test.each([
    [
      'Debian',
      'PRETTY_NAME="Debian GNU/Linux 12"\nVERSION_ID="12"\nID=debian\n',
      'sudo apt-get install sbcl',
    ],
    ['Mint', 'ID=linuxmint\nID_LIKE="ubuntu debian"\n', 'sudo apt-get install sbcl'],
    ['Fedora', 'NAME="Fedora Linux"\nID=fedora\n', 'sudo dnf install sbcl'],
    ['Arch', 'ID=arch\n', 'sudo pacman -S sbcl'],
    ['openSUSE', 'ID="opensuse-tumbleweed"\nID_LIKE="opensuse suse"\n', 'sudo zypper install sbcl'],
    ['Alpine', 'ID=alpine\n', 'sudo apk add sbcl'],
    ['NixOS', 'ID=nixos\n', 'nix-env -iA nixos.sbcl'],
  ])('on %s names its command', (_, release, text) => {
    expect(installHint('linux', release)).toBe(command(text));
  });

  test('on macOS names brew', () => {
    expect(installHint('darwin', '')).toBe('Ask the user to install it: brew install sbcl.');
  });

  test.each(['', 'PRETTY_NAME="not Debian"\nHOME_URL="https://debian.org"\n'])(
    'elsewhere (%j) names where to get it',
    (release) => {
      expect(installHint('linux', release)).toBe(
        'Ask the user to install it (https://www.sbcl.org/platform-table.html) or to name one with --sbcl PATH.',
      );
    },
  );
});

test.each([
  [[], 4096],
  [['--heap', '1GB'], 1024],
])('the flags %j mean a heap of %d MB', (args, megabytes) => {
  expect(readConfig(args, {}).heapMb).toBe(megabytes);
});

describe('findSbcl', () => {
  /** Returns the sbcl that a server with ARGS starts in ENVIRONMENT, where those in FOLDERS are on PATH. */
  const found = (args: string[], folders: string[], environment: NodeJS.ProcessEnv = {}) =>
    findSbcl(readConfig(args, environment).sbcl, folders.map((name) => join(folder.path, name)).join(':'));

  test('takes the one of --sbcl, else that of LIVE_LISP_SBCL, else the first on PATH', () => {
    const [flag, variable, first] = ['flag', 'variable', 'first/sbcl'].map((name) => write(name, 0o755));
    expect(found(['--sbcl', flag ?? ''], ['first'], { LIVE_LISP_SBCL: variable })).toBe(flag);
    expect(found([], ['first'], { LIVE_LISP_SBCL: variable })).toBe(variable);
    expect(found([], ['first'], { LIVE_LISP_SBCL: '' })).toBe(first);
  });

  test('takes one that is named without a folder from PATH', () => {
    const named = write('second/sbcl-named', 0o755);
    expect(found(['--sbcl', 'sbcl-named'], ['first', 'second'])).toBe(named);
  });

  test('takes the first on PATH that can be run', () => {
    write('one/sbcl');
    mkdirSync(join(folder.path, 'two/sbcl'), { recursive: true });
    const third = write('three/sbcl', 0o755);
    write('four/sbcl', 0o755);
    const path = ['one', 'two', '', 'three', 'four'].map((name) => name && join(folder.path, name)).join(':');
    expect(findSbcl(undefined, path)).toBe(third);
    const fromHere = relative(process.cwd(), join(folder.path, 'three'));
    expect(() => findSbcl(undefined, fromHere, () => [])).toThrow(installHint());
  });

  test('says how to install one when there is none, and what is wrong with a wish', () => {
    expect(() => findSbcl(undefined, '/nowhere', () => [])).toThrow(installHint());
    for (const wanted of ['/nowhere/sbcl', 'mysbcl', folder.path])
      expect(() => findSbcl(wanted, '/nowhere')).toThrow(
        `There is no executable SBCL at ${wanted}. Correct --sbcl or LIVE_LISP_SBCL, or leave both out to use the sbcl on PATH.`,
      );
  });
});

describe('an sbcl that is not on PATH', () => {
  const home = join(folder.path, 'home');

  test.each([
    ['Nix', '.nix-profile/bin'],
    ['Roswell', '.roswell/impls/x86-64/linux/sbcl-bin/2.4.0/bin'],
    ['Roswell', '.roswell/impls/x86-64/linux/sbcl/2.4.0/bin'],
  ])('is found where %s puts it, %s, and it is known who did', (manager, place) => {
    const sbcl = write(`home/${place}/sbcl`, 0o755);
    const places = () => sbclPlaces(home).filter(({ folder: each }) => each.startsWith(home));
    expect(findSbcl(undefined, '/nowhere', places)).toBe(sbcl);
    expect(managerOf(sbcl, '/nowhere', places())).toBe(manager);
    expect(managerOf(sbcl, join(home, place), places())).toBe(undefined);
    const onPath = write('path/sbcl', 0o755);
    expect(findSbcl(undefined, join(folder.path, 'path'), places)).toBe(onPath);
    rmSync(home, { recursive: true });
  });

  test('is looked for in all places that are the same for every user', () => {
    const places = sbclPlaces('/none').map(({ folder: each }) => each);
    expect(places.filter((each) => !each.startsWith('/none'))).toEqual([
      '/usr/local/bin',
      '/opt/homebrew/bin',
      join('/home', 'linuxbrew/.linuxbrew/bin'),
      '/opt/local/bin',
      '/nix/var/nix/profiles/default/bin',
      '/run/current-system/sw/bin',
      '/run/current-system/profile/bin',
    ]);
  });

  test('of the versions that Roswell has, the newest is taken', () => {
    for (const version of ['2.4.9', '2.4.10', '2.3.11']) {
      mkdirSync(join(home, '.roswell/impls/x86-64/linux/sbcl-bin', version), { recursive: true });
    }
    const roswell = sbclPlaces(home).filter(({ manager }) => manager === 'Roswell');
    expect(roswell.map(({ folder: each }) => each.split('/').at(-2))).toEqual(['2.4.10', '2.4.9', '2.3.11']);
  });
});

describe('cacheFolder', () => {
  test('is in XDG_CACHE_HOME when that is an absolute path', () => {
    expect(cacheFolder({ XDG_CACHE_HOME: '/cache' })).toBe('/cache/live-lisp');
  });

  test.each([{}, { XDG_CACHE_HOME: '' }, { XDG_CACHE_HOME: 'relative' }])(
    'else, as in %j, in ~/.cache',
    (environment) => {
      expect(cacheFolder(environment)).toMatch(/^\/.*\/\.cache\/live-lisp$/);
    },
  );
});

describe('libraryManagers', () => {
  test('names those that are set up, the workspace’s first', () => {
    const [root, home, data] = ['root', 'home', 'data'].map((name) => join(folder.path, name));
    if (root === undefined || home === undefined || data === undefined) throw new Error('No folders.');
    const found = () => libraryManagers(root, { HOME: home, XDG_DATA_HOME: data });
    expect(found()).toEqual([]);
    const ocicl = { name: 'ocicl', file: write('data/ocicl/ocicl-runtime.lisp') };
    expect(found()).toEqual([ocicl]);
    const hidden = { name: 'Quicklisp', file: write('home/.quicklisp/setup.lisp') };
    expect(found()).toEqual([hidden, ocicl]);
    const quicklisp = { name: 'Quicklisp', file: write('home/quicklisp/setup.lisp') };
    const qlot = { name: 'qlot', file: write('root/.qlot/setup.lisp') };
    expect(found()).toEqual([qlot, quicklisp, hidden, ocicl]);
  });
});
