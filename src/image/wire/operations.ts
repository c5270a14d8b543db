// Generated from the declarations in lisp/ by scripts/operations.mjs. npm run operations writes it anew.

/** The output of a call or of the image. */
export interface Output {
  /** The whole output, or its beginning when characters were left out. */
  text: string;
  /** The number of characters that were left out between `text` and `tail`. */
  omitted?: number;
  /** The end of the output, when characters were left out. */
  tail?: string;
}

/** A top-level form of a source file. */
export interface FormPlace {
  file?: string;
  /** The number of the top-level form in the file, counted from 0. */
  form?: number;
  /** True when the file has been written since it was compiled. */
  changed?: boolean;
  /** Write date (universal time) of the source file when it was compiled, if the file has changed since. */
  written?: number;
  /** The mark of the text that was loaded, if the image has kept it: the digest of its octets, unless its
   *  forms can be others under the present features. */
  mark?: string;
  /** The mark of the text that was loaded last, if it is another one. */
  latest?: string;
  /** True when it is not known which version of the source file was compiled. */
  undated?: boolean;
}

/** A place in a source file: a top-level form, or a list within this form. */
export interface Place extends FormPlace {
  /** The octet at which the top-level form begins. */
  offset?: number;
  /** Start and end of the list within the form, in characters from the start of the file as it was
   *  compiled. */
  start?: number;
  end?: number;
  /** True when the place is a list within the form, at an unknown position. */
  inside?: boolean;
  method?: string;
  description?: string;
  /** True when SBCL keeps no source of the definition, and code that the form ran made it. */
  byCode?: boolean;
  /** The file whose code made the definition, when neither SBCL nor the backend knows the form. */
  maker?: string;
  /** The evaluation that made the method, when no file did. */
  evaluated?: Evaluated;
}

/** A stack frame with its place, as far as that is known. */
export interface CalledFrame extends Place {
  call: string;
  /** The name of the function, when its file has changed. */
  definition?: string;
  /** True for a frame of SBCL, ASDF or the backend. Only held errors have such frames. */
  system?: boolean;
}

/** System frames that are not shown. */
export interface FoldedFrames {
  /** How many they are. */
  folded: number;
}

/** An element of a list of frames: one frame, or several system frames that are not shown. */
export type Frame = CalledFrame | FoldedFrames;

/** A Lisp condition that no handler handled. */
export interface Condition {
  type: string;
  text: string;
  /** The unbound variable that the condition is about, as PACKAGE::NAME. */
  variable?: string;
  /** Names similar to a name that does not exist. */
  near?: string[];
  /** True when the condition means that a name does not exist. */
  missing?: boolean;
  /** True when a file uses a package of a library manager, and no manager is set up. */
  withoutManager?: boolean;
  /** The user's init file, when it was not loaded and may define the missing name. Sent once per image. */
  initFile?: string;
  restarts?: { name: string; report: string }[];
  /** How many more restarts there are than `restarts` lists. */
  moreRestarts?: number;
  frames?: Frame[];
  /** How many more frames there are than `frames` lists. This is a lower bound for a very deep stack. */
  moreFrames?: number;
}

/** Options of an operation that runs code. */
export interface Hold {
  /** For how many seconds an error is held. Without this option, an error ends the operation. */
  hold?: number;
  /** Highest number of an error that an earlier image has held. The next held error gets a higher number. */
  heldAbove?: number;
  /** Names of restarts to invoke when an error offers them. */
  restarts?: readonly string[];
  /** The DEBUG quality to compile the code with. */
  debugLevel?: number;
}

/** A held error, without its condition. The thread that signalled the error waits until a call resumes it. */
export interface HeldError {
  /** Number of the error. */
  error: number;
  /** For how many seconds after each use the error is held. */
  seconds: number;
  /** Name of the thread that signalled the error, if it is a thread of the program. */
  thread?: string;
  /** True when the error was held while it was being signalled. Once it is released, a handler of the
   *  program handles it. */
  signalled?: boolean;
  /** True when the macro TIME measures the call that the error stopped. */
  timed?: boolean;
  /** How many frames the tool debug can show; there can be more. */
  frames?: number;
  slots?: { name: string; value?: string; id?: string }[];
  /** The lambda list of each restart's function, in the order of the restarts. */
  takes?: string[];
  /** Names of the locks that the thread holds. */
  locks?: string[];
}

/** What an operation reports on an error that is held and has stopped it, and on restarts that were
 *  invoked. */
export interface Holding {
  /** The error that stopped the operation and is held. */
  held?: HeldError;
  /** Why the error of the operation is not held, although the request asked for that. */
  notHeld?: string;
  /** The restarts that the request had chosen in advance and that were invoked, each with the text of the
   *  condition. */
  taken?: { restart: string; text: string }[];
  /** Number of all such restarts, when `taken` does not list all. */
  takenTotal?: number;
  /** Names of the restarts that the request had chosen in advance and that an error offered, but that were
   *  not invoked, because they need arguments. */
  needingValues?: string[];
  /** Names of all restarts by which the operation continued after an error, including restarts that were
   *  invoked for held errors. */
  wentOnBy?: string[];
}

/** The members that the answer of any job can have besides those of its operation. At most one of
 *  CONDITION, INTERRUPTED and ABORTED is there; without one the job ended well. */
export interface JobAnswer {
  /** What the job has written. */
  output?: Output;
  /** What other threads have written since the last answer. */
  background?: Output;
  /** In an image that somebody else runs: names that this person or other servers have defined since the
   *  last answer, or texts for what they have loaded. */
  changes?: string[];
  /** The number of older changes. */
  moreChanges?: number;
  /** A condition that no handler handled. */
  condition?: Condition;
  interrupted?: InterruptedMember;
  /** True when the ABORT restart of the job was invoked. */
  aborted?: boolean;
}

/** Why a call was interrupted: its time was up ('timeout'), the client cancelled it ('cancelled'), the
 *  tool interrupt ended it ('interrupt'), the server ends ('ending'), the heap was full ('heap'), the
 *  server had to terminate the thread ('terminated'), or the thread ended for another reason ('ended'). */
export type Reason = 'timeout' | 'cancelled' | 'interrupt' | 'ending' | 'heap' | 'terminated' | 'ended';

/** The work that the backend must still do before it can answer this request. The backend keeps its
 *  progress, and the next such request continues the work. */
export interface WorkLeft {
  /** 'names' while the backend reads the code of the definitions in the image, and 'files' while it reads
   *  loaded files again. */
  what: 'names' | 'files';
  /** The number of names or files that are still to be read. */
  count: number;
}

/** The backend's report on an interrupted call. */
export interface InterruptedMember {
  reason: Reason;
  frames?: Frame[];
  left?: WorkLeft;
  /** True when the cleanup forms of the call did not run to their end. */
  cutShort?: boolean;
  /** Milliseconds of garbage collection while the call ran. */
  collectedMilliseconds?: number;
  /** Name of the thread that ended the thread of the call. */
  endedBy?: string;
  /** True when the call ended before any part of it ran. */
  notBegun?: boolean;
}

/** A warning, or a note of the compiler. */
export interface Warning {
  severity: 'error' | 'warning' | 'undefined' | 'style-warning' | 'note';
  text: string;
  /** Names similar to an undefined name. */
  near?: string[];
  form?: string;
  definition?: string;
  formNumber?: number;
  file?: string;
  /** Octet offset of the top-level form in the file. */
  offset?: number;
  /** Index in the file, in characters, of the start of the innermost form that caused the warning. */
  start?: number;
}

/** What an operation that runs user code returns besides its value. */
export interface Remarks extends Holding {
  warnings?: Warning[];
  warningCount?: number;
  /** How many of the warnings are compiler notes. */
  noteCount?: number;
  /** How many of these compiler notes are about files. */
  fileNoteCount?: number;
  redefined?: string[];
  /** True when a file uses a package of a library manager, and no manager is set up. */
  withoutManager?: boolean;
  /** Methods that a load removed, because they do not fit the new lambda list of their generic function. */
  displaced?: OldItem[];
  displacedTotal?: number;
  package?: string;
  /** True when the session's readtable was replaced, because it could read no form any more. */
  freshReadtable?: boolean;
  /** Variables that make the session read or print differently from a fresh SBCL. Sent only when they have
   *  changed. */
  styles?: { name: string; value: string }[];
}

/** A local variable of a frame. The value is absent when the compiled code did not keep it. */
export interface Local {
  name: string;
  value?: string;
  /** Id under which the tool inspect finds the value. */
  id?: string;
}

/** A frame of a kept error (shape KEPT-ERROR) that is no system frame. */
export interface KeptCall extends CalledFrame {
  locals?: Local[];
  /** True when the arguments and locals of this frame were not kept, because printing those of newer
   *  frames took too long. */
  late?: boolean;
}

/** A frame of a kept error, with its locals. */
export type KeptFrame = KeptCall | FoldedFrames;

/** An error that was kept when it was signalled. */
export interface KeptError {
  /** Seconds since 1970. */
  time: number;
  /** The operation that signalled the error; absent for an error that ended a thread of the program. */
  operation?: string;
  /** Name of the thread that the error ended. */
  thread?: string;
  form?: string;
  formNumber?: number;
  file?: string;
  package: string;
  type: string;
  /** Absent when the stack was exhausted, since there was no room to walk it. */
  frames?: KeptFrame[];
  /** Absent when printing the condition failed. */
  condition?: Condition;
}

/** The errors that are kept. */
export interface LastErrorData {
  /** When the image started, in seconds since 1970. */
  began: number;
  total: number;
  error?: KeptError;
  /** All kept errors, newest first. */
  others?: { time: number; type: string }[];
}

/** State of a running job, from the backend. */
export interface JobProgress {
  /** How many characters the job has written. */
  characters?: number;
  /** The end of the last line that the job has written. */
  lastLine?: string;
  /** The file that the job compiles or loads now. */
  file?: string;
  /** Milliseconds of garbage collection while the job ran. */
  collectedMilliseconds?: number;
}

/** State of a running job, from the backend. */
export interface BackendJob extends JobProgress {
  id: number;
  frames?: string[];
  characters: number;
}

/** A call that the image runs for another server. */
export interface OthersJob extends JobProgress {
  operation: string;
  /** Identifies that server, such as `process 123`. */
  server?: string;
  milliseconds: number;
  frames?: string[];
  characters: number;
}

