import type { Readable } from 'node:stream';
import type { AccountId } from '../../../base/ids.ts';
import type { Result } from '../../../base/result.ts';
import type { Access, Principal } from '../../../domain/account/account.ts';
import type { SignedIn } from '../../../domain/user/types.ts';
import type { RestSettings, RouteNeeds } from '../deps.ts';
import type { ErrorFamily } from './error-body.ts';
import type { Failure } from './failure.ts';
import type { Static, TSchema } from './schema.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Who may use a route. */
export type Audience =
  /** Account credentials by headers or Basic; the path's account must be theirs. */
  | 'account'
  /** As `account`, or an access token as Bearer (spec: Authentication 3). */
  | 'accountOrAccessToken'
  /** Account credentials, no account in the path. */
  | 'caller'
  /** As `caller`, or an access token as Bearer. */
  | 'callerOrAccessToken'
  /** A signed link (`sig` in the query, checked by the route), else as `account`. */
  | 'link'
  /** The operator's bearer token. */
  | 'admin'
  /** The operator's token by bearer or Basic, or nobody where `http.operatorPages` says so. */
  | 'operator'
  /** As `operator`, or the token that reads metrics. */
  | 'scraper'
  /** Everybody; whom `operator` would let in sees the operator's part too. */
  | 'anyone'
  /** Everybody, who shows credentials in the body: the route checks them, and wrong ones slow their address down. */
  | 'guest'
  /** Who is signed in at the console, by cookie. */
  | 'user'
  | 'public';

type MaybeSchema = TSchema | undefined;
type Known<S extends MaybeSchema> = S extends TSchema ? Static<S> : undefined;

/** What came in, checked against the schemas of path, query and body. */
export interface Input<P = unknown, Q = unknown, B = unknown> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** A UUID made for this request: `api_id`. */
  readonly apiId: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Path and query as sent by the client. */
  readonly url: string;
  /** Asked by the operator, or where everybody may see what the operator sees. */
  readonly isOperator: boolean;
  /** The address that it came from. */
  readonly address: string;
}

/** A request of somebody who is signed in. */
export interface UserInput<P = unknown, Q = unknown, B = unknown> extends Input<P, Q, B> {
  readonly user: SignedIn;
}

/** A request with account credentials. */
export interface CallerInput<P = unknown, Q = unknown, B = unknown> extends Input<P, Q, B> {
  readonly principal: Principal;
  /** Who asks by the session of the console. */
  readonly user: SignedIn | undefined;
}

/** A request about the account of its path. */
export interface AccountInput<P = unknown, Q = unknown, B = unknown> extends CallerInput<P, Q, B> {
  readonly access: Access;
  /** Main account: owner of ledger, limits and resources. */
  readonly accountId: AccountId;
  /** Set when the path names a sub-account, or one asks: it sees its own resources only. */
  readonly subAccount: AccountId | undefined;
}

/** A reply that is no JSON document of the schema: a file, CSV, text. */
export interface RawReply {
  readonly contentType: string;
  readonly body: string | Buffer | Readable;
  /** Instead of the route's. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

type Answer<T> = Result<T, Failure> | Promise<Result<T, Failure>>;

interface Common {
  readonly method: Method;
  /** As documented: `/api/v1/…` with the trailing slash that the spec shows. Parameters as `{name}`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly errors: ErrorFamily;
  /** Status of success; 200 unless said. 204 has no body. */
  readonly status?: number;
  /** Status of success where a setting decides it. */
  readonly successStatus?: (settings: RestSettings) => number;
  /** `error` of an answer 500 (spec Errors: Transactions). */
  readonly internalError?: string;
  /** Instead of 403 when no account has the id of the path (spec Errors, Make call: 404). */
  readonly unknownAccountStatus?: 404;
  /** May take minutes: the connection is not cut meanwhile. */
  readonly longRunning?: true;
  /** It only asks, though its question is too long for an address: no line in the audit log. */
  readonly changesNothing?: true;
  /** What the audit log says about the change beyond its path: an amount, for example. At most 500 characters are kept. */
  readonly auditDetail?: (body: unknown) => string;
  /** Sub-accounts have no such resources: 403. */
  readonly mainAccountOnly?: true;
  /** Query parameters that it does not know are dropped (spec: Transactions, rule 2); elsewhere they are a 400. */
  readonly dropsUnknownQuery?: true;
  /** Statuses of refusals beyond those that follow from the rest of the record (`statuses.ts`). */
  readonly alsoRefuses?: readonly number[];
  /** It sees to `Idempotency-Key` itself. */
  readonly ownKeys?: true;
  /** The body holds filters: one that is not known is a 400, as in a query. */
  readonly filtersInBody?: true;
  /** Content type when the reply is not JSON. */
  readonly produces?: string;
  /** The body is a file that is read as it comes: the handler is given its stream, and sees to its limits. */
  readonly streamsBody?: true;
  /** It makes or shows credentials of an account. */
  readonly credential?: true;
  /** Pages of any origin may ask (CORS): it answers nothing that a cookie opens. */
  readonly anyOrigin?: true;
  /** Largest body, when it differs from the setting. */
  readonly bodyLimitBytes?: number;
}

