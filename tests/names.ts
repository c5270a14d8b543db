// The names of the built-in tools with their levels, in the order of tools/list.

export const EIGHTEEN: readonly [name: string, level: string][] = [
  ['describe_symbol', 'safe'],
  ['apropos_search', 'safe'],
  ['function_arglist', 'safe'],
  ['who_calls', 'safe'],
  ['who_references', 'safe'],
  ['list_package_symbols', 'safe'],
  ['class_slots', 'safe'],
  ['class_hierarchy', 'safe'],
  ['macroexpand_form', 'cautious'],
  ['eval_form', 'cautious'],
  ['compile_form', 'cautious'],
  ['get_last_error', 'safe'],
  ['get_repl_history', 'safe'],
  ['read_file', 'safe'],
  ['read_buffer', 'safe'],
  ['search_in_buffer', 'safe'],
  ['write_file', 'dangerous'],
  ['propose_file_edit', 'dangerous'],
];

export const BUILT_IN: readonly [name: string, level: string][] = [
  ...EIGHTEEN,
  ['load_system', 'cautious'],
  ['load_file', 'cautious'],
  ['compare_image', 'safe'],
  ['read_definition', 'safe'],
  ['impact_of_change', 'safe'],
  ['debug', 'cautious'],
  ['inspect', 'safe'],
  ['image_status', 'safe'],
  ['interrupt', 'cautious'],
  ['restart_image', 'dangerous'],
  ['get_audit_log', 'safe'],
  ['search_tools', 'safe'],
];
