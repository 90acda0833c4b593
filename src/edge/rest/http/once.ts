/**
 * Implements `Idempotency-Key` for requests that create, buy or move something. The operation runs once; repeats receive the
 * first response.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { err, type Result } from '../../../base/result.ts';
import type { Accounts } from '../../../domain/account/account.ts';
import { type Failure, failure, invalidField } from './failure.ts';
import type { Route } from './route.ts';

export const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,128}$/;
export const WRONG_KEY = invalidField('Idempotency-Key', 'must be 1 to 128 printable characters');
const CONFLICT = failure(409, 'Idempotency-Key was used with another request', {
  detail: 'Or the first request was interrupted and its result is unknown. Use another key.',
});
/** Response header of a repeat that received the response of an earlier request. */
const REPLAYED = 'idempotent-replayed';

/** Owner of the keys of requests with the operator's token. */
const OPERATOR = 'operator';

/** Returns the owner of the keys. Users of the console who act for no account have their own, also if they are staff. */
const ownerOf = ({ admission }: FastifyRequest): string => {
  const { principal, user } = admission ?? {};
  return principal?.account.authId ?? (user === undefined ? OPERATOR : `user:${user.userId}`);
};

/**
 * Returns whether a route supports keys: every POST that is not public, except routes that handle keys themselves. A reply
 * other than a JSON value, such as endless audio, cannot be repeated.
 */
export const takesKeys = ({
  method,
  audience,
  ownKeys,
  produces,
}: Pick<Route, 'method' | 'audience' | 'ownKeys' | 'produces'>): boolean =>
  method === 'POST' &&
  audience !== 'public' &&
  audience !== 'guest' &&
  produces === undefined &&
  !ownKeys;

export async function oncePerKey(
  accounts: Pick<Accounts, 'oncePerKey'>,
  {
    request,
    reply,
    route,
  }: {
    readonly request: FastifyRequest;
    readonly reply: FastifyReply;
    readonly route: Route;
  },
  work: () => Promise<Result<unknown, Failure>>,
): Promise<Result<unknown, Failure>> {
  const key = request.headers['idempotency-key'];
  if (key === undefined || !takesKeys(route)) return work();
  if (typeof key !== 'string' || !IDEMPOTENCY_KEY.test(key)) return err(WRONG_KEY);
  const owner = ownerOf(request);
  const { params, query, body } = request;
  const requested = [route.method, route.path, params, query, body];
  const done = await accounts.oncePerKey.run({ owner, key, requested }, work);
  if (!done.ok) return 'kind' in done.error ? err(CONFLICT) : err(done.error);
  if (done.value.replayed) reply.header(REPLAYED, 'true');
  return { ok: true, value: done.value.value };
}
