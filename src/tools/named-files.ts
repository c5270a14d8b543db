// Collects the file names in an answer of the image.

/** Returns FILES and the values of all members `file`, `files` and `testFiles` at any depth of the answer
 *  TOLD. */
export function namedFiles(told: object, files: string[] = []): string[] {
  for (const [name, value] of Object.entries(told)) {
    if (typeof value === 'string') {
      if (name === 'file') files.push(value);
    } else if (Array.isArray(value)) {
      const [first] = value;
      if (typeof first !== 'string') namedFiles(value, files);
      else if (name === 'files' || name === 'testFiles') files.push(...value.filter(isText));
    } else if (typeof value === 'object' && value !== null) namedFiles(value, files);
  }
  return files;
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}
