// Decides the tools that show classes: their slots, and what is above and below them.

import type { Image } from '../../image/image.ts';
import type {
  ClassHead,
  ClassHierarchyData,
  ClassSlotsData,
  SlotData,
} from '../../image/wire/introspection.ts';
import { fittingRows, hasMore, joinSections, listsText, listText, pageNote } from '../../kernel/reply.ts';
import { defineTool, keywordList, type Parameter, type ToolDefinition } from '../../kernel/tool.ts';
import { callOptions, LIMIT, OFFSET, PACKAGE, pageArguments, stringArgument } from '../arguments.ts';
import { foundValue, isLookupFailure, labelled, lookupResult } from '../outcome.ts';

const CLASS: Parameter = {
  name: 'class',
  type: 'string',
  description: 'Class, structure or condition name, for example my-package::thing or standard-object',
};

const CLASS_SLOTS: Omit<ToolDefinition, 'handler'> = {
  name: 'class_slots',
  title: 'Show slots',
  description:
    'Show the slots of a class, structure or condition type: its own and the inherited ones with the class they come from, each with initargs, initform, type, readers, writers, accessors, allocation and documentation; also default initargs and the constructors of structures.',
  parameters: [CLASS, PACKAGE, LIMIT, OFFSET],
  required: ['class'],
  categories: ['introspection', 'clos'],
  shortDescription: 'Show the slots of a class or structure, own and inherited, with their accessors',
  complexity: 'simple',
  keywords: keywordList(`
    class slots, fields of a class, attributes of a class, initargs and initforms, accessors readers writers,
    slot type, structure slots, inherited slots, members of a struct, properties of an object, property names
    and types, instance variables, data members, slot definitions, does it have a slot, which slots has, what
    data does an instance hold, default value of a slot, default-initargs, keyword arguments of make-instance,
    which keywords can I pass to make-instance, make-instance accepts, how to construct create an instance,
    create an object, constructor keywords, constructor function, getters and setters, getter setter, reader of
    a slot, allocation class, shared slot, defclass defstruct define-condition, record fields, struct fields,
    struct members, condition slots, what information does a condition carry, which class does a slot come from,
    slots come from the superclass, own slots, effective slots, direct slots, mop, class-direct-slots,
    slot-value, with-slots, dataclass fields, interface, __slots__, __dict__, getDeclaredFields, reflection,
    schema of an object, shape of an object, memory layout of a struct, columns of a model, POJO fields, record
    components, vars(obj), attrs, pydantic model fields, fields of an instance, describe a class, what is stored
    in an object, slot names, list the slots, required initarg, initargs of a class, accessor for a slot,
    accessor of an object, is there an accessor, setter name, documentation of a slot, struct definition,
    condition readers, data structure definition, entity, keyword constructor, JSON keys of an object, members
    of a class, what can I pass to make-instance, fields and default values, getter for, what does a record
    contain, data in an object, data fields, initial values, initial value of a slot, type of a slot, which
    slots are inherited, is the slot shared, write to a slot, setf-able slot, slot accessors, class members,
    class variables, member variables, ivars, attr_accessor, properties of a class, private fields, enum of
    fields, struct layout, defstruct slots, constructor of a struct, BOA constructor, conc-name, copier
    predicate, condition arguments, how to read the information from a condition, show what a user object holds,
    Structure view, Ctrl+F12, Object inspector fields, javap, inspect.getmembers of a class, dir(obj),
    obj.__class__ fields, slot-definition-name, compute-slots, print the slots, named fields, relations of a
    model, what belongs to an object, does the class have an attribute, has a field, what can be stored in,
    public attributes, default initargs of a class, list accessors, structure of a record, class members with
    types, which initarg sets`),
};

export function classSlots(image: Image) {
  return defineTool({
    ...CLASS_SLOTS,
    handler: async (args, context) => {
      const packageName = stringArgument(args, 'package');
      const page = pageArguments(args, context);
      const reply = await image.call(
        'class-slots',
        { name: String(args['class']), ...(packageName && { package: packageName }), ...page },
        callOptions(context),
      );
      const found = foundValue(reply);
      if (isLookupFailure(found)) return lookupResult(found);
      return { data: found, text: slotsText(found, page.offset) };
    },
  });
}

