// Decides what the operations give back that tell of functions, variables, packages, classes and macros.

import type { Caller, LookupFailure, Place, PrintedValue, Remarks, Unreadable } from './data.ts';

/** A file of which the top-level forms are not all known, and why. */
export interface UnreadFile {
  file: string;
  why: string;
}

export interface ReferencesData {
  name: string;
  total: number;
  natures?: string[];
  /** What a symbol macro expands into. */
  expansion?: string;
  kept: boolean;
  interpreted?: boolean;
  unheard?: boolean;
  unread?: UnreadFile[];
  packages?: Record<string, string>;
  outside?: Caller[];
  outsideCount?: number;
  accessibleIn?: string[];
  /** The kind is what each does with the variable: read, set or bind. */
  rows?: Caller[];
}

export interface ArglistData {
  name: string;
  natures?: string[];
  /** Absent when the name stands for no function. */
  kind?: string;
  /** Absent when SBCL keeps none. Then SOURCES tell where it is defined. */
  arglist?: string;
  sources?: Place[];
  /** What the methods of a generic function accept, when that differs. */
  accepted?: string;
  type?: string;
  declaimed?: string[];
  documentation?: string;
  /** The argument list of its compiler macro. */
  compilerMacro?: string;
  /** How its SETF form is called. */
  setf?: string;
  combination?: string;
  methodCount?: number;
  methods?: string[];
}

/** An argument of a call as somebody wrote it: a name, a symbol, what EQL is followed by, or a literal. */
export interface WrittenArgument {
  kind: 'name' | 'symbol' | 'eql' | 'number' | 'string' | 'character';
  text: string;
}

/** Which methods a call of a generic function enters. */
export interface EffectiveMethodData {
  name: string;
  /** Why there is no order, with a DETAIL of that. */
  problem?: string;
  detail?: string | number;
  /** Of a name that is no generic function. */
  natures?: string[];
  arglist?: string;
  /** Each as it was understood; null when it stands for nothing. */
  arguments?: (string | null)[];
  /** When it is not the standard one. */
  combination?: string;
  /** When it is not from left to right. */
  precedence?: string;
  /** What an unusual combination makes, with the number of a row in the place of each call. */
  form?: string;
  total?: number;
  /** FROM is the number of the row whose method calls this one next. ENTERED is false when it certainly does not. */
  rows?: { method: Place; from?: number; entered: boolean }[];
  /** Methods that are applicable on a condition. */
  perhapsCount?: number;
  perhaps?: { method: Place; condition: string }[];
}

/** What a change of a definition concerns besides its callers. */
export interface ImpactData {
  name: string;
  natures?: string[];
  /** Absent when it names no function. */
  kind?: string;
  /** Whether it names a type that is no class. */
  type?: boolean;
  /** The package in which it was looked up. */
  in: string;
  /** Names of the packages in which it is accessible. */
  homes?: string[];
  /** Functions whose code names it, described by their names. */
  naming?: Place[];
  /** Functions of those packages that look for symbols by names, described by their own, and how many there are. */
  finding?: Place[];
  findingCount?: number;
  /** Source files of the code that is loaded. */
  files?: string[];
  inline?: boolean;
  compilerMacro?: boolean;
  arglist?: string;
  methodCount?: number;
  methods?: { place: Place; arglist: string }[];
  /** How many systems ASDF knows as tests of others; MORE says that not all callers were followed. */
  testSystems?: number;
  testsMore?: boolean;
  testCount?: number;
  tests?: Place[];
  /** The files of those systems, when no test is known to reach it. */
  testFiles?: string[];
  /** What kind of class it names. */
  class?: string;
  slots?: string[];
  /** Of a structure: the one that it includes, and which functions call what it made. */
  include?: string;
  structureUsers?: string[];
  /** Its direct superclasses, PACKAGE::NAME, but those of every class. */
  superclasses?: string[];
  /** Classes that are above it no more, or anew, with the superclasses that were asked about, and the slots that it had from
   *  the former. Of some the image UNKNOWN has no class; then what it loses is not known. */
  superclassesGone?: string[];
  superclassesCome?: string[];
  superclassesUnknown?: string[];
  inheritedSlots?: string[];
  accessors?: ClassFunction[];
  initargs?: ClassInitargs[];
  subclassCount?: number;
  subclasses?: Place[];
  /** Absent when they were not counted. */
  instances?: number;
}

/** A function of a class or structure, PACKAGE::NAME: it reads or sets an own slot, or makes, copies or tells a structure. */
export interface ClassFunction {
  name: string;
  /** Whether it is for other classes, too. */
  kept?: boolean;
  /** The own slot that it reads or sets in a structure below. */
  slot?: string;
  /** Whether it makes structures of one below, by keywords. */
  below?: boolean;
  arglist?: string;
}

/** The keywords that instances of the class NAME take only by the slots of another, and its own default ones. */
export interface ClassInitargs {
  name: string;
  /** Names of the packages in which its name is accessible. */
  homes: string[];
  initargs: string[];
  defaults?: string[];
  place: Place;
}

/** How many names there are, and the first of them. */
export interface CountedNames {
  count: number;
  names?: string[];
}

export type SymbolStatus = 'external' | 'internal' | 'inherited';

export interface PackageData {
  name: string;
  nicknames?: string[];
  /** Nickname, and the package it stands for. */
  localNicknames?: [string, string][];
  uses: CountedNames;
  usedBy: CountedNames;
  shadowing: CountedNames;
  locked?: boolean;
  documentation?: string;
  /** Of external, internal and inherited symbols. */
  counts: [number, number, number];
  /** How many of each status are listed. */
  listed: [SymbolStatus, number][];
  /** Status, home package, name, label. */
  rows?: [SymbolStatus, string, string, string][];
}

export interface ClassHead {
  name: string;
  /** The name that the class itself has, when it is another. */
  properName?: string;
  kind: string;
  finalized: boolean;
}

export interface SlotData {
  name: string;
  direct?: boolean;
  /** The classes that define it, the most specific first. */
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
  /** Classes above it that are only named and not defined. */
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
  /** The precedence list, or what is known of it when the class is not finalized. */
  ancestors?: string[];
  subclasses?: number;
  directSubclasses?: number;
  rowCount?: number;
  /** The tree of subclasses. BELOW counts those of a class that is as deep as was asked for. AGAIN says that they stand
   *  under the same class further up. */
  rows?: { name: string; level: number; again?: boolean; below?: number }[];
}

export interface MacroexpandData extends Remarks {
  expansion?: PrintedValue;
  expanded?: boolean;
  /** What the form begins with, when it is no macro form. */
  operator?: { name: string; place: 'function' | 'variable'; natures?: string[] };
  unreadable?: Unreadable | { forms: number };
  withoutWalker?: boolean;
  value?: LookupFailure;
}

/** Functions of a package that nobody uses. */
export interface UnusedData {
  package: string;
  /** How many functions it has. */
  functions: number;
  interpreted?: boolean;
  unheard?: boolean;
  unread?: UnreadFile[];
  /** Source files of code in which users count. */
  files?: string[];
  rows?: UnusedRow[];
}

/** A function that nobody uses. SELF: it calls itself; MENTIONED: what has its name among its data, as the TEMPLATE of a
 *  macro. HOMES are the names of the packages in which that of a MACRO is. */
export interface UnusedRow {
  name: string;
  macro?: boolean;
  homes?: string[];
  self?: boolean;
  mentioned?: string;
  template?: boolean;
  external?: boolean;
  /** The first line of it. */
  documentation?: string;
}
