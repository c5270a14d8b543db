// Compiles and loads only the edited forms of files. The forms keep their positions and numbers in the files.

import { basename, join } from 'node:path';
import type { Image } from '../../image/image.ts';
import type { Reply } from '../../image/wire/call.ts';
import type { Agreement } from '../../image/wire/operations.ts';
import { joinSections } from '../../kernel/reply.ts';
import type { CallContext, Result } from '../../kernel/tool.ts';
import { definitionDetails } from '../../source/definition-details.ts';
import { namedForms } from '../../source/definitions.ts';
import type { TopLevelForms } from '../../source/top-level.ts';
import { withTemporaryFolder } from '../../temporary-folder.ts';
import { visibleName } from '../../visible.ts';
import { agreementSection, displacedSection } from '../agreement.ts';
import { callOptions } from '../calling.ts';
import { conditionText, endingText, outputSection } from '../endings.ts';
import { checkPresentCalls } from '../introspection/impact-calls.ts';
import { unfitText } from '../introspection/impact-calls-text.ts';
import { foundValue, isLookupFailure } from '../lookup.ts';
import type { Places } from '../places.ts';
import { groupedWarnings, redefinedSection } from '../remarks.ts';
import type { PlannedFile } from './edited-files.ts';
import { systemsOf } from './in-workspace.ts';
import type { Origins } from './origins.ts';
import { contentOf } from './part-content.ts';
import { missingNow } from './readable.ts';

/** The result of loading edited files. `loaded` are the files whose changes were loaded. */
export interface LoadedEdits {
  result: Result;
  loaded: ReadonlySet<PlannedFile>;
}

/** Compiles and loads the changed forms of PLAN. The files must be written already. */
export async function loadEdited(
  origins: Origins,
  plan: readonly PlannedFile[],
  context: CallContext,
): Promise<LoadedEdits> {
  const { places } = origins;
  const sections: (string | undefined)[] = [];
  const data: object[] = [];
  const loads: FileLoad[] = [];
  const queue = [...(await inLoadOrder(origins, plan, context))];
  const deferred = new Set<PlannedFile>();
  let failed = false;
  // Also takes the files that the loop appends.
  for (const [index, file] of queue.entries()) {
    const missing = await missingNow(origins.image, file, context);
    if (missing.length > 0) {
      if (deferred.has(file)) {
        sections.push(await lackingText(file, missing, origins));
        data.push({ path: file.present.name, notLoaded: true, missing });
      } else {
        // Another file may define the package, so this file is tried again after the others.
        deferred.add(file);
        queue.push(file);
      }
      continue;
    }
    const reply = await loadForms(origins, file, loads.length > 0, context);
    loads.push({ file, reply });
    failed = reply.ending.kind !== 'done' || reply.data.value?.notLoaded === true;
    sections.push(loadText(reply, file, places));
    data.push({ path: file.present.name, ...reply.data.value, ending: reply.ending });
    if (failed) {
      const skipped = queue.slice(index + 1).map(({ name }) => name);
      if (skipped.length > 0) sections.push(`Not loaded, because of that: ${skipped.join(', ')}.`);
      break;
    }
  }
  sections.push(...(await agreementSections(origins, loads, context)));
  // When a load removes methods from a generic function, a later file can define them again. So only the list in the
  // reply of the last load is shown.
  sections.push(displacedSection(loads.at(-1)?.reply.data ?? {}, places));
  if (!failed) sections.push(await unfitSection(origins, plan, context));
  // After a failed load, no further file was loaded.
  const succeeded = failed ? loads.slice(0, -1) : loads;
  return {
    result: { data, text: joinSections(sections), failed },
    loaded: new Set(succeeded.map(({ file }) => file)),
  };
}

interface FileLoad {
  file: PlannedFile;
  reply: Reply<'load-forms'>;
}

/** Returns a section for each of LOADS: the differences between the image and the file after all loads. */
async function agreementSections(
  { image, places }: Origins,
  loads: readonly FileLoad[],
  context: CallContext,
): Promise<(string | undefined)[]> {
  const last = loads.at(-1);
  const sections: (string | undefined)[] = [];
  for (const load of loads) {
    const agreement = load.reply.data.value?.agreement;
    const now =
      load === last || agreement === undefined
        ? agreement
        : await agreementNow(image, load.file.real, agreement, context);
    sections.push(agreementSection(now, places, context.earlierAnswers));
  }
  return sections;
}

/** AGREEMENT contains the differences between the image and the files, as the load of the file PATH reported them.
 * Returns it without the differences that later loads removed. */
async function agreementNow(
  image: Image,
  path: string,
  agreement: Agreement,
  context: CallContext,
): Promise<Agreement> {
  const compared = foundValue(await image.call('compare-files', { path }, callOptions(context)));
  if (isLookupFailure(compared)) return agreement;
  const { old = [], oldTotal = 0, unset, unsetTotal, outdated, outdatedTotal } = compared;
  // compare-files also lists definitions that were only evaluated. A load does not.
  const ofFile = old.filter(({ file }) => file !== undefined);
  return {
    ...agreement,
    ...(agreement.old && { old: ofFile, oldTotal: oldTotal - (old.length - ofFile.length) }),
    ...(agreement.unset && { unset, unsetTotal }),
    ...(agreement.outdated && { outdated, outdatedTotal }),
  };
}

