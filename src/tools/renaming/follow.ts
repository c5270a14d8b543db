// Updates the image after the files of a rename were written: loads the changed files again, and removes the old name.

import { realPathOf } from '../../files/answering.ts';
import type { Image } from '../../image/image.ts';
import type { Reply } from '../../image/wire/call.ts';
import type { Item, RenameFacts, RenameFinished } from '../../image/wire/operations.ts';
import { joinSections } from '../../kernel/reply.ts';
import type { CallContext } from '../../kernel/tool.ts';
import { readableName, unqualifiedName } from '../../source/qualified.ts';
import { withTemporaryFolder } from '../../temporary-folder.ts';
import { agreementSection, displacedSection } from '../agreement.ts';
import { callOptions } from '../calling.ts';
import { conditionText, endingText } from '../endings.ts';
import { foundValue, isLookupFailure } from '../lookup.ts';
import type { Places } from '../places.ts';
import { groupedWarnings } from '../remarks.ts';
import { type ShownWarnings, sameText } from '../shown-warnings.ts';
import type { RenamePlan } from './plan.ts';

export interface Followed {
  /** The files that were loaded again, relative to the workspace. */
  loaded: string[];
  /** Texts about problems in these loads. */
  problems: string[];
  /** True when a load failed. The later steps were then not done. */
  failed: boolean;
  /** Callers of an old name. If there are any, the image keeps the old name. */
  users: string[];
  /** The definitions of old names that were removed. */
  gone: Item[];
  /** The number of removed definitions. `gone` may have fewer. */
  goneTotal: number;
  /** The definitions of old names that could not be removed. */
  left: NonNullable<RenameFinished['left']>;
}

const CALLER_LIMIT = 1000;

/** The objects that `follow` needs. */
export interface UpdateDependencies {
  image: Image;
  places: Places;
  shownWarnings: ShownWarnings;
}

/** Updates the image after the files in PLAN were written. FACTS describe the renamed symbol. */
export async function follow(
  dependencies: UpdateDependencies,
  facts: RenameFacts,
  plan: RenamePlan,
  context: CallContext,
): Promise<Followed> {
  return new ImageUpdate(dependencies, facts, plan, context).run();
}

