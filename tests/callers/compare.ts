// Holds the answers of who_calls, and of others, against what the sources tell.

import { expect } from 'vitest';
import type { Session } from '../harness.ts';
import type { Edge, Other, Truth } from './truth.ts';

/** How many of those that there are were found, and how many of those that were given are. */
export interface Score {
  there: number;
  found: number;
  given: number;
  right: number;
}

/** What was seen of one library. */
export interface Row {
  library: string;
  callees: number;
  named: Score;
  places: Score;
  /** Callees of which `No callers found` was said although they have some. */
  falseNone: number;
  sites: { right: number; wrong: number; marked: number };
  others: { [name: string]: Score };
}

/** A caller in an answer: its NAME, what else it is when it is no function, and its places. */
interface ReportedCaller {
  name: string;
  kind?: string;
  sites: { file: string; line: number; marked: boolean }[];
}

/** What was looked at, for a reader who asks why a figure is low. */
export interface Findings {
  rows: Row[];
  missed: string[];
  wrong: string[];
  marked: string[];
}

const LIBRARY = /\/source\/([^/]+)\//;

/** Returns the name of the library that FILE is of. */
function libraryOf(file: string): string {
  return LIBRARY.exec(file)?.[1] ?? '';
}

/** Returns what SESSION, in which the systems of TRUTH are loaded, answers of each STEPth callee, held against it. */
export async function compared(session: Session, truth: Truth, step: number): Promise<Findings> {
  const findings = new Tally(truth);
  const callees = new Map<string, Edge[]>();
  for (const edge of truth.edges) callees.set(edge.callee, [...(callees.get(edge.callee) ?? []), edge]);
  const sorted = [...callees].sort(([one], [other]) => (one < other ? -1 : 1));
  for (const [index, [callee, edges]] of sorted.entries()) {
    if (index % step !== 0) continue;
    const { reported, none } = await callersOf(session, edges[0]?.asked ?? '');
    findings.take(callee, edges, reported, none);
  }
  return findings.result();
}

/** Asks SESSION for all pages of who calls NAME, and whether that is said to be nobody. */
async function callersOf(
  session: Session,
  name: string,
): Promise<{ reported: ReportedCaller[]; none: boolean }> {
  const reported: ReportedCaller[] = [];
  for (;;) {
    const args = { name, sites: true, limit: 200, offset: reported.length };
    const { text, isError } = await session.call('who_calls', args);
    expect(isError, text).toBe(false);
    const before = reported.length;
    reported.push(...reportedIn(text));
    const none = text.startsWith('No callers found');
    if (reported.length === before || !text.includes('limit and offset reach')) return { reported, none };
  }
}

