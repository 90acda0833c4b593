/** Exchanges access tokens of browser phones for temporary SIP logins. */
import type { Clock } from '../../base/clock.ts';
import { DAY_MS } from '../../base/duration.ts';
import { hashHex, hmacSha256 } from '../../base/hash.ts';
import type { AccountId } from '../../base/ids.ts';
import { Listeners } from '../../base/listeners.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { Accounts } from '../account/account.ts';
import type { EndpointStore } from '../provisioning/needs.ts';
import { secretsOf } from '../provisioning/provisioning.ts';
import type { Endpoint } from '../provisioning/types.ts';
import type { EndpointDirectory, RegisteringEndpoint } from '../registration/needs.ts';
import { type AccessToken, isSignedWith, readAccessToken } from './access-token.ts';
import type { PhoneLoginStore, StoredPhoneLogin } from './needs.ts';
import type { PhoneCredentials, PhoneLogin, PhoneLoginRefusal, RevokedLogin } from './types.ts';

export type { PhoneCredentials, PhoneLoginRefusal } from './types.ts';

const US_PER_S = 1_000_000;
const US_PER_MS = 1000;
/** Allowed clock difference of customers' servers: a token may become valid this much later. */
const LEEWAY_S = 60;
const MAX_LIFE_S = 86_400;
/** Maximum number of unexpired logins per account. */
const MAX_LOGINS = 10_000;
/** Maximum registration time. A registration ends this soon after its login, even if the revocation was not delivered. */
const REGISTRATION_S = 600;
/** Separator between endpoint name and login ID. Endpoint user names never contain it. */
const MARK = '~';
const ID_LENGTH = 24;
const PASSWORD_LENGTH = 32;

export interface PhoneLoginNeeds {
  readonly store: PhoneLoginStore;
  readonly accounts: Pick<Accounts, 'get' | 'ownerOf' | 'liveTokens' | 'onTokensChanged'>;
  readonly endpoints: Pick<EndpointStore, 'byUsername'>;
  readonly directory: EndpointDirectory;
  readonly clock: Clock;
  /** Key from which passwords are derived. */
  readonly secret: string;
  /** Realm of digest authentication. */
  readonly realm: string;
}

export class PhoneLogins implements EndpointDirectory {
  readonly #needs: PhoneLoginNeeds;
  readonly revocations = new Listeners<RevokedLogin>();