/** State of the image, from the backend. */
export interface BackendStatus {
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
  /** The user's library manager: its name, the file that sets it up, and whether it is loaded or why it
   *  could not be loaded. */
  libraries?: { name: string; file: string; loaded?: boolean; failure?: string };
  jobs?: BackendJob[];
  others?: OthersJob[];
}

/** How a job's thread has spent its time. */
export interface JobCpuTimes {
  /** Milliseconds for which the thread has run. */
  ran: number;
  /** Milliseconds for which the thread has waited for a CPU. */
  waited: number;
  /** True when the thread runs or waits for a CPU now. */
  ready: boolean;
}

/** The answer when the requested package does not exist. */
export interface NoPackage {
  failure: 'no-package';
  package: string;
  /** Similar names. */
  near?: string[];
}

/** A failed look-up: the package has no symbol of the requested name. */
export interface NoSymbol {
  failure: 'no-symbol';
  package: string;
  symbol: string;
  /** The session's package, if it contains the symbol and the request named no package. */
  current?: string;
  /** The package that has this name, if there is one. */
  namesPackage?: string;
  /** Similar names. */
  near?: string[];
}

/** The answer when the requested symbol is not the name of a class. */
export interface NoClass {
  failure: 'no-class';
  class: string;
  /** What the symbol names instead. */
  natures?: string[];
}

/** The answer when the requested system does not exist. */
export interface NoSystem {
  failure: 'no-system';
  system: string;
}

/** The answer of a look-up that found nothing. */
export type LookupFailure = NoPackage | NoSymbol | NoClass | NoSystem;

/** The symbols that a search found. */
export interface AproposData {
  total: number;
  inherited: number;
  /** How many symbols of the session's package match; sent when the request named no package and the
   *  search found nothing. */
  current?: { package: string; count: number };
  /** For each symbol: its home package, its name, its label, and, in a ranked search, the first line of
   *  its documentation or "". */
  rows?: [string, string, string, string?][];
}

/** A file that the backend could not read completely, so that it does not know all top-level forms, and
 *  the reason. */
export interface UnreadFile {
  file: string;
  why: string;
}

/** Something that uses a function, or a variable. */
export interface Caller extends FormPlace {
  /** Name of the caller; absent for a top-level form of a file, which the server names by its text. */
  name?: string;
  /** Kind of a caller that is no function (contract S3.17); absent for a function. */
  kind?: string;
  /** Name of the function of which this caller is an alias. */
  same?: string;
  /** True when the caller only contains the name in its data, so that it may never call the function. */
  possible?: boolean;
  /** Operator of the form that is the caller, when the form is in no file. */
  operator?: string;
  /** Symbols in the data of the top-level form as PACKAGE::NAME, including the symbol that it defines. */
  names?: string[];
  sites?: Place[];
}

/** Who calls a function. */
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
  /** True when SBCL does not notify the backend of new code. */
  unheard?: boolean;
  /** Files that the backend could not read completely, so not all their top-level forms are known. */
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
  /** True when this SBCL does not record who calls INTERN and the like. */
  findingUnrecorded?: boolean;
  /** All names of all packages in which the symbol is accessible. */
  accessibleIn?: string[];
  /** Source files of all loaded code, sent when no certain caller is known. */
  files?: string[];
  rows?: Caller[];
}

/** The answer of who-references: the users of a variable, and what may be missing among them. */
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

/** An evaluation that made a definition. */
export interface Evaluated {
  /** When the form was evaluated, in seconds since 1970. */
  time: number;
  /** The form, or its beginning and "...". */
  by?: string;
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
  methods?: Place[];
  compilerMacro?: boolean;
  inline?: string;
  supers?: string[];
  slots?: string[];
  value?: { text: string; type?: string };
  /** The evaluation that made the definition, when no file did. */
  evaluated?: Evaluated;
  sources?: Place[];
}

/** All that a symbol names. */
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

/** How a function is called. */
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

/** The number of some names, and the first 100 of these names. */
export interface CountedNames {
  count: number;
  names?: string[];
}

/** A package and its symbols. */
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
  /** How many symbols the request selects. */
  total: number;
  /** Home package, name and label of each symbol in this page of the list. */
  rows?: [string, string, string][];
}

/** A class. */
export interface ClassHead {
  name: string;
  /** The proper name of the class, when it differs from `name`. */
  properName?: string;
  kind: string;
  finalized: boolean;
}

/** A slot of a class. */
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

/** A class and its slots. */
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

/** A class, the classes above it and those below. */
export interface ClassHierarchyData extends ClassHead {
  metaclass: string;
  supers?: string[];
  /** The class precedence list, or the known part of it when the class is not finalized. */
  ancestors?: string[];
  subclasses?: number;
  directSubclasses?: number;
  rowCount?: number;
  /** The tree of subclasses, in depth-first order. `again` is true when an earlier row of the same class
   *  has its subclasses below it. */
  rows?: { name: string; level: number; again?: boolean }[];
}

/** An argument of a call as it was written in the request: a name, a symbol, the object of an EQL
 *  specializer, or a literal. */
export interface WrittenArgument {
  kind: 'name' | 'symbol' | 'eql' | 'number' | 'string' | 'character';
  text: string;
}

/** How the code of an example call gets an argument: from a variable, as a symbol or a literal, as a new
 *  instance of a class, or as the prototype of a class. */
