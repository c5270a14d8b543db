// Types of each operation's arguments and data; docs/develop/wire-protocol.md has examples.

import type { ComparisonData } from './agreement.ts';
import type {
  Caller,
  JobProgress,
  LoadedText,
  LookupFailure,
  Place,
  PrintedValue,
  Remarks,
  Unreadable,
} from './data.ts';
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
  /** How many symbols of the session's package match; sent when the request named no package and the search
   *  found nothing. */
  current?: { package: string; count: number };
  /** For each symbol: its home package, its name, its label, and, in a ranked search, the first line of its
   *  documentation or "". */
  rows?: [string, string, string, string?][];
}

export interface WhoCallsData {
  name: string;
  callers: number;
  others: number;
  /** How many functions contain the name only in their data. */
  possible: number;
  /** How many callers are outside the requested system. */
  leftOut?: number;
  natures?: string[];
  /** True when this SBCL keeps cross references to the symbol. */
  kept: boolean;
  /** True when code was evaluated by an interpreter, which records no cross references. */
  interpreted?: boolean;
  /** True when SBCL does not notify the agent of new code. */
  unheard?: boolean;
  /** Files that the agent could not read completely, so not all their top-level forms are known. */
  unread?: UnreadFile[];
  /** Why SBCL may not record some uses of the function in top-level forms. Absent when it records all, or
   *  when no other uses were found. */
  unrecorded?: 'macro' | 'inline' | 'slot';
  /** Maps other names of packages to their proper names. */
  packages?: Record<string, string>;
  /** Uses in top-level forms of files. They are the same for each page of `rows`. */
  outside?: Caller[];
  /** Number of all such uses, when `outside` does not have all. */
  outsideCount?: number;
  /** Names of functions that look up symbols by name, so that they may call the function without a cross
   *  reference. Sent when no caller is known. */
  finding?: string[];
  /** Number of all functions that `finding` could list. */
  findingCount?: number;
  /** All names of all packages in which the symbol is accessible. */
  accessibleIn?: string[];
  /** Source files of all loaded code, sent when no certain caller is known. */
  files?: string[];
  rows?: Caller[];
}

/** One meaning of a symbol, such as its function or its class. */
export interface Thing {
  nature: string;
  /** Absent when SBCL keeps no lambda list. */
  arglist?: string;
  /** The lambda list that all methods of the generic function accept together, when it differs from
   *  `arglist`. */
  accepted?: string;
  type?: string;
  documentation?: string;
  methodCount?: number;
  /** Places of the first methods. Their descriptions are qualifiers and specializers. */
  methods?: (Place & { evaluated?: Evaluated })[];
  compilerMacro?: boolean;
  inline?: string;
  supers?: string[];
  slots?: string[];
  value?: { text: string; type?: string };
  /** The evaluation that made the definition, when no file did. */
  evaluated?: Evaluated;
  sources?: Place[];
}

/** An evaluation that made a definition. */
export interface Evaluated {
  /** When the form was evaluated, in seconds since 1970. */
  time: number;
  /** The form, or its beginning and "...". */
  by?: string;
}

export interface DescribeData {
  symbol: string;
  label: string;
  status: string;
  home?: string;
  homeStatus?: string;
  /** The package in which the symbol was looked up. */
  in: string;
  natures?: string[];
  things?: Thing[];
  /** Similar names, when the symbol names nothing. */
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
  /** Sent when the request asked for an evaluation in the main thread, which could not do it, so that nothing
   *  was evaluated. `job` is the id of the request that the main thread runs, or the negative number of the
   *  held error that it waits for. It is absent in an image whose main thread runs no requests. */
  mainThread?: { job?: number };
}

export interface CompileData extends Omit<EvaluateData, 'values'> {
  /** How many forms were compiled; absent when the compilation stopped before the end. */
  forms?: number;
}

/** What the reader found in a text. Offsets are in characters, as Lisp counts them. */
export interface CheckedText {
  /** For each form that was read, the offset of its end. */
  ends?: number[];
  /** Why the text after these forms cannot be read. */
  stopped?: string;
  /** Problems with forms. `name` is true when the problem is a package or a symbol. */
  problems?: { start: number; text: string; name?: boolean }[];
  /** Packages that do not exist. Forms in these packages were not checked. */
  missing?: string[];
}

interface ToolValue {
  data?: unknown;
  text?: string;
}

export interface RunToolData extends Remarks {
  /** What the tool's handler returned, or why the call failed. `data` is absent when the data are too large
   *  or cannot be written as JSON. `text` is absent when the server can make it from `data`. `failed` is true
   *  when the handler failed; `result` is what it returned nevertheless. `missing` is the name of the tool
   *  when the image does not have the tool, or, with `replaced`, has a newer tool of this name. */
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
  evaluate: { args: { code: string; package?: string; mainThread?: boolean } & Hold; data: EvaluateData };
  'compile-forms': { args: { code: string; file: string; package?: string } & Hold; data: CompileData };
  'check-text': {
    args: { text: string; starts: number[]; packages: [place: number, name: string | null][] };
    data: { value?: CheckedText };
  };
  'last-error': { args: { index: number }; data: { value?: LastErrorData } };
  'load-file': {
    args: { file: string; fasl: string; content?: string; forget?: true | 'listed' } & Hold;
    data: LoadFileData;
  };
  'nothing-listed': { args: object; data: object };
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
  'source-text': {
    args: { file: string; written?: number };
    data: { value?: { written: number; text?: string } };
  };
  'loaded-texts': {
    args: { versions: readonly { file: string; mark: string; now: string }[] };
    data: { value?: LoadedText[] };
  };
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
  /** How many octets of the heap are in use. */
  heapUsed: number;
  /** How many octets the heap can have. */
  heapSize: number;
  /** Milliseconds spent in garbage collections. */
  collectedMilliseconds: number;
  threads: number;
  programThreads: number;
  /** Names of the program's threads, at most ten. */
  threadNames?: string[];
  /** The user's library manager: its name, the file that sets it up, and whether it is loaded or why it could
   *  not be loaded. */
  libraries?: { name: string; file: string; loaded?: boolean; failure?: string };
  jobs?: AgentJob[];
}

/** The result of a tool that code in the image called. */
export type ToolAnswer =
  /** The tool's data, and the text for a model. */
  | { value: unknown; text?: string }
  /** The text of an error, and what the tool returned although it failed. `needsApproval` is true when a
   *  human could allow the call. */
  | { failure: string; result?: string; needsApproval?: boolean };

/** A problem with one form of a replay. */
export interface ReplayRemark {
  /** Index of the form, counted from 0. */
  index: number;
  /** Why the evaluation of the form failed. */
  why?: string;
  /** Names that the form defined before the loss, but not now. */
  missing?: string[];
  /** True when the image no longer works after the form. */
  broken?: boolean;
}
