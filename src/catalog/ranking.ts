// Decides which tools a request in plain words means, the likeliest first.

import { distance } from 'fastest-levenshtein';
import MiniSearch, { type SearchResult } from 'minisearch';
import { stemmer } from 'stemmer';
import type { ToolMetadata } from './metadata.ts';

/** Words that say nothing about a tool: grammar, and what every request says. */
const STOP_WORDS = wordSet(
  'a about above actually all also always am an and another any anybody anyone anything are aren as at be because been before being both but by can cannot could did didn do does doesn doing don each either else every everybody everyone everything for from getting got had has have having he her here him his how however i if in into is isn it its itself just know let lets like ll many may maybe me might much must my myself never no nobody none not now of off often on once one ones only or other our out own per please really s said same say says see shall should show shows since so some somebody someone something somewhere still such t tell than that the their them then there these they thing things this those through to too under until upon us ve very via want was wasn we were what whatever when where wherever whether which while who whom whose why will with would yet you your yourself',
);

/** Words of requests about anything. Beside words that no tool has, they do not make a request one about Lisp. */
const COMMON_WORDS = wordSet(
  'able abort abstract accept access account accurate across action active adapt add adjust affect after again against agent ago allocation allow alone already alter analysis ancestor answer ant anywhere apart app appear application apply appropriate approve apt area argument around arrive arrow ask assign assistant atomic attribute audit automatic available await back balance bar base bash bat beat become begin behave behaviour behind belong below beside best big biggest binary bind biography bit block blow board body boilerplate book boot bootstrap border bottom bound box break brew bring broke broken browse browser build bump bundle business button buy byte calculate call cancel candidate capability capture car care cargo carry case cat catch category cause cell center chain change channel charge cheat check child children choice choose chrome chronology clash class clause clean cleanly clear click client clock clone close club cluster collect colon color column combination come command comment common company compare compile complain complete compliance component compose compute concrete condition configure confirm conflict connect consent consequence console constant constructor consumer contain content continue control convention convert cook copier copy core correct cost count counterpart couple course cover crash create credential cross current cursor customer cut daily dance dangerous dash data database date day dead deal debugger decide decision declare decline decorate deep define definition delete demo denote deny depend deploy descendant describe description design detail develop diagnose diamond differ direct directly directory dirty discover discovery disk dispatch display distance distribution divide document done door double down draft draw drive driver drop dry dump duplicate duration dynamic earlier early earth easy echo edge edit editor effect efficient effort elsewhere email empty end energy engine enter entire entity entry enumerate environment equivalent error evaluate even event everyday everywhere exact exactly exam exception excerpt exchange execute exercise exist expand expect experience explain explorer export express extend external extra extract face fact fail failure fall family far fast faster father fault feature feel fetch few field figure file fill film filter final find fine finish fire first fit five fix flag flake flow fly folder follow food force forget forgot form format forward found fragment frame framework free fresh friend front full fully fun function further fuzzy game garbage general get give given global go gone good grant graph great green group grow guide hack half hand handle happen hard head health healthy heap hear heart heir hello helm help hidden high highlight hint history hit hold home hood hook hot hour house hover human hygiene idea identify image immediate impact implement import improve inbound incident include incoming increment index info inform inherit initial inner input insert inside insight inspect install instance instant interaction interest interface internal interrupt introduce invalid invoke item jar job join journal jump keep kept key keyword kid kill kind known label land language large last late latest law layout lead learn leave left length lens less letter level library license life lift light limit line link list listen literal little live load local locate lock log long look loop lose lost loud love low machine macro made magic mail main make man manage mandatory manual map mark market match math maximum meal mean meanwhile measure meet member memory mention menu merge message metal method middle migrate mind minimum minute mirror miss mistake mix mock mode model modify module moment money monkey month more morning mount mouse move movie multi multiple multiply music name narrow nature navigate near need nested network new newest next nice nickname night node note notebook nothing notice number object obsolete occur odd offer office offspring old online open operate option order organise origin orphan outcome outline output outside outstanding over oversight overview overwrite pack package page paint pair palette panel paper parameter parent park part partial party pass password past patch path pattern pay peek pen pending people perform period permanent permission person phone photo phrase pick picture piece pip pipe place plain plan plant play playground plug poetry point popular popup port position possible post power precedence predicate prepare prerequisite present press pretty preview previous price print private problem process produce product profile program programm progress project promise prompt proof properly property propose protect protocol prototype provide public pull purpose push put query question quick race radius raise ran random range rate raw reach read reader ready real reason recall receive recent record recursive red redo reduce refer reflection refresh refuse region register registry regular reject relate relative release relevant rely remain remember remove rename rent repair repeat replace replay reply report repository reproduce request require reserve reset resolution resolve resource rest restart restore result resume return reverse revert review rewrite right ring ripple rise risk risky road role roll room root rotate round route row rule run safe safety sale sample sanity save scaffold scale scan scene schedule school science scope score scratch screen script scroll sea seal search season seat second secret section secure seek select sell send sense separate serial series serve server service session set setup shadow shape share sheet shell shift ship shop short shown shuffle sibling side sign signature similar simple simulate single site size skeleton skill sleep slot slow small smart smoke smooth snap snippet social soft solution solve sonar song sort sound source space speak special specialist speech speed spell spend split sport spot spread spring square stack staff stage stale stand standard star start state statement static station statistical status stay step stick stock stone stop storage store story strangely stranger street string strong structure student study style sub subject submit suffix sugar suggest suitable suite sum summary super supply support sure surface survey suspicious swap sweet switch symbol synopsis system tab table tail take taken talk task tax teach team template temporarily ten term test text theme theory think third thread throw thrown ticket time timeline tip title today together toggle token told tone tool toolbox toolkit top total touch tour town trace track trade traffic trail train transcript transfer transform travel treat tree trend tried trigger trim trip true try turn tweak twice two type typo unable unfold unit unknown unlock unused unwind up update upload upstream upwards usage use user valid value variable verify version video view visit voice wait wake walk wall warm warning wash waste watch water wave way wear weather web week weight well went white whole wide wild win wind window wish wood word work workspace world worth wrap write writer written wrong year yes yesterday young zero zone',
);
/** What a common word counts beside another one: as a part of what a request is about, and of the score. */
const COMMON_PART = 0.3;
const COMMON_BOOST = 0.7;
/** What a request counts at least as: one common word alone tells little. */
const LEAST_WEIGHT = 0.8;

