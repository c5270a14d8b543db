// Names the sources that definitions are read from.

import type { Workspace } from '../../files/workspace.ts';
import type { Image } from '../../image/image.ts';
import type { ReplHistory } from '../../records/repl-history.ts';
import type { Places } from '../places.ts';

/** The sources that definitions are read from. */
export interface Origins {
  image: Image;
  places: Places;
  workspace: Workspace;
  history: ReplHistory;
}
