// Names the objects that runs of tests depend on.

import type { Workspace } from '../../files/workspace.ts';
import type { Image } from '../../image/image.ts';
import type { CallOptions } from '../../image/wire/call.ts';
import type { TestRun } from '../../records/observations.ts';
import type { HeldToolCalls } from '../debug/hold.ts';
import type { Places } from '../places.ts';
import type { ShownWarnings } from '../shown-warnings.ts';
import type { TestMemory } from './memory.ts';
import type { ReachedDefinitions } from './reached.ts';

/** The objects that a test run works with. */
export interface TestDependencies {
  image: Image;
  places: Places;
  workspace: Workspace;
  holds: HeldToolCalls;
  memory: TestMemory;
  shownWarnings: ShownWarnings;
  reached: ReachedDefinitions;
  /** Keeps a run for the page. Absent: the run is in a fresh image. */
  keepRun?: ((run: TestRun) => void) | undefined;
  /** The limit of each load before the tests. Absent: none. */
  loadLimit?: Pick<CallOptions, 'limitMs'>;
}