function slotsText(data: ClassSlotsData, offset: number): string {
  const { direct, inherited, slots = [], defaultInitargs = [], constructors = [], missing = [] } = data;
  const head = [
    ...headLines(data),
    defaultInitargs.length > 0 &&
      `Default initargs: ${defaultInitargs.map(([key, form]) => `${key} ${form}`).join(', ')}`,
    constructors.length > 0 && labelled('Constructors', constructors.join('\n')),
    labelled('Documentation', data.documentation),
    missing.length > 0 && `Note: not defined yet: ${missing.join(', ')}; its slots are not known.`,
  ];
  const lines = fittingRows(slots.map(slotText));
  const page = { offset, shown: lines.length, total: direct + inherited };
  const blocks = lines.map((text, index) => ({
    header: slots[index]?.direct ? `Direct slots (${direct}):` : `Inherited slots (${inherited}):`,
    text,
  }));
  return joinSections([
    head.filter(Boolean).join('\n'),
    page.total === 0
      ? 'No slots.'
      : [listsText(blocks, hasMore(page)), pageNote(page, 'slots')].filter(Boolean).join('\n'),
  ]);
}

/** SLOT as a DEFCLASS form has it, with the classes that define it and its documentation. */
function slotText(slot: SlotData): string {
  const { definers = [], initargs = [], readers = [], writers = [] } = slot;
  const accessors = readers.filter((name) => writers.includes(setfName(name)));
  const others = definers.slice(slot.direct ? 1 : 0);
  const origin = others.length > 0 && `(${slot.direct ? 'also in' : 'from'} ${others.join(', ')})`;
  const options = [
    ...initargs.map((initarg) => `:INITARG ${initarg}`),
    slot.initform !== undefined && `:INITFORM ${slot.initform}`,
    slot.type && `:TYPE ${slot.type}`,
    ...accessors.map((name) => `:ACCESSOR ${name}`),
    ...readers.filter((name) => !accessors.includes(name)).map((name) => `:READER ${name}`),
    ...writers.filter((name) => !accessors.map(setfName).includes(name)).map((name) => `:WRITER ${name}`),
    slot.allocation && `:ALLOCATION ${slot.allocation}`,
  ];
  const line = [slot.name, origin, options.filter(Boolean).join(' ')].filter(Boolean).join('  ');
  const documentation = slot.documentation?.replace(/\s*\n\s*/g, ' ');
  return documentation ? `${line}\n    ${documentation}` : line;
}

/** The name of the setf function of the function NAME, as the image writes both. */
function setfName(name: string): string {
  return name.replace(/::(.*)$/s, '::(SETF $1)');
}

/** The lines that tell what class it is. */
function headLines({ name, properName, kind, finalized }: ClassHead): (string | false)[] {
  const defined = kind !== 'FORWARD-REFERENCED CLASS';
  return [
    `${name} [${kind}]`,
    properName !== undefined && `Its proper name: ${properName}`,
    defined && !finalized && 'Not finalized: what it inherits is not settled yet.',
    !defined && 'Not defined: it is only named as a superclass.',
  ];
}

