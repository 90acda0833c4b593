/** Dependencies and settings of dispatch. */
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { Accounts } from '../account/account.ts';
import type { CallerProofs, Signalling, SipAddresses, SrtpPolicy } from '../call/needs.ts';
import type { CallbackClient } from '../callback/callback.ts';
import type { FairShare, Slots } from '../capacity/capacity.ts';
import type { InterpreterNeeds } from '../interpreter/needs.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Provisioning } from '../provisioning/provisioning.ts';
import type { Admission } from './admission.ts';
import type { CallBilling } from './call-billing.ts';
import type { CallFactory } from './factory.ts';
import type { Scripts } from './scripts.ts';

interface DialSettings {
  /** `owned`: an account may present only its own and its verified numbers (decisions: caller id ownership). */
  readonly callerIdPolicy: 'owned' | 'any';
  /** Host of the SIP addresses of endpoints. */
  readonly registrarHost: string;
  /** Default SRTP policy. */
  readonly srtp: SrtpPolicy;
  /** Default time limit for ringing of outbound legs, in ms. */
  readonly ringTimeoutMs: number;
  /** Maximum time that a call waits for a carrier slot, in ms. */
  readonly waitForSlotMs: number;
  /** Maximum number of queued bulk destinations per account. */
  readonly queuePerAccount: number;
  /** Emergency and special numbers that may be dialled, in dialled form. */
  readonly allowSpecial: readonly string[];
  /** Names of header fields passed on to calls that follow from a call, in lower case. */
  readonly passedHeaders: readonly string[];
}

export interface DispatchNeeds {
  readonly accounts: Accounts;
  readonly provisioning: Provisioning;
  readonly ledger: Ledger;
  readonly admission: Admission;
  readonly callBilling: CallBilling;
  readonly factory: CallFactory;
  readonly scripts: Scripts;
  readonly capacity: Slots;
  readonly shares: FairShare;
  readonly signalling: Signalling;
  readonly addresses: SipAddresses;
  readonly proofs: CallerProofs;
  readonly callbacks: CallbackClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Returns the interpreter's dependencies. Lazy, because they include a dialer that depends on this object. */
  readonly interpreter: () => InterpreterNeeds;
  readonly settings: DialSettings;
}
