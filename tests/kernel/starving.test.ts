// For how long a process was denied the CPU.

import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { cpuDenialMeter, deniedWithin } from '../../src/image/process/starving.ts';
import { until } from '../server/processes.ts';

const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

function start(...command: [string, ...string[]]): number | undefined {
  const child = spawn(command[0], command.slice(1), { stdio: 'ignore' });
  started.push(child);
  return child.pid;
}

test.each([
  ['waits and does not run', 1000, { ran: 0, waited: 1000 }, 1000],
  ['waits more than it runs', 1000, { ran: 400, waited: 600 }, 600],
  ['has threads that wait, and some that run', 1000, { ran: 1800, waited: 5000 }, 0],
  ['sleeps', 1000, { ran: 1, waited: 100 }, 0],
])('a process that %s', (_, ms, spent, denied) => {
  expect(deniedWithin(ms, spent)).toBe(denied);
});

test('a process that sleeps, has ended or cannot be seen was denied nothing', async () => {
  const sleeps = start('sleep', '100') ?? 0;
  // It waits for a CPU until it sleeps.
  await until('its sleep', 60_000, () =>
    /^\d+ \(sleep\) S/.test(readFileSync(`/proc/${sleeps}/stat`, 'latin1')),
  );
  for (const pid of [sleeps, 2 ** 30, undefined]) {
    const denied = cpuDenialMeter(pid);
    expect(denied()).toBe(0);
    await sleep(200);
    expect(denied()).toBe(0);
  }
});

test('one that others leave no CPU was denied it', async () => {
  const loop = ['sh', '-c', 'while :; do :; done'] as const;
  const pid = start('taskset', '-c', '0', ...loop) ?? 0;
  // The same group of the scheduler as ours, so that the priorities count between them.
  for (let others = 0; others < 4; others++) start('taskset', '-c', '0', ...loop);
  setPriority(pid, 19);
  const denied = cpuDenialMeter(pid);
  denied();
  await sleep(1000);
  expect(denied()).toBeGreaterThan(500);
});
