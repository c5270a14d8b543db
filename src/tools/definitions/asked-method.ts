// Finds the method that an argument of a tool names by a form such as (defmethod area (circle)).

import type { Image } from '../../image/image.ts';
import { fewOf } from '../../kernel/reply.ts';
import type { CallContext, Result } from '../../kernel/tool.ts';
import { methodKey } from '../../source/definition.ts';
import { definedName } from '../../source/qualified.ts';
import { callOptions } from '../calling.ts';
import { foundValue, isLookupFailure, packageOf } from '../lookup.ts';
import type { AskedDefinition } from './asked-names.ts';

/** Maximum number of methods to list when a generic function lacks the requested one. */
const METHODS = 20;
/** Maximum number of methods among which the requested one is searched; no generic function has so many. */
export const METHOD_LIMIT = 10_000;

/** Looks up the method that a call asks for. If the image has the method, `method` is its qualifiers and specializers as
 * the image prints them. If the generic function lacks the method, `missing` is the answer to the call. Both are
 * undefined if the call asks for no method, or if the image lacks the generic function. */
export async function askedMethod(
  image: Image,
  { name, form }: AskedDefinition,
  args: { package?: string },
  context: CallContext,
): Promise<{ method?: string; missing?: Result }> {
  if (form?.operator !== 'DEFMETHOD' || form.methods === undefined) return {};
  const lookup = { name, ...packageOf(args), offset: 0, limit: METHOD_LIMIT };
  const described = foundValue(await image.call('describe', lookup, callOptions(context)));
  if (isLookupFailure(described)) return {};
  const nature = form.symbol.startsWith('SETF ') ? 'SETF FUNCTION' : 'GENERIC-FUNCTION';
  const all = described.things?.find((thing) => thing.nature === nature)?.methods ?? [];
  const methods = all.map(({ description = '' }) => description);
  const method = methods.find((each) => form.methods?.includes(methodKey(each)));
  // The form in an EQL specializer is not the object that the image prints, so the two cannot be compared.
  if (methods.length === 0 || form.methods.some((each) => /\bEQL\b/.test(each)) || method !== undefined)
    return method === undefined ? {} : { method };
  return {
    missing: {
      data: { noMethod: form.head, methods },
      text: `${definedName(described.symbol, nature)} has no method ${form.head}. Its methods: ${fewOf(methods, METHODS)}.`,
      absent: true,
    },
  };
}
