// Draws the picture of a session in README.md: what the tutorial does, as an SVG that is light or dark as its reader is.

const COLUMNS = 104;
const LINE = 20;
const CHARACTER = 8.05;
const MARGIN = 24;
const BAR = 40;

const STYLE = `
  .card { fill: #ffffff; stroke: #d0d7de; } .bar { fill: #f6f8fa; } .asked { fill: #fff8c5; stroke: #d4a72c; }
  text { font: 13.4px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre; fill: #1f2328; }
  .call { fill: #0550ae; font-weight: 600; } .quiet { fill: #59636e; } .added { fill: #116329; } .error { fill: #a40e26; }
  @media (prefers-color-scheme: dark) {
    .card { fill: #0d1117; stroke: #30363d; } .bar { fill: #161b22; } .asked { fill: #272115; stroke: #9e6a03; }
    text { fill: #e6edf3; } .call { fill: #79c0ff; } .quiet { fill: #9198a1; } .added { fill: #7ee787; } .error { fill: #ff7b72; }
  }`;

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function cut(text) {
  return text.length > COLUMNS ? `${text.slice(0, COLUMNS - 1)}…` : text;
}

/** Returns the lines of a call, and those of its answer that KEEP says, each with the class that it is drawn in. */
function callLines({ tool, args, text }, keep) {
  const answer = text.split('\n').filter(keep);
  return [
    { line: `> ${tool} ${JSON.stringify(args)}`, kind: 'call' },
    ...answer.map((line) => ({ line: `  ${line}`, kind: line.startsWith('Error: ') ? 'error' : '' })),
  ];
}

/** Returns what of the tutorial the picture shows. REPORTED is what `tutorial` returned. */
function shownLines({ load, see, fix, try: tried, test, question }) {
  const blank = { line: '', kind: '' };
  const asked = [];
  for (const line of question.split('\n')) {
    const goesOn = line.startsWith('…') && asked.at(-1)?.kind === 'added';
    asked.push({ line: `  ${line}`, kind: line.startsWith('+') || goesOn ? 'added' : 'quiet', asked: true });
  }
  return [
    { line: '“cl-ppcre takes a{2,1}, which can match nothing. Mend that.”', kind: 'quiet' },
    blank,
    ...callLines(load[0], (line) => line.startsWith('Loaded')),
    ...callLines(see[0], (line) => line !== ''),
    ...callLines(fix[0], () => false),
    ...asked,
    ...callLines(fix[0], (line) => line !== '').slice(1),
    ...callLines(tried[0], (line) => /^(Error|Type|Frames| {2}[0-1]:)/.test(line)),
    ...callLines(test[0], (line) => /passed/.test(line)),
  ];
}

/** Returns the picture as the text of an SVG. REPORTED is what `tutorial` returned. */
export function picture(reported) {
  const lines = shownLines(reported);
  const width = Math.round(COLUMNS * CHARACTER + 2 * MARGIN);
  const height = BAR + lines.length * LINE + 2 * MARGIN - 8;
  const at = (index) => BAR + MARGIN + index * LINE;
  const first = lines.findIndex(({ asked }) => asked);
  const count = lines.filter(({ asked }) => asked).length;
  const texts = lines.map(
    ({ line, kind }, index) =>
      `  <text x="${MARGIN}" y="${at(index)}"${kind && ` class="${kind}"`}>${escaped(cut(line))}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" xml:space="preserve" role="img" aria-labelledby="title">`,
    '  <title id="title">A session: an agent finds a bug of cl-ppcre in the running image, asks before it changes the file, and tries the fix.</title>',
    `  <style>${STYLE}\n  </style>`,
    `  <rect class="card" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>`,
    `  <path class="bar" d="M1 ${BAR}V8a7 7 0 0 1 7-7h${width - 16}a7 7 0 0 1 7 7v${BAR - 8}z"/>`,
    `  <text x="${MARGIN}" y="26" class="quiet">live-lisp</text>`,
    `  <rect class="asked" x="${MARGIN - 6}" y="${at(first) - 16}" width="${width - 2 * MARGIN + 12}" height="${count * LINE + 4}" rx="4"/>`,
    ...texts,
    '</svg>',
    '',
  ].join('\n');
}
