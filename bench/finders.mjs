// Decides what the search is compared with, and by which figures: over any tools, with any requests.

import MiniSearch from 'minisearch';

/** @typedef {{ id?: string, name: string, description?: string, inputSchema?: any, keywords?: string[], category?: string, server?: string }} Tool */
/** @typedef {{ query: string, gold: string[] }} Request an id of GOLD is the id of a tool, or its name where it has none */
/** @typedef {(query: string) => string[]} Finder finds ids of tools, the best first */
/** @typedef {{ find: Finder, literal: Finder, isSure: (query: string) => boolean }} OurFinder */
/** @typedef {{ 1: number, 3: number, 5: number, 10: number, any1: number, any3: number, ndcg: number, mrr: number, empty: number, of: number }} Quality */

const RANKS = /** @type {const} */ ([1, 3, 5, 10]);

/** @param {Tool} tool */
export function idOf(tool) {
  return tool.id ?? tool.name;
}

/**
 * Returns how good ANSWERS are. Recall is the share of the right tools that is among the first.
 * The figures any1 and any3 tell how often one of them is first, or among the first three.
 * @param {readonly { gold: string[], found: string[] }[]} answers
 * @returns {Quality}
 */
export function qualityOf(answers) {
  const sums = { 1: 0, 3: 0, 5: 0, 10: 0, any1: 0, any3: 0, ndcg: 0, mrr: 0, empty: 0, of: answers.length };
  for (const { gold, found } of answers) {
    const right = found.slice(0, 10).map((id) => gold.includes(id));
    for (const rank of RANKS) sums[rank] += right.slice(0, rank).filter(Boolean).length / gold.length;
    const gain = (/** @type {number} */ at) => 1 / Math.log2(at + 2);
    const ideal = Array.from({ length: Math.min(10, gold.length) }, (_, at) => gain(at));
    const total = (/** @type {number[]} */ list) => list.reduce((sum, each) => sum + each, 0);
    sums.ndcg += total(right.map((is, at) => (is ? gain(at) : 0))) / total(ideal);
    const first = right.indexOf(true);
    sums.any1 += first === 0 ? 1 : 0;
    sums.any3 += first >= 0 && first < 3 ? 1 : 0;
    sums.mrr += first === -1 ? 0 : 1 / (first + 1);
    sums.empty += found.length === 0 ? 1 : 0;
  }
  const mean = (/** @type {number} */ sum) => sum / Math.max(1, answers.length);
  const { any1, any3, ndcg, mrr } = sums;
  return {
    ...sums,
    1: mean(sums[1]),
    3: mean(sums[3]),
    5: mean(sums[5]),
    10: mean(sums[10]),
    any1: mean(any1),
    any3: mean(any3),
    ndcg: mean(ndcg),
    mrr: mean(mrr),
  };
}

/**
 * Returns which part of the words in the names of the right tools REQUEST has.
 * @param {Request} request
 * @param {ReadonlyMap<string, Tool>} tools
 */
export function overlap({ query, gold }, tools) {
  const asked = new Set(wordsOf(query));
  const names = gold.flatMap((id) => wordsOf(tools.get(id)?.name ?? ''));
  return names.filter((word) => asked.has(word)).length / Math.max(1, names.length);
}

/**
 * Returns the words of TEXT, without the ends that plurals and tenses have.
 * @param {string} text
 */
function wordsOf(text) {
  const words = text.replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 ').toLowerCase();
  return (words.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => word.replace(/(?<=...)(?:ing|ed|es|s)$/, ''));
}

/** @param {Tool} tool */
function parametersText(tool) {
  return Object.entries(tool.inputSchema?.properties ?? {})
    .map(([name, schema]) => `${name} ${schema?.description ?? ''}`)
    .join(' ');
}

/**
 * Returns MiniSearch with its defaults over all texts of TOOLS.
 * @param {readonly Tool[]} tools
 * @returns {Finder}
 */