type ReplyOf<R extends MaybeSchema> = R extends TSchema ? Static<R> : RawReply | undefined;

/** A route as it is written down: four schemas, and a handler that is given what they describe. */
interface RouteDefinition<
  P extends MaybeSchema,
  Q extends MaybeSchema,
  B extends MaybeSchema,
  R extends MaybeSchema,
  I,
> extends Common {
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  readonly reply?: R;
  run(needs: RouteNeeds, input: I): Answer<ReplyOf<R>>;
}

/** A route with its types forgotten: what the server mounts and the API page lists. */
export interface Route extends Common {
  readonly audience: Audience;
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly body?: TSchema;
  readonly reply?: TSchema;
  run(needs: RouteNeeds, input: AccountInput): Answer<unknown>;
}

/** The server checks every input against the route's schemas before it runs, so the types may be forgotten here. */
const erased = (definition: object, audience: Audience): Route =>
  ({ ...definition, audience }) as Route;

const accountRoutes =
  (audience: Audience) =>
  <
    P extends MaybeSchema = undefined,
    Q extends MaybeSchema = undefined,
    B extends MaybeSchema = undefined,
    R extends MaybeSchema = undefined,
  >(
    definition: RouteDefinition<P, Q, B, R, AccountInput<Known<P>, Known<Q>, Known<B>>>,
  ): Route =>
    erased(definition, audience);

export const accountRoute = accountRoutes('account');
/** A file comes in, of one of `UPLOAD_TYPES`. */
export const uploadRoute = <P extends MaybeSchema = undefined, R extends MaybeSchema = undefined>(
  definition: RouteDefinition<
    P,
    undefined,
    undefined,
    R,
    AccountInput<Known<P>, undefined, Readable>
  >,
): Route => erased({ ...definition, streamsBody: true, ownKeys: true }, 'account');

/** Content types of what is uploaded. */
export const UPLOAD_TYPES = ['multipart/form-data', 'text/csv', 'application/json'] as const;
export const readableByToken = accountRoutes('accountOrAccessToken');

const callerRoutes =
  (audience: Audience) =>
  <
    P extends MaybeSchema = undefined,
    Q extends MaybeSchema = undefined,
    B extends MaybeSchema = undefined,
    R extends MaybeSchema = undefined,
  >(
    definition: RouteDefinition<P, Q, B, R, CallerInput<Known<P>, Known<Q>, Known<B>>>,
  ): Route =>
    erased(definition, audience);

export const callerRoute = callerRoutes('caller');
export const callerReadableByToken = callerRoutes('callerOrAccessToken');

const accountlessRoutes =
  (audience: Audience) =>
  <
    P extends MaybeSchema = undefined,
    Q extends MaybeSchema = undefined,
    B extends MaybeSchema = undefined,
    R extends MaybeSchema = undefined,
  >(
    definition: RouteDefinition<P, Q, B, R, Input<Known<P>, Known<Q>, Known<B>>>,
  ): Route =>
    erased(definition, audience);

export const adminRoute = accountlessRoutes('admin');
export const operatorRoute = accountlessRoutes('operator');
export const scraperRoute = accountlessRoutes('scraper');
export const anyoneRoute = accountlessRoutes('anyone');
export const guestRoute = accountlessRoutes('guest');
export const userRoute = <
  P extends MaybeSchema = undefined,
  Q extends MaybeSchema = undefined,
  B extends MaybeSchema = undefined,
  R extends MaybeSchema = undefined,
>(
  definition: RouteDefinition<P, Q, B, R, UserInput<Known<P>, Known<Q>, Known<B>>>,
): Route => erased(definition, 'user');
export const publicRoute = accountlessRoutes('public');
/** `access` is undefined when a signature came instead of credentials: the route must check it. */
export const linkRoute = <P extends MaybeSchema = undefined, Q extends MaybeSchema = undefined>(
  definition: RouteDefinition<
    P,
    Q,
    undefined,
    undefined,
    Input<Known<P>, Known<Q>> & { readonly access: Access | undefined }
  >,
): Route => erased(definition, 'link');
