// Tells which functions of node:fs are called, and what they return, while they do what they always do.

import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** Has NOTE take the name and the result of each call of a function of node:fs that ends with Sync. What such a call
 *  calls itself is not noted. Returns a function that ends this. */
export function noteFileCalls(note: (name: string, result: unknown) => void): () => void {
  const functions = fs as unknown as Record<string, unknown>;
  const originals = Object.entries(functions).filter(
    (entry): entry is [string, (...args: unknown[]) => unknown] =>
      typeof entry[1] === 'function' && entry[0].endsWith('Sync'),
  );
  let within = false;
  for (const [name, original] of originals) {
    functions[name] = (...args: unknown[]) => {
      if (within) return Reflect.apply(original, fs, args);
      within = true;
      let result: unknown;
      try {
        result = Reflect.apply(original, fs, args);
        return result;
      } finally {
        within = false;
        note(name, result);
      }
    };
  }
  syncBuiltinESMExports();
  return () => {
    Object.assign(functions, Object.fromEntries(originals));
    syncBuiltinESMExports();
  };
}
