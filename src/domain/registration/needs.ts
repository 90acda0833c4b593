import type { AccountId, EndpointId } from '../../base/ids.ts';
import type { EndpointSecrets } from '../provisioning/types.ts';
import type { Binding, TemporaryLogin } from './types.ts';

export interface RegisteringEndpoint {
  readonly endpointId: EndpointId;
  readonly accountId: AccountId;
  readonly username: string;
  readonly secrets: EndpointSecrets;
  /** False if the account or sub-account is suspended or closed. */
  readonly active: boolean;
  /** Temporary login that authenticates as this endpoint. */
  readonly login?: TemporaryLogin | undefined;
}

/** Endpoint lookup for the registrar and digest authentication. */
export interface EndpointDirectory {
  byUsername(username: string): Promise<RegisteringEndpoint | undefined>;
  /** Returns the endpoint of an access token. Absent if access tokens are not supported. */
  byToken?(token: string): Promise<RegisteringEndpoint | undefined>;
}

export interface BindingStore {
  save(binding: Binding): Promise<void>;
  remove(username: string, contactUri: string): Promise<void>;
  listAll(): Promise<readonly Binding[]>;
}

/** Tracks used nonce counts of digest authentication across all nodes. Each count is valid once (RFC 7616 §5.12). */
export interface NonceCounts {
  /** Marks the count as used. Returns false if it was used before. Rejects while the cluster is unavailable. */
  use(nonce: string, count: number): Promise<boolean>;
}