/** Returns the callers in TEXT. Those that are only possible are left out. */
function reportedIn(text: string): ReportedCaller[] {
  const reported: ReportedCaller[] = [];
  let block = '';
  for (const line of text.split('\n')) {
    if (/^\S.*:$/.test(line)) block = line;
    if (block.startsWith('Possible')) continue;
    if (/^ {2}\S/.test(line) && line !== '  ...') reported.push(callerIn(line.slice(2), block));
    const site = /^ {4}(?:no source|(\/.*?):(\d+):\d+ {2}(.*))$/.exec(line);
    const marked =
      /\((?:one of \d+|in an expansion|the file changed since it was loaded(?:, but not this form)?|changed since it was loaded)\)(?: {2}\[|$)/;
    if (site?.[1]) {
      const [, file, number, rest = ''] = site;
      reported.at(-1)?.sites.push({ file, line: Number(number), marked: marked.test(rest) });
    }
    const alike = /^ {4}and \d+ alike(?: of (.*?))?(?: in (\/.*?))?: (.*)$/.exec(line);
    if (alike) takeAlike(alike[3] ?? '', { block, home: alike[1], shared: alike[2] }, reported);
  }
  return reported;
}

/** Adds to REPORTED, of BLOCK, what LIST tells behind the last place in it, which is of one shape with all: places
 * of the same caller, or callers with a place each. HOME is the package, and SHARED the file, that all of them
 * have. */
function takeAlike(
  list: string,
  { block, home, shared }: { block: string; home: string | undefined; shared: string | undefined },
  reported: ReportedCaller[],
): void {
  const marked = reported.at(-1)?.sites.at(-1)?.marked ?? false;
  for (const [, head, file = shared ?? '', line] of list.matchAll(
    /(?:((?!\d+:\d+(?:,| {2}|$))[^\s/].*?) )?(?:(\/[^,]*?):)?(\d+):\d+(?: {2}\[method .*?\])?(?:, |$)/g,
  )) {
    const site = { file, line: Number(line), marked };
    const name = home === undefined ? head : `${home}::${head}`;
    if (head === undefined || name === undefined) reported.at(-1)?.sites.push(site);
    else reported.push({ ...callerIn(name, block), sites: [site] });
  }
}

function callerIn(text: string, block: string): ReportedCaller {
  if (block.startsWith('Functions')) return { name: text.replace(/ \(same function as .*$/, ''), sites: [] };
  const [, name = text, kind = text] = /^(.*?::(?:\(.*?\)|\S+)) \((.*)\)$/.exec(text) ?? [];
  return { name, kind, sites: [] };
}

/** Counts for each library. */
class Tally {
  readonly #truth: Truth;
  readonly #rows = new Map<string, Row>();
  readonly #missed: string[] = [];
  readonly #wrong: string[] = [];
  readonly #marked: string[] = [];

  constructor(truth: Truth) {
    this.#truth = truth;
  }

  result(): Findings {
    const rows = [...this.#rows.values()].sort((one, other) => (one.library < other.library ? -1 : 1));
    return { rows, missed: this.#missed, wrong: this.#wrong, marked: this.#marked };
  }

  /** Counts what was REPORTED of CALLEE, which has EDGES. NONE says that nobody was said to call it. */
  take(callee: string, edges: Edge[], reported: ReportedCaller[], none: boolean): void {
    const inFiles = reported.filter((each) => each.kind !== 'macro use' && this.#walked(each));
    this.#found(callee, edges, reported);
    for (const each of inFiles) this.#given(callee, edges, each);
    const { asked } = this.#truth.others['sb-introspect'];
    const pairs = new Set(
      reported.flatMap(({ name, kind }) => (kind === undefined ? `${callee}\t${name}` : [])),
    );
    const others = { ...this.#truth.others, 'live-lisp': { asked, pairs } };
    for (const [name, other] of Object.entries(others)) this.#other(name, other, callee, edges);
    for (const library of new Set(edges.filter(({ maybe }) => !maybe).map(({ file }) => libraryOf(file)))) {
      this.#row(library).callees++;
      if (none) this.#row(library).falseNone++;
    }
  }

  /** Whether EACH stands in a file that was walked, as far as is told. */
  #walked({ sites, name, kind }: ReportedCaller): boolean {
    const [, file] = /^(?:.* )?(\/.*?):\d+/.exec(kind ?? '') ?? [];
    const files = [...sites.map((site) => site.file), ...(file ? [file] : [])];
    const known = this.#truth.edges.some(({ names }) => names.includes(name));
    return files.length > 0 ? files.every((each) => this.#truth.files.has(each)) : known;
  }

  #found(callee: string, edges: Edge[], reported: ReportedCaller[]): void {
    const seen = new Set<string>();
    for (const edge of edges) {
      const key = `${edge.kind} ${edge.names} ${edge.kind === 'top-level form' ? edge.form : ''}`;
      if (edge.maybe || seen.has(key)) continue;
      seen.add(key);
      const row = this.#row(libraryOf(edge.file));
      const score = edge.kind === 'function' ? row.named : row.places;
      score.there++;
      if (reported.some((each) => reports(each, edge))) score.found++;
      else this.#missed.push(`${callee} <- ${edge.kind} ${edge.names} ${edge.file}:${edge.form[0]}`);
    }
  }

  #given(callee: string, edges: Edge[], each: ReportedCaller): void {
    const matching = edges.filter((edge) => reports(each, edge));
    const file = each.sites[0]?.file ?? matching[0]?.file ?? edges[0]?.file ?? '';
    const row = this.#row(libraryOf(file));
    const score = each.kind === undefined ? row.named : row.places;
    score.given++;
    if (matching.length > 0) score.right++;
    else this.#wrong.push(`${callee} <- ${each.name} ${each.kind ?? ''} ${file}`);
    if (matching.length === 0) return;
    for (const site of each.sites) {
      const right = matching.some((edge) => edge.file === site.file && edge.lines.includes(site.line));
      row.sites[site.marked ? 'marked' : right ? 'right' : 'wrong']++;
      if (site.marked) this.#marked.push(`${callee} <- ${each.name} at ${site.file}:${site.line}`);
      if (!site.marked && !right) this.#wrong.push(`${callee} <- ${each.name} at ${site.file}:${site.line}`);
    }
  }

  #other(name: string, { asked, pairs }: Other, callee: string, edges: Edge[]): void {
    if (!asked.has(callee)) return;
    const named = edges.filter(({ kind }) => kind === 'function');
    const callers = new Map(named.map((edge) => [edge.names[0] ?? '', edge]));
    for (const [caller, { file, maybe }] of callers) {
      if (maybe) continue;
      const score = this.#otherScore(libraryOf(file), name);
      score.there++;
      if (pairs.has(`${callee}\t${caller}`)) score.found++;
    }
    for (const pair of pairs) {
      const [of, caller = ''] = pair.split('\t');
      const known = this.#truth.edges.find(({ names }) => names.includes(caller));
      if (of !== callee || known === undefined) continue;
      const score = this.#otherScore(libraryOf(known.file), name);
      score.given++;
      if (callers.has(caller) || edges.some(({ names }) => names.includes(caller))) score.right++;
    }
  }

  #otherScore(library: string, name: string): Score {
    const { others } = this.#row(library);
    others[name] ??= nothing();
    return others[name] ?? nothing();
  }

  #row(library: string): Row {
    const row = this.#rows.get(library) ?? {
      library,
      callees: 0,
      named: nothing(),
      places: nothing(),
      falseNone: 0,
      sites: { right: 0, wrong: 0, marked: 0 },
      others: {},
    };
    this.#rows.set(library, row);
    return row;
  }
}

/** Returns SCORES in one. */
export function sum(scores: readonly Score[]): Score {
  const total = nothing();
  for (const score of scores) {
    for (const key of ['there', 'found', 'given', 'right'] as const) total[key] += score[key];
  }
  return total;
}

function nothing(): Score {
  return { there: 0, found: 0, given: 0, right: 0 };
}

/** Whether REPORTED is EDGE: by a name, or by where the top-level form is. A function counts too that is told with
 * the very line of a call in such a form: it runs what stands around it. */
function reports(
  { name, kind, sites }: ReportedCaller,
  { names, file, form: [first, last], lines, ...edge }: Edge,
): boolean {
  if (names.includes(name)) return true;
  if (edge.kind === 'function') return false;
  if (kind === undefined) {
    const there = sites.some((site) => !site.marked && site.file === file && lines.includes(site.line));
    return there && edge.kind === 'top-level form';
  }
  const [, path, line] = /(?:^|.* )(\/.*?):(\d+)/.exec(`${name} ${kind}`) ?? [];
  const places = [...sites, ...(path ? [{ file: path, line: Number(line) }] : [])];
  return places.some((site) => site.file === file && first <= site.line && site.line <= last);
}
