// Renders times and ages.

/** Returns the Unix time SECONDS as ISO 8601 text. If it has no fraction of a second, the text has none. */
export function unixTimeText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
}

/** Returns an age of SECONDS as text, in seconds, minutes or hours. */
export function ageText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 120) return `${whole} s`;
  return whole < 7200 ? `${Math.round(whole / 60)} min` : `${Math.round(whole / 3600)} h`;
}
