/** Media properties of a leg: the policies of its parties, or by default the settings. */
import { type LegPolicy, SRTP_REQUIRED, type SrtpPolicy, srtpRule } from '../call/needs.ts';
import type { PolicyParties, Provisioning } from '../provisioning/provisioning.ts';

export interface MediaPolicyOfLegOptions {
  readonly parties: PolicyParties;
  /** Default SRTP policy from the settings. */
  readonly srtp: SrtpPolicy;
  /** True if the signalling is encrypted, so that third parties cannot read the keys in our offers. */
  readonly secured: boolean;
  /** True for a carrier or trunk with `secure`: SRTP is required regardless of policies. */
  readonly mustBeSecure?: boolean;
}

export function mediaPolicyOfLeg(
  { mediaPolicies }: Pick<Provisioning, 'mediaPolicies'>,
  { parties, srtp, secured, mustBeSecure = false }: MediaPolicyOfLegOptions,
): LegPolicy {
  const policy = mediaPolicies.of(parties);
  const rule = mustBeSecure
    ? SRTP_REQUIRED
    : srtpRule(policy.srtp ?? srtp, {
        // A party with an explicit policy `optional` is offered keys over any transport.
        secured: secured || policy.srtp !== undefined,
      });
  return { srtp: rule, codecs: policy.codecs };
}