export function miniSearch(tools) {
  const search = new MiniSearch({
    fields: ['name', 'server', 'category', 'keywords', 'description', 'parameters'],
    idField: 'id',
  });
  search.addAll(
    tools.map((tool) => ({
      ...tool,
      id: idOf(tool),
      keywords: (tool.keywords ?? []).join(' '),
      parameters: parametersText(tool),
    })),
  );
  return (query) => search.search(query).map(({ id }) => id);
}

/**
 * Returns a search as clients make it over the definitions of TOOLS: plain BM25 over name, description and parameters.
 * @param {readonly Tool[]} tools
 * @returns {Finder}
 */
export function hostSearch(tools) {
  const [k, b] = [1.2, 0.75];
  const words = (/** @type {string} */ text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const documents = tools.map((tool) => {
    const list = words(`${tool.name} ${tool.name} ${tool.description ?? ''} ${parametersText(tool)}`);
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (const word of list) counts.set(word, (counts.get(word) ?? 0) + 1);
    return { id: idOf(tool), counts, length: list.length };
  });
  const average = documents.reduce((sum, { length }) => sum + length, 0) / documents.length;
  /** @type {Map<string, number>} */
  const holders = new Map();
  for (const { counts } of documents)
    for (const word of counts.keys()) holders.set(word, (holders.get(word) ?? 0) + 1);
  const rarity = (/** @type {number} */ having) =>
    Math.log(1 + (tools.length - having + 0.5) / (having + 0.5));
  return (query) => {
    const asked = words(query).map((word) => ({ word, idf: rarity(holders.get(word) ?? 0) }));
    return documents
      .map(({ id, counts, length }) => {
        const norm = k * (1 - b + (b * length) / average);
        const part = (/** @type {number} */ times) => (times * (k + 1)) / (times + norm);
        return {
          id,
          score: asked.reduce((sum, { word, idf }) => sum + idf * part(counts.get(word) ?? 0), 0),
        };
      })
      .filter(({ score }) => score > 0)
      .sort((one, other) => other.score - one.score)
      .map(({ id }) => id);
  };
}

/**
 * Returns the tools of CATALOG as clients are shown them, with the keywords of their definitions.
 * @param {any} catalog
 * @returns {Tool[]}
 */
export function builtIn(catalog) {
  return [...catalog.values()].map(({ name, fullDescription, inputSchema, keywords }) => ({
    name,
    description: fullDescription,
    inputSchema,
    keywords,
  }));
}

/**
 * Returns what our search finds over CATALOG, and whether a request has an answer that is not marked as weak.
 * @param {any} library
 * @param {any} catalog
 * @returns {OurFinder}
 */
export function ourFinder({ searchTools }, catalog) {
  const search = (/** @type {string} */ query) => searchTools({ query, limit: 10 }, catalog).tools;
  return {
    find: (/** @type {string} */ query) =>
      search(query).map((/** @type {any} */ tool) => tool.id ?? tool.name),
    literal: (/** @type {string} */ query) =>
      search(query).flatMap((/** @type {any} */ tool) => (tool.searchScore ? [tool.id ?? tool.name] : [])),
    isSure: (/** @type {string} */ query) =>
      search(query).some((/** @type {any} */ tool) => tool.match !== 'weak'),
  };
}

/**
 * Returns TOOLS and as many like them that there are COUNT: clones, in which two of five words are those of others.
 * @param {readonly Tool[]} tools
 * @param {number} count
 * @returns {Tool[]}
 */
export function grown(tools, count) {
  let state = 1;
  const random = (/** @type {number} */ below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const all = tools.flatMap((tool) => (tool.description ?? '').match(/[\p{L}\p{N}]+/gu) ?? []);
  const changed = (/** @type {string} */ text) =>
    text.replace(/[\p{L}\p{N}]+/gu, (word) => (random(5) < 2 ? (all[random(all.length)] ?? word) : word));
  const clones = Array.from({ length: Math.max(0, count - tools.length) }, (_, at) => {
    const tool = tools[at % tools.length] ?? { name: 'none' };
    return {
      ...tool,
      id: `clone-${at}`,
      name: `${changed(tool.name)}_${at}`,
      description: changed(tool.description ?? ''),
    };
  });
  return [...tools, ...clones];
}
