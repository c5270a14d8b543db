// Decides whether a call runs: by the tool's level and what the human asked for at start.

import type { SafetyLevel } from './tool.ts';

export type Decision = 'run' | 'ask';

/** From which level on the human wants to be asked. */
export type AskPolicy = 'dangerous' | 'cautious';

const TABLE: Record<AskPolicy, Record<SafetyLevel, Decision>> = {
  dangerous: { safe: 'run', cautious: 'run', dangerous: 'ask' },
  cautious: { safe: 'run', cautious: 'ask', dangerous: 'ask' },
};

/** Returns what to do with a call of a tool of LEVEL under POLICY. */
export function decide(level: SafetyLevel, policy: AskPolicy): Decision {
  return TABLE[policy][level];
}
