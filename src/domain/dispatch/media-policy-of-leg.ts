/** How the media of a leg is to be: by the policies of who takes part in it, else by the settings. */
import { type MediaWish, SRTP_REQUIRED, type SrtpPolicy, srtpRule } from '../call/needs.ts';
import type { PolicyParties, Provisioning } from '../provisioning/provisioning.ts';

export interface MediaPolicyOfLegOptions {
  readonly parties: PolicyParties;
  /** Of the settings. */
  readonly srtp: SrtpPolicy;
  /** Its signalling is encrypted: keys of our own offers are not for everybody to read. */
  readonly secured: boolean;
  /** A carrier or trunk with `secure`: never less than SRTP, whatever a policy says. */
  readonly mustBeSecure?: boolean;
}

export function mediaPolicyOfLeg(
  { mediaPolicies }: Pick<Provisioning, 'mediaPolicies'>,
  { parties, srtp, secured, mustBeSecure = false }: MediaPolicyOfLegOptions,
): MediaWish {
  const policy = mediaPolicies.of(parties);
  const rule = mustBeSecure
    ? SRTP_REQUIRED
    : srtpRule(policy.srtp ?? srtp, {
        // Who is named with `optional` is offered keys over any transport.
        secured: secured || policy.srtp !== undefined,
      });
  return { srtp: rule, codecs: policy.codecs };
}
