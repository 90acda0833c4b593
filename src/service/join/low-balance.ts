/** Composes the alerts of low balances. */
import { LowBalanceAlerts } from '../../domain/ledger/ledger.ts';
import type { CallReports, Monitored } from './monitoring.ts';

/** Alerts of low balances, sent whenever the store reports one. */
export function joinLowBalance(
  { basics, foundation, lines, mailer }: Monitored,
  reports: CallReports,
): LowBalanceAlerts {
  const alerts = new LowBalanceAlerts({
    store: foundation.store.ledger,
    recipients: (accountId) => foundation.accounts.get(accountId),
    notify: (draft) => lines.callbacks.notify(draft),
    operator: (alert) => reports.alarms.lowBalance(alert),
    mail: (mail) => mailer.send(mail),
    logger: basics.logger,
  });
  foundation.store.onLowBalance(() => void alerts.notify());
  return alerts;
}
