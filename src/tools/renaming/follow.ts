// Updates the image after a rename: loads the changed files again, and removes the old name.

import { realPathOf } from '../../files/answering.ts';
import type { Image } from '../../image/image.ts';
import type { Reply } from '../../image/wire/call.ts';
import type { Item, RenameFacts, RenameFinished } from '../../image/wire/operations.ts';
import { joinSections } from '../../kernel/reply.ts';
import type { CallContext } from '../../kernel/tool.ts';
import { readableName, unqualifiedName } from '../../source/qualified.ts';
import { withTemporaryFolder } from '../../temporary-folder.ts';
import { displacedSection } from '../agreement.ts';
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
  /** Texts on what went wrong in the loads. */
  problems: string[];
  /** True when a load did not end well. The steps after that load were then not done. */
  failed: boolean;
  /** Callers of an old name. While there are any, the image keeps the name. */
  users: string[];
  /** The definitions under old names that were removed. */
  gone: Item[];
  /** The number of removed definitions; `gone` may list fewer. */
  goneTotal: number;
  /** The definitions under old names that could not be removed. */
  left: NonNullable<RenameFinished['left']>;
}

/** Maximum number of callers of an old name to consider. */
const CALLER_LIMIT = 1000;

/** The objects that the update after a rename works with. shownWarnings knows which warnings were shown before. */
export interface FollowGround {
  image: Image;
  places: Places;
  shownWarnings: ShownWarnings;
}

/** Updates the image of GROUND after the rename of the symbol of FACTS, when PLAN was written to the files. */
export async function follow(
  ground: FollowGround,
  facts: RenameFacts,
  plan: RenamePlan,
  context: CallContext,
): Promise<Followed> {
  return new ImageUpdate(ground, facts, plan, context).run();
}

/** The update of the image after a rename. `run` does its steps in order. */
class ImageUpdate {
  readonly #image: Image;
  readonly #places: Places;
  readonly #shownWarnings: ShownWarnings;
  readonly #facts: RenameFacts;
  readonly #context: CallContext;
  /** Real paths of the files that the image has loaded. */
  readonly #inImage = new Set<string>();
  /** Real paths of the Lisp files in which code was changed. */
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
    { image, places, shownWarnings }: FollowGround,
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

  /** Does these steps, and stops after one that fails:
   *  1. `rename-prepare` makes the new symbols and gives them what the old ones have. It returns the old names
   *     that still name the old symbols.
   *  2. The changed files that the image has loaded are loaded again.
   *  3. So are files that use one of these names only through a macro: their text did not change, but their
   *     code does.
   *  4. Unless other code still uses an old name, `rename-finish` removes what the old symbols name. */
  async run(): Promise<Followed> {
    for (const file of this.#facts.files ?? []) this.#inImage.add(await realPathOf(file));
    const files = this.#changed.filter((file) => this.#inImage.has(file));
    const { home } = this.#facts;
    const names = this.#facts.renamings.map(({ from, to }): [string, string] => [from, to]);
    const bare = unqualifiedName(this.#facts.name);
    const structures = (this.#facts.structures ?? [])
      .filter(({ slots = [] }) => slots.some(([slot]) => slot === bare))
      .map(({ name }) => name);
    const prepared = await this.#image.call('rename-prepare', { home, names, structures }, this.#options());
    this.#recordProblems(prepared);
    if (!this.#outcome.failed) await this.#load(files);
    const old = prepared.data.value ?? [];
    if (!this.#outcome.failed) await this.#load(await this.#compiledWith(old, new Set(files)));
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
    if (done.some(({ notLoaded }) => notLoaded === true)) this.#outcome.failed = true;
  }

  #recordProblems(reply: Reply<'load-files'> | Reply<'rename-prepare'>): void {
    if (reply.ending.kind !== 'done') this.#outcome.failed = true;
    const text = this.#problemText(reply);
    if (text !== '') this.#outcome.problems.push(text);
  }

  #problemText({ data, ending }: Reply<'load-files'> | Reply<'rename-prepare'>): string {
    const [places, { told }] = [this.#places, this.#context];
    // Leaves out warnings that any load can cause, such as that a test is redefined.
    const serious = ('warnings' in data ? (data.warnings ?? []) : []).filter(
      ({ severity, offset }) =>
        severity === 'error' || severity === 'undefined' || (severity === 'warning' && offset !== undefined),
    );
    const warnings = told === undefined ? serious : this.#shownWarnings.newFor(told, serious);
    return joinSections([
      'file' in data &&
        data.file !== undefined &&
        `The load of ${places.fileName(data.file)} was left early.`,
      ending.kind === 'condition' ? conditionText(ending.condition, places) : endingText(ending, places),
      'displaced' in data && displacedSection(data, places),
      groupedWarnings({ warnings }, places),
      sameText(serious.length - warnings.length),
    ]);
  }

  /** Returns the files, except LOADED, whose code contains one of the OLD names through a macro. Records as
   *  users the callers that a reload would not update. */
  async #compiledWith(old: readonly string[], loaded: ReadonlySet<string>): Promise<string[]> {
    const files = new Set<string>();
    for (const from of old) {
      for (const { user, file } of await this.#usersOf(from)) {
        const real = file === undefined ? undefined : await realPathOf(file);
        const again =
          real !== undefined && this.#inImage.has(real) && !loaded.has(real) && this.#places.isOwn(real);
        if (again) files.add(real);
        else if (real === undefined || !loaded.has(real)) this.#outcome.users.push(user);
      }
    }
    return [...files];
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
        // A possible caller is code left by an evaluation. It has no file; the files' definitions replace it.
        if (user !== undefined && !possible) users.push({ user, ...(file !== undefined && { file }) });
      }
    }
    return users;
  }
}

function isSource(file: string): boolean {
  return /\.(?:lisp|lsp|cl)$/i.test(file);
}
