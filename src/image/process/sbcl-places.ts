// Decides where an SBCL is looked for that is not on PATH: a client that is no shell often has a shorter one.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { homeFolder } from '../../paths.ts';

/** A folder that can have sbcl in it, and who puts it there. */
export interface SbclPlace {
  manager: string;
  folder: string;
}

/** Returns the folders where package managers put sbcl for the user whose home is HOME, in the order of the search. */
export function sbclPlaces(home: string = homeFolder() ?? '/'): SbclPlace[] {
  const places: [string, string[]][] = [
    ['an installation by hand', [join('/usr', 'local', 'bin')]],
    ['Homebrew', [join('/opt', 'homebrew', 'bin')]],
    ['Linuxbrew', [join('/home', 'linuxbrew', '.linuxbrew', 'bin'), join(home, '.linuxbrew', 'bin')]],
    ['MacPorts', [join('/opt', 'local', 'bin')]],
    [
      'Nix',
      [
        join(home, '.nix-profile', 'bin'),
        join('/nix', 'var', 'nix', 'profiles', 'default', 'bin'),
        join('/run', 'current-system', 'sw', 'bin'),
      ],
    ],
    ['Guix', [join(home, '.guix-profile', 'bin'), join('/run', 'current-system', 'profile', 'bin')]],
    ['Roswell', roswellFolders(join(home, '.roswell', 'impls'))],
  ];
  return places.flatMap(([manager, folders]) => folders.map((folder) => ({ manager, folder })));
}

/** Returns the folders of the versions of SBCL that Roswell has in IMPLEMENTATIONS, the newest first. They are named
 *  MACHINE/SYSTEM/KIND/VERSION there. */
function roswellFolders(implementations: string): string[] {
  return below(implementations)
    .flatMap(below)
    .flatMap((system) => [join(system, 'sbcl-bin'), join(system, 'sbcl')])
    .flatMap((kind) => below(kind).sort(byVersion).reverse())
    .map((version) => join(version, 'bin'));
}

function byVersion(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true });
}

/** Returns the paths of what is in FOLDER. */
function below(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return [];
  }
}