/** Fields of a tool, and how much a word in one tells. */
const WEIGHTS = { name: 2, best: 1.5, keywords: 2, short: 1.5, full: 0.5, parameters: 0.7, texts: 0.3 };
/** How many of a tool's keywords, which stand best first, tell most. */
const BEST_KEYWORDS = 8;
const WEAK_FIELDS = ['full', 'parameters', 'texts'];
const WEAK_PART = 0.4;

/** How much of a request a tool must be about, from 0 to 1, to be an answer. */
const LEAST_COVERAGE = 0.2;
/** Tools below this part of the best score are left out; the second when the best is about less of the request
 *  than SURE_COVERAGE. */
const LEAST_PART = 0.2;
const LEAST_PART_UNSURE = 0.7;
const SURE_COVERAGE = 0.4;

function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}

/** Characters of a request that are read. */
export const QUERY_LIMIT = 1000;

interface Index {
  tools: readonly ToolMetadata[];
  search: MiniSearch;
  /** All words and terms of the tools' texts. */
  vocabulary: ReadonlySet<string>;
  /** The stems in it of COMMON_WORDS; made with the index, since a start is to be quick. */
  common: ReadonlySet<string>;
}

let index: Index | undefined;

/** Returns those of TOOLS that have to do with QUERY, the likeliest first (S1.15). */
export function rankTools(query: string, tools: readonly ToolMetadata[]): ToolMetadata[] {
  if (index === undefined || !sameTools(index.tools, tools)) index = makeIndex(tools);
  const { search, vocabulary, common } = index;
  const { text, looks, hasNames } = readRequest(query.slice(0, QUERY_LIMIT), vocabulary);
  const written = terms(text).length;
  const boostOf = (term: string) => (common.has(term) ? COMMON_BOOST : 1);
  const boostTerm = (term: string, at: number) => (at < written ? boostOf(term) : LOOKS_BOOST);
  const asked = tellingWords(`${text} ${looks}`);
  const least = hasNames ? LEAST_COVERAGE / 2 : LEAST_COVERAGE;
  const found = search
    .search(`${text}, ${looks}`, { boostTerm })
    .map(({ id, score, match }) => ({ id, score, covered: coverage(asked, match, common) }))
    .filter(({ covered }) => covered >= least);
  const sure = found.some(({ covered }) => covered >= SURE_COVERAGE);
  const leastScore = (found[0]?.score ?? 0) * (sure ? LEAST_PART : LEAST_PART_UNSURE);
  return found.filter(({ score }) => score >= leastScore).flatMap(({ id }) => tools[id] ?? []);
}

