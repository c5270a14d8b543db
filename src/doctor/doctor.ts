// Implements the command doctor: runs its checks, and prints a line for each.

import { arch, release, tmpdir, type } from 'node:os';
import type { Config } from '../config.ts';
import { messageOf, SetupError } from '../errors.ts';
import { obstacleToWriting } from '../folders.ts';
import { WITHOUT_EVERYTHING } from '../image/process/backend.ts';
import { askSbcl, findSbcl, managerOf } from '../image/process/sbcl.ts';
import {
  type SbclFacts,
  supportText,
  TESTED_VERSIONS,
  whyUnsupported,
} from '../image/process/sbcl-versions.ts';
import type { Lacking } from '../image/wire/messages.ts';
import { imageOptions } from '../images.ts';
import { type Finding, findingText } from '../install/report.ts';
import { homeFolder } from '../paths.ts';
import { lackingLine } from '../tools/lacking-text.ts';
import { checkFolders, checkLibraries, checkSandbox, checkServing, clientConfigurations } from './set-up.ts';
import { failureOf, type StepResult, type Trial, tryImage } from './trial.ts';

const WHAT_TO_DO = `If the answer above names a next step, follow it. Otherwise, please file the report below as an issue. Until that is fixed, use another SBCL with --sbcl PATH, such as one of ${TESTED_VERSIONS}.`;

interface Surroundings {
  version: string;
  issues: string;
  /** Sentences about folders that the server cannot write, and the folders that it uses instead. */
  remarks: readonly string[];
}

/** Checks the set-up for CONFIG. Prints a line for each check, and instructions for setting up clients. Returns the
 * exit code: 1 when something necessary fails, else 0. */
export async function diagnose(
  config: Config,
  { version, issues, remarks }: Surroundings,
  print: (text: string) => void,
): Promise<number> {
  const sandbox = checkSandbox(config);
  // If the user requires a sandbox and it does not work, SBCL is not started.
  const { finding, facts } = sandbox.ok ? await checkSbcl(config) : {};
  // The trial needs a temporary folder. If there is none, checkFolders reports this.
  const canTry = facts !== undefined && obstacleToWriting(tmpdir()) === undefined;
  const trial = canTry ? await tryImage(config, []) : undefined;
  const findings = [
    { ok: true, text: `node ${process.versions.node}: ${process.execPath}` },
    sandbox,
    ...(finding === undefined ? [] : [finding]),
    ...(trial === undefined ? [] : trialFindings(trial)),
    ...remarks.map((text) => ({ ok: true, text })),
    ...checkFolders(config),
    ...checkLibraries(config),
    await checkServing(config),
  ];
  for (const each of findings) print(findingText(each));
  const failure = trial && failureOf(trial);
  if (facts !== undefined && failure !== undefined) {
    print(
      '\nThe doctor now looks for the part of the backend that is at fault, which can take some minutes.',
    );
    const cause = await causeOf(failure, config);
    print(`${cause}\n${WHAT_TO_DO}\n`);
    print(reportText({ version, issues, facts, failure, cause, lacking: trial?.greeting }));
  }
  print(`\n${clientConfigurations()}`);
  return findings.every(({ ok }) => ok) ? 0 : 1;
}

/** Returns the finding about SBCL, and its facts if it can be used. */
async function checkSbcl(config: Config): Promise<{ finding: Finding; facts?: SbclFacts }> {
  try {
    const { sandbox } = imageOptions(config);
    const sbcl = findSbcl(config.sbcl);
    const manager = config.sbcl === undefined ? managerOf(sbcl) : undefined;
    const place = manager === undefined ? sbcl : `${sbcl} (not on PATH, but where ${manager} puts it)`;
    const facts = await askSbcl(sbcl, sandbox).catch((error: unknown) => {
      throw new SetupError(`${sbcl}: ${messageOf(error)}`);
    });
    const why = whyUnsupported(facts);
    if (why !== undefined) return { finding: { ok: false, text: `sbcl ${place}: ${why}` } };
    const text = `sbcl ${place}: SBCL ${facts.version}, ${supportText(facts.version)}`;
    return { finding: { ok: true, text }, facts };
  } catch (error) {
    return { finding: { ok: false, text: `sbcl: ${messageOf(error)}` } };
  }
}

