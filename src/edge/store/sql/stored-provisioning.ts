/** Stored JSON of accounts, endpoints, trunks and carriers. */

import type { Account } from '../../../domain/account/types.ts';
import type {
  Carrier,
  CarrierPolicy,
  EndpointSecrets,
  PeerPolicy,
  RewriteRule,
} from '../../../domain/provisioning/types.ts';
import type { Binding } from '../../../domain/registration/types.ts';
import { TRANSPORT_NAMES } from '../../../protocol/sip/types.ts';
import { aFlag, aNumber, aText, dictionaryOf, listOf, maybe, oneOf, struct } from '../shape.ts';
import { StoredList, StoredObject, unchanged } from '../stored-kind.ts';

/** Prefixes, countries, addresses, recipients and other lists of text. */
export const TEXTS = new StoredList<readonly string[]>({
  name: 'list of texts',
  version: 1,
  shape: listOf(aText()),
});

export const ACCOUNT_PERMISSIONS = new StoredObject<Account['permissions']>({
  name: 'permissions of an account',
  version: 1,
  shape: struct<Account['permissions']>({
    calls: maybe(aFlag()),
    cdr: maybe(aFlag()),
    recordings: maybe(aFlag()),
    applications: maybe(aFlag()),
    endpoints: maybe(aFlag()),
    balance: maybe(aFlag()),
    numbers: maybe(aFlag()),
    trunks: maybe(aFlag()),
    conferences: maybe(aFlag()),
    campaigns: maybe(aFlag()),
    refer: maybe(aFlag()),
  }),
  upgrades: [unchanged],
});

export const ENDPOINT_SECRETS = new StoredObject<EndpointSecrets>({
  name: 'secrets of an endpoint',
  version: 1,
  shape: struct<EndpointSecrets>({ md5: aText(), sha256: aText(), sha512256: aText() }),
  upgrades: [unchanged],
});

export const FLOW = new StoredObject<Binding['flow']>({
  name: 'flow of a registration',
  version: 1,
  shape: struct<Binding['flow']>({
    transport: oneOf(...TRANSPORT_NAMES),
    address: aText(),
    port: aNumber(),
    connectionId: maybe(aText()),
  }),
  upgrades: [unchanged],
});

const peerPolicy = {
  identity: maybe(oneOf('trusted', 'untrusted')),
  identityHeader: maybe(oneOf('pai', 'rpid', 'both')),
  passHeaders: maybe(listOf(aText())),
  addHeaders: maybe(dictionaryOf(aText())),
  removeHeaders: maybe(listOf(aText())),
  largeOverTcp: maybe(aFlag()),
  delayedOffer: maybe(aFlag()),
  refer: maybe(aFlag()),
  sign: maybe(aFlag()),
};

export const TRUNK_POLICY = new StoredObject<PeerPolicy>({
  name: 'policy of a trunk',
  version: 1,
  shape: struct<PeerPolicy>(peerPolicy),
  upgrades: [unchanged],
});

export const CARRIER_POLICY = new StoredObject<CarrierPolicy>({
  name: 'policy of a carrier',
  version: 1,
  shape: struct<CarrierPolicy>({
    ...peerPolicy,
    stir: maybe(oneOf('off', 'verify', 'refuse', 'require')),
    firstResponseMs: maybe(aNumber()),
    answerMs: maybe(aNumber()),
    failoverOn: maybe(listOf(aText())),
    maxRedirects: maybe(aNumber()),
    probe: maybe(aFlag()),
    weight: maybe(aNumber()),
    windows: maybe(listOf(aText())),
    costs: maybe(dictionaryOf(aNumber())),
    rewrite: maybe(listOf(struct<RewriteRule>({ match: aText(), replace: aText() }))),
  }),
  upgrades: [unchanged],
});

type CarrierAuth = NonNullable<Carrier['auth']>;

export const CARRIER_AUTH = new StoredObject<CarrierAuth>({
  name: 'credentials of a carrier',
  version: 1,
  shape: struct<CarrierAuth>({ username: aText(), password: aText(), register: aFlag() }),
  upgrades: [unchanged],
});
