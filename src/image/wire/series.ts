// Gives numbers to objects that a model sees. When a server has several images, the number shows which image the object
// belongs to.

/** The series of numbers for one of `count` images: `index` + 1, `index` + 1 + `count`, and so on. The `index` of the
 * first image is 0. */
export interface Series {
  count: number;
  index: number;
}

/** The series for the only image of a server. */
export const ALL_NUMBERS: Series = { count: 1, index: 0 };

/** Returns the number at POSITION (1-based) in a series. */
export function numberAt({ count, index }: Series, position: number): number {
  return (position - 1) * count + index + 1;
}

/** Returns the `index` of the series that contains NUMBER. COUNT is the number of images of the server. */
export function indexOfSeries(number: number, count: number): number {
  return (number - 1) % count;
}
