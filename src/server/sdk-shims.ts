// Replaces the SDK's own file of Node dependencies in the bundle, see scripts/bundle.mjs.

export { default as process } from 'node:process';

/** Replaces the SDK's JSON schema validator, 150 kB to load at each start. The SDK uses it only for answers
 *  to its `elicitInput`. server/approvals.ts sends questions as requests, and reads the answers itself. */
export class DefaultJsonSchemaValidator {
  /** Always throws, so that no value passes unvalidated. */
  getValidator(): never {
    throw new Error('live-lisp has the SDK validate no JSON schema.');
  }
}
