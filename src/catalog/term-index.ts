// Decides how much each term tells of a tool: BM25 over weighted fields. What a term scores is worked out once.

/** The parameters of BM25. K: how soon more of a term tells no more. B: how much the length of a field counts. D: what a
 *  term tells at least. */
const { k, b, d } = { k: 1.2, b: 0.3, d: 0.5 };

/** What one term tells of a document: the weight of each field that has it, and its score there. */
interface Evidence {
  fields: string[];
  weights: number[];
  scores: number[];
}

/** A document in which some terms were found. */
export interface Found {
  id: number;
  score: number;
  /** How many different terms. */
  terms: number;
}

/** Documents, of which each field is a list of terms. Their numbers are their places in the list. */
export class TermIndex {
  readonly #evidence = new Map<string, Map<number, Evidence>>();

  constructor(documents: readonly Record<string, readonly string[]>[], weights: Record<string, number>) {
    for (const [field, weight] of Object.entries(weights)) {
      this.#addField(
        field,
        weight,
        documents.map((document) => countOf(document[field] ?? [])),
      );
    }
  }

  /** Returns the documents with any of TERMS, each of which counts as BOOST says, the best first. */
  search(terms: readonly string[], boost: (term: string, at: number) => number): Found[] {
    const found = new Map<number, Found>();
    terms.forEach((term, at) => {
      const boosted = boost(term, at);
      const isNew = terms.indexOf(term) === at;
      for (const [id, evidence] of this.#evidence.get(term) ?? []) {
        const document = found.get(id) ?? { id, score: 0, terms: 0 };
        document.score += scoreOf(evidence, boosted);
        if (isNew) document.terms++;
        found.set(id, document);
      }
    });
    // Whoever has more of the terms is likelier meant.
    return [...found.values()]
      .map((document) => ({ ...document, score: document.score * document.terms }))
      .sort((one, other) => other.score - one.score);
  }

  /** Returns the fields of each document that have TERM. */
  fieldsWith(term: string): ReadonlyMap<number, { readonly fields: readonly string[] }> | undefined {
    return this.#evidence.get(term);
  }

  #addField(field: string, weight: number, counts: readonly ReadonlyMap<string, number>[]): void {
    const holders = countOf(counts.flatMap((count) => [...count.keys()]));
    const average = counts.reduce((sum, { size }) => sum + size, 0) / counts.length;
    counts.forEach((count, id) => {
      const length = 1 - b + (b * count.size) / average;
      for (const [term, times] of count) {
        const having = holders.get(term) ?? 0;
        const rarity = Math.log(1 + (counts.length - having + 0.5) / (having + 0.5));
        const documents = this.#evidence.get(term) ?? new Map<number, Evidence>();
        const evidence = documents.get(id) ?? { fields: [], weights: [], scores: [] };
        evidence.fields.push(field);
        evidence.weights.push(weight);
        evidence.scores.push(rarity * (d + (times * (k + 1)) / (times + k * length)));
        this.#evidence.set(term, documents.set(id, evidence));
      }
    });
  }
}

function scoreOf({ weights, scores }: Evidence, boost: number): number {
  let sum = 0;
  scores.forEach((score, field) => {
    sum += boost * (weights[field] ?? 0) * score;
  });
  return sum;
}

function countOf(terms: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return counts;
}
