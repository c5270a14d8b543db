// Types of the data about functions, variables, packages, classes and macros.

import type { Caller, LookupFailure, Place, PrintedValue, Remarks, Unreadable } from './data.ts';

/** A file that the agent could not read completely, so that it does not know all top-level forms, and the
 *  reason. */
export interface UnreadFile {
  file: string;
  why: string;
}

export interface ReferencesData {
  name: string;
  total: number;
  natures?: string[];
  /** Expansion of the symbol macro that the name stands for. */
  expansion?: string;
  kept: boolean;
  interpreted?: boolean;
  unheard?: boolean;
  unread?: UnreadFile[];
  packages?: Record<string, string>;
  outside?: Caller[];
  outsideCount?: number;
  accessibleIn?: string[];
  /** The functions that use the variable. The kind of each says how: read, set or bind. */
  rows?: Caller[];
}

export interface ArglistData {
  name: string;
  natures?: string[];
  /** Kind of the function; absent when the name is no function. */
  kind?: string;
  /** Absent when SBCL keeps no lambda list. Then `sources` says where the function is defined. */
  arglist?: string;
  sources?: Place[];
  /** The lambda list that all methods of the generic function accept together, when it differs from
   *  `arglist`. */
  accepted?: string;
  type?: string;
  declaimed?: string[];
  documentation?: string;
  /** Lambda list of the function's compiler macro. */
  compilerMacro?: string;
  /** An example of a form that sets the place by the SETF function of the name. */
  setf?: string;
  combination?: string;
  methodCount?: number;
  methods?: string[];
}

/** An argument of a call as it was written in the request: a name, a symbol, the object of an EQL
 *  specializer, or a literal. */
export interface WrittenArgument {
  kind: 'name' | 'symbol' | 'eql' | 'number' | 'string' | 'character';
  text: string;
}

/** The methods that a call of a generic function runs. */
export interface EffectiveMethodData {
  name: string;
  /** A word for the reason why the order of the methods cannot be determined. */
  problem?: string;
  /** What this reason is about, such as the number of an argument or the name of a class. */
  detail?: string | number;
  /** What the name stands for, when it is no generic function. */
  natures?: string[];
  arglist?: string;
  /** Each argument as the agent understood it; null for an argument that it did not understand. */
  arguments?: (string | null)[];
  /** How code gets each argument: from a variable, as a symbol or a literal, or as an allocated instance or
   *  the prototype of a class. */
  sources?: ({ by: 'variable' | 'symbol' | 'literal' | 'instance' | 'prototype'; text: string } | null)[];
  /** The method combination, if it is not the standard one. */
  combination?: string;
  /** The argument precedence order, if it is not from left to right. */
  precedence?: string;
  /** The form that a method combination other than the standard one makes. The number of a row stands for
   *  each call of a method. */
  form?: string;
  total?: number;
  /** The calls of methods, in order. `from` is the number of the row whose method calls this one by
   *  CALL-NEXT-METHOD. `entered` is false when that method certainly makes no such call. */
  rows?: { method: Place; from?: number; entered: boolean }[];
  /** Number of methods that are applicable only under a condition. */
  perhapsCount?: number;
  /** The first of these methods. */
  perhaps?: { method: Place; condition: string }[];
}

/** What a change of a definition affects, besides its callers. */
export interface ImpactData {
  name: string;
  natures?: string[];
  /** Names of the first classes that have a direct slot of this name; sent when it names no function or
   *  class. */
  slotOf?: string[];
  /** Kind of the function; absent when the name is no function. */
  kind?: string;
  /** True when the name names a type but no class. */
  type?: boolean;
  /** The package in which the name was looked up. */
  in: string;
  /** All names of the packages in which the symbol is accessible. */
  homes?: string[];
  /** Functions whose code calls the definition, also by inlined code. The `description` of each is its
   *  name. */
  naming?: Place[];
  /** Functions in the packages `homes` that look up symbols by name. The `description` of each is its
   *  name. */
  finding?: Place[];
  /** Number of all functions that `finding` could list. */
  findingCount?: number;
  /** Source files of the loaded code. */
  files?: string[];
  inline?: boolean;
  compilerMacro?: boolean;
  arglist?: string;
  methodCount?: number;
  methods?: { place: Place; arglist: string }[];
  /** How many of the systems that ASDF knows contain the tests of other systems. */
  testSystems?: number;
  /** True when not all callers were followed in the search for tests, because there are too many. */
  testsMore?: boolean;
  testCount?: number;
  tests?: Place[];
  /** Files of the systems that contain tests, when no test is known to reach the definition. */
  testFiles?: string[];
  /** Kind of the class that has the name. */
  class?: string;
  slots?: string[];
  /** Name of the structure that the structure includes (:INCLUDE). */
  include?: string;
  /** Functions that call a function which DEFSTRUCT made for the structure, such as an accessor. */
  structureUsers?: string[];
  /** Direct superclasses of the class as PACKAGE::NAME, without the default superclass. */
  superclasses?: string[];
  /** Classes that would no longer be superclasses, direct or not, with the requested direct superclasses. */
  superclassesGone?: string[];
  /** The requested superclasses that are no superclasses yet. */
  superclassesCome?: string[];
  /** The requested superclasses that are no classes in the image. With any of these, it is not known which
   *  superclasses would be gone. */
  superclassesUnknown?: string[];
  /** The slots that the class would no longer inherit. */
  inheritedSlots?: string[];
  accessors?: ClassFunction[];
  initargs?: ClassInitargs[];
  subclassCount?: number;
  subclasses?: Place[];
  /** Absent when the instances were not counted. */
  instances?: number;
}