const CLASS_HIERARCHY: Omit<ToolDefinition, 'handler'> = {
  name: 'class_hierarchy',
  title: 'Show class hierarchy',
  description:
    'Show where a class, structure or condition type stands: metaclass, direct superclasses, class precedence list, and the tree of all its subclasses.',
  parameters: [
    CLASS,
    PACKAGE,
    {
      name: 'direction',
      type: 'string',
      description: 'up: superclasses only; down: subclasses only',
      enum: ['up', 'down', 'both'],
      default: 'both',
    },
    {
      name: 'depth',
      type: 'integer',
      description: 'How many levels of subclasses to show (all when absent)',
      minimum: 1,
    },
    LIMIT,
    OFFSET,
  ],
  required: ['class'],
  categories: ['introspection', 'clos'],
  shortDescription: 'Show the superclasses, precedence list and tree of subclasses of a class',
  complexity: 'simple',
  keywords: keywordList(`
    class hierarchy, superclasses, subclasses, class precedence list, inheritance tree, parent classes, derived
    classes, type hierarchy, class tree, base class, children of a class, parents and children, ancestors,
    descendants, child classes, father of a class, extends, implements, who extends, inherits from, who inherits
    from, what does it inherit, inherit the change, direct superclasses, from which class does it come,
    metaclass, mro method resolution order, linearization, c3, __mro__, __bases__, __subclasses__, supertypes,
    subtypes, concrete implementations, abstract class, condition hierarchy, conditions derived from, which
    errors are below, exception hierarchy, structure include, mixins, multiple inheritance, diamond, is-a, is it
    a subtype, instanceof, subclass of, implementations of a protocol class, siblings, up to t, cpl, sealed
    family of classes, class-direct-superclasses, class-direct-subclasses, mop, subtypep, Ctrl+H, F4,
    isinstance, issubclass, inheritance chain, inheritance of a class, all subclasses, direct subclasses,
    descend from, which classes derive from, which conditions inherit from, all errors under, implementors,
    implementers of an interface, ancestor classes, superclass, subclass, polymorphism, family tree of a class,
    order of inheritance, find-class, Type Hierarchy view, parents of a class, what kinds of, above it in the
    hierarchy, below it in the hierarchy, every class that extends, is it a subclass, is one a subclass of
    another, children of class, error classes, inheritance order, type tree, parent of a struct, parent of a
    class, which class is it based on, based on, built on, derives, heirs, offspring, descends, super class, sub
    class, sub classes, generalisation specialisation, base type, common ancestor, root class, where does a
    class stand, all kinds of errors, condition types below, family of classes, list of subclasses, deeply
    nested subclasses, direct parents, mixin order, conflicts of inheritance, override order, linearisation,
    TypeScript extends, implements interface, abstract base, Object Browser hierarchy, Open Type Hierarchy,
    Ctrl+T hierarchy, Show Diagrams, class-precedence-list, class-finalized-p, standard-object,
    structure-object, built-in-class, error types under, condition type tree, parent of, who is the parent, is
    derived from, is it derived from, classes that specialise, superclass chain, class tree of a library,
    implementations of a class, all descendants`),
};

export function classHierarchy(image: Image) {
  return defineTool({
    ...CLASS_HIERARCHY,
    handler: async (args, context) => {
      const packageName = stringArgument(args, 'package');
      const page = pageArguments(args, context);
      const direction = stringArgument(args, 'direction') ?? 'both';
      const depth = args['depth'];
      const reply = await image.call(
        'class-hierarchy',
        {
          name: String(args['class']),
          ...(packageName && { package: packageName }),
          up: direction !== 'down',
          down: direction !== 'up',
          ...(typeof depth === 'number' && { depth }),
          ...page,
        },
        callOptions(context),
      );
      const found = foundValue(reply);
      if (isLookupFailure(found)) return lookupResult(found);
      return { data: found, text: hierarchyText(found, page.offset) };
    },
  });
}

function hierarchyText(data: ClassHierarchyData, offset: number): string {
  const { supers = [], ancestors = [], finalized } = data;
  const above = finalized ? ancestors : ancestors.slice(1);
  const head = [
    ...headLines(data),
    `Metaclass: ${data.metaclass}`,
    supers.length > 0 && `Direct superclasses: ${supers.join(', ')}`,
    above.length > 0 && `${finalized ? 'Precedence list' : 'Known superclasses'}: ${above.join(', ')}`,
  ];
  return joinSections([head.filter(Boolean).join('\n'), treeText(data, offset)]);
}

/** The tree of subclasses, or undefined when only what is above was asked for. */
function treeText(data: ClassHierarchyData, offset: number): string | undefined {
  const { subclasses, directSubclasses, rowCount = 0, rows = [] } = data;
  if (subclasses === undefined) return undefined;
  if (subclasses === 0) return 'No subclasses.';
  const lines = fittingRows(
    rows.map(({ name, level, again, below }) => {
      const note = again ? ' (its subclasses stand above)' : below === undefined ? '' : ` (${below} below)`;
      return `${'  '.repeat(level)}${name}${note}`;
    }),
  );
  const page = { offset, shown: lines.length, total: rowCount };
  const count = subclasses === directSubclasses ? 'all direct' : `${directSubclasses} direct`;
  return [`Subclasses (${subclasses}, ${count}):\n`, listText(lines, hasMore(page)), pageNote(page, 'lines')]
    .filter(Boolean)
    .join('\n');
}
