/**
 * A Lua script in Redis. Runs it by its hash, and sends the source if Redis does not have it (first use, or after a
 * restart).
 */
import { createHash } from 'node:crypto';
import type { RedisLink } from './redis-link.ts';

export class RedisScript {
  readonly #text: string;
  readonly #hash: string;

  constructor(text: string) {
    this.#text = text;
    this.#hash = createHash('sha1').update(text).digest('hex');
  }

  /** Runs the script. Rejects as RedisLink.send does. */
  async run(
    redis: Pick<RedisLink, 'send'>,
    keys: readonly string[],
    given: readonly string[],
  ): Promise<unknown> {
    const rest = [String(keys.length), ...keys, ...given];
    try {
      return await redis.send('EVALSHA', this.#hash, ...rest);
    } catch (error) {
      if (!isUnknown(error)) throw error;
      return redis.send('EVAL', this.#text, ...rest);
    }
  }
}

/** Whether Redis did not run the script because it lacks it: https://redis.io/docs/latest/commands/evalsha/ */
const isUnknown = (error: unknown): boolean =>
  error instanceof Error &&
  error.cause instanceof Error &&
  error.cause.message.startsWith('NOSCRIPT');
