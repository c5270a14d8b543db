// Writes a report that a person can paste into an issue when an image does not work.

import { arch, release, type } from 'node:os';
import type { SbclFacts } from '../image/process/sbcl-versions.ts';
import type { Lacking } from '../image/wire/messages.ts';
import { homeFolder } from '../paths.ts';
import type { Result } from './trial.ts';

/** The facts when an image does not work. */
export interface Trouble {
  /** The version of live-lisp, and the page where issues are filed. */
  version: string;
  issues: string;
  facts: SbclFacts;
  failure: Result;
  /** What is known of the cause, as a sentence. */
  cause: string;
  lacking: Lacking | undefined;
}

/** Returns the report of TROUBLE. It contains no path of the user's home. */
export function reportText({ version, issues, facts, failure, cause, lacking }: Trouble): string {
  const missing = lacking?.fallbacks.map(
    ({ ability, missing }) => `${ability} (${missing.join(', ') || 'as a whole'})`,
  );
  const lines = [
    `live-lisp ${version}, Node ${process.versions.node}, ${type()} ${release()} ${arch()}`,
    `SBCL ${facts.version}: ${facts.features.join(' ')}`,
    `Missing in this SBCL: ${missing === undefined ? 'not known' : missing.join('; ') || 'nothing'}`,
    `Fails: ${failure.name}. ${cause}`,
    failure.failure,
  ];
  return `Report, for ${issues}:\n\n${withoutHome(lines.join('\n'))}`;
}

/** Returns TEXT with ~ in place of the user's home. */
function withoutHome(text: string): string {
  const home = homeFolder();
  return home === undefined || home === '/' ? text : text.replaceAll(home, '~');
}
