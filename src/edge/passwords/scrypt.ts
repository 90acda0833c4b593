/** Password hashes by scrypt (RFC 7914) on Node's thread pool. At most two run at a time, to leave threads for file access. */
import {
  type BinaryLike,
  randomBytes,
  type ScryptOptions,
  scrypt,
  timingSafeEqual,
} from 'node:crypto';
import { ServiceError } from '../../base/errors.ts';
import { Semaphore } from '../../base/semaphore.ts';
import type { PasswordHasher } from '../../domain/user/needs.ts';

/** Cost: 32 MiB and about 80 ms (OWASP, Password Storage). */
const COST = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 2 ** 20 } as const;
const KEY_BYTES = 32;
const SALT_BYTES = 16;
const AT_ONCE = 2;
const MOST_WAITING = 20;

const derive = (password: BinaryLike, salt: BinaryLike, options: ScryptOptions): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    scrypt(password, salt, KEY_BYTES, options, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });

export function createPasswordHasher(cost: ScryptOptions = COST): PasswordHasher {
  const slots = new Semaphore({ slots: AT_ONCE, maxWaiting: MOST_WAITING });
  const nobody = format(cost, randomBytes(SALT_BYTES), randomBytes(KEY_BYTES));

  async function inTurn<T>(act: () => Promise<T>): Promise<T> {
    const release = await slots.acquire();
    if (typeof release === 'string')
      throw new ServiceError('STORE_BUSY', 'too many password checks are running');
    try {
      return await act();
    } finally {
      release();
    }
  }

  return {
    hash: (password) =>
      inTurn(async () => {
        const salt = randomBytes(SALT_BYTES);
        return format(cost, salt, await derive(password, salt, cost));
      }),
    matches: (password, hash) =>
      inTurn(async () => {
        const { options, salt, key } = read(hash ?? nobody);
        return timingSafeEqual(await derive(password, salt, options), key) && hash !== undefined;
      }),
  };
}

const format = ({ N, r, p }: ScryptOptions, salt: Buffer, key: Buffer): string =>
  `scrypt$${N}$${r}$${p}$${salt.toString('base64')}$${key.toString('base64')}`;

function read(hash: string) {
  const [, n = '', r = '', p = '', salt = '', key = ''] = hash.split('$');
  const options = { N: Number(n), r: Number(r), p: Number(p), maxmem: COST.maxmem };
  return { options, salt: Buffer.from(salt, 'base64'), key: Buffer.from(key, 'base64') };
}
