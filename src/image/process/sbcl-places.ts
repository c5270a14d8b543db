// Lists folders in which sbcl can be when it is not on PATH. A client that was not started from a shell often has a
// short PATH.

import { join } from 'node:path';
import { namesInFolder } from '../../leftovers.ts';
import { homeFolder } from '../../paths.ts';

/** A folder that can contain sbcl, and the package manager that installs sbcl there. */
export interface SbclPlace {
  manager: string;
  folder: string;
}

/** Returns the folders in which package managers install sbcl, in the order in which they are searched. HOME is the
 * home folder of the user. */
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

/** Returns the bin folders of the SBCLs that Roswell has installed below the folder IMPLEMENTATIONS. The newest comes
 * first. The folders there have the form MACHINE/SYSTEM/KIND/VERSION. */
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

function below(folder: string): string[] {
  return namesInFolder(folder).map((name) => join(folder, name));
}
