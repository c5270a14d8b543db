// Types of each operation's arguments and data; docs/develop/wire-protocol.md has examples.

import type { ComparisonData } from './agreement.ts';
import type { Caller, JobProgress, LookupFailure, Place, PrintedValue, Remarks, Unreadable } from './data.ts';
import type { DebugOperations } from './debugging.ts';
import type { LastErrorData } from './endings.ts';
import type { Hold } from './holding.ts';
import type {
  ArglistData,
  ClassHierarchyData,
  ClassSlotsData,
  EffectiveMethodData,
  ImpactData,
  MacroexpandData,
  PackageData,
  ReferencesData,
  UnreadFile,
  UnusedData,
  WrittenArgument,
} from './introspection.ts';
import type { LoadFileData, LoadFilesData, LoadSystemData } from './loading.ts';
import type { ObserveOperations } from './observing.ts';
import type { RenameFacts, RenameFinished } from './renaming.ts';
import type { TestOperations } from './testing.ts';

export interface AproposData {
  total: number;
  inherited: number;
  /** If no package was named and nothing was found: how many symbols of the session's package match. */
  current?: { package: string; count: number };
  /** Home package, name, label, and for a ranked search a line of documentation or "". */
  rows?: [string, string, string, string?][];
}

export interface WhoCallsData {
  name: string;
  callers: number;
  others: number;
  /** How many functions merely contain the name in their data. */
  possible: number;
  /** How many callers are outside of the requested system. */
  leftOut?: number;
  natures?: string[];
  /** True when this SBCL keeps cross references to the symbol. */
  kept: boolean;
  /** True when an interpreter ran code, which leaves no trace. */
  interpreted?: boolean;
  /** True when SBCL does not notify the agent of new code. */
  unheard?: boolean;
  /** Files whose top-level forms are not all known. */
  unread?: UnreadFile[];
  /** Why SBCL records no uses of the function in top-level forms; absent when no other uses were found. */
  unrecorded?: 'macro' | 'inline' | 'slot';
  /** Other names of packages, mapped to their proper names. */
  packages?: Record<string, string>;
  /** Uses in top-level forms, for any page of rows; and their total, when these are not all. */
  outside?: Caller[];
  outsideCount?: number;
  /** All names of the packages in which the symbol is accessible. */
  accessibleIn?: string[];
  /** Source files of all loaded code, sent when no certain caller is known. */
  files?: string[];
  rows?: Caller[];
}

/** One meaning of a symbol, such as its function. */
export interface Thing {
  nature: string;
  /** Absent when SBCL keeps no lambda list. */
  arglist?: string;
  /** Lambda list that the methods of a generic function accept together, when it differs. */
  accepted?: string;
  type?: string;
  documentation?: string;
  methodCount?: number;
  /** Where the first methods are, with their qualifiers and specializers as description. */
  methods?: (Place & { evaluated?: Evaluated })[];
  compilerMacro?: boolean;
  inline?: string;
  supers?: string[];
  slots?: string[];
  value?: { text: string; type?: string };
  /** The evaluation that made it, when no file did. */
  evaluated?: Evaluated;
  sources?: Place[];
}

/** An evaluation: its TIME, in seconds since 1970, and how the form begins; it ends with "..." where it is cut. */
export interface Evaluated {
  time: number;
  by?: string;
}

export interface DescribeData {
  symbol: string;
  label: string;
  status: string;
  home?: string;
  homeStatus?: string;
  /** The package in which it was looked up. */
  in: string;
  natures?: string[];
  things?: Thing[];
  /** Similar names, when it names nothing. */
  near?: string[];
  properties?: string[];
}

export interface EvaluateData extends Remarks {
  /** The printed values of each evaluated form. */
  values?: PrintedValue[][];
  /** Number of the form that was read or evaluated last (1-based). */
  formNumber?: number;
  unreadable?: Unreadable;
  value?: LookupFailure;
}

export interface CompileData extends Omit<EvaluateData, 'values'> {
  /** How many forms were compiled; absent when the compilation did not reach the end. */
  forms?: number;
}

/** The reader's findings on a text. Offsets are in characters, as Lisp counts them. */
export interface CheckedText {
  /** End offsets of its forms. */
  ends?: number[];
  /** Why the text cannot be read after the last of these ends. */
  stopped?: string;
  /** Problems of some forms; NAME: the problem is a package or a symbol. */
  problems?: { start: number; text: string; name?: boolean }[];
  /** Missing packages, whose forms were therefore not checked. */
  missing?: string[];
}

interface ToolValue {
  data?: unknown;
  text?: string;
}

export interface RunToolData extends Remarks {
  /** The handler's return value, or why it failed. MISSING: the image does not have the tool that was called. REPLACED:
   *  it has a newer tool of that name. DATA is absent when it is too large or cannot be written as JSON. TEXT is absent
   *  when it follows from DATA, a string or an object. RESULT is what a failed handler returned. */
  value?: ToolValue & { failed?: boolean; result?: ToolValue; missing?: string; replaced?: boolean };
}

