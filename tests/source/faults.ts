// Parentheses that are removed from libraries, or added to them, and how often the line is named in which that was.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { imbalanceOf } from '../../src/source/balance.ts';
import { nextToken } from '../../src/source/lexer.ts';
import { SOURCES } from '../libraries.ts';
import { fractionsFrom } from '../random.ts';

/** Returns the names of all libraries of this machine. */
export function installedLibraries(): string[] {
  return readdirSync(SOURCES).sort();
}

/** Returns the texts of the Lisp files of the library NAME that can be read. */
export function sourcesOf(name: string): string[] {
  return readdirSync(join(SOURCES, name), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.lisp'))
    .map((file) => readFileSync(join(SOURCES, name, file), 'utf8'))
    .filter((text) => imbalanceOf(text) === undefined);
}

/** What was done to parentheses, how often, and how often the line was right. */
export interface Named {
  fault: string;
  count: number;
  right: number;
}

/** Returns how often the line is named of COUNT faults in TEXTS that SEED chooses. */
export function linesNamed(texts: readonly string[], count: number, seed: number): Named[] {
  const next = fractionsFrom(seed);
  const choose = <Item>(items: readonly Item[]) => items[Math.floor(next() * items.length)] as Item;
  const all = new Map<string, Named>();
  for (let done = 0; done < count; done++) {
    const sign = choose(['(', ')']);
    const removes = next() < 0.5;
    const fault = `${sign} ${removes ? 'removed' : 'added'}`;
    const { text, line } = withFault(choose(texts), sign, removes, choose);
    const named = all.get(fault) ?? { fault, count: 0, right: 0 };
    const right = imbalanceOf(text)?.line === line ? 1 : 0;
    all.set(fault, { fault, count: named.count + 1, right: named.right + right });
  }
  return [...all.values()].sort((one, other) => (one.fault < other.fault ? -1 : 1));
}

/** Returns TEXT with a parenthesis, SIGN, removed or added at a token that CHOOSE picks, and the line of that. */
function withFault(
  text: string,
  sign: string,
  removes: boolean,
  choose: <Item>(items: readonly Item[]) => Item,
) {
  const places: number[] = [];
  for (let at = 0; ; ) {
    const { kind, start, end } = nextToken(text, at);
    if (kind === 'end') break;
    if (!removes || kind === sign) places.push(sign === '(' ? start : end);
    at = end;
  }
  const at = choose(places);
  const from = removes && sign === ')' ? at - 1 : at;
  return {
    text: text.slice(0, from) + (removes ? '' : sign) + text.slice(removes ? from + 1 : from),
    line: text.slice(0, from).split('\n').length,
  };
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
