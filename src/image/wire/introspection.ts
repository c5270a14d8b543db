// Types of the data about functions, variables, packages, classes and macros.

import type { Caller, LookupFailure, Place, PrintedValue, Remarks, Unreadable } from './data.ts';

/** A file whose top-level forms are not all known, and the reason. */
export interface UnreadFile {
  file: string;
  why: string;
}

export interface ReferencesData {
  name: string;
  total: number;
  natures?: string[];
  /** Expansion of a symbol macro. */
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
  /** Absent when the name stands for no function. */
  kind?: string;
  /** Absent when SBCL keeps no lambda list. Then SOURCES say where the function is defined. */
  arglist?: string;
  sources?: Place[];
  /** Lambda list that the methods of a generic function accept together, when it differs. */
  accepted?: string;
  type?: string;
  declaimed?: string[];
  documentation?: string;
  /** Lambda list of its compiler macro. */
  compilerMacro?: string;
  /** The form that calls its SETF function. */
  setf?: string;
  combination?: string;
  methodCount?: number;
  methods?: string[];
}

/** An argument of a call as somebody wrote it: a name, a symbol, the object of an EQL specializer, or a literal. */
export interface WrittenArgument {
  kind: 'name' | 'symbol' | 'eql' | 'number' | 'string' | 'character';
  text: string;
}

/** The methods that a call of a generic function enters. */
export interface EffectiveMethodData {
  name: string;
  /** Why there is no order of methods, with a DETAIL. */
  problem?: string;
  detail?: string | number;
  /** What the name is, if it is no generic function. */
  natures?: string[];
  arglist?: string;
  /** Each argument as it was understood; null when it could not be. */
  arguments?: (string | null)[];
  /** The method combination, if not the standard one. */
  combination?: string;
  /** The argument precedence order, if not left to right. */
  precedence?: string;
  /** The form of an unusual method combination, with the number of a row in the place of each call. */
  form?: string;
  total?: number;
  /** FROM is the number of the row whose method calls this one next. ENTERED is false when that call surely fails. */
  rows?: { method: Place; from?: number; entered: boolean }[];
  /** Methods that are applicable under a condition. */
  perhapsCount?: number;
  perhaps?: { method: Place; condition: string }[];
}

/** What a change of a definition affects besides its callers. */
export interface ImpactData {
  name: string;
  natures?: string[];
  /** Absent when the name is of no function. */
  kind?: string;
  /** True when the name is of a type that is no class. */
  type?: boolean;
  /** The package in which the name was looked up. */
  in: string;
  /** Names of the packages in which it is accessible. */
  homes?: string[];
  /** Functions whose code calls it, also within inlined code; their names are the descriptions. */
  naming?: Place[];
  /** Functions in HOMES that look up symbols by name (their names are the descriptions), and their number. */
  finding?: Place[];
  findingCount?: number;
  /** Source files of the loaded code. */
  files?: string[];
  inline?: boolean;
  compilerMacro?: boolean;
  arglist?: string;
  methodCount?: number;
  methods?: { place: Place; arglist: string }[];
  /** How many systems ASDF knows that test other systems. TESTS_MORE: not all callers were followed. */
  testSystems?: number;
  testsMore?: boolean;
  testCount?: number;
  tests?: Place[];
  /** Files of the systems that test others, when no test is known to reach the definition. */
  testFiles?: string[];
  /** Kind of the class that it names. */
  class?: string;
  slots?: string[];
  /** Of a structure: the structure that it includes, and the functions that call a function made by its definition. */
  include?: string;
  structureUsers?: string[];
  /** Its direct superclasses as PACKAGE::NAME, without the default superclass. */
  superclasses?: string[];
  /** With the requested superclasses: classes no longer above it (GONE) or newly above it (COME), and the slots from
   *  the former. UNKNOWN: requested superclasses without a class in the image; then GONE is not known. */
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

/** A function of a class or structure, PACKAGE::NAME: accessor of its own slot, constructor, copier or predicate. */
export interface ClassFunction {
  name: string;
  /** True when the function serves other classes too. */
  kept?: boolean;
  /** Of a substructure: the included slot that the function accesses. */
  slot?: string;
  /** True for a keyword constructor of a substructure. */
  below?: boolean;
  arglist?: string;
}

/** Initargs that the class NAME accepts only because of the slots of the changed class, and the defaults of NAME. */
export interface ClassInitargs {
  name: string;
  /** Names of the packages in which its name is accessible. */
  homes: string[];
  initargs: string[];
  defaults?: string[];
  place: Place;
}

/** How many names there are, and the first 100 of them. */
export interface CountedNames {
  count: number;
  names?: string[];
}

export type SymbolStatus = 'external' | 'internal' | 'inherited';

export interface PackageData {
  name: string;
  nicknames?: string[];
  /** Each nickname with its package. */
  localNicknames?: [string, string][];
  uses: CountedNames;
  usedBy: CountedNames;
  shadowing: CountedNames;
  locked?: boolean;
  documentation?: string;
  /** Number of external, internal and inherited symbols. */
  counts: [number, number, number];
  /** How many symbols of each status are listed. */
  listed: [SymbolStatus, number][];
  /** Status, home package, name and label of each symbol. */
  rows?: [SymbolStatus, string, string, string][];
}

export interface ClassHead {
  name: string;
  /** The class's own name, when it differs. */
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
  /** The precedence list, or its known part when the class is not finalized. */
  ancestors?: string[];
  subclasses?: number;
  directSubclasses?: number;
  rowCount?: number;
  /** The tree of subclasses. BELOW counts the subclasses that the depth limit hides. AGAIN: the subclasses are listed
   *  further up, under the same class. */
  rows?: { name: string; level: number; again?: boolean; below?: number }[];
}

export interface MacroexpandData extends Remarks {
  expansion?: PrintedValue;
  expanded?: boolean;
  /** The operator of the form, when it is no macro form. */
  operator?: { name: string; place: 'function' | 'variable'; natures?: string[] };
  unreadable?: Unreadable | { forms: number };
  withoutWalker?: boolean;
  value?: LookupFailure;
}

/** Functions of a package that nothing uses. */
export interface UnusedData {
  package: string;
  /** How many functions the package has. */
  functions: number;
  interpreted?: boolean;
  unheard?: boolean;
  unread?: UnreadFile[];
  /** Source files of the code whose uses count. */
  files?: string[];
  rows?: UnusedRow[];
}

/** A function that nothing uses. SELF: it calls itself. MENTIONED: a function whose data contain the name; TEMPLATE:
 *  that function is a macro. HOMES: the names of the packages in which the name of a MACRO is accessible. */
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