export interface Operations extends DebugOperations, ObserveOperations, TestOperations {
  apropos: {
    args: {
      pattern: string;
      package?: string;
      type?: string;
      inherited?: boolean;
      offset: number;
      limit: number;
    };
    data: { value?: AproposData | LookupFailure };
  };
  'ranked-apropos': {
    args: Operations['apropos']['args'] & { roots: string[] };
    data: { value?: AproposData | LookupFailure };
  };
  'who-calls': {
    args: {
      name: string;
      package?: string;
      sites?: boolean;
      internals?: boolean;
      within?: string;
      offset: number;
      limit: number;
    };
    data: { value?: WhoCallsData | LookupFailure };
  };
  'unused-functions': {
    args: { package: string; within?: string };
    data: { value?: UnusedData | LookupFailure };
  };
  describe: {
    args: { name: string; package?: string; offset: number; limit: number };
    data: { value?: DescribeData | LookupFailure };
  };
  impact: {
    args: {
      name: string;
      package?: string;
      limit: number;
      redefined?: boolean;
      superclasses?: readonly string[] | undefined;
    };
    data: { value?: ImpactData | LookupFailure };
  };
  'effective-method': {
    args: { name: string; package?: string; arguments: WrittenArgument[]; offset: number; limit: number };
    data: { value?: EffectiveMethodData | LookupFailure };
  };
  evaluate: { args: { code: string; package?: string } & Hold; data: EvaluateData };
  'compile-forms': { args: { code: string; file: string; package?: string } & Hold; data: CompileData };
  'check-text': { args: { text: string; starts: number[]; file: string }; data: { value?: CheckedText } };
  'last-error': { args: { index: number }; data: { value?: LastErrorData } };
  'load-file': {
    args: { file: string; fasl: string; content?: string; forget?: boolean } & Hold;
    data: LoadFileData;
  };
  'check-file': { args: { file: string; fasl: string }; data: LoadFileData };
  'load-files': { args: { files: string[]; folder: string }; data: LoadFilesData };
  'load-order': { args: { files: string[] }; data: { value?: string[] } };
  'rename-facts': {
    args: { name: string; package?: string; to: string; derived?: [string, string][] };
    data: { value?: RenameFacts | LookupFailure };
  };
  'rename-prepare': {
    args: { home: string; names: [string, string][]; structures?: string[] };
    data: { value?: string[] };
  };
  'rename-finish': { args: object; data: { value?: RenameFinished } };
  'load-forms': {
    args: { file: string; fasl: string; content: string; numbers: (number | null)[]; continues?: boolean };
    data: LoadFileData;
  };
  'load-source': { args: { file: string }; data: LoadFileData };
  'load-system': { args: { name: string; force?: boolean } & Hold; data: LoadSystemData };
  'run-tool': {
    args: { name: string; registration: unknown; arguments: { readonly [name: string]: unknown } } & Hold;
    data: RunToolData;
  };
  'compare-files': {
    args: { path?: string; system?: string; package?: string; limit?: number };
    data: { value?: ComparisonData | LookupFailure };
  };
  'system-files': { args: { names: string[] }; data: { value?: string[] } };
  replay: { args: { forms: object[] }; data: { failed?: ReplayRemark[] } };
  'loaded-below': { args: { folders: string[] }; data: { value?: boolean } };
  features: { args: object; data: { value?: boolean } };
  'system-sources': { args: object; data: { value?: string[] } };
  'who-references': {
    args: { name: string; package?: string; sites?: boolean; offset: number; limit: number };
    data: { value?: ReferencesData | LookupFailure };
  };
  arglist: {
    args: { name: string; package?: string; methods?: boolean; offset: number; limit: number };
    data: { value?: ArglistData | LookupFailure };
  };
  'package-symbols': {
    args: { package: string; access: string; type?: string; offset: number; limit: number };
    data: { value?: PackageData | LookupFailure };
  };
  'class-slots': {
    args: { name: string; package?: string; offset: number; limit: number };
    data: { value?: ClassSlotsData | LookupFailure };
  };
  'class-hierarchy': {
    args: {
      name: string;
      package?: string;
      up?: boolean;
      down?: boolean;
      depth?: number;
      offset: number;
      limit: number;
    };
    data: { value?: ClassHierarchyData | LookupFailure };
  };
  macroexpand: { args: { code: string; package?: string; mode: string }; data: MacroexpandData };
}

/** State of a running job, from the agent. */
export interface AgentJob extends JobProgress {
  id: number;
  frames?: string[];
  characters: number;
}

/** State of the image, from the agent. */
export interface AgentStatus {
  version: string;
  package: string;
  /** Octets of the heap in use, and of the whole heap. */
  heapUsed: number;
  heapSize: number;
  /** Milliseconds spent in garbage collections. */
  collectedMilliseconds: number;
  threads: number;
  programThreads: number;
  /** At most ten of the program's threads. */
  threadNames?: string[];
  /** The user's library manager, its set-up file, and whether it is loaded or why it could not be. */
  libraries?: { name: string; file: string; loaded?: boolean; failure?: string };
  jobs?: AgentJob[];
}

/** Result of a tool that code called: its data with the TEXT for a model, or the text of its failure. RESULT is what
 *  the tool returned in spite of the failure. NEEDS_APPROVAL: a human could allow the call. */
export type ToolAnswer =
  | { value: unknown; text?: string }
  | { failure: string; result?: string; needsApproval?: boolean };

/** A problem with the form at INDEX (0-based) of a replay: WHY it could not be evaluated, names that it no longer
 *  defines (MISSING), or that the image is BROKEN after it. */
export interface ReplayRemark {
  index: number;
  why?: string;
  missing?: string[];
  broken?: boolean;
}
