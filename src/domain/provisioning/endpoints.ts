import { assert } from '../../base/errors.ts';
import { hashHex } from '../../base/hash.ts';
import { type AccountId, type AppId, digits, type EndpointId } from '../../base/ids.ts';
import { Listeners } from '../../base/listeners.ts';
import type { Page, Slice } from '../../base/page.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { checkedReferences, nowUs, type ProvisioningContext } from './context.ts';
import type { ApplicationStore, EndpointFilter, EndpointStore } from './needs.ts';
import type { Endpoint, EndpointPatch, EndpointSecrets } from './types.ts';

/** Number of digits of the first suffix tried. Each collision adds one. */
const SUFFIX_DIGITS = 4;
/** Maximum number of attempts. Each uses one more digit, so this many collisions do not happen by chance. */
const NAME_ATTEMPTS = 8;

export type NewEndpoint = Pick<Endpoint, 'accountId' | 'alias'> &
  EndpointPatch & {
    /** User name as submitted. The stored name, which registers, may have a numeric suffix. */
    readonly username: string;
    readonly password: string;
  };

export type EndpointRefusal =
  | { readonly kind: 'unknownEndpoint' }
  | { readonly kind: 'usernameTaken'; readonly username: string }
  /** The application does not exist or belongs to another account. */
  | { readonly kind: 'unknownApplication' };

const UNKNOWN_APPLICATION = err({ kind: 'unknownApplication' } as const);

/** An endpoint that was deleted, lost the right to voice calls, or whose password changed. */
export interface RevokedEndpoint {
  readonly endpointId: EndpointId;
  readonly username: string;
  readonly why: 'deleted' | 'voice' | 'password';
}

export interface EndpointSettings {
  /** Digest realm, chosen at the first start and never changed, because HA1 depends on it. */
  readonly realm: string;
  readonly usernameSuffix: 'always' | 'when-taken';
}

/** Manages SIP endpoints and their credentials. */
export class Endpoints {
  readonly #store: EndpointStore;
  readonly #applications: ApplicationStore;
  readonly #context: ProvisioningContext;
  readonly #settings: EndpointSettings;
  readonly revocations = new Listeners<RevokedEndpoint>();

  constructor(
    stores: { readonly endpoints: EndpointStore; readonly applications: ApplicationStore },
    context: ProvisioningContext,
    settings: EndpointSettings,
  ) {
    this.#store = stores.endpoints;
    this.#applications = stores.applications;
    this.#context = context;
    this.#settings = settings;
  }

  create(input: NewEndpoint): Promise<Result<Endpoint, EndpointRefusal>> {
    return checkedReferences(() => this.#create(input));
  }

  async #create(input: NewEndpoint): Promise<Result<Endpoint, EndpointRefusal>> {
    if (!(await this.#ownsApplication(input.accountId, input.appId))) {
      return UNKNOWN_APPLICATION;
    }
    const { password, username: requestedUsername, ...rest } = input;
    const now = nowUs(this.#context);
    for (let attempt = 0; attempt < NAME_ATTEMPTS; attempt += 1) {
      const username = this.#storedName(requestedUsername, attempt);
      const inserted = await this.#store.insert(
        {
          subAccount: undefined,
          appId: undefined,
          callerId: undefined,
          ...DEFAULT_PERMISSIONS,
          ...rest,
          username,
          requestedUsername,
          createdUs: now,
          updatedUs: now,
        },
        secretsOf(username, this.#settings.realm, password),
      );
      if (inserted.ok) return inserted;
      if (inserted.error === 'requestedTaken') {
        return err({ kind: 'usernameTaken', username: requestedUsername });
      }
    }
    return err({ kind: 'usernameTaken', username: requestedUsername });
  }

  async get(
    accountId: AccountId,
    endpointId: EndpointId,
  ): Promise<Result<Endpoint, EndpointRefusal>> {
    const found = await this.#store.get(accountId, endpointId);
    return found === undefined ? err({ kind: 'unknownEndpoint' }) : ok(found);
  }

  /** Finds an endpoint by the name that registers, in any account. */
  byUsername(username: string): Promise<Endpoint | undefined> {
    return this.#store.byUsername(username);
  }

  list(filter: EndpointFilter, slice: Slice): Promise<Page<Endpoint>> {
    return this.#store.list(filter, slice);
  }

  async patch(
    accountId: AccountId,
    endpointId: EndpointId,
    change: EndpointPatch & { readonly password?: string | undefined },
  ): Promise<Result<Endpoint, EndpointRefusal>> {
    const { password, ...patch } = change;
    const known = await this.get(accountId, endpointId);
    if (!known.ok) return known;
    const secrets =
      password === undefined
        ? undefined
        : secretsOf(known.value.username, this.#settings.realm, password);
    const patched = await checkedReferences(async () => {
      const isKnown = await this.#ownsApplication(accountId, patch.appId);
      return isKnown
        ? ok(await this.#store.patch(accountId, endpointId, patch, secrets))
        : UNKNOWN_APPLICATION;
    });
    if (!patched.ok) return patched;
    const changed = patched.value;
    if (changed === undefined) return err({ kind: 'unknownEndpoint' });
    if (secrets !== undefined) await this.#revoked(changed, 'password');
    if (!changed.allowVoice && known.value.allowVoice) await this.#revoked(changed, 'voice');
    return ok(changed);
  }

  /** Registers a callback that runs after an endpoint lost a right. The revoking operation waits for it. */
  onRevoked(act: (revoked: RevokedEndpoint) => Promise<void>): void {
    this.revocations.add(act);
  }

  async remove(
    accountId: AccountId,
    endpointId: EndpointId,
  ): Promise<Result<void, EndpointRefusal>> {
    const known = await this.get(accountId, endpointId);
    if (!known.ok) return known;
    const removed = await this.#store.remove(accountId, endpointId);
    if (!removed) return err({ kind: 'unknownEndpoint' });
    await this.#revoked(known.value, 'deleted');
    return ok(undefined);
  }

  async #revoked({ endpointId, username }: Endpoint, why: RevokedEndpoint['why']): Promise<void> {
    await this.revocations.notify({ endpointId, username, why });
  }

  #storedName(requested: string, attempt: number): string {
    const bare = this.#settings.usernameSuffix === 'when-taken' && attempt === 0;
    if (bare) return requested;
    return requested + digits(this.#context.random, SUFFIX_DIGITS + attempt);
  }

  async #ownsApplication(accountId: AccountId, appId: AppId | undefined): Promise<boolean> {
    if (appId === undefined) return true;
    return (await this.#applications.get(appId))?.accountId === accountId;
  }
}

/** Returns HA1 for every digest algorithm, so that an algorithm can be enabled later without new passwords. */
export function secretsOf(username: string, realm: string, password: string): EndpointSecrets {
  assert(!username.includes(':') && !realm.includes('"'), 'names must fit a digest');
  const text = `${username}:${realm}:${password}`;
  return {
    md5: hashHex('md5', text),
    sha256: hashHex('sha256', text),
    sha512256: hashHex('sha512-256', text),
  };
}

/** Default permissions (spec: `POST …/Endpoint/`). */
const DEFAULT_PERMISSIONS = {
  allowVoice: true,
  allowMessage: true,
  allowVideo: false,
  allowSameDomain: true,
  allowOtherDomains: false,
  allowPhones: true,
  allowApps: true,
} as const;
