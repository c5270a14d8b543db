// Decides what the package says of other people's code in its bundles: each licence, word for word.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const PROJECT = join(import.meta.dirname, '..');

/**
 * Returns the folders of the packages whose code is in the bundles that METAFILES of esbuild describe, relative to the
 * project and sorted.
 * @param {readonly import('esbuild').Metafile[]} metafiles
 */
function bundledPackages(metafiles) {
  const files = metafiles.flatMap(({ outputs }) =>
    Object.values(outputs).flatMap(({ inputs }) =>
      Object.entries(inputs)
        .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
        .map(([path]) => path),
    ),
  );
  const folders = files.filter((path) => path.includes('node_modules/')).map(packageFolder);
  return [...new Set(folders)].sort();
}

/**
 * Returns the folder of the package that has the file at PATH: the nearest one whose package.json has a version.
 * @param {string} path
 * @returns {string}
 */
function packageFolder(path) {
  const folder = dirname(path);
  const manifest = join(PROJECT, folder, 'package.json');
  return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version !== undefined
    ? folder
    : packageFolder(folder);
}

/**
 * Returns the notice of the package in FOLDER. Throws when it has no file with its licence.
 * @param {string} folder
 */
function notice(folder) {
  const place = join(PROJECT, folder);
  const { name, version, license } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
  const file = readdirSync(place).find((each) => /^(?:licen[cs]e|copying)(?:\.|$)/i.test(each));
  if (file === undefined) throw new Error(`${folder} has no licence file, so its code cannot be bundled.`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(place, file), 'utf8').trim()}\n`;
}

/**
 * Returns the text of THIRD_PARTY_NOTICES.txt for the bundles that METAFILES of esbuild describe.
 * @param {readonly import('esbuild').Metafile[]} metafiles
 */
export function noticesText(metafiles) {
  const head = 'The files of this folder contain code of these packages, under these licences.\n';
  return [head, ...bundledPackages(metafiles).map(notice)].join(`\n${'-'.repeat(80)}\n\n`);
}
