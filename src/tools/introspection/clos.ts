// The tools class_slots and class_hierarchy, which show the slots, superclasses and subclasses of a class.

import type { Image } from '../../image/image.ts';
import type { ClassHead, ClassHierarchyData, ClassSlotsData, SlotData } from '../../image/wire/operations.ts';
import {
  fittingRows,
  hasMore,
  joinSections,
  labelled,
  listsText,
  pagedList,
  pageNote,
} from '../../kernel/reply.ts';
import { defineTool, type ToolDescription } from '../../kernel/tool.ts';
import { setfName } from '../../source/qualified.ts';
import { allIn, SHARING, sharedHome } from '../alike-rows.ts';
import { callOptions } from '../calling.ts';
import { lookedUp, PACKAGE, packageOf } from '../lookup.ts';
import { LIMIT, OFFSET, pageOf } from '../paging.ts';

const CLASS = {
  name: 'class',
  type: 'string',
} as const;

const CLASS_SLOTS = {
  name: 'class_slots',
  description:
    'Show which slots (fields) a class, struct or condition has, own or inherited: each with initarg, default, type and accessor; also constructors of structures. For the values of an instance use inspect.',
  parameters: [CLASS, PACKAGE, LIMIT, OFFSET],
  required: ['class'],
  categories: ['introspection', 'clos'],
  shortDescription: 'Show the slots of a class or structure, own and inherited, with their accessors',
  complexity: 'simple',
  keywords: [
    'attributes of a class',
    'structure slots',
    'accessors readers writers',
    'class slots',
    'fields of a class',
    'initargs and initforms',
    'slot type',
    'inherited slots',
  ],
} as const satisfies ToolDescription;

export function classSlotsTool(image: Image) {
  return defineTool({
    ...CLASS_SLOTS,
    handler: async (args, context) => {
      const page = pageOf(args, context);
      const reply = await image.call(
        'class-slots',
        { name: args.class, ...packageOf(args), ...page },
        callOptions(context),
      );
      return lookedUp(reply, (found) => ({ data: found, text: slotsText(found, page.offset) }));
    },
  });
}

function slotsText(data: ClassSlotsData, offset: number): string {
  // `slots` is one page of the slots. `direct` and `inherited` count all slots.
  const { direct, inherited, slots = [], defaultInitargs = [], constructors = [], missing = [] } = data;
  const head = [
    ...headLines(data),
    defaultInitargs.length > 0 &&
      `Default initargs: ${defaultInitargs.map(([key, form]) => `${key} ${form}`).join(', ')}`,
    constructors.length > 0 && labelled('Constructors', constructors.join('\n')),
    labelled('Documentation', data.documentation),
    missing.length > 0 &&
      `Note: superclasses not defined yet, so their slots are not known: ${missing.join(', ')}.`,
  ];
  const home = slotsHome(slots.filter((slot) => slot.direct));
  const inheritedHome = slotsHome(slots.filter((slot) => !slot.direct));
  const lines = fittingRows(slots.map((slot) => slotText(slot, slot.direct ? home : inheritedHome)));
  const page = { offset, shown: lines.length, total: direct + inherited };
  const directHeader = `Direct slots (${direct})${allIn(home)}:`;
  const inheritedHeader = `Inherited slots (${inherited})${allIn(inheritedHome)}:`;
  const blocks = lines.map((text, index) => ({
    header: slots[index]?.direct ? directHeader : inheritedHeader,
    text,
  }));
  const headers = [direct > 0 && directHeader, inherited > 0 && inheritedHeader].filter(Boolean).join('\n');
  return joinSections([
    head.filter(Boolean).join('\n'),
    page.total === 0
      ? 'No slots.'
      : [listsText(blocks, hasMore(page), headers), pageNote(page, 'slots')].filter(Boolean).join('\n'),
  ]);
}

/** Returns the prefix `PACKAGE::` that all names of SLOTS share. Returns '' when they share none, and when there are
 * few slots. */
function slotsHome(slots: readonly SlotData[]): string {
  const names = slots.flatMap(({ name, definers = [], readers = [], writers = [] }) => [
    name,
    ...definers,
    ...readers,
    ...writers,
  ]);
  return slots.length < SHARING ? '' : sharedHome(names);
}

/** Returns SLOT as text, like a slot in a DEFCLASS form, with its documentation and the classes that define it. HOME is
 * a package prefix such as `PACKAGE::`, which is removed from all names. */
