// Removes old records, and all records of a workspace when the user asks for this.

import { appendFileSync, existsSync, linkSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, parse } from 'node:path';
import { readRegular } from '../files/regular.ts';
import { membersOf } from '../json.ts';
import { namesInFolder } from '../leftovers.ts';
import { workspaceDigest } from './folder.ts';
import { endedServers } from './journal-files.ts';

/** The paths of all records: the file of the audit log, and the folders of the histories, the journals and the flame
 * graphs. */
interface RecordPlaces {
  audit: string;
  histories: string;
  journals: string;
  profiles: string;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Removes the records in PLACES that are older than DAYS days. In each file, the oldest record must come first. Never
 * throws, because the next start of a server tries again. */
export function expireRecords(places: RecordPlaces, days: number): void {
  const before = Date.now() - days * DAY_MS;
  const oldest = new Date(before).toISOString();
  const isRecent = (line: string) => timeOf(line) >= oldest;
  for (const file of [...auditFiles(places.audit), ...filesIn(places.histories)]) {
    attempt(() => {
      if (isOlder(file, before)) rmSync(file, { force: true });
      else if (!isRecent(firstLine(file))) keepLines(file, isRecent);
    });
  }
  for (const file of filesIn(places.profiles).filter((each) => isOlder(each, before)))
    attempt(() => rmSync(file, { force: true }));
  // The name of a journal begins with the start time of its server.
  const stamp = oldest.replace(/\D/g, '');
  for (const folder of journalFolders(places.journals)) {
    for (const name of endedServers(folder).filter((each) => each < stamp)) {
      const journal = join(folder, name);
      const expired = namesInFolder(journal).every((each) => isOlder(join(journal, each), before));
      if (expired) attempt(() => rmSync(journal, { recursive: true, force: true }));
    }
  }
}

/** Removes the records in PLACES that belong to the workspace ROOT. Returns a phrase for each kind of records that were
 * removed. Throws when records cannot be removed. */
export function forgetWorkspace(places: RecordPlaces, root: string): string[] {
  const workspace = workspaceDigest(root);
  const isOwn = (file: string) => basename(file).startsWith(`${workspace}.`);
  const histories = filesIn(places.histories).filter(isOwn);
  const journals = journalFolders(places.journals).filter((folder) => basename(folder) === workspace);
  const profiles = filesIn(places.profiles).filter(isOwn);
  for (const path of [...histories, ...journals, ...profiles]) rmSync(path, { recursive: true, force: true });
  const files = auditFiles(places.audit);
  // Only the line for the begin of a call has the root. The line for its end has the same id.
  const ids = new Set(
    files.flatMap((file) =>
      linesOf(file)
        .filter((line) => membersOf(line)['root'] === root)
        .map(idOf),
    ),
  );
  const records = files.reduce((sum, file) => sum + keepLines(file, (line) => !ids.has(idOf(line))), 0);
  return [
    ...(histories.length > 0 ? ['the history of evaluations'] : []),
    ...(journals.length > 0 ? ['the journals for rebuilding images'] : []),
    ...(profiles.length > 0 ? ['the flame graphs of profiles'] : []),
    ...(records > 0 ? [`${ids.size} ${ids.size === 1 ? 'call' : 'calls'} of the audit log`] : []),
  ];
}

/** Removes the lines of FILE for which KEEP returns false, and returns their number. Keeps lines that another server
 * appends at the same time. */
function keepLines(file: string, keep: (line: string) => boolean): number {
  const lines = linesOf(file);
  const kept = lines.filter(keep);
  if (kept.length === lines.length) return 0;
  const [temporary, old] = [`${file}.${process.pid}.tmp`, `${file}.${process.pid}.old`];
  try {
    rmSync(old, { force: true });
    // OLD remains a name of the replaced file, to which another server may have appended lines since it was read.
    // On a file system without hard links, a line that another server appends at this moment is lost.
    attempt(() => linkSync(file, old));
    writeFileSync(temporary, kept.map((line) => `${line}\n`).join(''), { mode: 0o600 });
    renameSync(temporary, file);
    const late = existsSync(old) ? linesOf(old).slice(lines.length) : [];
    if (late.length > 0) appendFileSync(file, late.map((line) => `${line}\n`).join(''));
  } finally {
    rmSync(old, { force: true });
  }
  return lines.length - kept.length;
}

/** Number of octets that are read to get the first line of a file. Most lines are shorter. */
const FIRST_LINE_OCTETS = 16_384;

/** Returns the first line of FILE, which is the oldest; of a very long line, only the beginning, which is no
 * JSON and so counts as old. Servers start often and old lines are rare, so it would be a waste to read the whole
 * file. */
function firstLine(file: string): string {
  const { octets } = readRegular(file, { limit: FIRST_LINE_OCTETS, head: true });
  return octets.toString('utf8').split('\n', 1)[0] ?? '';
}

/** Maximum size, in octets, of a file of records that is read. The files of live-lisp stay below a tenth of this. */
const FILE_LIMIT = 256 * 1024 * 1024;

function linesOf(file: string): string[] {
  return readRegular(file, { limit: FILE_LIMIT })
    .octets.toString('utf8')
    .split('\n')
    .filter((line) => line !== '');
}

function timeOf(line: string): string {
  return String(membersOf(line)['time'] ?? '');
}

function idOf(line: string): string {
  return String(membersOf(line)['id'] ?? '');
}

/** Returns AUDIT, the current file of the audit log, and the older files in its folder, which have reached the size
 * limit. */
function auditFiles(audit: string): string[] {
  const { name, ext } = parse(audit);
  const isAuditFile = (file: string) =>
    file === basename(audit) || (file.startsWith(`${name}.`) && file.endsWith(ext));
  return filesIn(dirname(audit)).filter((file) => isAuditFile(basename(file)));
}

/** Subfolders of the folder of journals: for images in a sandbox, and for images on other machines. */
const KINDS: readonly string[] = ['sandboxed', 'elsewhere'];

/** Returns the folders with the journals of one workspace each. They are in the folder JOURNALS, or in one of its
 * subfolders KINDS. */
function journalFolders(journals: string): string[] {
  const apart = KINDS.flatMap((kind) =>
    namesInFolder(join(journals, kind)).map((name) => join(journals, kind, name)),
  );
  return [journals, ...apart].flatMap((place) =>
    namesInFolder(place)
      .filter((name) => !KINDS.includes(name))
      .map((name) => join(place, name)),
  );
}

function filesIn(folder: string): string[] {
  return namesInFolder(folder)
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
}

/** Returns true when PATH was last changed before the time BEFORE; false when it does not exist. */
function isOlder(path: string, before: number): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && stats.mtimeMs < before;
}

function attempt(step: () => void): void {
  try {
    step();
  } catch {
    // Another server has just removed the file, or this user may not remove it. The next start tries again.
  }
}