function sameTools(one: readonly ToolMetadata[], other: readonly ToolMetadata[]): boolean {
  return one.length === other.length && one.every((tool, at) => tool === other[at]);
}

function makeIndex(tools: readonly ToolMetadata[]): Index {
  const texts = tools.map(fieldsOf);
  const search = new MiniSearch({
    fields: Object.keys(WEIGHTS),
    tokenize: terms,
    processTerm: (term) => term,
    searchOptions: { boost: WEIGHTS, bm25: { k: 1.2, b: 0.3, d: 0.5 } },
  });
  search.addAll(texts.map((fields, id) => ({ id, ...fields })));
  const all = texts.flatMap((fields) => Object.values(fields));
  const vocabulary = new Set(all.flatMap((text) => [...words(text), ...terms(text)]));
  const stems = [...COMMON_WORDS].map((word) => stemmer(word));
  const common = new Set(stems.filter((stem) => vocabulary.has(stem)));
  return { tools, search, vocabulary, common };
}

function fieldsOf(tool: ToolMetadata): Record<keyof typeof WEIGHTS, string> {
  const parameters = Object.entries(tool.inputSchema.properties);
  return {
    name: tool.name,
    best: tool.keywords.slice(0, BEST_KEYWORDS).join(', '),
    keywords: tool.keywords.join(', '),
    short: tool.shortDescription,
    full: tool.fullDescription,
    parameters: parameters.map(([name]) => name).join(', '),
    texts: parameters.map(([, { description }]) => String(description)).join(', '),
  };
}

/** Returns how much of the words ASKED for a tool is about in which MATCH was found, from 0 to 1. */
function coverage(asked: string[], match: SearchResult['match'], common: ReadonlySet<string>): number {
  const found = (term: string) => {
    const fields = Object.hasOwn(match, term) ? (match[term] ?? []) : [];
    if (fields.length === 0) return 0;
    return fields.every((field) => WEAK_FIELDS.includes(field)) ? WEAK_PART : 1;
  };
  const pairs = [0, ...pairsOf(asked).map(found)];
  const counts = new Map<string, [all: number, covered: number]>();
  asked.forEach((word, at) => {
    const term = stemmer(word);
    const inPair = Math.max(pairs[at] ?? 0, pairs[at + 1] ?? 0);
    const all = common.has(term) ? COMMON_PART + (1 - COMMON_PART) * inPair : 1;
    if (!counts.has(term)) counts.set(term, [all, all * Math.max(found(term), inPair)]);
  });
  const sum = (part: 0 | 1) => [...counts.values()].reduce((total, count) => total + count[part], 0);
  return sum(1) / Math.max(sum(0), LEAST_WEIGHT);
}

/** Words, and the keys of editors such as C-c and M-. */
const WORD = /(?<![\w-])[cms]-(?:[cms]-)?(?:[a-z0-9](?![\w-])|[^\s\w,;:])|[\p{L}\p{N}]+/gu;