function slotText(slot: SlotData, home = ''): string {
  const { definers = [], initargs = [], readers = [], writers = [] } = slot;
  const short = (name: string) => name.slice(home.length);
  const accessors = readers.filter((name) => writers.includes(setfName(name)));
  // The first definer of a direct slot is the class itself.
  const others = definers.slice(slot.direct ? 1 : 0).map(short);
  const origin = others.length > 0 && `(${slot.direct ? 'also in' : 'from'} ${others.join(', ')})`;
  const onlyRead = readers.filter((name) => !accessors.includes(name));
  const onlyWrite = writers.filter((name) => !accessors.map(setfName).includes(name));
  const options = [
    ...initargs.map((initarg) => `:INITARG ${initarg}`),
    slot.initform !== undefined && `:INITFORM ${slot.initform}`,
    slot.type && `:TYPE ${slot.type}`,
    ...accessors.map((name) => `:ACCESSOR ${short(name)}`),
    ...onlyRead.map((name) => `:READER ${short(name)}`),
    ...onlyWrite.map((name) => `:WRITER ${short(name)}`),
    slot.allocation && `:ALLOCATION ${slot.allocation}`,
  ];
  const line = [short(slot.name), origin, options.filter(Boolean).join(' ')].filter(Boolean).join('  ');
  const documentation = slot.documentation?.replace(/\s*\n\s*/g, ' ');
  return documentation ? `${line}\n    ${documentation}` : line;
}

function headLines({ name, properName, kind, finalized }: ClassHead): (string | false)[] {
  const defined = kind !== 'FORWARD-REFERENCED CLASS';
  return [
    `${name} [${kind}]`,
    properName !== undefined && `Its proper name: ${properName}`,
    defined && !finalized && 'Not finalized: what it inherits is not settled yet.',
    !defined && 'Not defined: it is only named as a superclass.',
  ];
}

const CLASS_HIERARCHY = {
  name: 'class_hierarchy',
  description:
    'Show which classes a class, structure or condition inherits from, by precedence, and the tree of its subclasses, such as the errors that a handler-case catches. For slots use class_slots.',
  parameters: [
    CLASS,
    PACKAGE,
    {
      name: 'direction',
      type: 'string',
      enum: ['up', 'down', 'both'],
      default: 'both',
    },
    LIMIT,
    OFFSET,
  ],
  required: ['class'],
  categories: ['introspection', 'clos'],
  shortDescription: 'Show the superclasses, precedence list and tree of subclasses of a class',
  complexity: 'simple',
  keywords: [
    'superclasses',
    'inheritance tree',
    'parent classes',
    'derived classes',
    'class hierarchy',
    'subclasses',
    'class precedence list',
    'type hierarchy',
  ],
} as const satisfies ToolDescription;

export function classHierarchyTool(image: Image) {
  return defineTool({
    ...CLASS_HIERARCHY,
    handler: async (args, context) => {
      const page = pageOf(args, context);
      const { direction } = args;
      const [up, down] = [direction !== 'down', direction !== 'up'];
      const request = { name: args.class, ...packageOf(args), up, down, ...page };
      const reply = await image.call('class-hierarchy', request, callOptions(context));
      return lookedUp(reply, (found) => ({ data: found, text: hierarchyText(found, page.offset) }));
    },
  });
}

function hierarchyText(data: ClassHierarchyData, offset: number): string {
  const { supers = [], ancestors = [], finalized } = data;
  // The first of `ancestors` is the class itself, which belongs in a precedence list only.
  const above = finalized ? ancestors : ancestors.slice(1);
  const head = [
    ...headLines(data),
    `Metaclass: ${data.metaclass}`,
    supers.length > 0 && `Direct superclasses: ${supers.join(', ')}`,
    above.length > 0 && `${finalized ? 'Precedence list' : 'Known superclasses'}: ${above.join(', ')}`,
  ];
  return joinSections([head.filter(Boolean).join('\n'), treeText(data, offset)]);
}

function treeText(data: ClassHierarchyData, offset: number): string | undefined {
  const { subclasses, directSubclasses, rowCount = 0, rows = [] } = data;
  if (subclasses === undefined) return undefined;
  if (subclasses === 0) return 'No subclasses.';
  const lines = rows.map(
    ({ name, level, again }) => `${'  '.repeat(level)}${name}${again ? ' (its subclasses stand above)' : ''}`,
  );
  const count = subclasses === directSubclasses ? 'all direct' : `${directSubclasses} direct`;
  return `Subclasses (${subclasses}, ${count}):\n\n${pagedList(lines, offset, rowCount, 'lines')}`;
}
