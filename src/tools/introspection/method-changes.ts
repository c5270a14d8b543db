// Finds the keywords and methods that a new method, or a new lambda list of a generic function, makes
// invalid.

import type { ImpactData, Place } from '../../image/wire/operations.ts';
import { methodKey } from '../../source/definition.ts';
import type { DefinitionDetails } from '../../source/definition-details.ts';
import { disagreement, type LambdaList, parsedLambdaList } from '../../source/lambda-list.ts';

/** Returns the lambda list that calls must fit after the method DEFINITION is defined. Returns undefined when no call
 * can break. A call can break only if the replaced method accepts a keyword that no method accepts afterwards. */
export function lambdaListWithMethod(
  { methods = [], arglist }: ImpactData,
  definition: DefinitionDetails,
): LambdaList | undefined {
  const replaced = methods.find(({ place }) => methodKey(place.description ?? '') === definition.method);
  const [own, old] = [arglist, replaced?.arglist].map((text) => text && parsedLambdaList(text));
  const others = methods
    .filter((method) => method !== replaced)
    .map((method) => parsedLambdaList(method.arglist));
  const lists = [own || undefined, definition.lambdaList, ...others];
  if (!own || !old || lists.some((list) => list?.otherKeys)) return undefined;
  const keys = lists.flatMap((list) => list?.keys ?? []);
  return old.keys?.some((key) => !keys.includes(key)) ? { ...own, keys } : undefined;
}

/** Returns the methods that are not congruent with LIST, the new lambda list of the generic function. If OF_METHOD is
 * true, LIST is the lambda list of a new method, and only this method is checked. SITE returns the place of a
 * method. */
export function incongruentMethods(
  { methods = [], arglist }: ImpactData,
  list: LambdaList | undefined,
  ofMethod: boolean,
  site: (place: Place) => { at: string; text: string },
) {
  if (list === undefined) return [];
  if (ofMethod) {
    const own = arglist === undefined ? undefined : parsedLambdaList(arglist);
    const why = own && disagreement(own, list);
    return why ? [{ at: 'the new definition', text: '', why }] : [];
  }
  return methods.flatMap(({ place, arglist: text }) => {
    const method = parsedLambdaList(text);
    const why = method && disagreement(list, method);
    return why ? [{ name: place.description ?? '', ...site(place), text: '', why }] : [];
  });
}
