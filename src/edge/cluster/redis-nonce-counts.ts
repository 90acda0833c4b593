/** Which counts of digest nonces were used, on any node. One command a request, which takes the count where nobody had. */
import type { NonceCounts } from '../../domain/registration/needs.ts';
import { keyOf } from './keys.ts';
import type { RedisLink } from './redis-link.ts';

/** Longer than a nonce may be used (nonce.ts), by what the clocks of nodes may differ. */
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
