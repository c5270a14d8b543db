// Decides how times and sizes that were measured read.

const THOUSAND = 1000;

/** Returns NUMBER with two digits that count, or as a whole number when it has more before the point. */
function short(number: number): string {
  return number >= 100 ? String(Math.round(number)) : String(Number(number.toPrecision(2)));
}

/** Returns MILLISECONDS in the unit that is near. */
export function timeText(milliseconds: number): string {
  if (milliseconds >= THOUSAND) return `${short(milliseconds / THOUSAND)} s`;
  if (milliseconds >= 1) return `${short(milliseconds)} ms`;
  const micro = milliseconds * THOUSAND;
  return micro >= 1 ? `${short(micro)} µs` : `${short(micro * THOUSAND)} ns`;
}

/** Returns OCTETS in the unit that is near. */
export function sizeText(octets: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  const index = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, octets)) / 3));
  return `${short(octets / THOUSAND ** index)} ${units[index]}`;
}

/** Returns COUNT with its digits in groups, and NOUN in the number that fits. */
export function countText(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}
