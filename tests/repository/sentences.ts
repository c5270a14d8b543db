// Decides what the sentences of a file are: of its prose, comments, docstrings and the texts that it answers with.

import { type Piece, piecesOf } from './typescript.ts';

export interface Sentence {
  /** The line in which the text begins that it is part of. */
  line: number;
  text: string;
  words: number;
}

/** A text that is read on its own: a paragraph, an item, a cell, a comment, a string. */
interface Passage {
  line: number;
  text: string;
  /** Whether it can also be a list or a name: then only what ends as a sentence is one. */
  loose?: boolean;
}

/** Where one sentence ends and the next begins: what follows begins no word in lower case. */
const BETWEEN = /(?<=[.!?]["'”’)\]*_]*)\s+(?=[^\s\p{Ll}])/u;
const ENDED = /[.!?]["'”’)\]*_]*$/;

/** Returns how many words TEXT has; what has neither letter nor digit is none. */
export function wordsIn(text: string): number {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

/** Returns the sentences of PASSAGES. */
function sentencesIn(passages: readonly Passage[]): Sentence[] {
  return passages.flatMap(({ line, text, loose }) =>
    text
      .replace(/\s+/g, ' ')
      .trim()
      .split(BETWEEN)
      .map((sentence) => ({ line, text: sentence, words: wordsIn(sentence) }))
      .filter((sentence) => sentence.words > 0 && (!loose || ENDED.test(sentence.text))),
  );
}

/** Returns the paragraphs of TEXT, which begins in LINE. */
function paragraphs({ line, text, loose = false }: Passage): Passage[] {
  return text.split(/\n[ \t]*\n/).map((paragraph) => ({ line, text: paragraph, loose }));
}

/** Returns what the lines of the Markdown TEXT are read as: paragraphs, items, headings and cells, without code. */
function markdownPassages(text: string): Passage[] {
  const passages: Passage[] = [];
  let open: Passage | undefined;
  let fenced = false;
  for (const [index, content] of text.split('\n').entries()) {
    const line = index + 1;
    const fence = /^\s*```/.test(content);
    if (fence) fenced = !fenced;
    const [, mark = ''] = /^\s*(#+ |[-*] |\d+\. |\|)/.exec(content) ?? [];
    if (mark !== '' || fence || content.trim() === '') open = undefined;
    if (fence || fenced || content.trim() === '') continue;
    if (mark === '|') {
      passages.push(...content.split(/(?<!\\)\|/).map((cell) => ({ line, text: cell, loose: true })));
    } else if (open !== undefined) open.text += ` ${content}`;
    else {
      const passage = { line, text: content.trim().slice(mark.length) };
      passages.push(passage);
      open = mark.startsWith('#') ? undefined : passage;
    }
  }
  return passages;
}

/** Returns TEXT with each code span, or list of such, as one word, and links as what they show. */
function withoutMarks(text: string): string {
  return text
    .replace(/(`+)[^`]+\1/g, 'X')
    .replace(/\bX(?:(?:, and|, or|,| and| or)\s+X\b)+/g, 'X')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('**', '');
}

/** Returns the sentences of the Markdown TEXT. Blocks of code and comments have none. */
export function markdownSentences(text: string): Sentence[] {
  const shown = text.replace(/<!--[\s\S]*?-->/g, (comment) => comment.replace(/[^\n]/g, ''));
  return sentencesIn(
    markdownPassages(shown).map((passage) => ({ ...passage, text: withoutMarks(passage.text) })),
  );
}

function piecesThatAre(kind: Piece['kind'], text: string): Piece[] {
  return piecesOf(text).filter((piece) => piece.kind === kind);
}

/** Returns the sentences of the comments in TEXT, which is TypeScript or JavaScript. What describes a type's property
 *  or a parameter is read on its own. */
export function commentSentences(text: string): Sentence[] {
  const passages = piecesThatAre('comment', text).map(({ line, text: comment }) => ({
    line,
    text: comment.replace(/^\s*(?:\/\/|\/\*+|\*(?!\/))|\*\/$/gm, '').replace(/^(?=\s*@)/gm, '\n\n'),
  }));
  return sentencesIn(passages.flatMap(paragraphs));
}

/** Returns the sentences that the strings in TEXT hold, which is TypeScript or JavaScript. */
export function stringSentences(text: string): Sentence[] {
  const passages = piecesThatAre('string', text).map(({ line, text: string }) => ({
    line,
    text: string.replaceAll('\\n', '\n\n'),
    loose: true,
  }));
  return sentencesIn(passages.flatMap(paragraphs));
}

/** Comments, characters, strings and symbols in bars. */
const LISP = /;.*(?:\n[ \t]*;.*)*|#\|[\s\S]*?\|#|#\\.[\w-]*|"(?:\\[\s\S]|[^"\\])*"|\|[^|]*\|/g;

/** Returns the sentences of the Lisp TEXT: of its comments and its strings, docstrings and what it answers with. */
export function lispSentences(text: string): Sentence[] {
  const passages: Passage[] = [];
  for (const { 0: token, index } of text.matchAll(LISP)) {
    const line = text.slice(0, index).split('\n').length;
    if (token.startsWith('"')) {
      const content = token.slice(1, -1).replaceAll('~%', '\n\n').replaceAll('~\n', ' ');
      passages.push({ line, text: content, loose: true });
    } else if (/^(?:;|#\|)/.test(token)) {
      passages.push({ line, text: token.replace(/^\s*(?:;+|#\|)|\|#$/gm, '') });
    }
  }
  return sentencesIn(passages.flatMap(paragraphs));
}
