// Decides the tool that finds who uses a variable.

import type { Image } from '../../image/image.ts';
import type { ReferencesData } from '../../image/wire/introspection.ts';
import { fittingRows, hasMore, listsText, pageNote } from '../../kernel/reply.ts';
import { defineTool, keywordList, type ToolDefinition } from '../../kernel/tool.ts';
import { callOptions, LIMIT, OFFSET, PACKAGE, pageArguments, stringArgument } from '../arguments.ts';
import { isNot } from '../natures.ts';
import { foundValue, isLookupFailure, lookupResult } from '../outcome.ts';
import type { Places } from '../places.ts';
import { missingNote, type User, usersOf, userText, withoutFeatures } from './xref.ts';

const WHO_REFERENCES: Omit<ToolDefinition, 'handler'> = {
  name: 'who_references',
  title: 'Find users of a variable',
  description:
    "Find the functions that read, set or bind a special or global variable, or read a constant, told apart. Uses SBCL's cross-reference database, which has no record of code outside functions, such as top-level forms and slot initforms.",
  parameters: [
    { name: 'name', type: 'string', description: 'Variable name to find users of, for example *print-base*' },
    PACKAGE,
    {
      name: 'sites',
      type: 'boolean',
      description: 'Also show each place: FILE:LINE:COLUMN and the line of text',
    },
    LIMIT,
    OFFSET,
  ],
  required: ['name'],
  categories: ['introspection', 'xref'],
  shortDescription: 'Find the functions that read, set or bind a variable, and where',
  complexity: 'moderate',
  keywords: keywordList(`
    variable references, who sets a variable, who reads a variable, who binds a special variable, where is a
    variable used, usages of a global variable, uses of a constant, find write accesses, unused variable defvar,
    setq setf assignment, writers and readers, where is it assigned or modified, who changes it, mutated,
    incremented, which functions write to, which functions rebind, touches the variable, looks at the variable,
    still looked at, functions that depend on a variable, dynamic variable, dynamic binding, dynamically bound,
    let binding, who lets it, rebinds, dynamically scoped, defvar defparameter defconstant defglobal, global
    state, global keyword, global usage, static field accesses, read access write access, read and write usages,
    highlight write usages, setting option flag counter cache variables, side effects on globals, shared mutable
    state, thread safety, data race, rename a variable, safe to delete a global, unused defvar, dead constant,
    magic number constant, find usages of a variable, find all references, cross reference, xref, symbol
    references, slime-who-references, slime-who-sets, slime-who-binds, sb-introspect:who-references, C-c C-w r,
    C-c C-w s, C-c C-w b, Alt+F7, Shift+F12, assignments to a variable, who modifies a variable, who mutates it,
    who changes the variable, readers of a variable, writers of a variable, users of a constant, usages of a
    constant, watchpoint, where is it read, where is it written, all reads and writes, highlight usages,
    references to a special variable, which code looks at a setting, is the global still used, let-bound, binds
    it around, code that binds, defconstant users, which functions set, which functions read, modifies global
    state, where does it get its value, gets set, gets assigned, is it read by anyone, is it set anywhere,
    unused global, dead variable, dead global, reads and writes of a global, everything that uses the variable,
    temporarily rebind, temporarily bound, users of a global, config variable, dependency on a global, logger
    variable, connection pool, module-level variable, static variable, public static final, enum constant, Value
    write, Value read, data breakpoint, nonlocal, reassigned, clobbered, pushnew push incf decf on a variable,
    setf of a special variable, who assigns, who increments, who touches, code that increments, variable is
    used, constant is used, defvar is used, where is the defparameter used, where is the constant used, is the
    parameter used, parameter used at all, every access, overwrites a variable, who overwrites, look at a
    variable, find variable usage, writes to a global, what uses the constant, modified mutated changed updated
    incremented`),
};

export function whoReferences(image: Image, places: Places) {
  return defineTool({
    ...WHO_REFERENCES,
    handler: async (args, context) => {
      const packageName = stringArgument(args, 'package');
      const page = pageArguments(args, context);
      const reply = await image.call(
        'who-references',
        {
          name: String(args['name']),
          ...(packageName && { package: packageName }),
          sites: args['sites'] === true,
          ...page,
        },
        callOptions(context),
      );
      const found = foundValue(reply);
      if (isLookupFailure(found)) return lookupResult(found);
      const users = usersOf(found, places);
      return {
        data: { ...withoutFeatures(found), rows: users },
        text: referencesText(found, users, page.offset),
      };
    },
  });
}

function referencesText(data: ReferencesData, rows: User[], offset: number): string {
  const { name, total, kept } = data;
  const lines = fittingRows(rows.map((user) => userText(user, user.name)));
  const page = { offset, shown: lines.length, total };
  const blocks = lines.map((text, index) => ({
    header: `Functions that ${rows[index]?.kind} ${name}:`,
    text,
  }));
  const parts = [
    total === 0 ? `No references found for ${name}` : listsText(blocks, hasMore(page)),
    natureNote(data),
    !kept && missingNote('references'),
    pageNote(page, 'references'),
  ];
  return parts.filter(Boolean).join('\n');
}

/** What the name stands for when SBCL keeps no references to such: no variable, or a symbol macro. */
function natureNote({ name, natures = [], expansion }: ReferencesData): string | false {
  if (expansion !== undefined) {
    return `Note: ${name} is a symbol macro, to which SBCL keeps no references; its users refer to what it expands into, ${expansion}.`;
  }
  return !natures.includes('VARIABLE') && `Note: ${isNot(name, natures, 'variable')}`;
}
