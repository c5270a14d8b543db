// Decides which files an answer of the image names.

/** Returns the files that TOLD, an answer of the image or a part of one, names in a member for a file or for several. */
export function namedFiles(told: unknown, files: string[] = []): string[] {
  if (Array.isArray(told)) for (const each of told) namedFiles(each, files);
  else if (typeof told === 'object' && told !== null) {
    for (const [name, value] of Object.entries(told)) {
      if (typeof value === 'object') {
        if (/^(?:files|testFiles)$/.test(name) && Array.isArray(value))
          files.push(...value.filter((each) => typeof each === 'string'));
        else namedFiles(value, files);
      } else if (name === 'file' && typeof value === 'string') files.push(value);
    }
  }
  return files;
}
