// Makes the server take this machine for a Mac: `NODE_OPTIONS=--import=…/darwin.mjs`. Programs that came with binaries of
// their own, as Vitest, must not.

import { getHeapStatistics } from 'node:v8';

if (process.argv[1]?.endsWith('live-lisp.js')) {
  Object.defineProperty(process, 'platform', { value: 'darwin' });
  // Node asks the system of a Mac for it, and on Linux reads /proc, which is hidden.
  const rss = () => getHeapStatistics().total_physical_size;
  process.memoryUsage = Object.assign(() => ({ rss: rss() }), { rss });
}
