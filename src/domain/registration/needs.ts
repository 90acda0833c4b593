import type { AccountId, EndpointId } from '../../base/ids.ts';
import type { EndpointSecrets } from '../provisioning/types.ts';
import type { Binding, TemporaryLogin } from './types.ts';

export interface RegisteringEndpoint {
  readonly endpointId: EndpointId;
  readonly accountId: AccountId;
  readonly username: string;
  readonly secrets: EndpointSecrets;
  /** False: its account, or its sub-account, may do nothing now. */
  readonly active: boolean;
  /** Of a login for a time that stands for the endpoint. */
  readonly login?: TemporaryLogin | undefined;
}

/** What the registrar and the digest check ask for. */
export interface EndpointDirectory {
  byUsername(username: string): Promise<RegisteringEndpoint | undefined>;
  /** Of an access token; absent: there are none. */
  byToken?(token: string): Promise<RegisteringEndpoint | undefined>;
}

export interface BindingStore {
  save(binding: Binding): Promise<void>;
  remove(username: string, contactUri: string): Promise<void>;
  listAll(): Promise<readonly Binding[]>;
}

/** Counts of digest nonces that were used on any node: each serves once (RFC 7616 §5.12). */
export interface NonceCounts {
  /** Takes the count. False: it was taken before. Rejects while nobody can be asked. */
  use(nonce: string, count: number): Promise<boolean>;
}
