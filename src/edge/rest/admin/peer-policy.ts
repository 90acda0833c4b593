/** Policy fields of a carrier or trunk in the operator's API: which information is sent to the peer and accepted from it. */
import { err } from '../../../base/result.ts';
import { headerProblem } from '../../../domain/provisioning/provisioning.ts';
import type { PeerPolicy } from '../../../domain/provisioning/types.ts';
import { invalidField } from '../http/failure.ts';
import { described, flag, type Static, Type } from '../http/schema.ts';

/** null: the default. */
export const policyChoice = <T extends string>(...values: readonly T[]) =>
  Type.Unsafe<T | null>({ type: ['string', 'null'], enum: [...values, null] });
const names = () =>
  Type.Unsafe<string[] | null>({
    ...Type.Array(Type.String({ maxLength: 64 }), { maxItems: 50 }),
    type: ['array', 'null'],
  });
const lines = () =>
  Type.Unsafe<Record<string, string> | null>({
    ...Type.Record(Type.String({ maxLength: 64 }), Type.String({ maxLength: 512 }), {
      maxProperties: 50,
    }),
    type: ['object', 'null'],
  });

export const peerFields = {
  identity: Type.Optional(
    described(
      policyChoice('trusted', 'untrusted'),
      'trust its asserted caller identities; null: carriers yes, trunks no',
    ),
  ),
  identity_header: Type.Optional(
    described(
      policyChoice('pai', 'rpid', 'both'),
      "headers that carry the caller's identity to it; null: pai",
    ),
  ),
  pass_headers: Type.Optional(
    described(
      names(),
      'header fields of an inbound call to pass on to it, X-* for all of them; null: sip.passHeaders',
    ),
  ),
  add_headers: Type.Optional(
    described(lines(), 'header fields to add to requests to it, {"X-Site":"berlin"}'),
  ),
  remove_headers: Type.Optional(described(names(), 'header fields to remove from requests to it')),
  large_over_tcp: Type.Optional(
    described(flag(), 'send an INVITE above 1300 bytes over TCP; default true'),
  ),
  delayed_offer: Type.Optional(
    described(flag(), 'send INVITE without SDP, so that it sends the offer; default false'),
  ),
  refer: Type.Optional(described(flag(), 'REFER may be sent to it; default false')),
};
const Body = Type.Object(peerFields);
type PeerBody = Static<typeof Body>;

export const PeerSchema = {
  identity: policyChoice('trusted', 'untrusted'),
  identity_header: policyChoice('pai', 'rpid', 'both'),
  pass_headers: names(),
  add_headers: Type.Record(Type.String(), Type.String()),
  remove_headers: Type.Array(Type.String()),
  large_over_tcp: Type.Boolean(),
  delayed_offer: Type.Boolean(),
  refer: Type.Boolean(),
};

/** Converts the body to policy values. undefined keeps a value, null restores the default. */
export const namedInPeer = (body: PeerBody) => ({
  identity: body.identity,
  identityHeader: body.identity_header,
  passHeaders: body.pass_headers,
  addHeaders: body.add_headers,
  removeHeaders: body.remove_headers,
  largeOverTcp: body.large_over_tcp,
  delayedOffer: body.delayed_offer,
  refer: body.refer,
});

export const showPeer = (policy: PeerPolicy) => ({
  identity: policy.identity ?? null,
  identity_header: policy.identityHeader ?? null,
  pass_headers: policy.passHeaders === undefined ? null : [...policy.passHeaders],
  add_headers: { ...policy.addHeaders },
  remove_headers: [...(policy.removeHeaders ?? [])],
  large_over_tcp: policy.largeOverTcp ?? true,
  delayed_offer: policy.delayedOffer ?? false,
  refer: policy.refer ?? false,
});

/** Returns undefined if the header names in the body are allowed, otherwise the failure. */
export function wrongHeaders(body: PeerBody) {
  const problem = headerProblem({
    ...(body.pass_headers && { passHeaders: body.pass_headers }),
    ...(body.add_headers && { addHeaders: body.add_headers }),
    ...(body.remove_headers && { removeHeaders: body.remove_headers }),
  });
  return problem === undefined ? undefined : err(invalidField(problem[0], problem[1]));
}
