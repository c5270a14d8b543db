// Writes src/catalog/token-costs.ts over the running server. scripts/generate-docs.mjs --check tells when it is stale.

import { writeFileSync } from 'node:fs';
import { demoAnswers } from './demo-answers.mjs';
import { COSTS_FILE, costsText, sameCosts } from './token-costs.mjs';

try {
  const fresh = costsText(await demoAnswers());
  if (!sameCosts(fresh)) {
    writeFileSync(COSTS_FILE, fresh);
    console.log('Wrote src/catalog/token-costs.ts; build again.');
  }
} catch (error) {
  console.error(`measure-costs: ${error.message}`);
  process.exitCode = 1;
}
