// Loaded into a server that is measured: V8 notes from the beginning where its main thread is. SIGUSR2 has it write what
// it noted since the last time to the file that LIVE_LISP_BENCH_PROFILE names.

import { renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';

const file = process.env.LIVE_LISP_BENCH_PROFILE;
const INTERVAL_US = 100;

if (file !== undefined) {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US });
  session.post('Profiler.start');
  process.on('SIGUSR2', () => {
    session.post('Profiler.stop', (_, { profile }) => {
      writeFileSync(`${file}.part`, JSON.stringify(profile));
      renameSync(`${file}.part`, file);
      session.post('Profiler.start');
    });
  });
}