/** A function that belongs to a class or structure, named PACKAGE::NAME: an accessor of its own slot, a
 *  constructor, a copier or a predicate. */
export interface ClassFunction {
  name: string;
  /** True when the function also has methods for other classes, so that it would stay without this class. */
  kept?: boolean;
  /** For an accessor of a substructure: the slot of the included structure that it accesses. */
  slot?: string;
  /** True for a constructor of a substructure that takes the slots as keyword arguments. */
  below?: boolean;
  arglist?: string;
}

/** A class with the initargs that it accepts, and those that it gives defaults for. */
export interface ClassInitargs {
  name: string;
  /** Names of the packages in which the name of the class is accessible. */
  homes: string[];
  /** Initargs that the class accepts only because of slots of the changed class. */
  initargs: string[];
  defaults?: string[];
  place: Place;
}

/** The number of some names, and the first 100 of these names. */
export interface CountedNames {
  count: number;
  names?: string[];
}

export type SymbolStatus = 'external' | 'internal' | 'inherited';

export interface PackageData {
  name: string;
  nicknames?: string[];
  /** Pairs of a local nickname and its package. */
  localNicknames?: [string, string][];
  uses: CountedNames;
  usedBy: CountedNames;
  shadowing: CountedNames;
  locked?: boolean;
  documentation?: string;
  /** Numbers of external, internal and inherited symbols. */
  counts: [number, number, number];
  /** For each status, how many symbols the request selects. */
  listed: [SymbolStatus, number][];
  /** Status, home package, name and label of each symbol in this page of the list. */
  rows?: [SymbolStatus, string, string, string][];
}

export interface ClassHead {
  name: string;
  /** The proper name of the class, when it differs from `name`. */
  properName?: string;
  kind: string;
  finalized: boolean;
}

export interface SlotData {
  name: string;
  direct?: boolean;
  /** The classes that define the slot, most specific first. */
  definers?: string[];
  initargs?: string[];
  initform?: string;
  type?: string;
  readers?: string[];
  writers?: string[];
  allocation?: string;
  documentation?: string;
}

export interface ClassSlotsData extends ClassHead {
  /** Superclasses that are named but not defined. */
  missing?: string[];
  documentation?: string;
  defaultInitargs?: [string, string][];
  constructors?: string[];
  direct: number;
  inherited: number;
  slots?: SlotData[];
}

export interface ClassHierarchyData extends ClassHead {
  metaclass: string;
  supers?: string[];
  /** The class precedence list, or the known part of it when the class is not finalized. */
  ancestors?: string[];
  subclasses?: number;
  directSubclasses?: number;
  rowCount?: number;
  /** The tree of subclasses, in depth-first order. `below` is the number of subclasses that the depth limit
   *  hides. `again` is true when an earlier row of the same class has its subclasses below it. */
  rows?: { name: string; level: number; again?: boolean; below?: number }[];
}

export interface MacroexpandData extends Remarks {
  expansion?: PrintedValue;
  expanded?: boolean;
  /** The operator of the form, when the form is no macro form. */
  operator?: { name: string; place: 'function' | 'variable'; natures?: string[] };
  unreadable?: Unreadable | { forms: number };
  withoutWalker?: boolean;
  value?: LookupFailure;
}

/** Functions of a package that no code uses. */
export interface UnusedData {
  package: string;
  /** How many functions the package has. */
  functions: number;
  interpreted?: boolean;
  unheard?: boolean;
  unread?: UnreadFile[];
  /** Source files of the code that was searched for uses. */
  files?: string[];
  rows?: UnusedRow[];
}

/** A function or macro that no other code uses. */
export interface UnusedRow {
  name: string;
  macro?: boolean;
  /** For a macro: names of the packages in which its name is accessible. */
  homes?: string[];
  /** True when the function calls itself. */
  self?: boolean;
  /** Name of a function or macro that contains the name only in its data. */
  mentioned?: string;
  /** True when `mentioned` is a macro. */
  template?: boolean;
  /** True when the package exports the name. */
  external?: boolean;
  /** First line of the docstring. */
  documentation?: string;
}
