// Decides how text from outside is put into a table of Markdown.

/** Returns TEXT as the cell of a table: short, on one line, and nothing in it marked up. */
export function cell(text) {
  const short = text.length > 110 ? `${text.slice(0, 107)}...` : text;
  return short
    .toWellFormed()
    .replace(/[\\|`*_<>#[\]]/g, '\\$&')
    .replace(/[\s\p{Cc}]+/gu, ' ');
}
