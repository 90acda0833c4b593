import type { Logger } from '../../base/logger.ts';
import type { Mailer } from '../../base/mailer.ts';
import type { CallbackClient } from '../../domain/callback/callback.ts';
import { notifyRenewal } from '../../domain/provisioning/provisioning.ts';
import type { Foundation } from './foundation.ts';

/** Notifies owners of numbers that were suspended, or reactivated by a paid renewal. */
export function joinRenewals(
  { accounts, provisioning }: Pick<Foundation, 'accounts' | 'provisioning'>,
  given: {
    readonly callbacks: Pick<CallbackClient, 'notify'>;
    readonly mailer: Pick<Mailer, 'send'>;
    readonly logger: Logger;
  },
): void {
  const { callbacks, mailer, logger } = given;
  const needs = {
    recipients: (accountId: Parameters<typeof accounts.get>[0]) => accounts.get(accountId),
    notify: (draft: Parameters<CallbackClient['notify']>[0]) => callbacks.notify(draft),
    mail: (mail: Parameters<Mailer['send']>[0]) => mailer.send(mail),
    logger,
  };
  provisioning.numbers.onRenewal((renewal) => {
    notifyRenewal(needs, renewal).catch((error: unknown) =>
      logger.error(
        { error, number: renewal.number.e164 },
        'failed to notify the owner of a renewal',
      ),
    );
  });
}
