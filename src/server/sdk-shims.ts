// The bundle contains this file in place of the SDK's own file of Node dependencies (see scripts/bundle.mjs).

export { default as process } from 'node:process';

/** Replaces the SDK's JSON schema validator, which would be 150 kB to load at each start. The SDK needs it only for
 * `elicitInput`. server/approvals.ts does not use `elicitInput`: it sends questions as requests, and checks the answers
 * itself. */
export class DefaultJsonSchemaValidator {
  /** Always throws, so that no value passes unvalidated. */
  getValidator(): never {
    throw new Error('live-lisp does not let the SDK validate JSON schemas.');
  }
}
