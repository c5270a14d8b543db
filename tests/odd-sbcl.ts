// Programs that are the machine's SBCL, but for something that a test makes otherwise.

import { chmodSync, writeFileSync } from 'node:fs';
import { testSbcl } from './harness.ts';

const SBCL = testSbcl();

/** Writes the program PATH: SBCL, which evaluates FORM before any form that it is given, and has ENVIRONMENT, a line of
 *  the shell. Returns PATH. */
export function sbclThatEvaluates(form: string, path: string, environment = ''): string {
  const script = `#!/usr/bin/env bash
${environment}
args=() seen=
for arg; do
  if [ "$arg" = --eval ] && [ -z "$seen" ]; then args+=(--eval '${form}') seen=1; fi
  args+=("$arg")
done
exec '${SBCL}' "\${args[@]}"
`;
  writeFileSync(path, script);
  chmodSync(path, 0o755);
  return path;
}
