// Finds the effects of a new method, or of a new lambda list of a generic function: lost keywords, incongruent methods.

import type { Place } from '../../image/wire/data.ts';
import type { ImpactData } from '../../image/wire/introspection.ts';
import { headOf, namesIn } from '../../source/again.ts';
import type { Definition } from '../../source/definition.ts';
import { disagreement, type LambdaList, parsedLambdaList } from '../../source/fits.ts';
import { type Features, readForm } from '../../source/form.ts';

/** Returns the lambda list that calls of the generic function in FACTS must fit after the new method DEFINITION, whose
 *  TEXT is read under FEATURES. Returns undefined when no keyword of the method that it replaces is lost. */
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

/** Returns the methods of FACTS not congruent with the generic function, whose new lambda list is LIST. When OF_METHOD,
 *  LIST is that of a new method, and only it is checked. SITE returns the place of a method. */
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
