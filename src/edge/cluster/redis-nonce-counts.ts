/** Digest nonce counts used on any node. One command per request atomically marks a count as used. */
import type { NonceCounts } from '../../domain/registration/needs.ts';
import { keyOf } from './keys.ts';
import type { RedisLink } from './redis-link.ts';

/** Retention of a used count, ms: the lifetime of a nonce (nonce.ts) plus a margin for clock differences between nodes. */
const REMEMBERED_MS = 360_000;

export class RedisNonceCounts implements NonceCounts {
  readonly #redis: Pick<RedisLink, 'send'>;

  constructor(redis: Pick<RedisLink, 'send'>) {
    this.#redis = redis;
  }

  async use(nonce: string, count: number): Promise<boolean> {
    const key = keyOf(`nc:${nonce}:${count}`);
    const set = await this.#redis.send('SET', key, '1', 'NX', 'PX', String(REMEMBERED_MS));
    return set !== null;
  }
}
