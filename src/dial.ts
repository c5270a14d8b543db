// Implements the command dial: connects stdin and stdout to an image on this machine that servers can
// attach to. A server on another machine runs `ssh -T host live-lisp dial` to use the image.

import { connect, type Socket } from 'node:net';
import { SetupError } from './errors.ts';
import { listeningImages, servedImages } from './image/attached/serving.ts';
import { type Served, servedName } from './image/wire/served.ts';

/** Copies stdin to the image NAME, and the output of this image to stdout. FOLDER is the folder of the images' sockets.
 * Without NAME, there must be exactly one image. Resolves with the exit code when both have ended. Throws a SetupError
 * when there is no such image, or when there are several. */
export async function dial(folder: string | undefined, name: string | undefined): Promise<number> {
  const image = await imageOf(folder, name);
  const { stdin, stdout } = process;
  const socket = await connected(image);
  const rest = await afterFirstLine();
  const { socket: _, ...entry } = image;
  stdout.write(`LIVE-LISP-DIALS ${JSON.stringify(entry)}\n`);
  if (rest.length > 0) socket.write(rest);
  return new Promise((resolve) => {
    // No process reads the output any more.
    stdout.on('error', () => socket.destroy());
    socket.on('error', () => {});
    socket.on('close', () => {
      stdin.destroy();
      resolve(0);
    });
    stdin.pipe(socket);
    socket.pipe(stdout);
  });
}

/** Returns the data on stdin that follows the first line. The first line is meant for a Lisp that reads forms, but here
 * no Lisp reads it. */
function afterFirstLine(): Promise<Buffer> {
  const { stdin } = process;
  return new Promise((resolve) => {
    const done = (rest: Buffer) => {
      stdin.off('data', take).off('end', end).pause();
      resolve(rest);
    };
    const take = (chunk: Buffer) => {
      const end = chunk.indexOf('\n');
      if (end >= 0) done(chunk.subarray(end + 1));
    };
    const end = () => done(Buffer.alloc(0));
    stdin.on('data', take).on('end', end);
  });
}

function connected(image: Served): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path: image.socket, allowHalfOpen: true });
    socket.once('connect', () => resolve(socket));
    socket.once('error', ({ message }) => {
      reject(new SetupError(`The image ${servedName(image)} cannot be reached: ${message}. Dial again.`));
    });
  });
}

async function imageOf(folder: string | undefined, name: string | undefined): Promise<Served> {
  const { images, refusal } = servedImages(folder);
  const listening = await listeningImages(images);
  const fitting = listening.filter((image) => name === undefined || image.name === name);
  const [only] = fitting;
  if (only !== undefined && fitting.length === 1) return only;
  const names = listening.map((image) => `${servedName(image)} in ${image.workspace}`).join(', ');
  if (refusal !== undefined) throw new SetupError(refusal);
  if (listening.length === 0) {
    throw new SetupError(
      'No image serves on this machine. In the REPL of an image, enter the line that live-lisp attach prints. Then dial again.',
    );
  }
  throw new SetupError(
    name === undefined
      ? `Several images serve on this machine: ${names}. Name one: live-lisp dial NAME.`
      : `No image with the name ${name} serves on this machine. These do: ${names}.`,
  );
}
