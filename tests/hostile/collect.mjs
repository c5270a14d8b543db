// Loaded into the server that is measured. SIGUSR2 has it collect all garbage, and write how many octets are left to
// the file that LIVE_LISP_TEST_HEAP names. Node collects old garbage so seldom that its memory alone shows no trend.

import { renameSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const file = process.env.LIVE_LISP_TEST_HEAP;
if (file !== undefined && process.argv[1]?.endsWith('live-lisp.js')) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  process.on('SIGUSR2', () => {
    collect();
    writeFileSync(`${file}.part`, String(process.memoryUsage().heapUsed));
    renameSync(`${file}.part`, file);
  });
}
