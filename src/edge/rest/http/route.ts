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

/** Clients that may use a route. */
export type Audience =
  /** Account credentials in headers or Basic. They must match the account in the path. */
  | 'account'
  /** Like `account`, or an access token as Bearer (spec: Authentication 3). */
  | 'accountOrAccessToken'
  /** Account credentials, without an account in the path. */
  | 'caller'
  /** Like `caller`, or an access token as Bearer. */
  | 'callerOrAccessToken'
  /** A signed link (`sig` in the query, which the route checks), otherwise like `account`. */
  | 'link'
  /** The operator's token as Bearer. */
  | 'admin'
  /** The operator's token as Bearer or Basic, or no token if `http.operatorPages` allows it. */
  | 'operator'
  /** Like `operator`, or the token that reads metrics. */
  | 'scraper'
  /** Public. Clients that `operator` admits also see the operator's part. */
  | 'anyone'
  /** Public, with credentials in the body that the route checks. Wrong credentials count towards the limit of their address. */
  | 'guest'
  /** A user signed in at the console (cookie). */
  | 'user'
  | 'public';

type MaybeSchema = TSchema | undefined;
type Known<S extends MaybeSchema> = S extends TSchema ? Static<S> : undefined;

/** Input of a handler, validated against the schemas of path, query and body. */
export interface Input<P = unknown, Q = unknown, B = unknown> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** UUID created for this request, returned as `api_id`. */
  readonly apiId: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Path and query as the client sent them. */
  readonly url: string;
  /** Whether the client is the operator, or may see the operator's data without a token. */
  readonly isOperator: boolean;
  /** IP address of the client. */
  readonly address: string;
  /** Console user, if the request uses a console session. */
  readonly user?: SignedIn | undefined;
}

/** Input of a request by a signed-in console user. */
interface UserInput<P = unknown, Q = unknown, B = unknown> extends Input<P, Q, B> {
  readonly user: SignedIn;
}

/** Input of a request with account credentials. */
interface CallerInput<P = unknown, Q = unknown, B = unknown> extends Input<P, Q, B> {
  readonly principal: Principal;
  /** Console user, if the request uses a console session. */
  readonly user: SignedIn | undefined;
}

/** Input of a request about the account in the path. */
export interface AccountInput<P = unknown, Q = unknown, B = unknown> extends CallerInput<P, Q, B> {
  readonly access: Access;
  /** Main account, which owns the ledger, limits and resources. */
  readonly accountId: AccountId;
  /** Sub-account in the path or of the credentials, which sees only its own resources. */
  readonly subAccount: AccountId | undefined;
}

/** A reply other than a JSON document of the schema: a file, CSV or text. */
export interface RawReply {
  readonly contentType: string;
  readonly body: string | Buffer | Readable;
  /** Status that replaces the route's status. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

type Answer<T> = Result<T, Failure> | Promise<Result<T, Failure>>;

interface Common {
  readonly method: Method;
  /** Path as documented: `/api/v1/…`, with the trailing slash of the spec and parameters as `{name}`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly errors: ErrorFamily;
  /** Status of success. Default: 200. 204 has no body. */
  readonly status?: number;
  /** Returns the status of success where it depends on a setting. */
  readonly successStatus?: (settings: RestSettings) => number;
  /** `error` member of a 500 response (spec Errors: Transactions). */
  readonly internalError?: string;
  /** Status instead of 403 if no account has the ID in the path (spec Errors, Make call: 404). */
  readonly unknownAccountStatus?: 404;
  /** Whether the request may take minutes and needs a longer idle timeout. */
  readonly longRunning?: true;
  /** Whether the request only reads (POST because its input is too long for a URL). It is not audited. */
  readonly changesNothing?: true;
  /** Details of the change for the audit log, for example an amount. At most 500 characters are stored. */
  readonly auditDetail?: (body: unknown) => string;
  /** Sub-accounts have no such resources: 403. */
  readonly mainAccountOnly?: true;
  /** Whether unknown query parameters are ignored (spec: Transactions, rule 2). Other routes answer 400. */
  readonly dropsUnknownQuery?: true;
  /** Error statuses in addition to those derived from the record (`statuses.ts`). */
  readonly alsoRefuses?: readonly number[];
  /** Whether the handler implements `Idempotency-Key` itself. */
  readonly ownKeys?: true;
  /** Whether the body contains filters; an unknown one is a 400, as in a query. */
  readonly filtersInBody?: true;
  /** Content type of the reply. Default: JSON. */
  readonly produces?: string;
  /** Whether the body is a file. The handler receives its stream and enforces the limits. */
  readonly streamsBody?: true;
  /** Whether the route creates or returns credentials of an account. */
  readonly credential?: true;
  /** Whether pages of any origin may call the route (CORS). It must not return anything that a cookie protects. */
  readonly anyOrigin?: true;
  /** Maximum body size, bytes. Default: the setting. */
  readonly bodyLimitBytes?: number;
}

