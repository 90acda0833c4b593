/** What dispatch is given to make calls, and what it may be told to do differently. */
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
  /** `owned`: an account presents its own and its verified numbers alone (decisions: caller id ownership). */
  readonly callerIdPolicy: 'owned' | 'any';
  /** Host of the SIP addresses of our endpoints. */
  readonly registrarHost: string;
  /** What becomes of SRTP where nothing else is said. */
  readonly srtp: SrtpPolicy;
  /** An outbound leg rings no longer, unless the request says otherwise. */
  readonly ringTimeoutMs: number;
  /** How long a call waits for a slot at a carrier. */
  readonly waitForSlotMs: number;
  /** Destinations of bulk requests that one account may have waiting. */
  readonly queuePerAccount: number;
  /** Emergency and special numbers that may be dialled, as dialled. */
  readonly allowSpecial: readonly string[];
  /** Header fields of a call that go on with the one that follows from it, lower case. */
  readonly passedHeaders: readonly string[];
}

export interface DispatchNeeds {
  readonly accounts: Accounts;
  readonly provisioning: Provisioning;
  readonly ledger: Ledger;
  readonly admission: Admission;
  readonly keeper: CallBilling;
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
  /** Asked for late: the interpreter needs the dialer, which is made of these. */
  readonly interpreter: () => InterpreterNeeds;
  readonly settings: DialSettings;
}
