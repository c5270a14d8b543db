// Decides what a new method, or a new lambda list of a generic function, changes: keywords that go, methods that do not agree.

import type { Place } from '../../image/wire/data.ts';
import type { ImpactData } from '../../image/wire/introspection.ts';
import { headOf, namesIn } from '../../source/again.ts';
import type { Definition } from '../../source/definition.ts';
import { disagreement, type LambdaList, parsedLambdaList } from '../../source/fits.ts';
import { type Features, readForm } from '../../source/form.ts';

/** Returns what calls of the generic function of FACTS can give once DEFINITION, of a method and with TEXT, is there.
 *  The text is read under FEATURES. Returns undefined when the method in whose place it comes takes no keyword that goes. */
export function calledByMethod(
  { methods = [], arglist }: ImpactData,
  definition: Definition | undefined,
  features: Features,
  text = '',
): LambdaList | undefined {
  const form = readForm(text, 0, features);
  const meant = form && headOf(form, text)?.method;
  const replaced = methods.find(({ place }) => namesIn(place.description ?? '') === meant);
  const [own, old] = [arglist, replaced?.arglist].map((each) => each && parsedLambdaList(each));
  const others = methods.filter((each) => each !== replaced).map((each) => parsedLambdaList(each.arglist));
  const lists = [own || undefined, definition?.lambdaList, ...others];
  if (!own || !old || lists.some((each) => each?.otherKeys)) return undefined;
  const keys = lists.flatMap((each) => each?.keys ?? []);
  return old.keys?.some((key) => !keys.includes(key)) ? { ...own, keys } : undefined;
}

/** Returns the methods of FACTS that would not agree with the generic function: all of them when LIST is its new lambda
 *  list. LIST can also be OF_METHOD, a new one. SITE tells where a method is. */
export function disagreeing(
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
