import { appendFileSync } from 'node:fs';
import { test } from 'vitest';
import { Arena } from './arena.ts';
import { GROUPS } from './cases/index.ts';

test('explore', async () => {
  const which = process.env['GROUP'];
  const only = process.env['CASE'];
  const out = process.env['OUT'] ?? '/tmp/h_explore.txt';
  let arena = await Arena.start();
  for (const group of GROUPS) {
    if (which && !new RegExp(which).test(group.title)) continue;
    for (const trial of group.cases) {
      if (only && !new RegExp(only).test(trial.name)) continue;
      const began = performance.now();
      try {
        const row = await Promise.race([
          arena.face(trial),
          new Promise<never>((_, reject) => setTimeout(() => reject(new Error('HUNG 45 s')), 45_000)),
        ]);
        appendFileSync(
          out,
          `${row.breaches.length ? 'BAD' : 'ok '} ${row.name} | ${Math.round(row.answerMs)} next ${Math.round(row.nextMs)} beside ${Math.round(row.besideMs)} total ${Math.round(performance.now() - began)} | ${row.replaced ? 'REPLACED' : 'kept'} ${row.grownKb} kB | ${row.outcome}\n${row.breaches.map((b) => `      - ${b}\n`).join('')}`,
        );
      } catch (error) {
        appendFileSync(
          out,
          `BAD ${trial.name} | THREW ${String(error)} after ${Math.round(performance.now() - began)}\n`,
        );
        arena.close().catch(() => {});
        arena = await Arena.start();
      }
    }
  }
  await arena.close();
}, 3_600_000);