export interface ArgumentSource {
  by: 'variable' | 'symbol' | 'literal' | 'instance' | 'prototype';
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
  /** Each argument as the backend understood it; null for an argument that it did not understand. */
  arguments?: (string | null)[];
  /** How code gets each argument. */
  sources?: (ArgumentSource | null)[];
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

/** A function or macro that no code uses except itself. */
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

/** The functions of a package that no code uses except the function itself. */
export interface UnusedData {
  package: string;
  /** How many functions the package has. */
  functions: number;
  interpreted?: boolean;
  unheard?: boolean;
  unread?: UnreadFile[];
  /** Source files of the code that was searched for uses. */
  files?: string[];
  /** Names of functions whose only users are unused functions or functions in this list. */
  withoutEntry?: string[];
  rows?: UnusedRow[];
}

/** A function that belongs to a class or structure, named PACKAGE::NAME: an accessor of its own slot, a
 *  constructor, a copier or a predicate. */
export interface ClassFunction {
  name: string;
  /** True when the function also has methods for other classes, so that it would still exist if this class
   *  were removed. */
  kept?: boolean;
  /** For an accessor of a substructure: the slot of the included structure that it accesses. */
  slot?: string;
  /** True for a constructor that belongs to a substructure and takes the slots as keyword arguments. */
  below?: boolean;
  arglist?: string;
}

/** A class that may accept fewer initargs after the change. `defaults` lists the initargs for which the
 *  class itself has default values. */
export interface ClassInitargs {
  name: string;
  /** Names of the packages in which the name of the class is accessible. */
  homes: string[];
  /** Initargs that the class may no longer accept: only slots of the changed class, or superclasses that
   *  are lost, make it accept them. */
  initargs: string[];
  defaults?: string[];
  place: Place;
}

/** What a change of a definition affects, besides its callers. */
export interface ImpactData {
  name: string;
  natures?: string[];
  /** Names of the first classes that have a direct slot of this name; sent when no function or class has
   *  this name. */
  slotOf?: string[];
  /** Kind of the function; absent when the name is no function. */
  kind?: string;
  /** True when the name names a type but no class. */
  type?: boolean;
  /** True when (setf NAME) is defined, by a function or a setf expander. */
  place?: boolean;
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
  /** True when this SBCL does not record who calls INTERN and the like. */
  findingUnrecorded?: boolean;
  /** Source files of the loaded code. */
  files?: string[];
  /** Functions into which SBCL has compiled the definition: an expansion, the code of an inline function,
   *  or the value of a constant. */
  holders?: string[];
  /** Functions that call the definition, and may also have it compiled in. */
  perhapsHolders?: string[];
  /** Macros, and names with compiler macros, that call the function when they expand. */
  expanders?: string[];
  /** Functions into which SBCL has compiled expansions that `expanders` made. */
  expanded?: string[];
  inline?: boolean;
  compilerMacro?: boolean;
  arglist?: string;
  /** The lambda list that all methods of the generic function accept together, when it differs from
   *  `arglist`. */
  accepted?: string;
  methodCount?: number;
  methods?: { place: Place; arglist: string }[];
  /** How many of the systems that ASDF knows contain the tests of other systems. */
  testSystems?: number;
  /** How many callers were followed in the search for tests, if there are more. */
  testsMore?: number;
  testCount?: number;
  tests?: Place[];
  /** Files of the systems that contain tests; of a function, only when no test is known to reach it. */
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
  /** Methods that specialize on the class, except its accessors, each with the name of its generic
   *  function. This member and those that follow are sent only for a removal. */
  specialized?: { name: string; place: Place }[];
  /** What the symbol macro expands into, if the name is one. */
  symbolMacro?: string;
  /** The functions that DEFSTRUCT made, if the name is that of a structure that is a vector or a list. */
  typedStructure?: string[];
  /** True when the name is that of a method combination. */
  combination?: boolean;
  /** Generic functions with that method combination. */
  combined?: string[];
  /** True when the name is that of a package. `homes` are then all its names and nicknames. */
  package?: boolean;
  /** True when the name is that of a system. */
  system?: boolean;
  /** Packages that use the package, or registered systems that depend on the system. */
  usedBy?: string[];
  /** How many symbols are at home in the package. */
  symbolCount?: number;
}

/** A definition. */
export interface Item {
  /** The kind of the definition, such as function. */
  kind: string;
  /** The name, with package prefixes. */
  name: string;
}

/** A text that the image has loaded, with a character for each octet, and the features under which it was
 *  read. `text` is absent if it is the present text of the file, which the server has. Both members are
 *  absent if the image no longer keeps the text. */
export interface LoadedText {
  text?: string;
  features?: string[];
}

/** A changed definition that SBCL compiles into its callers, such as a macro. */
export interface OutdatedUsers {
  name: string;
  kind: string;
  /** True if the name has no definition any more. */
  gone?: boolean;
  /** Names of callers that were compiled with the old definition. */
  users: string[];
  /** Number of all such callers. */
  total: number;
}

/** A top-level form of a file that uses something. */
export interface UsedAt {
  file: string;
  /** The number of the form in the file. */
  form: number;
}

/** A definition, and the reasons why it is not removed. */
export interface KeptItem extends Item {
  /** Texts that name definitions and data that need it, or the error of its removal. */
  because?: string[];
  /** Top-level forms that need it, or that would make it if the image did not have it. */
  usedAt?: UsedAt[];
  /** Files that have another definition of it, which this one has replaced. */
  definedIn?: string[];
}

/** A definition that was removed. */
export interface GoneItem extends Item {
  /** Texts for definitions that still use the removed function. */
  users?: string[];
  /** Top-level forms that use it. */
  usedAt?: UsedAt[];
  /** The number of all such users. */
  usersTotal?: number;
  /** Texts for definitions that do not use it, but have its name in their data. */
  inData?: string[];
  /** Top-level forms that have its name in their data only. */
  inDataAt?: UsedAt[];
}

/** A variable that kept its old value when a file with its DEFVAR, or a similar form, was loaded. The
 *  variable was bound already, so the form did not set it. */
export interface UnsetVariable {
  name: string;
  /** The value of the variable in the image, as printed. */
  value: string;
  /** The value that the file gives to the variable, if it is a literal there. */
  says?: string;
}

/** A definition in the image that its file no longer has, or that was evaluated and is in no file. A load
 *  can be told to remove such definitions. If it would keep this one, the members from KEPT-ITEM give the
 *  reasons. */
export interface OldItem extends KeptItem {
  /** The file that had the definition; absent when it was evaluated. */
  file?: string;
  /** When the definition was evaluated, in seconds since 1970. */
  time?: number;
  /** The beginning of the form that was evaluated. */
  by?: string;
}

/** A method that a file defines twice. */
export interface DoubledMethod extends Item {
  file: string;
  /** The number of the top-level form whose method replaced the other. */
  form?: number;
  /** The number of the top-level form whose method was replaced. */
  other?: number;
}

/** A class whose slots a load changed. */
export interface ReslottedClass {
  name: string;
  /** Names of the slots that the class did not have before. */
  new?: string[];
  /** Names of the slots that the class no longer has. */
  gone?: string[];
  /** Number of instances that have not got the new slots yet. Each gets them when it is used next. */
  instances?: number;
}

/** A structure whose layout a load changed while it had instances. */
export interface RelaidStructure {
  name: string;
  /** True if the functions of the structure still take these instances, and look for their slots at the
   *  new places. The restart RECKLESSLY-CONTINUE does that. */
  taken?: boolean;
  /** Number of existing instances, which no function of the structure takes now. If `taken`, instances
   *  made since the load count, too. Absent if the heap is too large to be searched. */
  instances?: number;
}

/** Differences between the image and files. Loads and comparisons both report these kinds of differences.
 *  Each list has a limited length. Its total, such as `oldTotal` for `old`, counts all items. */
export interface Disagreement {
  old?: OldItem[];
  oldTotal?: number;
  unset?: UnsetVariable[];
  unsetTotal?: number;
  outdated?: OutdatedUsers[];
  outdatedTotal?: number;
}

/** Differences between the image and the files of a load. Each list has a limited length. Its total, such
 *  as `oldTotal` for `old`, counts all items. */
export interface Agreement extends Disagreement {
  /** The loaded file, if the load was asked to remove definitions that the file no longer has. */
  forgetting?: string;
  /** Methods that a file defines twice. */
  doubles?: DoubledMethod[];
  doublesTotal?: number;
  reslotted?: ReslottedClass[];
  reslottedTotal?: number;
  relaid?: RelaidStructure[];
  relaidTotal?: number;
  /** Definitions that were removed from the image because the file no longer has them. */
  gone?: GoneItem[];
  goneTotal?: number;
  /** Definitions that the file no longer has, but that were not removed. */
  left?: KeptItem[];
  leftTotal?: number;
}

/** A definition in a file for which the image has another definition or none. */
export interface Difference extends Item {
  file: string;
  /** Number of the top-level form in the file. */
  at?: number;
  /** True when the image has no such definition. */
  missing?: boolean;
  /** The other file whose load made the definition in the image. */
  other?: string;
  /** When the image's definition was evaluated instead, in seconds since 1970. */
  time?: number;
  /** The beginning of the form that was evaluated instead. */
  by?: string;
}

/** A file on the disk that differs from its text at the last load, with the forms that differ, if these
 *  are known. */
export interface DiskDifference {
  file: string;
  how: 'gone' | 'changed' | 'unreadable';
  forms?: { head: string; how: 'new' | 'differs' | 'gone'; form?: number }[];
  formsTotal?: number;
}

/** Differences between the image and files that a request names. */
export interface ComparisonData extends Disagreement {
  /** True when none of the files was loaded. */
  unknown?: boolean;
  /** True when the system has no files of its own, only dependencies. */
  empty?: boolean;
  /** Names of the systems on which a system without files depends. */
  needs?: string[];
  files?: number;
  /** Files whose last load did not end well. */
  unfinished?: string[];
  /** Files of the system that were not loaded. */
  unloaded?: string[];
  differing?: Difference[];
  differingTotal?: number;
  disk?: DiskDifference[];
  diskTotal?: number;
}

/** The definitions in an image that belong to a set of files, for a comparison with another image. */
export interface Inventory {
  /** The files, native truenames. */
  files?: string[];
  /** The packages of the names that the files define. */
  packages?: string[];
  /** The definitions in these packages that one of the files made, or that no file made. */
  items?: Item[];
  /** The variables among these definitions, with texts about their values, for comparison. */
  variables?: { name: string; value: string }[];
}

/** Why a symbol cannot get its new name. */
export interface NameConflict {
  /** `keyword`: the symbol is a keyword. `locked`: its home package is locked. `other`: the new name is
   *  another symbol in a package in which the symbol is accessible. `taken`: the new name already has a
   *  definition, such as a function or a variable. */
  kind: 'keyword' | 'locked' | 'other' | 'taken';
  /** The package of the conflict. */
  package?: string;
  /** The symbol that has the new name in this package. */
  symbol?: string;
  /** What this symbol names. */
  natures?: string[];
}

/** A structure that the symbol names, or that has a slot of this name. Function names stand without their
 *  package. */
export interface StructureData {
  name: string;
  /** Pairs of a slot and its accessor. */
  slots?: [string, string][];
  constructors?: string[];
  /** Constructors without a lambda list of their own, which take each slot as a keyword argument. */
  takingSlots?: string[];
  predicate?: string;
  copier?: string;
}

/** A symbol and its new name. */
export interface RenamingData {
  from: string;
  to: string;
  /** The packages in which the symbol is accessible. */
  packages?: string[];
  /** The packages that export the symbol. */
  exporters?: string[];
  /** True when a symbol with the new name exists but names nothing. */
  unnamed?: boolean;
  conflicts?: NameConflict[];
}

/** The facts that the server needs before it renames a symbol. */
export interface RenameFacts {
  name: string;
  home: string;
  natures?: string[];
  /** File and number of each top-level form that defines the symbol. */
  places?: Place[];
  /** Other names that these forms define, such as MAKE-POINT for POINT, and that contain the symbol's
   *  name. */
  made?: string[];
  structures?: StructureData[];
  /** For each class that takes an initarg of the symbol's name: the names, without package, of the class
   *  and of its subclasses. */
  heirs?: string[][];
  renamings: RenamingData[];
  /** Pairs of a name of a package and its proper name. */
  packageNames?: [string, string][];
  /** Triples of a package, a package-local nickname in it, and the package that the nickname stands for. */
  localNicknames?: [string, string, string][];
  files?: string[];
}

/** What happened to the definitions of the old symbols. */
export interface RenameFinished {
  /** Definitions that were removed. */
  gone?: Item[];
  /** Number of all removed definitions. */
  goneTotal?: number;
  /** Definitions that were not removed. */
  left?: KeptItem[];
}

/** A form to evaluate as the lost image evaluated it. */
export interface FormEntry {
  text: string;
  /** The name of the package in which to read TEXT. */
  package: string;
  /** The parts of the form that are not evaluated again, because they changed nothing or did damage. Each
   *  is a path of indexes. */
  without?: number[][];
  /** The difference between the readtable of the form and the standard readtable. */
  readtable?: string;
  /** The compiler policy of the form, where it differs from that of a new image. */
  policy?: unknown[];
  /** Names that the form defined and that its text does not contain. */
  defines?: string[];
  /** Names of the restarts by which the evaluation continued after errors. */
  restarts?: string[];
}

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

/** The answer to a request to replay forms. */
export interface ReplayData {
  value?: boolean;
  /** Problems with forms. */
  failed?: ReplayRemark[];
}

/** A form that the reader could not read: its number in the text, the position of its start (`line`,
 *  `column`), and the position where the reader stopped (`atLine`, `atColumn`). */
export interface Unreadable {
  /** Why the form could not be read. */
  text: string;
  near?: string[];
  /** True when the text names a package, or a symbol in a package, that does not exist. */
  missing?: boolean;
  /** True when the text uses a package of a library manager, and no manager is set up. */
  withoutManager?: boolean;
  /** The user's init file, when it was not loaded and may define the missing name. Sent once per image. */
  initFile?: string;
  number: number;
  line: number;
  column: number;
  atLine: number;
  atColumn: number;
}

/** A printed value; or, in its place, the number of further values that were left out. */
export interface PrintedValue {
  /** The value as ~S prints it. */
  text?: string;
  /** How many further values were left out. */
  omitted?: number;
  /** True when the text was too long, so its end is missing. */
  cut?: boolean;
  /** The value of *PRINT-LENGTH*, if it hid a part of the value. */
  length?: number;
  /** The length of a string that was cut. */
  characters?: number;
  /** How many digits a number has, when only its first and its last digits are shown. */
  digits?: number;
  /** True when only the first and the last digits of some numbers within the value are shown. */
  shortened?: boolean;
  /** True when the value is printed with labels such as #1=, because a part of it contains itself. */
  circular?: boolean;
  /** Id under which the tool inspect finds a value that was not shown whole. */
  id?: string;
}

/** The result of an operation that reads the forms of a text, and evaluates or compiles them. */
export interface FormsData extends Remarks {
  /** Number of the form that was read or evaluated last (1-based). */
  formNumber?: number;
  unreadable?: Unreadable;
  value?: LookupFailure;
}

/** Why the main thread could not run a request. */
export interface MainThreadBusy {
  /** Id of the request that the main thread is running, or the negative number of the held error at which
   *  it is stopped. Absent in an image whose main thread runs no requests. */
  job?: number;
}

/** The answer to a request to evaluate forms. */
export interface EvaluateData extends FormsData {
  /** The printed values of each evaluated form. */
  values?: PrintedValue[][];
  /** True when the last form ran to its end, and only printing its values failed. */
  unprinted?: boolean;
  /** Sent when the main thread was asked to evaluate the forms and could not, so that nothing was
   *  evaluated. */
  mainThread?: MainThreadBusy;
}

/** A system of which ASDF can find two definitions. Each such system is reported once. */
export interface Twin {
  name: string;
  /** The .asd file from which the system was loaded. */
  file: string;
  /** Another .asd file that defines a system of this name. */
  other: string;
}

/** The outcome of the load of a file. */
export interface LoadedFile {
  file: string;
  failed?: boolean;
  /** True when the file could not be compiled to its end. */
  notLoaded?: boolean;
  /** True when the first forms of the file were loaded, although a later one could not be read. */
  begun?: boolean;
  agreement?: Agreement;
}

/** The answer to a request to load or check a file. */
export interface LoadFileData extends Remarks {
  /** The phase in which the load ended: 'load' when it succeeded. */
  phase?: 'compile' | 'load';
  value?: LoadedFile;
  /** Loaded systems that another .asd file defines too. */
  twins?: Twin[];
}

/** The answer to a request to load several files. */
export interface LoadFilesData extends Remarks {
  phase?: 'compile' | 'load';
  /** The file in which the load stopped. */
  file?: string;
  /** Results of the files that were loaded, in load order, up to the file in which the load stopped. */
  value?: LoadedFile[];
}

/** A requested system, with details if ASDF does not find it, or does not find a system that it needs. */
export interface PerhapsMissing {
  /** The name of the system that ASDF does not find. */
  missing?: string;
  /** The requested system. */
  system?: string;
  /** The system that depends on the missing one, when this is not the requested system. */
  neededBy?: string;
  /** Names of systems that ASDF finds. */
  known?: string[];
  /** The .asd file in which ASDF looks for the system, and the systems that the file defines instead. */
  asd?: { file: string; systems?: string[] };
  /** Name of the library manager that the image uses. */
  manager?: string;
  /** Why the library manager could not be loaded. */
  managerFailure?: string;
  /** The form by which the library manager installs the missing system, if it can. */
  installing?: string;
  /** The user's init file, such as ~/.sbclrc, if it could set up more systems. Images do not load it. */
  initFile?: string;
}

/** A system that ASDF does not find. */
export interface MissingSystem extends PerhapsMissing {
  missing: string;
}

/** The outcome of the load of a system. */
export interface LoadedSystem extends PerhapsMissing {
  already?: boolean;
  /** True when no file was loaded. */
  unchanged?: boolean;
  loaded?: string[];
  /** Source files of the system that no longer exist. */
  gone?: string[];
  twins?: Twin[];
  agreement?: Agreement;
}

/** The answer to a request to load a system. */
export interface LoadSystemData extends Remarks {
  value?: LoadedSystem;
}

/** The text of a source file. */
export interface SourceText {
  /** The universal time at which the file was written. */
  written: number;
  /** The octets of the file, each as the character with this code. Absent when the server already has this
   *  version. */
  text?: string;
}

/** A system or a file that was loaded, and is to be loaded in another image. */
export interface LoadStep {
  /** The name of a system. */
  system?: string;
  /** The native truename of a file. */
  file?: string;
}

/** The answer to a request to compile forms. */
export interface CompileData extends FormsData {
  /** How many forms were compiled; absent when the compilation stopped before the end. */
  forms?: number;
}

/** The expansion of a form. */
export interface MacroexpandData extends Remarks {
  expansion?: PrintedValue;
  expanded?: boolean;
  /** The operator of the form, when the form is no macro form. */
  operator?: { name: string; place: 'function' | 'variable'; natures?: string[] };
  unreadable?: Unreadable | { forms: number };
  withoutWalker?: boolean;
  value?: LookupFailure;
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

/** The answer to a check of a text. */
export interface CheckData extends Remarks {
  value?: CheckedText;
}

/** Whether the image works. */
export interface ProbeData {
  /** Absent when the test did not end normally. */
  works?: boolean;
  /** The name of a thread that keeps all others from compiling. */
  holder?: string;
}

/** Data about a held error and its frames, or the reason why a request about them failed. */
export interface DebugValue {
  /** True when this session holds no error with the requested number. */
  gone?: boolean;
  /** True when another call uses the error. */
  busy?: boolean;
  /** The server that holds the error, when that is another server of the same image. */
  heldBy?: string;
  /** Why the error is not held, or why the call of the frame cannot be made again. */
  why?: string;
  /** Numbers of the errors that are held. */
  held?: number[];
  /** Number of the requested frame, when it does not exist. */
  noFrame?: number;
  /** How many frames can be shown. */
  frames?: number;
  /** The requested restart, when it does not exist. */
  noRestart?: string;
  /** Names of the restarts that exist. */
  restarts?: string[];
  /** True when there is no form to evaluate again. */
  noForm?: boolean;
  /** Number of the frame that the request is about. */
  frame?: number;
  /** True when the call of this frame can be made again. */
  again?: boolean;
  /** Number of the nearest frame whose call can be made again. */
  nearest?: number;
  /** True when the evaluated form can be evaluated again. */
  form?: boolean;
  call?: Frame;
  locals?: Local[];
  package?: string;
  /** Name of a restart that was called with too few arguments. */
  restart?: string;
  /** Lambda list of `restart`, the restart that was called with too few arguments. */
  takes?: string;
  /** Name of a restart whose function returned, although restarts should make a non-local exit. */
  returned?: string;
  /** True when the thread that had the error, a thread of the program, now continues. */
  goesOn?: boolean;
}

/** A row of the list of held errors. */
export interface HeldRow {
  error: number;
  seconds: number;
  thread?: string;
  /** The server that holds the error, if it is another server of the same image. */
  heldBy?: string;
  type: string;
}

/** The answer of the operations on a held error: debug-look, debug-eval, debug-fix and debug-go. */
export interface DebugData extends Remarks {
  /** True when the evaluated code left the error by a non-local exit, and the stopped call continued. The
   *  other members are then the answer of that call. */
  left?: boolean;
  value?: DebugValue | LookupFailure;
  /** The printed values of each evaluated form. */
  values?: PrintedValue[][];
  /** Number of the form that was evaluated last. */
  formNumber?: number;
  unreadable?: Unreadable;
  /** Definitions from files that the new definitions replaced. */
  replaced?: { name: string; method?: boolean; place: Place }[];
}

/** The current state of a thread. */
export interface ThreadData {
  thread?: string;
  frames?: Frame[];
  /** True when the thread did not report its frames in time. */
  silent?: boolean;
  /** The lock that the thread waits for, and the thread that owns it. */
  waitsFor?: { name: string; owner?: string };
  /** Names of threads, when the requested name fits no thread or several. */
  threads?: string[];
  /** How many threads the requested name fits. */
  found?: number;
}

/** Which errors are recorded from now on. */
export interface WatchData {
  where?: string;
  /** The requested type of errors. */
  type?: string;
  /** True when no thread and no package has the name in `where` yet. */
  unknown?: boolean;
  /** The requested type, when there is no such type of errors. */
  noType?: string;
  /** How many such errors were signalled, when the recording ends. */
  watched?: number;
}

/** An error that was recorded when it was signalled. Times are in seconds. */
export interface WatchedError {
  time: number;
  thread: string;
  type: string;
  text: string;
  frames?: Frame[];
  moreFrames?: number;
}

/** The errors that were recorded when they were signalled. */
export interface WatchedData {
  /** Which errors are recorded now: `all`, a part of the name of the thread that signals them, or the name
   *  of a package with a function on the stack. Absent when none are recorded. */
  watching?: string;
  /** How many such errors were signalled since the recording began. */
  seen: number;
  now: number;
  error?: WatchedError;
  others?: { time: number; thread: string; type: string }[];
}

/** A reference on the way from a root to an object. */
export interface HoldingStep {
  /** The place of the reference: a root such as a variable, or a part of the object of the step before. */
  part: string;
  /** The object referred to, printed. */
  value: string;
  id?: string;
}

/** A path from a root to an object. */
export interface HoldingPath {
  /** For a class, how many instances have a path with the same classes and the same root; else 1. */
  count: number;
  steps: HoldingStep[];
}

/** The references that keep an object, or the instances of a class, alive. */
export interface Holders {
  /** True for a class: the paths lead to its instances. */
  many?: boolean;
  /** How many references, or for a class how many instances, were found. */
  found: number;
  ways?: HoldingPath[];
  /** How many different paths there are. */
  total: number;
  /** True when the object was reached only from symbols of SBCL. */
  system?: boolean;
  /** The number of objects after which the search stopped, when it did not visit all. */
  full?: number;
  /** Names of threads that did not report their references in time. */
  silent?: string[];
  /** True for a number, a character or a symbol with a package: no search is made for these. */
  unheld?: boolean;
}

/** A part of an object. */
export interface InspectedPart {
  name: string;
  value?: string;
  /** Why the part has no value: for example, its slot is unbound. */
  why?: string;
  id?: string;
}

/** An object and its parts, or the reason why it cannot be inspected. */
export interface InspectData {
  value?: string;
  type?: string;
  id?: string;
  total?: number;
  /** True when the object has more than TOTAL parts, which are not listed. */
  more?: boolean;
  /** The parts; with NO-PART, the names of the parts that exist. */
  parts?: InspectedPart[] | string[];
  /** For a hash table whose look-ups are slow, the largest number of keys with the same hash. */
  crowd?: number;
  noValue?: boolean;
  /** The requested id, when its object no longer exists. */
  goneId?: string;
  /** The requested id, when only answers to other servers of the image had it. */
  foreignId?: string;
  /** True when the text is a form, which inspect does not evaluate. */
  isForm?: boolean;
  /** The requested name of a function, when there is no such function. */
  noFunction?: string;
  /** The requested part, when the object has no such part. */
  noPart?: string;
  /** The object that lacks the requested part, as printed. */
  in?: string;
  why?: string;
  /** What keeps the object alive, if the request has HOLDERS. */
  holders?: Holders;
}

/** Why a request to observe was refused. */
export interface ObserveRefusal {
  /** True when the heap is too large to be walked. */
  largeHeap?: boolean;
  /** A requested name that names no function. */
  noFunction?: string;
  /** What this name names instead. */
  natures?: string[];
  /** Number of functions in the requested package, when it has none or too many. */
  packageFunctions?: number;
  /** Name of this package, or which of the request's texts cannot be read. */
  in?: string;
  /** Maximum number of functions that can be observed at once. */
  limit?: number;
  /** The requested condition on the arguments of calls, a form, when it does not compile. */
  where?: string;
  /** Name of the function for which the form does not compile. */
  name?: string;
  /** Why the form does not compile. */
  why?: string;
  /** The parameters of the function, which the form can use. */
  parameters?: string[];
  /** The requested function, when it belongs to SBCL. */
  builtIn?: string;
  /** Why a text of the request cannot be read. */
  unreadable?: Unreadable;
  /** True when this SBCL has no profiler. */
  noProfiler?: boolean;
  /** True when the profiler is in use already. */
  busy?: boolean;
}

/** An observed function. */
export interface ObservedFunction {
  name: string;
  calls: number;
  /** N, when only every Nth call was recorded, because there were too many calls. */
  every?: number;
  /** Why some calls of the function are not seen. */
  unseen?: 'inline' | 'compiler-macro' | 'block' | 'itself';
  /** The place of the function's definition, when recursive calls are not seen, because they were compiled
   *  as jumps. */
  apart?: Place;
  /** True when the name is no longer a function. */
  gone?: boolean;
  /** For how many calls the form that tests the arguments signalled an error. */
  failed?: number;
  /** The text of such an error. */
  failure?: string;
}

/** A recorded call. Exactly one of the members `values`, `left`, `running` and `passed` says how the call
 *  ended. */
export interface RecordedCall {
  /** Depth of the call in the tree of recorded calls. */
  depth: number;
  call: string;
  caller?: string;
  thread?: string;
  /** The methods that the call of a generic function entered, in order. The last element is '...' if the
   *  call may have entered others. */
  methods?: string[];
  milliseconds?: number;
  /** The values that the call returned, as printed. */
  values?: string[];
  /** True when a non-local exit (THROW, RETURN-FROM, GO) ended the call. */
  left?: boolean;
  /** True when the call still ran at the end of the recording. */
  running?: boolean;
  /** True when a tail call replaced the frame of this call, so that its return was not seen. */
  passed?: boolean;
  condition?: { type: string; text: string };
}

/** The values that calls of a function passed for one parameter, or returned as one return value. */
export interface ObservedPlace {
  name: string;
  /** The types of the values, and how many values were of each type. */
  types?: { type: string; count: number }[];
  /** The least number. */
  least?: string;
  /** The greatest number. */
  most?: string;
}

/** The types of the arguments and the return values that were seen in the calls of a function. */
export interface ObservedTypes {
  name: string;
  calls: number;
  parameters?: ObservedPlace[];
  values?: ObservedPlace[];
  declared?: boolean;
  /** The type of the function as SBCL knows it. */
  type?: string;
  /** A `(declaim (ftype ...))` form as text, with the types of the recorded arguments and values. */
  proposed?: string;
}

/** A hash table in which many keys have the same hash. */
export interface CrowdedTable {
  /** The name of the variable, or of the closure, from which it was reached. */
  variable: string;
  test: string;
  /** The number of its keys that were examined. */
  count: number;
  /** The largest number of keys with the same hash. */
  sharing: number;
}

/** A function in a profile. */
export interface Spot {
  name: string;
  /** Percentage of all samples in which the function was the innermost frame. */
  self: number;
  /** Percentage of all samples in which the function was on the stack. */
  total: number;
  place?: Place;
  /** Name of the caller in most samples of the function. */
  caller?: string;
  /** Percentage of the function's samples that have this caller; absent when all have it. */
  callerPart?: number;
}

/** Where a program spends its time or memory. */
export interface Profile {
  /** How often the form ran. This member and the next four are absent when the request has no form. */
  runs?: number;
  /** Milliseconds of real time that one run took. */
  milliseconds?: number;
  /** Milliseconds of CPU time that one run took. */
  cpu?: number;
  /** Octets that one run allocated. */
  octets?: number;
  /** Milliseconds that the form's first run took, which was not sampled. */
  first?: number;
  samples: number;
  /** True when the limit of samples was reached, so later samples are missing. */
  full?: boolean;
  /** True when most of the memory went to large objects, for each of which the profiler takes only one
   *  sample. */
  large?: boolean;
  spots?: Spot[];
  /** Number of functions that were the innermost frame of a sample. */
  found: number;
  /** The call tree of all samples: for each call its depth, its function, and in how many samples it is.
   *  The calls that it made follow it, one level deeper. Those in the fewest samples are left out when
   *  there are too many. */
  graph?: [number, string, number][];
  crowded?: CrowdedTable[];
}

/** A class with its instances in the heap. */
export interface CountedClass {
  name: string;
  count: number;
  octets: number;
  /** How many more instances there are than in the previous count. */
  more: number;
  /** How many more octets the instances take than in the previous count. */
  moreOctets: number;
}

/** The objects in the heap, by class. */
export interface CountedHeap {
  /** Octets of all objects that were counted. */
  octets: number;
  /** The number of these objects. */
  count: number;
  /** How many more octets there are than in the previous count. */
  moreOctets: number;
  /** Seconds since the previous count; absent in the first count. */
  since?: number;
  /** The classes that grew most or, in the first count, the largest classes. */
  rows?: CountedClass[];
  /** The number of classes that changed or, in the first count, that have instances. */
  found: number;
}

/** The cost of one run of a form. */
export interface TakenTime {
  /** Median of the measured times, in milliseconds. */
  median: number;
  /** Lower quartile, in milliseconds. */
  low: number;
  /** Upper quartile, in milliseconds. */
  high: number;
  /** Octets that one run allocated. */
  octets: number;
  /** How many runs were measured together. */
  times: number;
}

/** The costs of two forms that ran alternately. */
export interface ComparedTimes {
  rounds: number;
  /** True when the times are CPU time; else they are real time. */
  cpu?: boolean;
  one: TakenTime;
  other: TakenTime;
}

/** The part that the answers of all observe operations have in common. */
export interface ObservedBase extends Remarks {
  values?: PrintedValue[][];
  value?: LookupFailure | ObserveRefusal;
}

/** The calls of the observed functions during a recording. */
export interface ObservedCalls {
  /** The observed functions that were called most often. */
  functions?: ObservedFunction[];
  /** Number of all observed functions. */
  observed: number;
  /** Number of calls of the observed functions. */
  calls: number;
  /** How many of these calls were recorded. */
  total: number;
  /** How many of the recorded calls were kept. */
  kept: number;
  /** True when few calls were kept, because more would have filled the heap. */
  shrunk?: boolean;
  milliseconds: number;
  /** Factor by which the recording slowed the program. */
  slower?: number;
  rows?: RecordedCall[];
  types?: ObservedTypes[];
}

/** The answer to a request to record calls. */
export interface ObserveCallsData extends ObservedBase {
  observed?: ObservedCalls;
}

/** The answer to a request for a profile. */
export interface ObserveProfileData extends ObservedBase {
  observed?: Profile;
}

/** The answer to a request to count the objects in the heap. */
export interface ObserveHeapData extends ObservedBase {
  observed?: CountedHeap;
}

/** The answer to a request to compare the times of two forms. */
export interface ObserveTimesData extends ObservedBase {
  compared?: ComparedTimes;
  /** How many milliseconds the first calls of both forms took, which `compared` leaves out. */
  firsts?: [number, number];
  /** True when no difference was found in the values of both forms. */
  same?: boolean;
  /** Which form was prepared or run last. */
  at?: 'form' | 'against';
}

/** A system that is to be loaded. */
export interface SystemToLoad {
  name: string;
  /** True when ASDF would not notice that the system has changed, so the load must be forced. */
  force?: boolean;
}

/** The systems to test, and the systems to load before the tests. */
export interface TestPlan extends PerhapsMissing {
  systems?: string[];
  loads?: SystemToLoad[];
  /** Systems of the workspace whose definitions cannot be read, because they need missing systems. */
  unread?: MissingSystem[];
}

/** The answer to a request to plan a run of tests. */
export interface TestPlanData extends Remarks {
  value?: TestPlan;
}

/** The place of a subform in a file: `start`, `end` and, for an atom, `before`. It is empty when the place
 *  is unknown. `start` and `end` are positions in characters. For a list, they are where the list begins
 *  and ends. The image knows only the places of lists. So for an atom, `end` is where the list around it
 *  ends, and `before` is the number of atoms between `start` and this atom. */
export type PartPlace = [] | [number, number, number?];

/** A function whose coverage is measured. It is in the top-level form number `form` of `file`; `start` and
 *  `end` are as in Place. */
export interface MeasuredDefinition extends Place {
  name: string;
  file: string;
  form: number;
  reached?: boolean;
  /** The subforms that never ran. */
  never?: PartPlace[];
}

/** Which definitions the tests ran. */
export interface CoverageData {
  definitions?: MeasuredDefinition[];
  /** How many definitions could not be measured. */
  missed?: number;
}

/** A failed check of a test, or an unexpected error in a test. */
export interface TestFailure {
  kind: 'failure' | 'error';
  /** The form of a test of RT, whose values differ from the expected values. */
  form?: string;
  check?: string;
  expected?: string;
  got?: string;
  /** The message of the test framework. */
  text?: string;
  /** The type of the condition that was signalled. */
  type?: string;
  /** The report of this condition. */
  condition?: string;
  place?: Place;
}

/** The result of a test. */
export interface TestResult {
  framework: string;
  /** The name under which the test can be run again. */
  test: string;
  /** Number of checks in the test. */
  checks?: number;
  /** How many of the checks failed. */
  failed?: number;
  /** How many of the checks signalled an error. */
  errors?: number;
  /** How many of the checks were skipped. */
  skipped?: number;
  /** How many of the checks failed as expected. */
  expected?: number;
  failures?: TestFailure[];
  /** The forms of checks that passed, and how often each passed. Absent unless the request named only this
   *  test. */
  passed?: { form: string; times: number }[];
  /** Output of the test, when it did not pass. */
  output?: string;
  milliseconds?: number;
  /** True when the test did not run to its end. */
  left?: boolean;
  /** The systems that were being tested when the test ran, innermost first. */
  systems?: string[];
  definition?: Place;
  /** Which definitions the test ran, among those whose coverage was measured: a hexadecimal bit mask. The
   *  lowest bit stands for the first definition. */
  reached?: string;
}

/** A test that began. */
export interface BegunTest {
  /** The name of the test. */
  began: string;
  framework: string;
}

/** A report that arrives while the tests run. */
export type TestPart = BegunTest | TestResult;

/** Why no test ran. */
export interface TestLookup {
  /** Why coverage cannot be measured: this SBCL cannot measure it, or another run is being measured. */
  unmeasured?: 'missing' | 'busy';
  /** The requested name, when no test has it. */
  missing?: string;
  /** The requested name, when it fits several tests. */
  several?: string;
  /** Names of tests that exist or, with `several`, that the name fits. */
  known?: string[];
}

/** The answer to a request to run tests. */
export interface TestRunData extends Remarks {
  tests?: TestResult[];
  parts?: TestPart[];
  /** Systems that ASDF does not find, each with the system that depends on it and so was not tested
   *  completely. */
  needs?: MissingSystem[];
  /** The packages that have tests, when no test ran. */
  packages?: { package: string; tests: number }[];
  /** Systems below the root that depend on a tested one and are not loaded, when no test ran. */
  unloaded?: string[];
  /** Names of tests that were requested to run again, but no longer exist. */
  gone?: string[];
  /** Tests that the image has, and that did not run because FILE, which defined them, no longer has them. */
  former?: { test: string; file: string }[];
  /** Files below the root that have changed since the image loaded them. */
  stale?: string[];
  /** Variables defined in files below the root that were bound already, so that a load did not set them. */
  unset?: UnsetVariable[];
  unsetTotal?: number;
  /** Systems that were tested, but in which no test of a known framework was seen. */
  unseen?: string[];
  /** Names of all tests that did not run; sent on request. */
  others?: string[];
  coverage?: CoverageData;
  value?: LookupFailure | TestLookup;
}

/** The answer of a tool that succeeded. */
export interface ToolSuccess {
  /** The tool's data. */
  value: unknown;
  /** The text for a model. */
  text?: string;
}

/** The answer of a tool that failed. */
export interface ToolFailure {
  /** The text of an error. */
  failure: string;
  /** The text of a result that the failed tool returned. */
  result?: string;
  /** True when a human could allow the call. */
  needsApproval?: boolean;
}

/** The result of a tool that code in the image called. */
export type ToolAnswer = ToolSuccess | ToolFailure;

/** A result of a handler. */
export interface ToolValue {
  /** The result as JSON. Absent when it is too large or cannot be written as JSON. */
  data?: unknown;
  /** The result as a model reads it. Absent when the server can make it from `data`. */
  text?: string;
}

/** What the tool's handler returned, or why the call failed. */
export interface RunToolValue extends ToolValue {
  /** True when the handler failed. Then `text` says why. */
  failed?: boolean;
  /** The first value of a handler that failed, unless it is NIL. */
  result?: ToolValue;
  /** The name of the tool, when the image does not have it. */
  missing?: string;
  /** True when the image has a newer tool of this name. */
  replaced?: boolean;
}

/** The outcome of a call of a tool in the image. */
export interface RunToolData extends Remarks {
  value?: RunToolValue;
}

/** The server that has the turn. */
export interface TurnHolder {
  /** The text by which it identified itself in `begin-session`. */
  server: string;
  /** For how many seconds it has had the turn. */
  seconds: number;
}

/** The operations that tools request, each with its arguments and the data of its answer. */
export interface Operations {
  /** Do nothing. Features that have changed are sent before the answer, as for every job. */
  features: { args: object; data: { value?: boolean } };
  /** Return one kept error, and the types and times of all kept errors. */
  'last-error': {
    args: {
      /** The number of the error: 0 is the newest. */ index: number;
    };
    data: { value?: LastErrorData };
  };
  /** Search for PATTERN in the names of symbols. If nothing matches in all packages, also count the
   *  matches in the session's package. */
  apropos: {
    args: {
      /** A part of the names to find. */ pattern: string;
      /** The package to search. By default, the external symbols of all packages are searched. */
      package?: string;
      /** Only symbols with a definition of this kind, such as MACRO. */
      type?: string;
      /** True for symbols that the package inherits, too. */
      inherited?: boolean;
      /** How many results to leave out; none by default. */
      offset?: number;
      /** The maximum number of results to return. */
      limit: number;
    };
    data: { value?: AproposData | LookupFailure };
  };
  /** Return the callers of a function (contract S3.3): functions first, then other callers, last
   *  definitions that only have its name in their data. */
  'who-calls': {
    args: {
      /** A name, such as car or pkg:name. */ name: string;
      /** The package in which names are read. By default, look-ups use CL-USER, and operations that read code
       *  use the current package of the session. */
      package?: string;
      /** True for the places of each use. */
      sites?: boolean;
      /** True for functions of SBCL without a name, too. */
      internals?: boolean;
      /** The name of a system: only uses in its files count. */
      within?: string;
      /** How many results to leave out; none by default. */
      offset?: number;
      /** The maximum number of results to return. */
      limit: number;
    };
    data: { value?: WhoCallsData | LookupFailure };
  };
  /** Return the uses of a variable. First come the functions that read it, then those that set it, then
   *  those that bind it. A function with several kinds of use has several rows. Then come other
   *  definitions that use the name, and last those that only have it in their data. */
  'who-references': {
    args: {
      /** A name, such as car or pkg:name. */ name: string;
      /** The package in which names are read. By default, look-ups use CL-USER, and operations that read code
       *  use the current package of the session. */
      package?: string;
      /** True for the places of each use. */
      sites?: boolean;
      /** How many results to leave out; none by default. */
      offset?: number;
      /** The maximum number of results to return. */
      limit: number;
    };
    data: { value?: ReferencesData | LookupFailure };
  };
  /** Return the definitions of a symbol. If the symbol has none, add similar names: the name may be
   *  misspelt, and a form with the same mistake may have interned the symbol. */
  describe: {
    args: {
      /** A name, such as car or pkg:name. */ name: string;
      /** The package in which names are read. By default, look-ups use CL-USER, and operations that read code
       *  use the current package of the session. */
      package?: string;
      /** How many results to leave out; none by default. */
      offset?: number;
      /** The maximum number of results to return. */
      limit: number;
    };
    data: { value?: DescribeData | LookupFailure };
  };
  /** Return how to call a function: lambda list, type, documentation. */
  arglist: {
    args: {
      /** A name, such as car or pkg:name. */ name: string;
      /** The package in which names are read. By default, look-ups use CL-USER, and operations that read code
       *  use the current package of the session. */
      package?: string;
      /** True for the lambda lists of methods, too. */
      methods?: boolean;
      /** How many results to leave out; none by default. */
      offset?: number;
      /** The maximum number of results to return. */
      limit: number;
    };
    data: { value?: ArglistData | LookupFailure };
  };
  /** Return what a package is, the numbers of its symbols by status, and the symbols that ACCESS and TYPE
   *  select. */
  'package-symbols': {
    args: {
      /** The name of the package. */ package: string;
      /** The status of the symbols to list. */
      access: 'external' | 'internal';
      /** Only symbols with a definition of this kind, such as MACRO. */
      type?: string;
      /** How many results to leave out; none by default. */
      offset?: number;
      /** The maximum number of results to return. */
      limit: number;
    };
    data: { value?: PackageData | LookupFailure };
  };
  /** Return a class with its slots: direct slots first, then inherited slots. */
  'class-slots': {
    args: {
      /** A name, such as car or pkg:name. */ name: string;
      /** The package in which names are read. By default, look-ups use CL-USER, and operations that read code
       *  use the current package of the session. */
      package?: string;
      /** How many results to leave out; none by default. */
      offset?: number;
      /** The maximum number of results to return. */
      limit: number;
    };
    data: { value?: ClassSlotsData | LookupFailure };
  };
  /** Return a class, its superclasses, and the tree of its subclasses. */
  'class-hierarchy': {
    args: {
      /** A name, such as car or pkg:name. */ name: string;
      /** The package in which names are read. By default, look-ups use CL-USER, and operations that read code
       *  use the current package of the session. */
      package?: string;
      /** True for its superclasses. */
      up?: boolean;
      /** True for the tree of its subclasses. */
      down?: boolean;
      /** How many results to leave out; none by default. */
      offset?: number;
      /** The maximum number of results to return. */
      limit: number;
    };
    data: { value?: ClassHierarchyData | LookupFailure };
  };
  /** Return the methods that a call of a generic function with ARGUMENTS runs, in order. */
  'effective-method': {
    args: {
      /** A name, such as car or pkg:name. */ name: string;
      /** The package in which names are read. By default, look-ups use CL-USER, and operations that read code
       *  use the current package of the session. */
      package?: string;
      /** The arguments of the call. */
      arguments: readonly WrittenArgument[];
      /** How many results to leave out; none by default. */
      offset?: number;
      /** The maximum number of results to return. */
      limit: number;
    };
    data: { value?: EffectiveMethodData | LookupFailure };
  };
  /** Search for PATTERN in the names of symbols: best first, and with packages of the user before others. */
  'ranked-apropos': {
    args: {
      /** A part of the names to find. */ pattern: string;
      /** The package to search; all by default. */
      package?: string;
      /** Only symbols with a definition of this kind, such as MACRO. */
      type?: string;
      /** True for symbols that the package inherits, too. */
      inherited?: boolean;
      /** Folders of the user's files, as native names. */
      roots: readonly string[];
      /** How many results to leave out; none by default. */
      offset?: number;
      /** The maximum number of results to return. */
      limit: number;
    };
    data: { value?: AproposData | LookupFailure };
  };
  /** Return the functions of a package that no code uses except the function itself, exported ones first. */
  'unused-functions': {
    args: {
      /** The name of the package. */ package: string;
      /** The name of a system: only uses in its files count. */
      within?: string;
    };
    data: { value?: UnusedData | LookupFailure };
  };
  /** Return what a change of a function, macro or class affects besides its callers, at most LIMIT of each
   *  kind. */
  impact: {
    args: {
      /** A name, such as car or pkg:name. */ name: string;
      /** The package in which names are read. By default, look-ups use CL-USER, and operations that read code
       *  use the current package of the session. */
      package?: string;
      /** The maximum number of results to return. */
      limit: number;
      /** True if a class gets a new definition. */
      redefined?: boolean;
      /** The direct superclasses in the new definition. */
      superclasses?: readonly string[];
      /** True if the definition goes away. Then `name` can also be that of a package or system. */
      removed?: boolean;
    };
    data: { value?: ImpactData | LookupFailure };
  };
  /** Return for each of VERSIONS the loaded text that `mark` identifies, and its features. Leave out a
   *  text that is equal to the present one. */
  'loaded-texts': {
    args: {
      /** Files. `mark` identifies a text of the file that the image has loaded, and `now` is the digest of the
       *  present text. */
      versions: readonly { file: string; mark: string; now: string }[];
    };
    data: { value?: LoadedText[] };
  };
  /** Return true if a load of a file in one of FOLDERS has begun or ended. */
  'loaded-below': {
    args: {
      /** Native truenames of folders, with a slash at the end. */ folders: readonly string[];
    };
    data: { value?: boolean };
  };
  /** Forget which definitions were listed in answers, so that later answers list them again. The server
   *  calls this after it has built a lost image again. The answers of its loads have listed definitions,
   *  but no user has seen these answers. */
  'nothing-listed': { args: object; data: { value?: null } };
  /** FILES or FOLDERS select loaded files. Return the definitions in some packages, if they come from
   *  these files or from no existing file. The packages are PACKAGES if FILES are given, otherwise the
   *  home packages of the names that the selected files define. */
  inventory: {
    args: {
      /** Native truenames of folders, with a slash at the end. The operation looks only at definitions of
       *  loaded files in these folders. */
      folders?: readonly string[];
      /** Native truenames of files. If given, the operation ignores FOLDERS and looks at these files, except
       *  those that are not loaded. */
      files?: readonly string[];
      /** With FILES: the names of the packages to look at. Names that no package has are ignored. */
      packages?: readonly string[];
    };
    data: { value?: Inventory };
  };
  /** Return the facts for renaming a symbol. */
  'rename-facts': {
    args: {
      /** A name, such as car or pkg:name. */ name: string;
      /** The package in which names are read. By default, look-ups use CL-USER, and operations that read code
       *  use the current package of the session. */
      package?: string;
      /** The new name. */
      to: string;
      /** Pairs of an old and a new name of symbols that are renamed with it. */
      derived?: readonly (readonly [string, string])[];
    };
    data: { value?: RenameFacts | LookupFailure };
  };
  /** Replace symbols by new ones. Afterwards the server loads the files that define the symbols. Return a
   *  list of the old names that still name the old symbols. */
  'rename-prepare': {
    args: {
      /** The name of the package of the symbols. */ home: string;
      /** Pairs of an old and a new name. */
      names: readonly (readonly [string, string])[];
      /** Texts that name structures with renamed slots, which are removed. */
      structures?: readonly string[];
    };
    data: { value?: string[] };
  };
  /** The last rename-prepare replaced symbols by new ones. Remove from the image the definitions that the
   *  old symbols still have. */
  'rename-finish': { args: object; data: { value?: RenameFinished } };
  /** Evaluate FORMS, which built the lost image, and report those that failed, with the reasons. Before
   *  each form, send the server its index, so that the server knows which form hangs or ends the image.
   *  Stop after a form that leaves the image broken. */
  replay: {
    args: {
      /** Each has the members of FormEntry, or only `inPackage`: the package for the next forms. */
      forms: readonly object[];
    };
    data: ReplayData;
  };
  /** Evaluate the forms of CODE. The answer has the values of each evaluated form, even if a later form
   *  signals an error. */
  evaluate: {
    args: {
      /** The text of forms. */ code: string;
      /** The package in which names are read. By default, look-ups use CL-USER, and operations that read code
       *  use the current package of the session. */
      package?: string;
      /** True to evaluate the forms in the main thread. */
      mainThread?: boolean;
    } & Hold;
    data: EvaluateData;
  };
  /** Return FILES in the order in which their systems load them, followed by files that belong to no
   *  system. */
  'load-order': {
    args: {
      /** Native names of files. */ files: readonly string[];
    };
    data: { value?: string[] };
  };
  /** Compile FILE into FASL, and load FASL. */
  'load-file': {
    args: {
      /** The native name of a file. */ file: string;
      /** The native name of the fasl to make. */
      fasl: string;
      /** The text that replaces that of the file, with a character for each octet. */
      content?: string;
      /** True to remove the definitions that the file no longer has. With "listed", remove them only if
       *  answers have listed all of them. */
      forget?: boolean | 'listed';
    } & Hold;
    data: LoadFileData;
  };
  /** Compile and load each of FILES, in the order in which their systems load them. All are one
   *  compilation unit, so there is no warning when a file uses a name that a later file defines. Stop at
   *  the first file that is not loaded completely. */
  'load-files': {
    args: {
      /** Native names of files. */ files: readonly string[];
      /** The native name of a folder for the fasls. */
      folder: string;
    };
    data: LoadFilesData;
  };
  /** Load FILE, which is a start file of the user. */
  'load-source': {
    args: {
      /** The native name of a file. */ file: string;
    };
    data: LoadFileData;
  };
  /** Compile some forms of FILE into FASL, and load them, as if the whole file was loaded. No form changes
   *  its number or position. */
  'load-forms': {
    args: {
      /** The native name of a file. */ file: string;
      /** The native name of the fasl to make. */
      fasl: string;
      /** The text of FILE, with a character for each octet. Forms that are not to be loaded are replaced by an
       *  atom and blanks, so that the others keep their positions. */
      content: string;
      /** The whole text of the file. Given if the image cannot read this file. */
      text?: string;
      /** For each top-level form of FILE: its number in the text that was loaded before, or null if the form
       *  is to be loaded now. */
      numbers: readonly (number | null)[];
      /** True to report also the methods that the previous load has removed because of a new lambda list. */
      continues?: boolean;
    };
    data: LoadFileData;
  };
  /** Load a system, and the systems that it depends on, with ASDF. */
  'load-system': {
    args: {
      /** The name of a system. */ name: string;
      /** True to load it again although it is loaded. */
      force?: boolean;
    } & Hold;
    data: LoadSystemData;
  };
  /** Return a list of the directories with the sources of the loaded systems, or NIL while ASDF is not
   *  loaded. */
  'system-sources': { args: object; data: { value?: string[] } };
  /** Return the text of FILE. Return NIL if FILE cannot be read, or is too large. A server that does not
   *  see the files of the image reads source files in this way. */
  'source-text': {
    args: {
      /** The native name of a file. */ file: string;
      /** The write date of the version whose text the server has. */
      written?: number;
    };
    data: { value?: SourceText };
  };
  /** Return the source files and the .asd files of the systems NAMES, at most 5000 files. Leave out
   *  systems that ASDF has not registered. */
  'system-files': {
    args: {
      /** Names of systems. */ names: readonly string[];
    };
    data: { value?: string[] };
  };
  /** Return where the image differs from the file PATH, or from the files of SYSTEM and of the systems in
   *  its .asd file on which it depends. With PACKAGE, return where the names of the package differ from
   *  any loaded file. */
  'compare-files': {
    args: {
      /** The native name of a file. */ path?: string;
      /** The name of a system. */
      system?: string;
      /** The name of a package. */
      package?: string;
      /** The maximum number of differences of a kind; 20 by default. */
      limit?: number;
    };
    data: { value?: ComparisonData | LookupFailure };
  };
  /** Return what another image must load, in this order, to get the systems and files of this image. First
   *  come the systems that the program loaded by itself, without a request to the server. Then come
   *  SYSTEMS, and then those of FILES that belong to no loaded system. */
  'loads-again': {
    args: {
      /** The systems that the server was asked to load, in order. */ systems: readonly string[];
      /** The files that it was asked to load, native truenames, in order. */
      files: readonly string[];
    };
    data: { value?: LoadStep[] };
  };
  /** Compile the forms of CODE as if they were in a file, and undo their definitions. */
  'compile-forms': {
    args: {
      /** The text of forms. */ code: string;
      /** The package in which names are read. By default, look-ups use CL-USER, and operations that read code
       *  use the current package of the session. */
      package?: string;
      /** The native name of a file to make, with the type lisp. The fasl is made beside it. */
      file: string;
    } & Hold;
    data: CompileData;
  };
  /** Compile FILE to the file FASL, but do not load FASL. Then undo the definitions that the compilation
   *  made in the image, such as macros. */
  'check-file': {
    args: {
      /** The native name of a file. */ file: string;
      /** The native name of the fasl to make. */
      fasl: string;
    };
    data: LoadFileData;
  };
  /** Expand the one form of CODE. */
  macroexpand: {
    args: {
      /** The text of a form. */ code: string;
      /** The package in which names are read. By default, look-ups use CL-USER, and operations that read code
       *  use the current package of the session. */
      package?: string;
      /** One step; steps until the form is no macro form; or also the forms within it. */
      mode: 'one' | 'full' | 'all';
    };
    data: MacroexpandData;
  };
  /** Return where the forms of TEXT end, and why the reader rejects forms at STARTS. Evaluate nothing, and
   *  leave no new symbols interned. */
  'check-text': {
    args: {
      /** The text of a file. */ text: string;
      /** The offsets of the forms to check. */
      starts: readonly number[];
      /** Offsets from which on forms are read in the package with this name, or in the session's package. */
      packages: readonly (readonly [number, string | null])[];
    };
    data: CheckData;
  };
  /** Return a JSON object that lists the held errors. For an error that another server of the same image
   *  holds, the row names that server. */
  'debug-list': { args: object; data: { value?: { held?: HeldRow[] } } };
  /** Return the members of the answer that reported the held error. With FRAME, return this frame with its
   *  local variables instead. */
  'debug-look': {
    args: {
      /** The number of a frame of the error. */ frame?: number;
      /** The number of a held error. */
      error: number;
    };
    data: DebugData;
  };
  /** Evaluate CODES with the variables of FRAME, or of the newest frame of the program. */
  'debug-eval': {
    args: {
      /** The number of a frame of the error. */ frame?: number;
      /** The texts of forms. */
      codes: readonly string[];
      /** The package in which the forms are read; by default that of the frame's function. */
      package?: string;
      /** True to keep the values for the next debug-go, which passes them to a restart or returns them from a
       *  frame. */
      keep?: boolean;
      /** The number of a held error. */
      error: number;
    };
    data: DebugData;
  };
  /** Evaluate CODE as the operation evaluate does, and report the definitions in files that it has
   *  replaced. */
  'debug-fix': {
    args: {
      /** The number of a frame of the error. */ frame?: number;
      /** The text of forms. */
      code: string;
      /** The package in which the forms are read; by default that of the frame's function. */
      package?: string;
      /** The number of a held error. */
      error: number;
    };
    data: DebugData;
  };
  /** Let the thread of a held error continue. GO-ON-IN-THREAD does that, so this body never runs. */
  'debug-go': {
    args: {
      /** The number of a held error. */ error: number;
      /** The number of a frame of the error. */
      frame?: number;
      /** The name of a restart to invoke. */
      restart?: string;
      /** True to make the call of FRAME again or, without FRAME, to evaluate the form again. */
      retry?: boolean;
      /** True to end the call that the error has stopped. */
      end?: boolean;
    };
    data: DebugData;
  };
  /** Return the current frames of a thread, and the lock for which it waits. If no thread or several
   *  threads match NAME, list names of threads instead. */
  'debug-thread': {
    args: {
      /** The name of a thread, or a part of it. */ name: string;
    };
    data: { value?: ThreadData };
  };
  /** Begin to record errors when they are signalled or, with OFF, stop recording. */
  'debug-watch': {
    args: {
      /** `all`, a part of the name of a thread, or the name of a package. */ where?: string;
      /** The type of errors to record; ERROR by default. */
      type?: string;
      /** For how many seconds each such error is held. */
      holdSeconds?: number;
      /** True to stop recording. */
      off?: boolean;
    } & Hold;
    data: { value?: WatchData };
  };
  /** Return one error that this session has recorded, and the times, threads and types of all. */
  'debug-watched': {
    args: {
      /** The number of the error: 0 is the newest. */ index: number;
    };
    data: { value?: WatchedData };
  };
  /** Return the object that VALUE denotes or, with PATH, the object to which PATH leads from there. The
   *  answer also has the parts of this object or, with HOLDERS, the references that keep it alive. */
  inspect: {
    args: {
      /** The text of a symbol, or an id such as @3. */ value: string;
      /** The package in which names are read. By default, look-ups use CL-USER, and operations that read code
       *  use the current package of the session. */
      package?: string;
      /** Names of parts, the path from this object to the object to show. */
      path?: readonly string[];
      /** True to return what keeps the object alive instead of its parts. */
      holders?: boolean;
      /** How many results to leave out; none by default. */
      offset?: number;
      /** The maximum number of results to return. */
      limit: number;
    };
    data: { value?: InspectData | LookupFailure };
  };
  /** Record the calls of FUNCTIONS while CODE runs, or for some SECONDS. */
  'observe-calls': {
    args: {
      /** Names of functions, or of packages. */ functions: readonly string[];
      /** The text of the forms to run. */
      code?: string;
      /** For how long to wait, without code. */
      seconds?: number;
      /** The package in which names are read. By default, look-ups use CL-USER, and operations that read code
       *  use the current package of the session. */
      package?: string;
      /** The text of a form over the parameters, which is true for the calls to record. */
      where?: string;
      /** True to report the types of arguments and values instead of the calls. */
      types?: boolean;
      /** The maximum number of calls to show. */
      limit: number;
    };
    data: ObserveCallsData;
  };
  /** Sample stacks while CODE runs repeatedly or, without CODE, for SECONDS. */
  'observe-profile': {
    args: {
      /** What is sampled: CPU time, allocation or real time. */ mode: 'cpu' | 'alloc' | 'time';
      /** The text of the forms to repeat. */
      code?: string;
      /** For how long to sample at most. */
      seconds: number;
      /** The package in which names are read. By default, look-ups use CL-USER, and operations that read code
       *  use the current package of the session. */
      package?: string;
      /** The maximum number of functions to show. */
      top: number;
    };
    data: ObserveProfileData;
  };
  /** Count the objects in the heap by class, and compare with an earlier count. With CODE or SECONDS, this
   *  is a count before CODE runs or the wait begins, otherwise the count of the previous request. */
  'observe-heap': {
    args: {
      /** The text of the forms to run. */ code?: string;
      /** For how long to wait, without code. */
      seconds?: number;
      /** The package whose classes to show. */
      package?: string;
      /** The maximum number of classes to show. */
      limit: number;
    };
    data: ObserveHeapData;
  };
  /** Call the last forms of CODE and AGAINST in turn, and return their times. */
  'observe-times': {
    args: {
      /** The text of forms, the last of which is measured. */ code: string;
      /** The text of the other forms. */
      against: string;
      /** For how long to measure. */
      seconds: number;
      /** The package in which names are read. By default, look-ups use CL-USER, and operations that read code
       *  use the current package of the session. */
      package?: string;
    };
    data: ObserveTimesData;
  };
  /** Return which systems to test, SYSTEM or those below ROOT, and which systems to load before. */
  'test-plan': {
    args: {
      /** The name of the system to test. */ system?: string;
      /** The native name of a folder: the systems below it are tested. */
      root?: string;
      /** True to leave out systems that were never loaded. */
      known?: boolean;
    };
    data: TestPlanData;
  };
  /** Run the tests of SYSTEMS, of a name or a package, or those that are to run AGAIN. */
  'test-run': {
    args: {
      /** Names of systems to test. */ systems?: readonly string[];
      /** The name of a test or a suite to run. */
      name?: string;
      /** Full names of tests to run. */
      again?: readonly string[];
      /** True for the names of the tests that are not in AGAIN. */
      others?: boolean;
      /** The package whose tests to run. */
      package?: string;
      /** Full names of tests to leave out. */
      skip?: readonly string[];
      /** A seed for random numbers. */
      seed?: number;
      /** The folder for fasls of measured code; without it, coverage is not measured. */
      folder?: string;
      /** The folder whose changed files are reported and whose code is measured. */
      root?: string;
    } & Hold;
    data: TestRunData;
  };
  /** Call the handler of a tool. */
  'run-tool': {
    args: {
      /** The name of the tool in the image. */ name: string;
      /** The number of the registration of the tool. By default, the newest one. */
      registration?: unknown;
      /** The arguments. */
      arguments: object;
    } & Hold;
    data: RunToolData;
  };
  /** Take the turn, the right to change files and load them, which one server of the image has at a time.
   *  Return NIL on success. If another server has the turn, return that server. A session that takes the
   *  turn several times gives it back as often. */
  'take-turn': { args: object; data: { value?: TurnHolder | null } };
  /** Give back the turn. Do nothing if the session does not have it. */
  'give-turn': { args: object; data: { value?: boolean } };
}

/** All operations: also those that only the server itself requests, to observe and control the image and its jobs. */
export interface BackendOperations extends Operations {
  /** Number the objects and errors in answers of this session so that no other image that the server
   *  started uses the same numbers: INDEX + 1, INDEX + 1 + COUNT, and so on. */
  'number-in-series': {
    args: {
      /** The number of images of the server. */ count: number;
      /** The index of this image among them, from 0. */
      index: number;
    };
    data: { value?: boolean };
  };
  /** Answer, which shows that the reader thread is alive. End the jobs with threads that have ended. */
  ping: { args: object; data: { value?: boolean } };
  /** Interrupt a job. */
  interrupt: {
    args: {
      /** The id of the request whose job is meant. */ job: number;
      /** Why, for the answer of the job. */
      reason: Reason;
    };
    data: { value?: boolean };
  };
  /** End the thread of a job. */
  terminate: {
    args: {
      /** The id of the request whose job is meant. */ job: number;
    };
    data: { value?: boolean };
  };
  /** Return the output of a job so far. Return NIL if the job has ended, has no output, or is writing now. */
  written: {
    args: {
      /** The id of the request whose job is meant. */ job: number;
    };
    data: { value?: Output };
  };
  /** Return the output that a job has written since this operation was last called for it. Return NIL in
   *  the same cases as `written`. The request that began the job must have the member `follow`. */
  'take-written': {
    args: {
      /** The id of the request whose job is meant. */ job: number;
    };
    data: { value?: Output };
  };
  /** Give the session's settings for reading and printing the values that they have in a fresh SBCL. The
   *  other settings of the session stay. */
  'renew-session': { args: object; data: { value?: boolean } };
  /** Return the state of a job, or NIL if it has ended. */
  progress: {
    args: {
      /** The id of the request whose job is meant. */ job: number;
    };
    data: { value?: JobProgress };
  };
  /** Return the state of the image: memory, threads, package, the running jobs of this server with their
   *  frames, and those of other servers. */
  status: { args: object; data: { value?: BackendStatus } };
  /** Return how the thread of a job has spent its time, or NIL if that is unknown. */
  spent: {
    args: {
      /** The id of the request whose job is meant. */ job: number;
    };
    data: { value?: JobCpuTimes };
  };
  /** Set the library manager. Its file is loaded when systems or packages of the manager are first needed. */
  'use-libraries': {
    args: {
      /** The name of the library manager; none by default. */ name?: string;
      /** The file that sets it up. */
      file?: string;
      /** The name of the user's init file, if that was not loaded and can add systems. */
      initFile?: string;
    };
    data: { value?: boolean };
  };
  /** Return whether a form can be read, evaluated and printed. */
  probe: {
    args: {
      /** True to test a copy of the session instead of a fresh one. */ session?: boolean;
      /** True to collect garbage and start a thread, too. */
      exercise?: boolean;
    };
    data: ProbeData;
  };
  /** Deliver the answer of a tool call to the thread that waits for it. If no thread waits any more, do
   *  nothing. */
  called: {
    args: {
      /** The number of the call. */ call: number;
      /** The tool's data. */
      value?: unknown;
      /** The text for a model. */
      text?: string;
      /** The text of an error. */
      failure?: string;
      /** The text of a result that the failed tool returned. */
      result?: string;
      /** True when a human could allow the call. */
      needsApproval?: boolean;
    };
    data: { value?: boolean };
  };
  /** Keep the descriptions of the server's own tools, and register a tool object for each of them. Calls
   *  of such an object go to the server. */
  'offer-tools': {
    args: {
      /** Descriptions of the server's own tools. */ tools: readonly object[];
    };
    data: { value?: number };
  };
  /** Store in the session the text that identifies the server, and its folders of systems. */
  'begin-session': {
    args: {
      /** A text that identifies this server among those of the image. */ server: string;
      /** Native names of folders. ASDF also finds systems in them and below them. */
      trees: readonly string[];
    };
    data: { value?: boolean };
  };
}