/** Returns the words of TEXT in lower case; names in camelCase and snake_case are several. */
function words(text: string): string[] {
  return spaced(text).toLowerCase().match(WORD) ?? [];
}

const spaced = (text: string) => text.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2');

const tellingWords = (text: string) => words(text).filter((word) => !STOP_WORDS.has(word));

/** Returns the stems of the words of TEXT, and of each two that follow each other in a phrase, as one. */
function terms(text: string): string[] {
  return text.split(/(?<=[\p{L}\p{N})"'])[.:?!,;]\s/u).flatMap((phrase) => {
    const list = tellingWords(phrase);
    return [...list.map((word) => stemmer(word)), ...pairsOf(list)];
  });
}

/** Returns a term for each two words of LIST that follow each other: that of `stacktrace` for stack and trace. */
function pairsOf(list: readonly string[]): string[] {
  return list.slice(1).map((word, at) => stemmer(stemmer(list[at] ?? '') + word));
}

/** What a request is about in which something looks like this. */
const LOOKS: readonly [RegExp, string][] = [
  [/\S\.asd\b/i, 'asdf'],
  [/\S\.(?:lisp|lsp|cl)\b/i, 'source file'],
  [/\w\.(?:md|txt|json|ya?ml|toml|org|csv|html)\b/i, 'text file'],
  [/\([^\s()]+ .*\)/, 'evaluate expression'],
  [/\w::?[\w*]/, 'function'],
  [/(?<![\w.*+/"-])[a-z]\w*(?:-\w+)+(?![\w.*+/-])/, 'function'],
  [/\*\w[\w-]*\*/, 'value variable'],
  [/\+\w[\w-]*\+/, 'constant'],
];
/** What such a thing tells beside what the request says. */
const LOOKS_BOOST = 0.25;

/** Names as only Lisp has them, or a user's own: PACKAGE:NAME, *NAME*, FILE.EXTENSION, NAME-WITH-HYPHENS. */
const NAMES = /[\w.*+-]{0,80}::?[\w*+-]+|\*[\w-]+\*|\w+\.[\w.]+|\w+(?:-\w+)+/g;
/** A form of Lisp, of which the operator tells something, and the rest is names. */
const FORM = /(?<![\w"(])\(([^\s()]+)\s.*\)/s;

/** Returns what QUERY says, in words of VOCABULARY where it means them and without the names of the user's own;
 *  what it looks like; and whether it had such names. */
function readRequest(query: string, vocabulary: ReadonlySet<string>) {
  const known = (word: string) => vocabulary.has(word.toLowerCase()) || STOP_WORDS.has(word.toLowerCase());
  const isPhrase = (name: string) => words(name).every(known) && pairsOf(tellingWords(name)).every(known);
  const all = spaced(query);
  const plain = all.replace(FORM, ' $1 ').replace(NAMES, (name) => (isPhrase(name) ? name : ' '));
  return {
    text: plain.replace(/(?<!\p{L})[\p{Ll}\p{N}]{4,}(?!\p{L})/gu, (word) =>
      known(word) ? word : mended(word, vocabulary),
    ),
    looks: LOOKS.flatMap(([pattern, meaning]) => (pattern.test(query) ? meaning : [])).join(' '),
    hasNames: plain !== all,
  };
}

/** Returns the word of VOCABULARY that WORD is likeliest a slip of typing of, or WORD. */
function mended(word: string, vocabulary: ReadonlySet<string>): string {
  const letters = [...word].sort().join();
  let least = word.length < 8 ? 1.5 : 2.5;
  let best = word;
  for (const candidate of vocabulary) {
    if (candidate[0] !== word[0] || Math.abs(candidate.length - word.length) > 2) continue;
    const swapped = letters === [...candidate].sort().join();
    if (word.length < 6 && candidate.length === word.length && !swapped) continue;
    const cost = swapped ? distance(word, candidate) / 2 : distance(word, candidate);
    if (cost < least) [best, least] = [candidate, cost];
  }
  return best;
}
