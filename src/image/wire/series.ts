// Numbers what an image shows to a model, so that a server of several images knows which image has an id.

/** The numbers of one image among COUNT: INDEX + 1, INDEX + 1 + COUNT, and so on. INDEX begins at 0. */
export interface Series {
  count: number;
  index: number;
}

/** The series of the only image of a server. */
export const ALL_NUMBERS: Series = { count: 1, index: 0 };

/** Returns the number at POSITION, which begins at 1, in a series. */
export function numberAt({ count, index }: Series, position: number): number {
  return (position - 1) * count + index + 1;
}

/** Returns the index of the image, among COUNT, whose series has NUMBER. */
export function indexOfSeries(number: number, count: number): number {
  return (number - 1) % count;
}
