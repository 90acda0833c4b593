import type { AccountId } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';

/**
 * Waits for the consequences of a change that the client cannot repeat. A failure is logged: a rejection would report a
 * committed change as failed, and a response with the only copy of a new token would be lost.
 */
export async function afterCommit(
  logger: Pick<Logger, 'error'>,
  accountId: AccountId,
  acts: readonly Promise<void>[],
): Promise<void> {
  for (const outcome of await Promise.allSettled(acts)) {
    if (outcome.status === 'fulfilled') continue;
    const error: unknown = outcome.reason;
    logger.error({ accountId, error }, 'a consequence of an account change failed');
  }
}