  constructor(needs: PhoneLoginNeeds) {
    this.#needs = needs;
    needs.accounts.onTokensChanged((accountId) => this.#tokensChanged(accountId));
  }

  /** Returns the login of a token. The same token returns the same login until it expires. */
  async login(text: string): Promise<Result<PhoneCredentials, PhoneLoginRefusal>> {
    const { accounts, store } = this.#needs;
    const read = readAccessToken(text);
    if (!read.ok) return err({ kind: 'wrongToken', detail: read.error });
    const token = read.value;
    const keys = await accounts.liveTokens(token.accountId);
    const key = keys.find((one) => isSignedWith(token, one.token));
    if (key === undefined) {
      return err({ kind: 'wrongToken', detail: 'is not signed with a token of its account' });
    }
    const late = this.#untimely(token);
    if (late !== undefined) return err({ kind: 'tokenRefused', detail: late });
    const endpoint = await this.#endpointOf(token);
    if (endpoint === undefined) {
      return err({ kind: 'tokenRefused', detail: 'sub is not an endpoint of the account' });
    }
    const login = loginOf(token, endpoint, key.token);
    const known = await store.get(login.id);
    const outcome =
      known === undefined
        ? await store.add(login, MAX_LOGINS, this.#nowUs())
        : known.revoked && 'tokenRevoked';
    if (outcome === 'tokenRevoked') return err({ kind: 'tokenRefused', detail: 'is revoked' });
    if (outcome === 'tooMany') {
      return err({ kind: 'tooMany', limit: MAX_LOGINS, what: 'logins of phones' });
    }
    return ok({ ...login, authName: authName(login), password: this.#passwordOf(login) });
  }

  /** Returns the endpoint of a digest user name. The name is that of an endpoint or of one of its logins. */
  async byUsername(name: string): Promise<RegisteringEndpoint | undefined> {
    const { store, directory, realm } = this.#needs;
    const mark = name.indexOf(MARK);
    if (mark === -1) return directory.byUsername(name);
    const login = await store.get(name.slice(mark + 1));
    if (login === undefined || authName(login) !== name) return undefined;
    const endpoint = await directory.byUsername(login.username);
    if (endpoint?.endpointId !== login.endpointId) return undefined;
    const over = await this.#whyOver(login);
    const nowUs = this.#nowUs();
    return {
      ...endpoint,
      secrets: secretsOf(name, realm, this.#passwordOf(login)),
      login: {
        id: login.id,
        username: login.username,
        untilUs: Math.min(login.expiresUs, nowUs + REGISTRATION_S * US_PER_S),
        mayRegister: login.incoming,
        mayCall: login.outgoing,
        over,
      },
    };
  }

  /** Returns the endpoint of a token that a SIP request carries directly (RFC 8898). */
  async byToken(text: string): Promise<RegisteringEndpoint | undefined> {
    const login = await this.login(text);
    return login.ok ? this.byUsername(login.value.authName) : undefined;
  }

  /** Ends the logins of a token and refuses the token from now on. The token need not have been presented before. */
  async revoke(accountId: AccountId, jti: string): Promise<void> {
    const untilUs = this.#nowUs() + (MAX_LIFE_S + LEEWAY_S) * US_PER_S;
    const ended = await this.#needs.store.revoke(accountId, jti, untilUs);
    for (const login of ended) await this.#revoked(login, 'the token of the login was revoked');
  }

  /** Registers a callback that runs after a login was revoked. */
  onRevoked(act: (revoked: RevokedLogin) => Promise<void>): void {
    this.revocations.add(act);
  }

  /** Deletes logins that expired more than a day ago. Until then, the phone learns that its login expired. */
  purge(): Promise<void> {
    return this.#needs.store.purge(this.#nowUs() - DAY_MS * US_PER_MS);
  }

  async #tokensChanged(accountId: AccountId): Promise<void> {
    const { store, accounts } = this.#needs;
    const digests = (await accounts.liveTokens(accountId)).map(({ token }) => digestOf(token));
    for (const login of await store.live(accountId, this.#nowUs())) {
      if (digests.includes(login.keyDigest)) continue;
      await this.#revoked(login, 'the auth token that had signed the login was replaced');
    }
  }

  async #whyOver(login: StoredPhoneLogin): Promise<string | undefined> {
    if (login.revoked) return 'Token Revoked';
    if (login.expiresUs <= this.#nowUs()) return 'Token Expired';
    const keys = await this.#needs.accounts.liveTokens(login.accountId);
    return keys.some(({ token }) => digestOf(token) === login.keyDigest)
      ? undefined
      : 'Token Revoked';
  }

  #untimely({ notBefore, expires }: AccessToken): string | undefined {
    const now = this.#nowUs() / US_PER_S;
    if (expires <= now) return 'has expired';
    if (notBefore > now + LEEWAY_S) return 'is not valid yet';
    if (expires - Math.max(notBefore, now) > MAX_LIFE_S + LEEWAY_S) {
      return `must end within ${MAX_LIFE_S} seconds`;
    }
    return undefined;
  }

  /** Returns the endpoint that the token names. A main account may also name endpoints of its sub-accounts. */
  async #endpointOf({ accountId, username }: AccessToken): Promise<Endpoint | undefined> {
    const { accounts, endpoints } = this.#needs;
    const account = await accounts.get(accountId);
    const owner = account && (await accounts.ownerOf(account));
    const isActive = account?.status === 'active' && owner?.status === 'active';
    const endpoint = isActive ? await endpoints.byUsername(username) : undefined;
    if (endpoint === undefined || owner === undefined || !endpoint.allowVoice) return undefined;
    const isOwn = endpoint.accountId === owner.authId;
    return isOwn && (accountId === owner.authId || endpoint.subAccount === accountId)
      ? endpoint
      : undefined;
  }

  #passwordOf({ id, expiresUs }: PhoneLogin): string {
    const mac = hmacSha256(this.#needs.secret, `phone login ${id} ${expiresUs}`);
    return mac.toString('base64url').slice(0, PASSWORD_LENGTH);
  }

  async #revoked({ id, username }: PhoneLogin, why: string): Promise<void> {
    await this.revocations.notify({ id, username, why });
  }

  #nowUs(): number {
    return Math.round(this.#needs.clock.wallMs() * US_PER_MS);
  }
}

const authName = ({ username, id }: PhoneLogin): string => `${username}${MARK}${id}`;

const digestOf = (token: string): string => hashHex('sha256', `phone login ${token}`);

function loginOf(token: AccessToken, { endpointId, username }: Endpoint, key: string): PhoneLogin {
  const { accountId, jti, incoming, outgoing, expires, signature } = token;
  return {
    id: hashHex('sha256', `${accountId} ${signature}`).slice(0, ID_LENGTH),
    accountId,
    keyDigest: digestOf(key),
    jti,
    endpointId,
    username,
    incoming,
    outgoing,
    expiresUs: Math.floor(expires * US_PER_S),
  };
}
