// Renders notes on the reasons why a list of users of a name may be incomplete.

import type { UnreadFile } from '../../image/wire/operations.ts';
import type { Places } from '../places.ts';

const FILE_LIMIT = 3;

/** Returns notes on the reasons why a list may be incomplete. WHAT is a plural noun, such as 'callers'. */
export function unknownNotes(
  { interpreted, unheard, unread = [] }: { interpreted?: boolean; unheard?: boolean; unread?: UnreadFile[] },
  what: string,
  places: Places,
): string[] {
  const files = unread
    .slice(0, FILE_LIMIT)
    .map(
      ({ file, why }) =>
        `Note: the top-level forms of ${places.fileName(file)} are not all known (${why}); search_in_buffer finds names in it.`,
    );
  const more = unread.length - files.length;
  return [
    interpreted && `Note: ${what} in code that an interpreter ran in this image are not known.`,
    unheard && `Note: ${what} in initial values and top-level forms are not known here.`,
    ...files,
    more > 0 && `Note: nor are those of ${more} more ${more === 1 ? 'file' : 'files'}.`,
  ].filter((note) => typeof note === 'string');
}