function trialFindings({ results, greeting }: Trial): Finding[] {
  const findings = results.map(({ name, shows, failure }) =>
    failure === undefined
      ? { ok: true, text: `${name}: ${shows}` }
      : { ok: false, text: `${name} does not work. Expected: ${shows}. The answer was:\n${failure}` },
  );
  const line = greeting && (lackingLine(greeting) ?? 'This SBCL has all that live-lisp uses.');
  return [...findings, ...(line === undefined ? [] : [{ ok: true, text: line }])];
}

/** Returns a sentence about the cause of the failure of a step. To find the cause, starts images without some parts of
 * the backend, the Lisp side of live-lisp. */
async function causeOf({ name, lost }: StepResult, config: Config): Promise<string> {
  // True when a trial does not have the failure. A loss can come in another step, so then no step may lose the image.
  const helps = ({ results }: Trial) =>
    lost
      ? results.every((result) => !result.lost)
      : results.some((result) => result.name === name && result.failure === undefined);
  const plain = await tryImage(config, WITHOUT_EVERYTHING);
  if (!helps(plain)) {
    const machine = lost ? ' The cause may be this machine: its memory, its limits, a damaged SBCL.' : '';
    return `The failure remains when the backend runs without its optional parts.${machine}`;
  }
  // The backend left out all parts that it can leave out, and its greeting names these parts.
  const parts = plain.greeting?.without ?? [];
  const culprit = await findCulprit(parts, async (without) => helps(await tryImage(config, without)));
  return culprit.kind === 'core'
    ? 'It works when the image does not start from its saved core.'
    : `It fails only with this part of the backend: ${culprit.parts.join(', ')}.`;
}

interface Trouble {
  version: string;
  issues: string;
  facts: SbclFacts;
  failure: StepResult;
  cause: string;
  lacking: Lacking | undefined;
}

/** Returns the text of a report about a failure, in which the path of the user's home folder is replaced. */
function reportText({ version, issues, facts, failure, cause, lacking }: Trouble): string {
  const fallbacks = lacking?.fallbacks.map(
    ({ ability, missing }) => `${ability} (${missing.join(', ') || 'as a whole'})`,
  );
  const lines = [
    `live-lisp ${version}, Node ${process.versions.node}, ${type()} ${release()} ${arch()}`,
    `SBCL ${facts.version}: ${facts.features.join(' ')}`,
    `Missing in this SBCL: ${fallbacks === undefined ? 'not known' : fallbacks.join('; ') || 'nothing'}`,
    `Fails: ${failure.name}. ${cause}`,
    failure.failure,
  ];
  return `Report, for ${issues}:\n\n${withoutHome(lines.join('\n'))}`;
}

function withoutHome(text: string): string {
  const home = homeFolder();
  return home === undefined || home === '/' ? text : text.replaceAll(home, '~');
}

/** A list of parts to leave out that names no real part of the backend. When a list is given, an image does not start
 * from a saved core. So with this list, an image is started that has all parts, but uses no saved core. */
export const ONLY_CORE: readonly string[] = ['nothing'];

/** The cause of a failure: the saved core, or parts of the backend. An image works without these. */
type Culprit = { kind: 'core' } | { kind: 'parts'; parts: readonly string[] };

/** Finds what must be left out so that an image works, and returns it: the saved core, or some of the parts ALL of the
 * backend. WORKS gets the names of parts. It resolves with true when an image works without them. The caller must know
 * that WORKS would resolve with true for ALL. For each part in the result, WORKS is called about log2(ALL.length)
 * times. */
export async function findCulprit(
  all: readonly string[],
  works: (without: readonly string[]) => Promise<boolean>,
): Promise<Culprit> {
  if (await works(ONLY_CORE)) return { kind: 'core' };
  const parts: string[] = [];
  let rest = all;
  do {
    const count = await leastCount(rest.length, (tried) => works([...parts, ...rest.slice(0, tried)]));
    // An image works without the first COUNT parts, but not without the first COUNT - 1. So the last of these COUNT
    // parts must be left out.
    parts.push(...rest.slice(count - 1, count));
    rest = rest.slice(0, count - 1);
  } while (rest.length > 0 && !(await works(parts)));
  return { kind: 'parts', parts };
}

/** Returns the least number from 1 to MOST for which SUFFICES resolves with true. Assumes, without a call, that
 * MOST suffices. */
async function leastCount(most: number, suffices: (count: number) => Promise<boolean>): Promise<number> {
  let [low, high] = [0, most];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (await suffices(middle)) high = middle;
    else low = middle;
  }
  return high;
}
