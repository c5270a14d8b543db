// Decides what the image is known to hold, so that its loss can be told truthfully.

export class History {
  #evaluations = 0;
  readonly #systems = new Set<string>();
  readonly #files = new Set<string>();
  readonly #tools = new Set<string>();

  evaluated(): void {
    this.#evaluations++;
  }

  loadedSystem(name: string): void {
    this.#systems.add(name);
  }

  loadedFile(path: string): void {
    this.#files.add(path);
  }

  registeredTool(name: string): void {
    this.#tools.add(name);
  }

  /** Returns the sentence that tells what was lost, and forgets it. */
  lose(): string {
    const parts = [
      this.#evaluations > 0 &&
        `everything that ${this.#evaluations} evaluation${this.#evaluations === 1 ? '' : 's'} made (definitions, values, packages, the current package)`,
      this.#systems.size > 0 && `the loaded systems ${[...this.#systems].join(', ')}`,
      this.#files.size > 0 && `the loaded files ${[...this.#files].join(', ')}`,
      this.#tools.size > 0 && `the tools ${[...this.#tools].join(', ')}`,
    ].filter((part) => part !== false);
    this.#evaluations = 0;
    this.#systems.clear();
    this.#files.clear();
    this.#tools.clear();
    return parts.length === 0
      ? 'Nothing was lost with it.'
      : `Lost with it: ${parts.join('; ')}. Load or define again what you need.`;
  }
}
