// Defines the objects that runs of tests use.

import type { Workspace } from '../../files/workspace.ts';
import type { Image } from '../../image/image.ts';
import type { CallOptions } from '../../image/wire/call.ts';
import type { TestRun } from '../../records/observations.ts';
import type { HeldToolCalls } from '../debug/hold.ts';
import type { Places } from '../places.ts';
import type { ShownWarnings } from '../shown-warnings.ts';
import type { TestMemory } from './memory.ts';
import type { ReachedDefinitions } from './reached.ts';

/** The objects with which a run of tests works. */
export interface TestDependencies {
  image: Image;
  places: Places;
  workspace: Workspace;
  holds: HeldToolCalls;
  memory: TestMemory;
  shownWarnings: ShownWarnings;
  reached: ReachedDefinitions;
  /** Stores a run for the session's page. Absent when the run is in a fresh image. */
  keepRun?: ((run: TestRun) => void) | undefined;
  /** The time limit of each load before the tests; absent when there is none. */
  loadLimit?: Pick<CallOptions, 'limitMs'>;
}
