// Numbers the objects that a model sees, so that a server of several images can find the image of an id.

/** The numbers of one image among `count` images: `index` + 1, `index` + 1 + `count`, and so on. `index`
 *  begins at 0. */
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
