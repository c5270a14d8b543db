// Defines the objects through which tools find definitions.

import type { Workspace } from '../../files/workspace.ts';
import type { Image } from '../../image/image.ts';
import type { ReplHistory } from '../../records/repl-history.ts';
import type { Places } from '../places.ts';

/** The objects through which tools find definitions. */
export interface Origins {
  image: Image;
  places: Places;
  workspace: Workspace;
  history: ReplHistory;
}
