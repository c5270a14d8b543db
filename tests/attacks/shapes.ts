// Texts of hostile shapes, of any size.

/** Returns TEXT as often as SIZE has room for it, and once at least. */
function repeated(text: string, size: number): string {
  return text.repeat(Math.max(1, Math.floor(size / text.length)));
}

/** Returns what PART gives for 0, 1 and so on, up to SIZE characters. */
function counted(part: (index: number) => string, size: number): string {
  const parts: string[] = [];
  for (let index = 0, length = 0; length < size; index++) {
    const text = part(index);
    parts.push(text);
    length += text.length;
  }
  return parts.join('');
}

/** Each returns a text of about so many characters. */
export const SHAPES: { readonly [name: string]: (size: number) => string } = {
  'closing parentheses': (size) => ')'.repeat(size),
  'opening parentheses': (size) => '('.repeat(size),
  'deep nesting': (size) => '('.repeat(size / 2) + ')'.repeat(size / 2),
  'nested calls': (size) => repeated('(foo ', size / 1.2) + ')'.repeat(size / 6),
  'forms in one line': (size) => counted((n) => `(defun f${n} (x) (g${n} x))`, size),
  'one list in one line': (size) => `(defparameter *x* '(${counted((n) => `(k${n} . ${n}) `, size)}))`,
  'a form that does not end, at the end': (size) =>
    `${counted((n) => `(defun f${n} (x)\n  (g${n} x))\n\n`, size)}(defun broken (\n`,
  'a form that does not end, at the begin': (size) =>
    `(defun broken (\n${counted((n) => `  (defun f${n} (x)\n  (g${n} x))\n\n`, size)}`,
  'a string that does not end': (size) =>
    `(defun f () "${counted((n) => `(defun f${n} (x)\n  "s" (g${n} x))\n`, size)}`,
  'a comment that does not end': (size) => `#| ${repeated('(a b) |', size)}`,
  'comments in comments': (size) => repeated('#|', size),
  'short comments': (size) => repeated('#| a |# ', size),
  quotes: (size) => "'".repeat(size),
  backquotes: (size) => '`'.repeat(size),
  commas: (size) => `(\`${repeated(',@', size)}`,
  'feature expressions': (size) => repeated('#+a ', size),
  'feature expressions in each other': (size) => repeated('#+(or ', size),
  labels: (size) => counted((n) => `#${n}=(a #${n}# `, size),
  'number signs': (size) => '#'.repeat(size),
  'a long number': (size) => `#${'1'.repeat(size)}`,
  bars: (size) => '|'.repeat(size),
  backslashes: (size) => '\\'.repeat(size),
  colons: (size) => ':'.repeat(size),
  'a long name': (size) => 'a'.repeat(size),
  'many names': (size) => counted((n) => `n${n} `, size),
  blanks: (size) => ' '.repeat(size),
  'empty lines': (size) => '\n'.repeat(size),
  'carriage returns': (size) => '\r'.repeat(size),
  'lines with CRLF': (size) => repeated('a\r\n', size),
  tabs: (size) => repeated('\t(a)', size),
  'many packages': (size) => counted((n) => `(in-package p${n})\n`, size),
  'bindings in each other': (size) => counted((n) => `(let ((a${n} 1)) `, size),
  'local functions in each other': (size) => counted((n) => `(flet ((f${n} (x) x)) `, size),
  'one name in all forms': (size) => repeated('(defun foo (x) (foo x))\n', size),
  'many methods': (size) => counted((n) => `(defmethod foo ((x c${n}) (y (eql '${n}))) (foo y x))\n`, size),
  'a long lambda list': (size) => `(defun foo (${counted((n) => `a${n} `, size)}) 1)`,
  'a list of keywords': (size) => `(&key ${counted((n) => `:k${n} `, size)})`,
  'a list of lists': (size) => `(${counted((n) => `(a${n} b) `, size)})`,
  'instances in a list': (size) =>
    `(defun f () (list ${counted((n) => `(make-instance 'foo :k${n} (slot-value x 'k${n})) `, size)}))`,
  'many slots': (size) => `(defclass c () (${counted((n) => `(s${n} :accessor s${n})`, size)}))`,
  'a long documentation': (size) => `(defun foo () "${repeated("foo FOO `foo' ", size)}" 1)`,
  'astral characters': (size) => repeated('𝄞', size),
  'stacked marks': (size) => `a${'\u0301'.repeat(size)}`,
  'characters that turn text round': (size) => '\u202e'.repeat(size),
  'codes of a terminal': (size) => repeated('\u001b[31m', size),
};
