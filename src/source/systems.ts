// Finds the systems that an .asd file defines, and those of them that contain a given source file. Ignores names and
// paths that the .asd file computes.

import { elementsOf, type Form, symbolNameOf } from './form.ts';
import { type TopLevelForms, topLevelFormsIn } from './top-level.ts';

/** Returns the literal names of the systems that FORMS, the forms of an .asd file, define. */
export function systemsIn(forms: TopLevelForms): string[] {
  return definedSystems(forms).map(({ name }) => name);
}

/** Returns the names of the systems in FORMS, the forms of an .asd file, that contain the file at PATH. PATH is
 * relative to the folder of the .asd file, with slashes as separators. For a package-inferred system, returns the name
 * of the system that consists of this file alone. */
export function systemsWith(forms: TopLevelForms, path: string): string[] {
  return definedSystems(forms).flatMap(({ name, form }) => {
    const folder = folderOf(form, '');
    if (folder === undefined) return [];
    if (filesIn(form, folder).some((file) => isSameFile(path, file))) return [name];
    const inferred = symbolNameOf(optionOf(form, 'CLASS')) === 'PACKAGE-INFERRED-SYSTEM';
    const root = joined(folder);
    const isBelow = root === '' ? !path.startsWith('../') : path.startsWith(`${root}/`);
    return inferred && isBelow ? [joined(name, withoutType(path.slice(root.length)))] : [];
  });
}

/** A system that an .asd file defines. */
export interface DefinedSystem {
  name: string;
  dependsOn: string[];
  /** The paths of its files in text order, relative to the folder of the .asd file. A path can lack its type. */
  files: string[];
}

/** Returns the systems that FORMS, the forms of an .asd file, define with literal names. Leaves out files whose paths
 * are computed. */
export function describedSystems(forms: TopLevelForms): DefinedSystem[] {
  return definedSystems(forms).map(({ name, form }) => ({
    name,
    dependsOn: elementsOf(optionOf(form, 'DEPENDS-ON')).flatMap((part) => neededName(part) ?? []),
    files: filesIn(form, folderOf(form, '') ?? ''),
  }));
}

/** Returns the name of the system in PART, an element of :depends-on: a name, or a list such as (:version NAME ...) or
 * (:feature EXPRESSION PART). Returns undefined when PART contains no name. */
function neededName(part: Form | undefined): string | undefined {
  const [kind, first, second] = part?.tokenKind === '(' ? elementsOf(part) : [];
  if (kind === undefined) return componentName(part);
  return neededName(symbolNameOf(kind) === 'FEATURE' ? second : first);
}

function definedSystems(forms: TopLevelForms): { name: string; form: Form }[] {
  const tops = forms.allExtents().flatMap(({ start }) => forms.formFrom(start) ?? []);
  return tops
    .flatMap((top) => [...topLevelFormsIn(top)])
    .flatMap((form) => {
      const name = symbolNameOf(form.first) === 'DEFSYSTEM' ? componentName(elementsOf(form)[1]) : undefined;
      return name === undefined ? [] : [{ name, form }];
    });
}

/** FORM is a system or a module, and FOLDER the folder of its files. Returns the paths of the files of its components.
 * A path can lack the file type. Leaves out computed paths. */
function filesIn(form: Form, folder: string): string[] {
  return elementsOf(optionOf(form, 'COMPONENTS')).flatMap((component) => {
    const name = componentName(elementsOf(component)[1]);
    const path = name === undefined ? undefined : folderOf(component, name);
    if (path === undefined) return [];
    const own = joined(folder, path);
    return optionOf(component, 'COMPONENTS') === undefined ? [own] : filesIn(component, own);
  });
}

/** Returns the literal :pathname of COMPONENT, USUAL when it has none, undefined when it is computed. */
function folderOf(component: Form, usual: string): string | undefined {
  const given = optionOf(component, 'PATHNAME');
  if (given === undefined) return usual;
  const literal = given.inner ?? given;
  return literal.isString ? literal.designatedString : undefined;
}

/** Returns the value of the option :NAME of COMPONENT, a list of operator, name and options; undefined when COMPONENT
 * has no such option. */
function optionOf(component: Form, name: string): Form | undefined {
  const parts = elementsOf(component);
  const at = parts.findIndex((part, index) => index >= 2 && index % 2 === 0 && symbolNameOf(part) === name);
  return at === -1 ? undefined : parts[at + 1];
}

/** Returns the name of the system or component that FORM, a string or symbol, designates; undefined for other forms. */
function componentName(form: Form | undefined): string | undefined {
  return form?.isString ? form.designatedString : form?.designatedString?.toLowerCase();
}

/** Returns true when the paths PATH and FILE are of the same file. FILE is the path of a component in a system
 * definition, so it may lack the file type, such as `.lisp`. */
export function isSameFile(path: string, file: string): boolean {
  return path === file || withoutType(path) === file;
}

function withoutType(path: string): string {
  return path.replace(/(?<=[^/])\.[^./]*$/, '');
}

/** Joins the relative paths PARTS, and resolves `.` and `..`. */
function joined(...parts: string[]): string {
  const steps: string[] = [];
  for (const step of parts.join('/').split('/')) {
    if (step === '..' && !['..', undefined].includes(steps.at(-1))) steps.pop();
    else if (step !== '' && step !== '.') steps.push(step);
  }
  return steps.join('/');
}
