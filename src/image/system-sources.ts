// Asks an image for the source directories of the systems that it has loaded.

import { setTimeout as pause } from 'node:timers/promises';
import type { Image } from './image.ts';

/** Milliseconds in which the image must answer. An image needs longer only when it collects garbage or is frozen. */
const TIMEOUT_MS = 2000;

/** Returns the source directories of the systems that IMAGE has loaded with ASDF. Returns [] when IMAGE does not run,
 * or does not answer in time. Never starts IMAGE. */
export async function systemSources(image: Image): Promise<string[]> {
  if (!image.running) return [];
  const folders = image.call('system-sources', {}).then(
    ({ data }) => data.value ?? [],
    () => [],
  );
  return Promise.race([folders, pause(TIMEOUT_MS, [], { ref: false })]);
}