/** Returns a section about FILE, which was not loaded because the image lacks the packages MISSING. The section says
 * how to load it. */
async function lackingText(file: PlannedFile, missing: readonly string[], origins: Origins): Promise<string> {
  const systems = await systemsOf(file.real, origins);
  const what = `package${missing.length === 1 ? '' : 's'} ${missing.join(', ')}`;
  const how =
    systems.length > 0
      ? `load_system with system ${systems.map(visibleName).join(' or ')} loads the file and its dependencies.`
      : 'Load what the file needs, then the whole file with load_file.';
  return `Not loaded: ${formsOf(file)}, because the image has no ${what}. The file was changed. ${how}`;
}

async function inLoadOrder(
  { image }: Origins,
  files: readonly PlannedFile[],
  context: CallContext,
): Promise<readonly PlannedFile[]> {
  if (files.length < 2) return files;
  const names = files.map(({ real }) => real);
  const { data } = await image.call('load-order', { files: names }, callOptions(context));
  const order = data.value ?? names;
  return [...files].sort((one, other) => order.indexOf(one.real) - order.indexOf(other.real));
}

/** Compiles and loads the changed forms of FILE. CONTINUES is true after another load of the same call. The reply then
 * also lists the methods that the load before removed because of a new lambda list. */
async function loadForms(
  { image }: Origins,
  file: PlannedFile,
  continues: boolean,
  context: CallContext,
): Promise<Reply<'load-forms'>> {
  return withTemporaryFolder(async (folder) => {
    const { real, numbers } = file;
    const fasl = join(folder, 'loaded.fasl');
    const args = { file: real, fasl, content: contentOf(file), numbers, ...(continues && { continues }) };
    const reply = await image.call('load-forms', args, callOptions(context));
    // The backend compiles a copy in the folder, and some warnings name this copy.
    const copy = join(basename(folder), basename(real));
    const warnings = reply.data.warnings?.map((warning) =>
      warning.file?.endsWith(copy) ? { ...warning, file: real } : warning,
    );
    return { ...reply, data: { ...reply.data, ...(warnings && { warnings }) } };
  });
}

function loadText({ data, ending, output }: Reply<'load-forms'>, file: PlannedFile, places: Places): string {
  return joinSections([
    headline({ data, ending }, file),
    ending.kind === 'condition' ? conditionText(ending.condition, places) : endingText(ending, places),
    groupedWarnings(data, places),
    redefinedSection(data),
    outputSection(output),
  ]);
}

function headline(
  { data, ending }: Pick<Reply<'load-forms'>, 'data' | 'ending'>,
  file: PlannedFile,
): string | false {
  const forms = formsOf(file);
  if (ending.kind !== 'done' || data.value?.notLoaded)
    return `Not completely loaded: ${forms}. The file was changed.`;
  if (data.value?.failed)
    return `Loaded ${forms}, but with compile errors (below): running that code signals them.`;
  return file.changed.length > 0 && `Loaded ${forms}`;
}

function formsOf({ name, changed }: PlannedFile): string {
  return `${changed.length} ${changed.length === 1 ? 'form' : 'forms'} of ${name}`;
}

/** Returns a section about calls that do not fit the functions of PLAN whose lambda lists have changed. */
async function unfitSection(
  origins: Origins,
  plan: readonly PlannedFile[],
  context: CallContext,
): Promise<string> {
  const texts: string[] = [];
  for (const file of plan) {
    const before = signaturesOf(file.forms, replacedForms(file));
    const starts = file.changed.map(({ start }) => start);
    for (const [key, { list, ...defined }] of signaturesOf(file.newForms, starts)) {
      const old = before.get(key)?.list;
      if (old === undefined || old === list) continue;
      const calls = await checkPresentCalls(origins.image, origins.places, defined, context);
      if (calls !== undefined) texts.push(unfitText(calls));
    }
  }
  return joinSections(texts);
}

/** Returns the start indices, in the old text, of the forms that were removed or changed. */
function replacedForms({ forms, numbers }: PlannedFile): number[] {
  const kept = new Set(numbers);
  return forms.allExtents().flatMap(({ start }, number) => (kept.has(number) ? [] : start));
}

/** A function: its name as written, the package `home` in which the name is read, and its lambda list as JSON. */
interface FunctionSignature {
  name: string;
  home: string;
  list: string;
}

/** Returns the functions that the top-level forms at STARTS define. The key is package and name. */
function signaturesOf(forms: TopLevelForms, starts: readonly number[]): Map<string, FunctionSignature> {
  const signatures = new Map<string, FunctionSignature>();
  for (const top of starts) {
    const home = forms.homeAt(top);
    const whole = forms.formFrom(top);
    for (const { form } of whole ? namedForms(whole) : []) {
      const details = definitionDetails(form);
      if (details?.lambdaList === undefined || details.operator === 'DEFMETHOD') continue;
      const name = form.elements[1]?.oneLine ?? '';
      signatures.set(`${home} ${name}`, { name, home, list: JSON.stringify(details.lambdaList) });
    }
  }
  return signatures;
}
