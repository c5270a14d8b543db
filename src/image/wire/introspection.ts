// Types of the data about functions, variables, packages, classes and macros.

import type { Caller, LookupFailure, Place, PrintedValue, Remarks, Unreadable } from './data.ts';

/** A file that the agent could not read completely, so that not all its top-level forms are known, and the
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
  /** The kind of a row says how it uses the variable: read, set or bind. */
  rows?: Caller[];
}

export interface ArglistData {
  name: string;
  natures?: string[];
  /** Kind of the function; absent when the name is no function. */
  kind?: string;
  /** Absent when SBCL keeps no lambda list. SOURCES then says where the function is defined. */
  arglist?: string;
  sources?: Place[];
  /** The lambda list that all methods of the generic function accept together, when it differs from
   *  ARGLIST. */
  accepted?: string;
  type?: string;
  declaimed?: string[];
  documentation?: string;
  /** Lambda list of the function's compiler macro. */
  compilerMacro?: string;
  /** An example of a form that calls the SETF function of the name. */
  setf?: string;
  combination?: string;
  methodCount?: number;
  methods?: string[];
}

/** An argument of a call, as the request wrote it: a name, a symbol, the object of an EQL specializer, or a
 *  literal. */
export interface WrittenArgument {
  kind: 'name' | 'symbol' | 'eql' | 'number' | 'string' | 'character';
  text: string;
}

/** The methods that a call of a generic function runs. */
export interface EffectiveMethodData {
  name: string;
  /** The reason why the order of the methods cannot be determined, with a DETAIL. */
  problem?: string;
  detail?: string | number;
  /** What the name stands for, when it is no generic function. */
  natures?: string[];
  arglist?: string;
  /** Each argument as the agent understood it; null for an argument that it did not understand. */
  arguments?: (string | null)[];
  /** How code gets each argument: a VARIABLE, a SYMBOL or a LITERAL, or an allocated INSTANCE or the PROTOTYPE of a class. */
  sources?: ({ by: 'variable' | 'symbol' | 'literal' | 'instance' | 'prototype'; text: string } | null)[];
  /** The method combination, if it is not the standard one. */
  combination?: string;
  /** The argument precedence order, if it is not from left to right. */
  precedence?: string;
  /** The form that an unusual method combination makes. In the place of each call of a method it has the
   *  number of a row. */
  form?: string;
  total?: number;
  /** FROM is the number of the row whose method calls this one by CALL-NEXT-METHOD. ENTERED is false when
   *  that call surely fails. */
  rows?: { method: Place; from?: number; entered: boolean }[];
  /** Methods that are applicable only under a condition. */
  perhapsCount?: number;
  perhaps?: { method: Place; condition: string }[];
}

/** What a change of a definition affects, besides its callers. */
export interface ImpactData {
  name: string;
  natures?: string[];
  /** For a name that is no function or class: the first classes that have a direct slot of this name. */
  slotOf?: string[];
  /** Kind of the function; absent when the name is no function. */
  kind?: string;
  /** True when the name names a type that is no class. */
  type?: boolean;
  /** The package in which the name was looked up. */
  in: string;
  /** All names of the packages in which the symbol is accessible. */
  homes?: string[];
  /** Functions whose code calls the definition, also by inlined code. DESCRIPTION is the name of the
   *  function. */
  naming?: Place[];
  /** Functions in HOMES that look up symbols by name, and how many there are. DESCRIPTION is the name of the
   *  function. */
  finding?: Place[];
  findingCount?: number;
  /** Source files of the loaded code. */
  files?: string[];
  inline?: boolean;
  compilerMacro?: boolean;
  arglist?: string;
  methodCount?: number;
  methods?: { place: Place; arglist: string }[];
  /** testSystems: how many systems that ASDF knows test other systems. testsMore: some callers were not
   *  followed. */
  testSystems?: number;
  testsMore?: boolean;
  testCount?: number;
  tests?: Place[];
  /** Files of the systems that test others, when no test is known to reach the definition. */
  testFiles?: string[];
  /** Kind of the class that has the name. */
  class?: string;
  slots?: string[];
  /** For a structure: the structure that it includes, and the functions that call a function which DEFSTRUCT
   *  made. */
  include?: string;
  structureUsers?: string[];
  /** Direct superclasses of the class as PACKAGE::NAME, without the default superclass. */
  superclasses?: string[];
  /** Results for requested new superclasses. GONE: classes that are no longer superclasses, direct or not.
   *  COME: classes that newly are. inheritedSlots: slots from classes that are gone. UNKNOWN: requested
   *  superclasses that the image does not have as classes; GONE is then not known. */
  superclassesGone?: string[];
  superclassesCome?: string[];
  superclassesUnknown?: string[];
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
  /** True when the function serves other classes too, so it stays. */
  kept?: boolean;
  /** The included slot that the function accesses, for a function of a substructure. */
  slot?: string;
  /** True for the keyword constructor of a substructure. */
  below?: boolean;
  arglist?: string;
}

/** Initargs that the class NAME accepts only because of slots of the changed class, and default initargs of
 *  NAME. */
export interface ClassInitargs {
  name: string;
  /** Names of the packages in which the name of the class is accessible. */
  homes: string[];
  initargs: string[];
  defaults?: string[];
  place: Place;
}

/** Number of names, and the first 100 of them. */
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
  /** How many symbols of each status ROWS has. */
  listed: [SymbolStatus, number][];
  /** Status, home package, name and label of each symbol. */
  rows?: [SymbolStatus, string, string, string][];
}

export interface ClassHead {
  name: string;
  /** The proper name of the class, when it differs from NAME. */
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
  /** The tree of subclasses. BELOW: how many subclasses the depth limit hides. AGAIN: the class occurs
   *  further up with its subclasses, so they are not repeated here. */
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

/** A function that no code uses. SELF: only the function calls itself. MENTIONED: a function that contains
 *  the name in its data. TEMPLATE: that function is a macro. HOMES: names of the packages in which the name
 *  of a MACRO is accessible. */
export interface UnusedRow {
  name: string;
  macro?: boolean;
  homes?: string[];
  self?: boolean;
  mentioned?: string;
  template?: boolean;
  external?: boolean;
  /** First line of the docstring. */
  documentation?: string;
}
