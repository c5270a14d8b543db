// Builds the seccomp filter of the sandbox, a BPF program that refuses some system calls. bubblewrap reads the filter
// from an unlinked file that this process keeps open.

import { randomUUID } from 'node:crypto';
import { openSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../../errors.ts';
import { cacheUsable } from '../process/backend.ts';

/** An architecture, and the numbers of its system calls that the filter examines. */
interface Processor {
  /** The architecture's AUDIT_ARCH constant, by which the kernel identifies it. */
  audit: number;
  socket: number;
  socketpair: number;
  /** The numbers of the system calls for the kernel's key rings, which are always refused. */
  keys: readonly number[];
  /** The number of `socketcall`, which combines all socket calls; absent on an architecture that does not have it. */
  socketcall?: number;
  /** The first number of another calling convention (x32). All of its calls are refused. */
  foreign?: number;
}

const PROCESSORS: { readonly [name: string]: readonly Processor[] } = {
  x64: [
    { audit: 0xc000003e, socket: 41, socketpair: 53, keys: [248, 249, 250], foreign: 0x40000000 },
    { audit: 0x40000003, socket: 359, socketpair: 360, keys: [286, 287, 288], socketcall: 102 },
  ],
  arm64: [
    { audit: 0xc00000b7, socket: 198, socketpair: 199, keys: [217, 218, 219] },
    { audit: 0x40000028, socket: 281, socketpair: 288, keys: [309, 310, 311], socketcall: 102 },
  ],
};

/** The number of the system call io_uring_setup, which is the same on all processors. With io_uring, code could create
 * sockets without the socket call that is filtered. */
const IO_URING_SETUP = 425;

/** The address families that are allowed: INET, NETLINK (which lists network addresses) and INET6. */
const FAMILIES = [2, 16, 10] as const;
/** The socket types that are allowed for a pair of sockets: STREAM and SEQPACKET. Such sockets cannot be connected to
 * other sockets. */
const PAIRED = [1, 5] as const;
/** Masks the argument for the type of a socket, to remove its flags. */
const KIND_MASK = 0xf;

const ALLOW = 0x7fff0000;
const refuseWith = (errno: number) => 0x00050000 | errno;
const NOT_PERMITTED = refuseWith(1);
const NOT_IMPLEMENTED = refuseWith(38);
const NO_FAMILY = refuseWith(97);

/** Offsets, in octets, in the kernel's record of a system call: its number, the architecture, the first and the second
 * argument. */
const NUMBER_OFFSET = 0;
const ARCHITECTURE_OFFSET = 4;
const FIRST_OFFSET = 16;
const SECOND_OFFSET = 24;

/** A BPF instruction: opcode, number of instructions to skip when its test is true, number to skip when it is false,
 * operand. */
type Instruction = readonly [code: number, whenTrue: number, whenFalse: number, operand: number];

const load = (place: number): Instruction => [0x20, 0, 0, place];
const mask = (bits: number): Instruction => [0x54, 0, 0, bits];
const answer = (what: number): Instruction => [0x06, 0, 0, what];

/** Returns instructions that execute WHAT if the loaded number is VALUE, and otherwise skip it. */
function when(value: number, ...what: Instruction[]): Instruction[] {
  return [[0x15, 0, what.length, value], ...what];
}

/** Returns instructions of a seccomp filter. They allow a system call if the word at the offset PLACE in the kernel's
 * record of the call is one of VALUES. If BITS is given, only these bits of the word count. Otherwise they answer with
 * REFUSAL. */
function onlyWhen(place: number, values: readonly number[], refusal: number, bits?: number): Instruction[] {
  const tests = values.flatMap((value) => when(value, answer(ALLOW)));
  return [load(place), ...(bits === undefined ? [] : [mask(bits)]), ...tests, answer(refusal)];
}

function rulesOf({ socket, socketpair, keys, socketcall, foreign }: Processor): Instruction[] {
  return [
    load(NUMBER_OFFSET),
    ...(foreign === undefined ? [] : ([[0x35, 0, 1, foreign], answer(NOT_IMPLEMENTED)] as const)),
    ...when(socket, ...onlyWhen(FIRST_OFFSET, FAMILIES, NO_FAMILY)),
    ...when(socketpair, ...onlyWhen(SECOND_OFFSET, PAIRED, NO_FAMILY, KIND_MASK)),
    ...when(IO_URING_SETUP, answer(NOT_IMPLEMENTED)),
    ...keys.flatMap((key) => when(key, answer(NOT_PERMITTED))),
    ...(socketcall === undefined ? [] : when(socketcall, answer(NOT_IMPLEMENTED))),
    answer(ALLOW),
  ];
}

/** Returns the filter for this processor in the format of bubblewrap; undefined for an unknown processor. It refuses
 * Unix sockets. Programs outside the sandbox have sockets in the folders for temporary files, and a read-only mount
 * does not prevent connections to them. */
export function systemCallFilter(): Buffer | undefined {
  const kinds = PROCESSORS[process.arch];
  if (kinds === undefined) return undefined;
  const program = [
    load(ARCHITECTURE_OFFSET),
    ...kinds.flatMap((kind) => when(kind.audit, ...rulesOf(kind))),
    answer(NOT_IMPLEMENTED),
  ];
  const octets = Buffer.alloc(8 * program.length);
  for (const [index, [code, whenTrue, whenFalse, operand]] of program.entries()) {
    octets.writeUInt16LE(code, 8 * index);
    octets.writeUInt8(whenTrue, 8 * index + 2);
    octets.writeUInt8(whenFalse, 8 * index + 3);
    octets.writeUInt32LE(operand >>> 0, 8 * index + 4);
  }
  return octets;
}

let descriptor: number | undefined;

/** Returns a path in /proc by which child processes can open the file with the filter. This process keeps the file
 * open. The first call creates it: in CACHE_FOLDER if possible, else in /dev/shm. Sandboxed code can write in neither.
 * Throws a SetupError when the file cannot be created. */
export function filterFile(cacheFolder: string): string {
  descriptor ??= makeFile(cacheUsable(cacheFolder) ? cacheFolder : '/dev/shm');
  return `/proc/${process.pid}/fd/${descriptor}`;
}

function makeFile(folder: string): number {
  const path = join(folder, `filter-${randomUUID()}`);
  try {
    const file = openSync(path, 'wx+', 0o600);
    unlinkSync(path);
    writeSync(file, systemCallFilter() ?? Buffer.alloc(0));
    return file;
  } catch (error) {
    throw new SetupError(
      `The sandbox cannot be set up: no file can be created in ${folder} (${String(error)}). Set XDG_CACHE_HOME to a folder that you own.`,
    );
  }
}