class ImageUpdate {
  readonly #image: Image;
  readonly #places: Places;
  readonly #shownWarnings: ShownWarnings;
  readonly #facts: RenameFacts;
  readonly #context: CallContext;
  /** The real paths of the files that the image has loaded. */
  readonly #inImage = new Set<string>();
  /** The real paths of the Lisp files that the rename changed. */
  readonly #changed: string[];
  readonly #outcome: Followed = {
    loaded: [],
    problems: [],
    failed: false,
    users: [],
    gone: [],
    goneTotal: 0,
    left: [],
  };

  constructor(
    { image, places, shownWarnings }: UpdateDependencies,
    facts: RenameFacts,
    plan: RenamePlan,
    context: CallContext,
  ) {
    this.#image = image;
    this.#places = places;
    this.#shownWarnings = shownWarnings;
    this.#facts = facts;
    this.#context = context;
    this.#changed = plan.changes
      .filter(({ real, edits }) => isSource(real) && edits.some(({ how }) => how !== 'prose'))
      .map(({ real }) => real);
  }

  /** Performs these steps, until one fails:
   *  1. `rename-prepare` makes the new symbols and copies the definitions. Its answer has the old names that
   *     still exist.
   *  2. The changed files are loaded again, if the image had loaded them.
   *  3. Unchanged files are loaded again when a macro puts an old name into their code.
   *  4. `rename-finish` removes the definitions of the old names, unless other code still uses one. */
  async run(): Promise<Followed> {
    for (const file of this.#facts.files ?? []) this.#inImage.add(await realPathOf(file));
    const files = this.#changed.filter((file) => this.#inImage.has(file));
    const { home } = this.#facts;
    const names = this.#facts.renamings.map(({ from, to }): [string, string] => [from, to]);
    const bare = unqualifiedName(this.#facts.name);
    // The structures whose slots are renamed. `rename-prepare` removes them, because SBCL signals an error when a load
    // defines a structure again with other slots.
    const structures = (this.#facts.structures ?? [])
      .filter(({ slots = [] }) => slots.some(([slot]) => slot === bare))
      .map(({ name }) => name);
    const prepared = await this.#image.call('rename-prepare', { home, names, structures }, this.#options());
    this.#recordProblems(prepared);
    if (!this.#outcome.failed) await this.#load(files);
    if (!this.#outcome.failed) {
      const old = prepared.data.value ?? [];
      const { filesWithOld, users } = await this.#usersOfOld(old, new Set(files));
      this.#outcome.users.push(...users);
      await this.#load(filesWithOld);
    }
    if (this.#outcome.failed || this.#outcome.users.length > 0) return this.#outcome;
    const {
      gone = [],
      goneTotal = gone.length,
      left = [],
    } = foundValue(await this.#image.call('rename-finish', {}, this.#options()));
    return { ...this.#outcome, gone, goneTotal, left };
  }

  #options() {
    return callOptions(this.#context);
  }

  async #load(files: string[]): Promise<void> {
    if (files.length === 0) return;
    const reply = await withTemporaryFolder((folder) =>
      this.#image.call('load-files', { files, folder }, this.#options()),
    );
    const done = reply.data.value ?? [];
    const loaded = done.filter(({ notLoaded }) => !notLoaded).map(({ file }) => file);
    this.#outcome.loaded.push(...loaded.map((file) => this.#places.fileName(file)));
    this.#recordProblems(reply);
    // An instance loses the value of a slot that gets another name, and the new slot gets that of its initform.
    for (const { agreement: { reslotted, reslottedTotal } = {} } of done) {
      const changed = { ...(reslotted && { reslotted }), ...(reslottedTotal && { reslottedTotal }) };
      const lines = agreementSection(changed, this.#places);
      if (lines !== undefined) this.#outcome.problems.push(lines);
    }
    if (done.some(({ notLoaded }) => notLoaded === true)) this.#outcome.failed = true;
  }

  #recordProblems(reply: Reply<'load-files'> | Reply<'rename-prepare'>): void {
    if (reply.ending.kind !== 'done') this.#outcome.failed = true;
    const text = this.#problemText(reply);
    if (text !== '') this.#outcome.problems.push(text);
  }

  #problemText({ data, ending }: Reply<'load-files'> | Reply<'rename-prepare'>): string {
    const [places, { earlierAnswers }] = [this.#places, this.#context];
    // Warnings that any load can cause, such as that a test is redefined, are left out.
    const serious = ('warnings' in data ? (data.warnings ?? []) : []).filter(
      ({ severity, offset }) =>
        severity === 'error' || severity === 'undefined' || (severity === 'warning' && offset !== undefined),
    );
    const warnings =
      earlierAnswers === undefined ? serious : this.#shownWarnings.newFor(earlierAnswers, serious);
    return joinSections([
      'file' in data &&
        data.file !== undefined &&
        `The load of ${places.fileName(data.file)} did not finish.`,
      ending.kind === 'condition' ? conditionText(ending.condition, places) : endingText(ending, places),
      'displaced' in data && displacedSection(data, places),
      groupedWarnings({ warnings }, places),
      sameText(serious.length - warnings.length),
    ]);
  }

  /** Returns the files whose compiled code still refers to a name in OLD, for example because a macro put it there.
   * These files must be loaded again. The files LOADED were loaded just now and are left out. `users` are the callers
   * that no load of a file replaces. */
  async #usersOfOld(
    old: readonly string[],
    loaded: ReadonlySet<string>,
  ): Promise<{ filesWithOld: string[]; users: string[] }> {
    const files = new Set<string>();
    const users: string[] = [];
    for (const from of old) {
      for (const { user, file } of await this.#usersOf(from)) {
        const real = file === undefined ? undefined : await realPathOf(file);
        if (real !== undefined && loaded.has(real)) continue;
        const canLoadAgain = real !== undefined && this.#inImage.has(real) && this.#places.isOwn(real);
        if (canLoadAgain) files.add(real);
        else users.push(user);
      }
    }
    return { filesWithOld: [...files], users };
  }

  /** Returns the callers of the symbol FROM and of its setf function, with their files. */
  async #usersOf(from: string): Promise<{ user: string; file?: string }[]> {
    const users = [];
    for (const setf of [false, true]) {
      const name = readableName({ symbol: from, setf });
      const args = { name, package: this.#facts.home, sites: true, offset: 0, limit: CALLER_LIMIT };
      const found = foundValue(await this.#image.call('who-calls', args, this.#options()));
      if (isLookupFailure(found)) continue;
      for (const { name: user, sites = [], possible } of found.rows ?? []) {
        const file = sites.find((site) => site.file !== undefined)?.file;
        // A possible caller only contains the name in its data, and may never call the function.
        if (user !== undefined && !possible) users.push({ user, ...(file !== undefined && { file }) });
      }
    }
    return users;
  }
}

function isSource(file: string): boolean {
  return /\.(?:lisp|lsp|cl)$/i.test(file);
}
