// Defines the tool inspect, which shows the parts of objects in the image.

import type { Image } from '../../image/image.ts';
import type { Holders, HoldingPath, InspectData } from '../../image/wire/operations.ts';
import { beyondNote, hasMore, joinSections, listText } from '../../kernel/reply.ts';
import { defineTool, type Result, type ToolDescription } from '../../kernel/tool.ts';
import { callOptions } from '../calling.ts';
import { foundValue, isLookupFailure, lookupResult, PACKAGE, packageOf } from '../lookup.ts';
import { countText } from '../observe/units.ts';
import { LIMIT, OFFSET, pageOf } from '../paging.ts';

const INSPECT = {
  name: 'inspect',
  description:
    'Look into an object: slots, elements, hash table entries or closure values; for a leak, its holders. For classes use class_slots, for names describe_symbol. Parts have ids; path selects a part. Evaluates nothing.',
  parameters: [
    {
      name: 'value',
      type: 'string',
      description: '*config*, * (the last value), #\'function, class, "PACKAGE" or @12',
      isOfImage: 'object',
    },
    {
      name: 'path',
      type: 'array',
      items: { type: 'string' },
      description: 'Parts: ["acceptor", "port"]',
    },
    { name: 'holders', type: 'boolean', description: 'What keeps it, or instances, alive' },
    PACKAGE,
    LIMIT,
    OFFSET,
  ],
  required: ['value'],
  categories: ['execution'],
  shortDescription: 'Look into an object: slots, elements, hash table entries, closures, by id and path',
  complexity: 'simple',
  keywords: [
    'data structure',
    'inspect an object',
    'value of a variable',
    'slots of an instance',
    'hash table contents',
    'describe object',
    'elements of a vector',
    'memory leak',
  ],
} as const satisfies ToolDescription;

/** Returns the tool inspect for IMAGE. */
export function inspectTool(image: Image) {
  return defineTool({
    ...INSPECT,
    handler: async (args, context) => {
      const { offset, limit } = pageOf(args, context, args.holders ? 5 : 20);
      const { value, path = [], holders } = args;
      const reply = await image.call(
        'inspect',
        { value, path, ...(holders && { holders }), ...packageOf(args), offset, limit },
        callOptions(context),
      );
      const data = foundValue(reply);
      return isLookupFailure(data) ? lookupResult(data) : inspectResult(data, value, offset);
    },
  });
}

/** Returns sentences about SHARING keys of a hash table that have the same hash. KEYS is a phrase for all keys. */
export function crowdText(sharing: number, keys: string): string {
  const count = sharing.toLocaleString('en-US');
  return `${count} of ${keys} have the same hash, so looking one up takes up to ${count} comparisons. Use keys whose hashes differ, or a hash function of your own (sb-ext:define-hash-table-test).`;
}

function inspectResult(data: InspectData, designator: string, offset: number): Result {
  const failure = failureText(data, designator);
  if (failure !== undefined) return { data, text: failure, absent: true };
  const { type, total = 0, more, holders, crowd } = data;
  const object = withId(data.value ?? '', data.id);
  if (holders !== undefined) return { data, text: holdersText(holders, object) };
  // Parts that are strings come only with `noPart` (see failureText).
  const parts = (data.parts ?? []).flatMap((part) => (typeof part === 'string' ? [] : [part]));
  const rows = parts.map(({ name, value, why, id }) => `${name} = ${withId(value ?? `(${why})`, id)}`);
  const page = { offset, shown: rows.length, total };
  const size = more
    ? `more than ${total} parts; only the first ${total} can be listed`
    : `${total} ${total === 1 ? 'part' : 'parts'}`;
  const text = joinSections([
    `${object}\nType: ${type}${total > 0 ? `, ${size}` : ''}`,
    crowd !== undefined && crowdText(crowd, 'its keys'),
    rows.length > 0 && listText(rows, hasMore(page)),
    beyondNote(page, 'parts'),
  ]);
  return { data, text };
}

function withId(value: string, id: string | undefined): string {
  return id === undefined ? value : `${value}  ${id}`;
}

function failureText(data: InspectData, designator: string): string | undefined {
  const { goneId, foreignId, noFunction, isForm, noValue, noPart, why, total = 0 } = data;
  if (noValue)
    return "Parameter 'value' is empty; give a variable, an id such as @12, or * for the last value.";
  if (noFunction !== undefined) return `There is no function ${noFunction}.`;
  if (isForm) return `inspect evaluates nothing: eval_form ${designator} first, then inspect *.`;
  if (goneId !== undefined) {
    return `${goneId} is gone: the object was garbage-collected, or the image was replaced. Look the object up again to get a new id.`;
  }
  if (foreignId !== undefined) {
    return `${foreignId} is not an id of this session: it comes from another server of the image, or from a connection that was lost. To get an id here, show the object with eval_form or inspect.`;
  }
  if (noPart === undefined) return undefined;
  if (why !== undefined) return `The part ${noPart} of ${data.in} cannot be shown: ${why}.`;
  // With `noPart`, the parts are the names of those that exist.
  const names = (data.parts ?? []).map(String);
  const known =
    names.length === 0
      ? 'it has none'
      : `it has ${names.join(', ')}${total > names.length ? `, and ${total - names.length} more` : ''}`;
  return `${data.in} has no part ${noPart}: ${known}.`;
}

/** Returns HOLDERS as text. Each chain of references to the object has a section. SHOWN is the name of the object. */
function holdersText(holders: Holders, shown: string): string {
  const { many = false, found, ways = [], total, unheld = false } = holders;
  if (unheld) {
    return `${shown} cannot become garbage: numbers and characters are not heap objects, and a symbol is held by its package. Ask for an object that could be garbage.`;
  }
  const more = total - ways.length;
  return joinSections([
    headText(holders, shown),
    ...ways.map((way) => wayText(way, many && found > 1)),
    more > 0 && `... ${countText(more, 'more way')}; limit shows more.`,
    notesText(holders),
  ]);
}

function headText({ many, found, system }: Holders, shown: string): string {
  if (found === 0) {
    const what = many ? `an instance of ${shown}` : shown;
    return `No object of the program refers to ${what}: it is garbage, or held only by answers (*, held errors) or running calls.`;
  }
  const own = system ? ' All holders belong to SBCL.' : '';
  return many
    ? `${countText(found, 'instance')} of ${shown} kept alive.${own}`
    : `${shown} is kept alive by ${countText(found, 'reference')}.${own}`;
}

function wayText({ count, steps }: HoldingPath, withCount: boolean): string {
  const lines = steps.map(
    ({ part, value, id }, index) => `${index === 0 ? '' : '  '}${part} = ${withId(value, id)}`,
  );
  return [...(withCount ? [`${count.toLocaleString('en-US')} like this:`] : []), ...lines].join('\n');
}

function notesText({ full, silent = [] }: Holders): string | undefined {
  const notes = [
    full !== undefined &&
      `Only the ${full.toLocaleString('en-US')} objects nearest to the roots were searched, so there may be more holders.`,
    silent.length > 0 &&
      `The stacks of these threads could not be read: ${silent.join(', ')}. The threads run foreign code, or cannot be interrupted.`,
  ].filter(Boolean);
  return notes.length > 0 ? notes.map((note) => `Note: ${note}`).join('\n') : undefined;
}
