/** Composes the stateful domain services on any store, for the service, tests and benchmarks. */
import type { Clock } from '../../base/clock.ts';
import { type Random, token } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import { type AccountDefaults, Accounts } from '../../domain/account/account.ts';
import { CallRecords } from '../../domain/cdr/cdr.ts';
import { Ledger, type RateBook } from '../../domain/ledger/ledger.ts';
import { PhoneLogins } from '../../domain/phone-login/phone-login.ts';
import { PersonalData } from '../../domain/privacy/privacy.ts';
import {
  createProvisioning,
  type Provisioning,
  type ProvisioningSettings,
} from '../../domain/provisioning/provisioning.ts';
import type { RecordingFiles } from '../../domain/recording/needs.ts';
import { Recordings } from '../../domain/recording/recording.ts';
import type { PasswordHasher } from '../../domain/user/needs.ts';
import { PasswordPolicy } from '../../domain/user/password-policy.ts';
import { Users } from '../../domain/user/user.ts';
import { createPasswordHasher } from '../../edge/passwords/scrypt.ts';
import { createPasswordStrength } from '../../edge/passwords/strength.ts';
import type { Store } from '../../edge/store/store.ts';

export interface DomainServices {
  readonly accounts: Accounts;
  readonly ledger: Ledger;
  readonly provisioning: Provisioning;
  readonly recordings: Recordings;
  readonly callRecords: CallRecords;
  readonly phoneLogins: PhoneLogins;
  readonly users: Users;
  readonly personalData: PersonalData;
}

const PASSWORD_MIN_LENGTH = 12;

export interface DomainServicesOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly accounts: AccountDefaults;
  readonly provisioning: ProvisioningSettings;
  /** Secret from which passwords of phone logins are derived. Absent: a random one for this process. */
  readonly phoneLoginSecret?: string;
  readonly recordingFiles: RecordingFiles;
  /** Absent: scrypt at full cost. */
  readonly hasher?: PasswordHasher;
  /** Minimum length of console passwords. Default: 12. */
  readonly passwordMinLength?: number;
  /** Prices of the service's own file. Absent: none. */
  readonly rateBook?: RateBook;
}

export function createDomainServices(store: Store, options: DomainServicesOptions): DomainServices {
  const { clock, random, logger, rateBook } = options;
  const accounts = new Accounts({
    store: store.accounts,
    partners: store.partners,
    idempotency: store.idempotency,
    clock,
    random,
    logger,
    defaults: options.accounts,
  });
  const recordings = new Recordings({
    recordings: store.recordings,
    exports: store.exports,
    files: options.recordingFiles,
    clock,
    random,
  });
  return {
    accounts,
    users: new Users({
      store: store.users,
      hasher: options.hasher ?? createPasswordHasher(),
      passwords: new PasswordPolicy(
        options.passwordMinLength ?? PASSWORD_MIN_LENGTH,
        createPasswordStrength(),
      ),
      clock,
      random,
    }),
    phoneLogins: new PhoneLogins({
      store: store.phoneLogins,
      accounts,
      endpoints: store.endpoints,
      directory: store.endpointDirectory,
      clock,
      secret: options.phoneLoginSecret ?? token(random),
      realm: options.provisioning.realm,
    }),
    ledger: new Ledger({
      store: store.ledger,
      rates: store.rates,
      log: logger,
      ...(rateBook && { rateBook }),
    }),
    provisioning: createProvisioning(store, { clock, random }, options.provisioning),
    recordings,
    personalData: new PersonalData({ ...store, recordings }),
    callRecords: new CallRecords(store.cdrs),
  };
}