type ReplyOf<R extends MaybeSchema> = R extends TSchema ? Static<R> : RawReply | undefined;

/** Definition of a route: four schemas and a handler with matching types. */
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

/** A route without its type parameters, as the server mounts it and the API page lists it. */
export interface Route extends Common {
  readonly audience: Audience;
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly body?: TSchema;
  readonly reply?: TSchema;
  run(needs: RouteNeeds, input: AccountInput): Answer<unknown>;
}

/** The server validates every input against the schemas before the handler runs, so the types can be erased. */
const erased = (definition: object, audience: Audience): Route =>
  ({ ...definition, audience }) as Route;

/** Input of a route for an audience. */
type InputOf<A extends Audience, P, Q, B> = A extends 'account' | 'accountOrAccessToken'
  ? AccountInput<P, Q, B>
  : A extends 'caller' | 'callerOrAccessToken'
    ? CallerInput<P, Q, B>
    : A extends 'user'
      ? UserInput<P, Q, B>
      : Input<P, Q, B>;

/** Returns the function that defines routes for an audience. */
const routesFor =
  <A extends Audience>(audience: A) =>
  <
    P extends MaybeSchema = undefined,
    Q extends MaybeSchema = undefined,
    B extends MaybeSchema = undefined,
    R extends MaybeSchema = undefined,
  >(
    definition: RouteDefinition<P, Q, B, R, InputOf<A, Known<P>, Known<Q>, Known<B>>>,
  ): Route =>
    erased(definition, audience);

export const accountRoute = routesFor('account');
/** A route that receives a file of one of the types in `UPLOAD_TYPES`. */
export const uploadRoute = <P extends MaybeSchema = undefined, R extends MaybeSchema = undefined>(
  definition: RouteDefinition<
    P,
    undefined,
    undefined,
    R,
    AccountInput<Known<P>, undefined, Readable>
  >,
): Route => erased({ ...definition, streamsBody: true, ownKeys: true }, 'account');

/** Content types of uploads. */
export const UPLOAD_TYPES = ['multipart/form-data', 'text/csv', 'application/json'] as const;
export const readableByToken = routesFor('accountOrAccessToken');

export const callerRoute = routesFor('caller');
export const callerReadableByToken = routesFor('callerOrAccessToken');
export const adminRoute = routesFor('admin');
export const operatorRoute = routesFor('operator');
export const scraperRoute = routesFor('scraper');
export const anyoneRoute = routesFor('anyone');
export const guestRoute = routesFor('guest');
export const userRoute = routesFor('user');
export const publicRoute = routesFor('public');
/**
 * A route for signed links. `access` is undefined if the request has a signature instead of credentials; the route must check
 * it.
 */
export const linkRoute = <P extends MaybeSchema = undefined, Q extends MaybeSchema = undefined>(
  definition: RouteDefinition<
    P,
    Q,
    undefined,
    undefined,
    Input<Known<P>, Known<Q>> & { readonly access: Access | undefined }
  >,
): Route => erased(definition, 'link');
