// Between which numbers the arguments of each tool are. The list of tools does not have that, as clients pay for its length.

import { expect, test } from 'vitest';
import { assemble } from '../../src/assembly.ts';
import { readConfig } from '../../src/config.ts';
import { PROJECT } from '../harness.ts';

test('each number that a tool takes has its bounds', () => {
  const tools = assemble(readConfig(['--root', PROJECT], {})).registry.tools();
  const bounds = tools.flatMap(({ name, parameters }) =>
    parameters.flatMap(({ name: parameter, minimum, maximum }) =>
      minimum === undefined && maximum === undefined ? [] : [`${name} ${parameter} ${minimum} ${maximum}`],
    ),
  );
  expect(bounds.join('\n')).toMatchInlineSnapshot(`
    "describe_symbol limit 1 2000
    describe_symbol offset 0 undefined
    apropos_search limit 1 2000
    apropos_search offset 0 undefined
    function_arglist limit 1 2000
    function_arglist offset 0 undefined
    who_calls limit 1 2000
    who_calls offset 0 undefined
    who_references limit 1 2000
    who_references offset 0 undefined
    list_package_symbols limit 1 2000
    list_package_symbols offset 0 undefined
    class_slots limit 1 2000
    class_slots offset 0 undefined
    class_hierarchy limit 1 2000
    class_hierarchy offset 0 undefined
    macroexpand_form timeout 0.1 86400
    eval_form debug_level 0 3
    eval_form timeout 0.1 86400
    compile_form timeout 0.1 86400
    get_last_error index 0 undefined
    get_last_error frame 0 undefined
    get_repl_history limit 1 2000
    get_repl_history offset 0 undefined
    read_file start_line 1 undefined
    read_file end_line 1 undefined
    read_file limit 1 20000
    read_buffer start_line 1 undefined
    read_buffer end_line 1 undefined
    read_buffer limit 1 20000
    search_in_buffer limit 1 2000
    search_in_buffer offset 0 undefined
    load_system timeout 0.1 86400
    load_file debug_level 0 3
    load_file timeout 0.1 86400
    run_tests seed 0 undefined
    run_tests repeat 1 undefined
    run_tests limit 1 undefined
    run_tests timeout 0.1 86400
    compare_image limit 1 2000
    read_definition limit 1 2000
    read_definition offset 0 undefined
    impact_of_change limit 1 1000
    debug error 1 undefined
    debug frame 0 undefined
    debug timeout 0.1 86400
    inspect limit 1 2000
    inspect offset 0 undefined
    observe seconds 0.01 3600
    observe limit 1 500
    observe timeout 0.1 86400
    interrupt job 1 undefined
    get_audit_log limit 1 2000
    get_audit_log offset 0 undefined"
  `);
});
