import type { Changes } from '../../base/changes.ts';
import { type AccountId, newTrunkId, type TrunkId, uuid } from '../../base/ids.ts';
import type { Page, Slice } from '../../base/page.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { checkedReferences, nowUs, type ProvisioningContext } from './context.ts';
import type { IpAclStore, OriginationUriStore, TrunkCredentialStore, TrunkStore } from './needs.ts';
import type {
  IpAcl,
  IpAclPatch,
  OriginationUri,
  OriginationUriPatch,
  PeerPolicy,
  Trunk,
  TrunkCredential,
  TrunkCredentialPatch,
  TrunkPatch,
} from './types.ts';

/** Default limits of a trunk (dialect §3.9). */
const DEFAULT_CONCURRENT_CALLS = 10;
const DEFAULT_CPS = 2;

export type TrunkPart = 'primaryUriUuid' | 'fallbackUriUuid' | 'credentialUuid' | 'ipaclUuid';
export type TrunkRefusal =
  | { readonly kind: 'unknownTrunk' }
  | { readonly kind: 'unknownOriginationUri' }
  | { readonly kind: 'unknownCredential' }
  | { readonly kind: 'unknownIpAcl' }
  /** A trunk refers to a part that the account does not have. */
  | { readonly kind: 'unknownTrunkPart'; readonly part: TrunkPart }
  /** A trunk uses this part, or numbers use this trunk. */
  | { readonly kind: 'inUse' };

export type NewTrunk = Pick<Trunk, 'accountId' | 'name'> & TrunkPatch;
export type NewOriginationUri = Pick<OriginationUri, 'accountId' | 'name' | 'sipUri'> &
  OriginationUriPatch;
interface TrunkLogin {
  readonly username: string;
  readonly password: string;
  readonly realm?: string;
}

export type NewCredential = Pick<TrunkCredential, 'accountId' | 'username'> &
  TrunkCredentialPatch & { readonly password: string };
export type NewIpAcl = Pick<IpAcl, 'accountId' | 'ipAddress'> & IpAclPatch;

interface TrunkStores {
  readonly trunks: TrunkStore;
  readonly originationUris: OriginationUriStore;
  readonly credentials: TrunkCredentialStore;
  readonly ipAcls: IpAclStore;
}

/** Manages customers' SIP trunks and their parts. */
export class Trunks {
  readonly #stores: TrunkStores;
  readonly #context: ProvisioningContext;

  constructor(stores: TrunkStores, context: ProvisioningContext) {
    this.#stores = stores;
    this.#context = context;
  }

