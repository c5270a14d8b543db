// Reads JSON that may have any content.

/** The members of a JSON object. Their values are not checked. */
export type Members = { readonly [name: string]: unknown };

/** Returns true when VALUE is an object but not an array. */
export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns true when the values in VALUE are nested more than LEVELS deep. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels < 0 || Object.values(value).some((each) => isDeeper(each, levels - 1));
}

/** Returns the members of the JSON object in TEXT. If TEXT is not a complete JSON object, returns an object without
 * members. */
export function membersOf(text: string): Members {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
