import type { LegId, ReferFacts } from '../user-agent-types.ts';
import type { UserAgentCore } from './core.ts';

/** The leg of the dialog that a REFER names in Replaces (RFC 3891 §3). */
export const replacedLeg = (
  core: UserAgentCore,
  { replaces }: Pick<ReferFacts, 'replaces'>,
): LegId | undefined => (replaces === undefined ? undefined : core.dialogs.get(replaces)?.leg);