  async create(input: NewTrunk): Promise<Result<Trunk, TrunkRefusal>> {
    const trunk: Trunk = {
      direction: 'inbound',
      enabled: true,
      transport: 'udp',
      secure: false,
      primaryUriUuid: undefined,
      fallbackUriUuid: undefined,
      credentialUuid: undefined,
      ipaclUuid: undefined,
      concurrentCallsLimit: DEFAULT_CONCURRENT_CALLS,
      cpsLimit: DEFAULT_CPS,
      description: '',
      recording: false,
      webhookUrl: undefined,
      webhookMethod: 'POST',
      egressAllow: [],
      policy: {},
      ...input,
      ...this.#stamps(),
      trunkId: newTrunkId(this.#context.random),
    };
    return this.#withParts(trunk.accountId, input, async () => {
      await this.#stores.trunks.insert(trunk);
      return ok(trunk);
    });
  }

  async get(accountId: AccountId, trunkId: TrunkId): Promise<Result<Trunk, TrunkRefusal>> {
    const found = await this.#stores.trunks.get(trunkId);
    return found?.accountId === accountId ? ok(found) : err({ kind: 'unknownTrunk' });
  }

  list(accountId: AccountId, slice: Slice): Promise<Page<Trunk>> {
    return this.#stores.trunks.list(accountId, slice);
  }

  async patch(
    accountId: AccountId,
    trunkId: TrunkId,
    patch: TrunkPatch,
    policy?: Changes<PeerPolicy>,
  ): Promise<Result<Trunk, TrunkRefusal>> {
    return this.#withParts(accountId, patch, async () =>
      found(await this.#stores.trunks.patch(accountId, trunkId, patch, policy), 'unknownTrunk'),
    );
  }

  async remove(accountId: AccountId, trunkId: TrunkId): Promise<Result<void, TrunkRefusal>> {
    return removal(await this.#stores.trunks.remove(accountId, trunkId), 'unknownTrunk');
  }

  async createOriginationUri(input: NewOriginationUri): Promise<OriginationUri> {
    const uri: OriginationUri = {
      priority: 1,
      weight: 1,
      enabled: true,
      description: '',
      ...input,
      ...this.#stamps(),
      id: uuid(this.#context.random),
    };
    await this.#stores.originationUris.insert(uri);
    return uri;
  }

  async getOriginationUri(
    accountId: AccountId,
    id: string,
  ): Promise<Result<OriginationUri, TrunkRefusal>> {
    return found(await this.#stores.originationUris.get(accountId, id), 'unknownOriginationUri');
  }

  listOriginationUris(accountId: AccountId, slice: Slice): Promise<Page<OriginationUri>> {
    return this.#stores.originationUris.list(accountId, slice);
  }

  async patchOriginationUri(
    accountId: AccountId,
    id: string,
    patch: OriginationUriPatch,
  ): Promise<Result<OriginationUri, TrunkRefusal>> {
    const changed = await this.#stores.originationUris.patch(accountId, id, patch);
    return found(changed, 'unknownOriginationUri');
  }

  async removeOriginationUri(
    accountId: AccountId,
    id: string,
  ): Promise<Result<void, TrunkRefusal>> {
    const removed = await this.#stores.originationUris.remove(accountId, id);
    return removal(removed, 'unknownOriginationUri');
  }

  async createCredential(input: NewCredential): Promise<TrunkCredential> {
    const { password, ...rest } = input;
    const credential: TrunkCredential = {
      realm: '',
      enabled: true,
      ...rest,
      ...this.#stamps(),
      id: uuid(this.#context.random),
    };
    await this.#stores.credentials.insert(credential, password);
    return credential;
  }

  async getCredential(
    accountId: AccountId,
    id: string,
  ): Promise<Result<TrunkCredential, TrunkRefusal>> {
    return found(await this.#stores.credentials.get(accountId, id), 'unknownCredential');
  }

  /** Returns the credentials with which calls to the trunk authenticate. Undefined if none are enabled. */
  async loginOf(trunk: Trunk): Promise<TrunkLogin | undefined> {
    const { accountId, credentialUuid } = trunk;
    if (credentialUuid === undefined) return undefined;
    const { credentials } = this.#stores;
    const credential = await credentials.get(accountId, credentialUuid);
    if (credential?.enabled !== true) return undefined;
    const password = await credentials.passwordOf(credential.id);
    if (password === undefined) return undefined;
    const { username, realm } = credential;
    return { username, password, ...(realm === '' ? {} : { realm }) };
  }

  listCredentials(accountId: AccountId, slice: Slice): Promise<Page<TrunkCredential>> {
    return this.#stores.credentials.list(accountId, slice);
  }

  async patchCredential(
    accountId: AccountId,
    id: string,
    change: TrunkCredentialPatch & { readonly password?: string | undefined },
  ): Promise<Result<TrunkCredential, TrunkRefusal>> {
    const { password, ...patch } = change;
    const changed = await this.#stores.credentials.patch(accountId, id, patch, password);
    return found(changed, 'unknownCredential');
  }

  async removeCredential(accountId: AccountId, id: string): Promise<Result<void, TrunkRefusal>> {
    return removal(await this.#stores.credentials.remove(accountId, id), 'unknownCredential');
  }

  async createIpAcl(input: NewIpAcl): Promise<IpAcl> {
    const acl: IpAcl = {
      description: '',
      enabled: true,
      ...input,
      ...this.#stamps(),
      id: uuid(this.#context.random),
    };
    await this.#stores.ipAcls.insert(acl);
    return acl;
  }

  async getIpAcl(accountId: AccountId, id: string): Promise<Result<IpAcl, TrunkRefusal>> {
    return found(await this.#stores.ipAcls.get(accountId, id), 'unknownIpAcl');
  }

  listIpAcls(accountId: AccountId, slice: Slice): Promise<Page<IpAcl>> {
    return this.#stores.ipAcls.list(accountId, slice);
  }

  async patchIpAcl(
    accountId: AccountId,
    id: string,
    patch: IpAclPatch,
  ): Promise<Result<IpAcl, TrunkRefusal>> {
    return found(await this.#stores.ipAcls.patch(accountId, id, patch), 'unknownIpAcl');
  }

  async removeIpAcl(accountId: AccountId, id: string): Promise<Result<void, TrunkRefusal>> {
    return removal(await this.#stores.ipAcls.remove(accountId, id), 'unknownIpAcl');
  }

  /** Calls `write` if the account has all parts to which the trunk refers. */
  #withParts(
    accountId: AccountId,
    parts: TrunkPatch,
    write: () => Promise<Result<Trunk, TrunkRefusal>>,
  ): Promise<Result<Trunk, TrunkRefusal>> {
    return checkedReferences(async () => {
      const part = await this.#missingPart(accountId, parts);
      return part === undefined ? write() : err({ kind: 'unknownTrunkPart', part });
    });
  }

  async #missingPart(accountId: AccountId, parts: TrunkPatch): Promise<TrunkPart | undefined> {
    const { originationUris, credentials, ipAcls } = this.#stores;
    const lookups: ReadonlyArray<readonly [TrunkPart, { get: OwnedGet }]> = [
      ['primaryUriUuid', originationUris],
      ['fallbackUriUuid', originationUris],
      ['credentialUuid', credentials],
      ['ipaclUuid', ipAcls],
    ];
    for (const [part, store] of lookups) {
      const id = parts[part];
      if (id !== undefined && (await store.get(accountId, id)) === undefined) return part;
    }
    return undefined;
  }

  #stamps(): { readonly createdUs: number; readonly updatedUs: number } {
    const now = nowUs(this.#context);
    return { createdUs: now, updatedUs: now };
  }
}

type OwnedGet = (accountId: AccountId, id: string) => Promise<unknown>;

type Unknown = 'unknownTrunk' | 'unknownOriginationUri' | 'unknownCredential' | 'unknownIpAcl';

function found<T>(value: T | undefined, kind: Unknown): Result<T, TrunkRefusal> {
  return value === undefined ? err({ kind }) : ok(value);
}

function removal(
  removed: Result<void, 'unknown' | 'inUse'>,
  kind: Unknown,
): Result<void, TrunkRefusal> {
  if (removed.ok) return removed;
  return err({ kind: removed.error === 'inUse' ? 'inUse' : kind });
}
