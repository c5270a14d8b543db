// Writes a report on an image that does not work, for the user to paste into an issue.

import { arch, release, type } from 'node:os';
import type { SbclFacts } from '../image/process/sbcl-versions.ts';
import type { Lacking } from '../image/wire/messages.ts';
import { homeFolder } from '../paths.ts';
import type { StepResult } from './trial.ts';

interface Trouble {
  version: string;
  issues: string;
  facts: SbclFacts;
  failure: StepResult;
  cause: string;
  lacking: Lacking | undefined;
}

/** Returns the report, without the path of the user's home. */
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

function withoutHome(text: string): string {
  const home = homeFolder();
  return home === undefined || home === '/' ? text : text.replaceAll(home, '~');
}
