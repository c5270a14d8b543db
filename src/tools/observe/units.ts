// Renders measured times and sizes.

const THOUSAND = 1000;

function short(number: number): string {
  return number >= 100 ? String(Math.round(number)) : String(Number(number.toPrecision(2)));
}

/** Returns MILLISECONDS as text in a suitable unit, from s to ns. */
export function durationText(milliseconds: number): string {
  if (milliseconds >= THOUSAND) return `${short(milliseconds / THOUSAND)} s`;
  if (milliseconds >= 1) return `${short(milliseconds)} ms`;
  const micro = milliseconds * THOUSAND;
  return micro >= 1 ? `${short(micro)} µs` : `${short(micro * THOUSAND)} ns`;
}

/** Returns OCTETS as text in a suitable unit, from bytes to TB. */
export function sizeText(octets: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  const index = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, octets)) / 3));
  return `${short(octets / THOUSAND ** index)} ${units[index]}`;
}

/** Returns COUNT with grouped digits, and NOUN in the singular or plural. */
export function countText(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}

/** Differences of less than this many milliseconds are not mentioned. */
export const MUCH_MS = 50;

/** Returns a sentence with the time of the first run of a form, if later runs took a very different time; else
 * undefined. The first run often takes longer, because it fills caches. FIRST is its time in milliseconds, and
 * MILLISECONDS the time of a later run. The sentence begins with WHICH, a name of the first run. */
export function firstRunText(which: string, first: number | undefined, milliseconds = 0): string | undefined {
  if (first === undefined || Math.abs(first - milliseconds) < MUCH_MS) return undefined;
  if (first <= 2 * milliseconds && milliseconds <= 2 * first) return undefined;
  return `${which}, which is not among them, took ${durationText(first)}.`;
}
