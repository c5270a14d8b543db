// Decides which directories count as sources of the systems that are loaded in an image.

import { setTimeout as pause } from 'node:timers/promises';
import type { Image } from './image.ts';

/** Milliseconds that an image has to tell: more than it needs, unless it collects garbage or is frozen. */
const TELL_MS = 2000;

/** Returns the directories of the systems that IMAGE has loaded with ASDF. It has none when it does not run, as this
 *  starts none, and when it does not tell in time. */
export async function systemSources(image: Image): Promise<string[]> {
  if (!image.running) return [];
  const told = image.call('system-sources', {}).then(
    ({ data }) => data.value ?? [],
    () => [],
  );
  return Promise.race([told, pause(TELL_MS, [], { ref: false })]);
}
