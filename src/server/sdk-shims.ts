// Decides what the SDK finds in Node. It stands in for the SDK's own file in the bundle, see scripts/bundle.mjs.

export { default as process } from 'node:process';

/** Takes the place of a validator of 150 kB, which each start would load. The SDK asks it about the answers to its
 *  `elicitInput`; server/approvals.ts sends its questions as requests, and reads the answers itself. */
export class DefaultJsonSchemaValidator {
  /** Throws: what is not validated must not pass. */
  getValidator(): never {
    throw new Error('live-lisp has the SDK validate no JSON schema.');
  }
}
