/** What a carrier or a trunk is told and believed, as the operator's API names it. */
import { err } from '../../../base/result.ts';
import { headerProblem } from '../../../domain/provisioning/provisioning.ts';
import type { PeerPolicy } from '../../../domain/provisioning/types.ts';
import { invalidField } from '../http/failure.ts';
import { flag, type Static, Type } from '../http/schema.ts';
import { defined } from '../wire/list.ts';

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
  identity: Type.Optional(policyChoice('trusted', 'untrusted')),
  identity_header: Type.Optional(policyChoice('pai', 'rpid', 'both')),
  pass_headers: Type.Optional(names()),
  add_headers: Type.Optional(lines()),
  remove_headers: Type.Optional(names()),
  large_over_tcp: Type.Optional(flag()),
  delayed_offer: Type.Optional(flag()),
  refer: Type.Optional(flag()),
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

/** Values as the body names them: undefined stays as it is, null goes back to the default. */
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

export function policyWith(before: PeerPolicy, body: PeerBody): PeerPolicy {
  const all = { ...before, ...defined(namedInPeer(body)) };
  const kept = Object.entries(all).filter(([, value]) => value !== null);
  return Object.fromEntries(kept) as PeerPolicy;
}

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

/** Undefined: its header fields may be named so. */
export function wrongHeaders(body: PeerBody) {
  const problem = headerProblem({
    ...(body.pass_headers && { passHeaders: body.pass_headers }),
    ...(body.add_headers && { addHeaders: body.add_headers }),
    ...(body.remove_headers && { removeHeaders: body.remove_headers }),
  });
  return problem === undefined ? undefined : err(invalidField(problem[0], problem[1]));
}
