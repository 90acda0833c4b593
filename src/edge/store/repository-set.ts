import type { Connection } from './connection.ts';
import type { Repositories, Synchronously } from './repositories.ts';
import {
  accountRepository,
  idempotencyRepository,
  partnerRepository,
  signingTokenRepository,
} from './sql/accounts.ts';
import { alarmRepository } from './sql/alarms.ts';
import { callRepository } from './sql/calls.ts';
import { campaignRepository } from './sql/campaigns.ts';
import { callLogRepository, cdrRepository, retentionRepository } from './sql/cdrs.ts';
import { credentialUseRepository, deliveryRepository } from './sql/deliveries.ts';
import {
  applicationRepository,
  bindingRepository,
  endpointDirectoryRepository,
  endpointRepository,
} from './sql/endpoints.ts';
import { ledgerRepository, rateRepository } from './sql/ledger.ts';
import { nodeRepository } from './sql/nodes.ts';
import { notificationRepository } from './sql/notifications.ts';
import { callerIdRepository, carrierRepository, numberRepository } from './sql/numbers.ts';
import { phoneLoginRepository } from './sql/phone-logins.ts';
import { exportRepository, recordingRepository } from './sql/recordings.ts';
import { settingRepository } from './sql/settings.ts';
import { transcriptionRepository } from './sql/transcriptions.ts';
import {
  credentialRepository,
  ipAclRepository,
  originationUriRepository,
  trunkRepository,
} from './sql/trunks.ts';
import { unreadableRowRepository } from './sql/unreadable-rows.ts';
import { userRepository } from './sql/users.ts';

export type RepositorySet = {
  readonly [R in keyof Repositories]: Synchronously<Repositories[R]>;
};

/** Creates all repositories on one connection, for any database. */
export const createRepositories = (db: Connection): RepositorySet => ({
  settings: settingRepository(db),
  accounts: accountRepository(db),
  partners: partnerRepository(db),
  idempotency: idempotencyRepository(db),
  signingTokens: signingTokenRepository(db),
  ledger: ledgerRepository(db),
  rates: rateRepository(db),
  applications: applicationRepository(db),
  endpoints: endpointRepository(db),
  endpointDirectory: endpointDirectoryRepository(db),
  bindings: bindingRepository(db),
  phoneLogins: phoneLoginRepository(db),
  originationUris: originationUriRepository(db),
  trunks: trunkRepository(db),
  credentials: credentialRepository(db),
  ipAcls: ipAclRepository(db),
  numbers: numberRepository(db),
  carriers: carrierRepository(db),
  callerIds: callerIdRepository(db),
  calls: callRepository(db),
  cdrs: cdrRepository(db),
  callLogs: callLogRepository(db),
  retention: retentionRepository(db),
  notifications: notificationRepository(db),
  recordings: recordingRepository(db),
  transcriptions: transcriptionRepository(db),
  exports: exportRepository(db),
  campaigns: campaignRepository(db),
  users: userRepository(db),
  nodes: nodeRepository(db),
  alarms: alarmRepository(db),
  deliveries: deliveryRepository(db),
  credentialUses: credentialUseRepository(db),
  unreadableRows: unreadableRowRepository(db),
});
