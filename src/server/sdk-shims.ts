// Replaces the SDK's own file of Node dependencies in the bundle, see scripts/bundle.mjs.

export { default as process } from 'node:process';

/** Replaces a validator of 150 kB, which each start would load. The SDK uses it for answers to its `elicitInput` only;
 *  server/approvals.ts sends its questions as requests, and reads the answers itself. */
export class DefaultJsonSchemaValidator {
  /** Throws: an unvalidated value must not pass. */
  getValidator(): never {
    throw new Error('live-lisp has the SDK validate no JSON schema.');
  }
}
