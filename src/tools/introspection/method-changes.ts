// Decides which keywords calls of a generic function can give no more when a method takes the place of another.

import type { ImpactData } from '../../image/wire/introspection.ts';
import { headOf, namesIn } from '../../source/again.ts';
import type { Definition } from '../../source/definition.ts';
import { type LambdaList, parsedLambdaList } from '../../source/fits.ts';
import { readForm } from '../../source/form.ts';

/** Returns what calls of the generic function of FACTS can give once DEFINITION, of a method and with TEXT, is there.
 *  Returns undefined when the method in whose place it comes takes no keyword that goes. */
export function calledByMethod(
  { methods = [], arglist, features }: ImpactData,
  definition: Definition | undefined,
  text = '',
): LambdaList | undefined {
  const form = readForm(text, 0, new Set(features));
  const meant = form && headOf(form)?.method;
  const replaced = methods.find(({ place }) => namesIn(place.description ?? '') === meant);
  const [own, old] = [arglist, replaced?.arglist].map((each) => each && parsedLambdaList(each));
  const others = methods.filter((each) => each !== replaced).map((each) => parsedLambdaList(each.arglist));
  const lists = [own || undefined, definition?.lambdaList, ...others];
  if (!own || !old || lists.some((each) => each?.otherKeys)) return undefined;
  const keys = lists.flatMap((each) => each?.keys ?? []);
  return old.keys?.some((key) => !keys.includes(key)) ? { ...own, keys } : undefined;
}
