// Performs read-only operations in the image. Renders answers that say which package, symbol, class or system does not
// exist.

import { CallError, ImageError } from '../errors.ts';
import type { Image } from '../image/image.ts';
import type { Ending } from '../image/wire/endings.ts';
import type { LookupFailure } from '../image/wire/operations.ts';
import type { CallContext, Result } from '../kernel/tool.ts';
import { callOptions } from './calling.ts';
import { endingText } from './endings.ts';
import { didYouMean, isNot } from './natures.ts';

/** The parameter `package` of tools that look up names. By default it is the session's current package. */
export const PACKAGE = {
  name: 'package',
  type: 'string',
  readsNames: true,
} as const;

/** Returns the package that ARGS name, as an argument for the image; {} when it is absent or ''. */
export function packageOf(args: { readonly package?: string }): { package?: string } {
  return args.package ? { package: args.package } : {};
}

/** Returns the answer for FAILURE: the image does not have the named package, symbol, class or system. The words for a
 * package, a symbol and a class are promised in docs/develop/contracts.md. */
function lookupText(failure: LookupFailure): string {
  switch (failure.failure) {
    case 'no-system':
      return `This image has no system ${failure.system}; load_system loads systems.`;
    case 'no-package':
      return withNear(`Package ${failure.package} not found`, failure);
    case 'no-symbol': {
      const { symbol, package: home, current, namesPackage } = failure;
      const text = withNear(`Symbol ${symbol} not found in package ${home} (status: NIL)`, failure);
      if (current !== undefined)
        return `${text}\nNote: ${current}, the current package, has a symbol ${symbol}; give package: "${current}" to ask about it.`;
      return namesPackage === undefined
        ? text
        : `${text}\nNote: ${namesPackage} is a package: list_package_symbols lists its symbols, and impact_of_change the forms that name it.`;
    }
    case 'no-class':
      return `Class ${failure.class} not found\nNote: ${isNot(failure.class, failure.natures ?? [], 'class')}`;
  }
}

function withNear(text: string, { near }: { near?: string[] }): string {
  const question = didYouMean(near);
  return question ? `${text}\n${question}` : text;
}

/** Returns true when VALUE says that a package, symbol, class or system is missing. */
export function isLookupFailure(value: object): value is LookupFailure {
  return 'failure' in value;
}

/** Returns the result that says which name is missing. For a model this is an answer and not a failure. */
export function lookupResult(failure: LookupFailure): Result {
  return { data: failure, text: lookupText(failure), absent: true, unfound: true };
}

/** Returns the value that a read-only operation returned. Throws a CallError when it signalled a condition, and an
 * ImageError when it ended otherwise. */
export function foundValue<Value>(reply: { ending: Ending; data: { value?: Value } }): Value {
  const { ending, data } = reply;
  if (ending.kind === 'condition') {
    throw new CallError(
      `The lookup failed, because code in the image signalled ${ending.condition.type}: ${ending.condition.text}`,
    );
  }
  if (ending.kind !== 'done' || data.value === undefined) throw new ImageError(endingText(ending));
  return data.value;
}

/** Returns the result that ANSWER makes from the value in REPLY. If REPLY says that a package, symbol, class or system
 * is missing, returns the result from `lookupResult`. Throws as `foundValue` does. */
export function lookedUp<Value extends object>(
  reply: { ending: Ending; data: { value?: Value } },
  answer: (found: Exclude<Value, LookupFailure>) => Result,
): Result {
  const found = foundValue(reply);
  return isLookupFailure(found) ? lookupResult(found) : answer(found as Exclude<Value, LookupFailure>);
}

/** Asks IMAGE for its *FEATURES*, so that the server's copy is current. Throws as `foundValue` does. */
export async function knowFeatures(image: Image, context: CallContext): Promise<void> {
  foundValue(await image.call('features', {}, callOptions(context)));
}
