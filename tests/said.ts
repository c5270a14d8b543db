// Decides how those sentences of the program read that several tests expect, so that each stands once.

/** What is said when what a human approved of TOOL changed before it was done. */
export function changedMeanwhile(tool: string): string {
  return `What ${tool} would do has changed since it was approved, so nothing was done. Call it again to ask anew.`;
}

/** Returns MESSAGE, a question, with the word FILE for the file that has all of what it is about. */
export function withoutFile(message: string): string {
  return message.replace(/^All of it: .*$/m, 'All of it: FILE');
}

/** What is said when the image was lost during a call; HOW is part of the sentence. */
export function lostDuring(how: string): string {
  return `The Lisp image was lost during this call: ${how}. The next call gets a new image.`;
}

/** What is said to be lost with an image that is not built again, after COUNT evaluations. */
export function lostWithIt(count: number): string {
  const made = count === 1 ? '1 evaluation made' : `${count} evaluations made`;
  return `Lost with it: everything that ${made} (definitions, values, packages, the current package). Load or define again what you need.`;
}

/** What is said of the tool NAME, which there is not, nor one with a name like it. */
export function unknownTool(name: string): string {
  return `Unknown tool: ${name}. search_tools finds tools by what they do.`;
}

/** What is said of PARAMETER when 5 was given for a text. */
export function noString(parameter: string): string {
  return `Parameter '${parameter}' must be a string, not the number 5.`;
}

/** What is said of PARAMETER when 0 was given for a number from 1 on. */
export function belowOne(parameter: string): string {
  return `Parameter '${parameter}' must be at least 1, not 0.`;
}

/** What is said of the file NAME, which is KIND. */
export function noRegularFile(name: string, kind: string): string {
  return `${name} is ${kind}. File tools read and write regular files only.`;
}

export const NUL_IN_PATH = 'The path must not contain a NUL character.';
