// Decides how a list is put into groups.

/** Returns ITEMS in groups, in their order, by what KEY returns of each. */
export function groupBy<Item>(items: Item[], key: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return groups;
}
