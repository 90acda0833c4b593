import { err, ok, type Result } from '../../base/result.ts';
import type { AccountRefusal, TransferRefusal } from '../../domain/account/account.ts';
import type { DeliveryRefusal } from '../../domain/callback/callback.ts';
import type { CampaignRefusal } from '../../domain/campaign/types.ts';
import type { CdrRefusal } from '../../domain/cdr/cdr.ts';
import type { ControlRefusal, PlaceCallsRefusal } from '../../domain/dispatch/types.ts';
import type { LedgerRefusal, RateRefusal } from '../../domain/ledger/ledger.ts';
import type { PhoneLoginRefusal } from '../../domain/phone-login/phone-login.ts';
import type { PersonalDataRefusal } from '../../domain/privacy/privacy.ts';
import type {
  ApplicationRefusal,
  CarrierRefusal,
  EndpointRefusal,
  NumberRefusal,
  PolicyRefusal,
  TrunkRefusal,
} from '../../domain/provisioning/provisioning.ts';
import type { ExportRefusal, RecordingRefusal } from '../../domain/recording/recording.ts';
import type { TranscriptionRefusal } from '../../domain/transcription/transcription.ts';
import type { UserRefusal } from '../../domain/user/user.ts';
import { type Failure, failure, invalidField, notFound, tooManyRequests } from './http/failure.ts';

/** All refusals of the domain. A new kind does not compile until it has a response below. */
export type Refusal =
  | AccountRefusal
  | TransferRefusal
  | LedgerRefusal
  | RateRefusal
  | ApplicationRefusal
  | EndpointRefusal
  | NumberRefusal
  | TrunkRefusal
  | CarrierRefusal
  | PolicyRefusal
  | CdrRefusal
  | RecordingRefusal
  | TranscriptionRefusal
  | ExportRefusal
  | PlaceCallsRefusal
  | ControlRefusal
  | CampaignRefusal
  | PersonalDataRefusal
  | PhoneLoginRefusal
  | UserRefusal
  | DeliveryRefusal;

type Kind = Refusal['kind'];
type Of<K extends Kind> = Extract<Refusal, { readonly kind: K }>;
type Answers = { readonly [K in Kind]: Failure | ((refusal: Of<K>) => Failure) };

const unavailable = (message: string, retryAfterMs: number): Failure => ({
  ...tooManyRequests(message, retryAfterMs),
  status: 503,
});

/** Has no challenge, which would open the browser's password dialog. */
const signInRefused = (message: string): Failure =>
  failure(401, message, { headers: { 'www-authenticate': 'Session' } });

const TRUNK_PARTS = {
  primaryUriUuid: 'primary_uri_uuid',
  fallbackUriUuid: 'fallback_uri_uuid',
  credentialUuid: 'credential_uuid',
  ipaclUuid: 'ipacl_uuid',
} as const;

const ANSWERS: Answers = {
  unknownAccount: notFound('account'),
  unknownParent: notFound('account'),
  unknownPartner: invalidField('partner_auth_id', 'is not a partner account'),
  partnerInUse: failure(409, 'the account is the partner of others'),
  notAPartner: failure(403, 'partner access required'),
  transferNotEnabled: failure(403, 'limit transfer is not enabled for this partner'),
  unknownCustomer: notFound('customer account'),
  notYourCustomer: failure(403, 'customer does not belong to this partner'),
  customerIsPartner: failure(403, 'customer is itself a partner'),
  notEnoughCapacity: ({ available }) =>
    failure(400, 'not enough capacity', {
      detail: `only ${available} available`,
      fields: { available },
    }),
  unknownBalance: notFound('balance'),
  balanceExists: failure(409, 'balance already exists'),
  insufficientFunds: failure(402, 'insufficient balance', {
    detail: 'The available balance is too low. Add credit and try again.',
  }),
  balanceLimit: invalidField(
    'amount',
    'leaves the range of a balance, -9007199254 to 9007199254 currency units',
  ),
  unknownPolicy: notFound('media policy'),
  tooManyPolicies: failure(409, 'too many media policies'),
  unknownApplication: notFound('application'),
  applicationInUse: failure(409, 'application is in use', {
    detail:
      'Numbers, endpoints or the account default use it. Detach them, or delete with cascade.',
  }),
  unknownEndpoint: notFound('endpoint'),
  usernameTaken: ({ username }) =>
    failure(409, 'username already exists', { fields: { username } }),
  unknownNumber: notFound('number'),
  numberExists: failure(409, 'number already exists'),
  notReleased: failure(409, 'number is not being released'),
  numberNotAvailable: failure(409, 'number is not available'),
  currencyMismatch: invalidField('currency', "must be the number's currency"),
  unknownTrunk: notFound('trunk'),
  unknownOriginationUri: notFound('origination URI'),
  unknownCredential: notFound('credential'),
  unknownIpAcl: notFound('IP ACL'),
  unknownTrunkPart: ({ part }) => invalidField(TRUNK_PARTS[part], 'does not exist'),
  inUse: failure(409, 'resource is in use'),
  callRunning: failure(409, 'a call of this number is running'),
  unknownRate: notFound('rate'),
  listedRate: failure(409, 'rate is defined in the price list file', {
    detail:
      'Remove it from the file (config/rates.json, or the file in the setting rates), or set a rate that overrides it.',
  }),
  unknownCarrier: notFound('carrier'),
  carrierExists: failure(409, 'carrier already exists'),
  unknownCall: notFound('call'),
  unknownDelivery: notFound('delivery'),
  unknownRecording: failure(404, 'Recording not found'),
  unknownTranscription: failure(404, 'Transcription not found'),
  invalidExport: ({ message }) => failure(400, message),
  exportRunning: failure(403, 'an export is already in process for this account'),
  dailySpendLimit: failure(402, 'daily spend limit reached'),
  concurrency: ({ limit, retryAfterMs }) =>
    tooManyRequests(`concurrent calls limit of ${limit} reached`, retryAfterMs),
  cps: ({ limit, retryAfterMs }) =>
    tooManyRequests(`calls per second limit of ${limit} exceeded`, retryAfterMs),
  queueFull: ({ retryAfterMs }) => tooManyRequests('call queue is full', retryAfterMs),
  unavailable: ({ retryAfterMs }) => unavailable('service temporarily unavailable', retryAfterMs),
  accountInactive: failure(403, 'account is not active'),
  keyReused: failure(409, 'key was used with another request'),
  idempotencyConflict: failure(409, 'Idempotency-Key was used with another request'),
  notFound: ({ what }) => notFound(what),
  wrongState: ({ detail }) => failure(409, 'not possible in the current state', { detail }),
  notAllowed: ({ detail }) => failure(403, 'not allowed', { detail }),
  tooMany: (refusal) =>
    failure(
      409,
      'what' in refusal
        ? `limit of ${refusal.limit} ${refusal.what} reached`
        : `limit of ${refusal.limit} reached`,
    ),
  insecureStream: invalidField(
    'service_url',
    'must be a wss URL: unencrypted streams are not allowed here',
  ),
  unknownCampaign: notFound('campaign'),
  unknownAgent: notFound('agent'),
  unknownAttempt: notFound('call'),
  agentInUse: failure(409, 'agent is in use', {
    detail: 'Unfinished campaigns use it. Finish, cancel or archive them first.',
  }),
  stillPaused: ({ reason, detail }) =>
    failure(409, 'the cause of the pause still exists', {
      detail,
      fields: { pause_reason: reason },
    }),
  invalid: ({ field, detail }) => invalidField(field, detail),
  wrongToken: ({ detail }) =>
    failure(401, 'invalid token', {
      detail: `The token ${detail}.`,
      headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
    }),
  tokenRefused: ({ detail }) => failure(403, 'token refused', { detail: `The token ${detail}.` }),
  wrongPassword: signInRefused('wrong e-mail or password'),
  codeNeeded: signInRefused('code needed'),
  tooManyAttempts: ({ retryAfterMs }) => tooManyRequests('too many attempts', retryAfterMs),
  unknownInvitation: failure(404, 'link not found', {
    detail: 'The link was used or has expired. Request a new one.',
  }),
  unknownUser: notFound('user'),
  unknownSession: notFound('session'),
  emailTaken: failure(409, 'e-mail is taken'),
  weakPassword: ({ detail }) => invalidField('password', detail),
  roleNotPossible: invalidField('role', 'is not possible for this user'),
  lastOwner: failure(409, 'is the last owner'),
  notAvailable: ({ detail }) => failure(501, 'not available on this node', { detail }),
};

/** Responses of a route that differ from the table. */
export type Sayings = { readonly [K in Kind]?: Failure };

export function failureOf(refusal: Refusal, sayings: Sayings = {}): Failure {
  const said = sayings[refusal.kind];
  if (said !== undefined) return said;
  // The table's key equals the refusal's kind, which the type system cannot express.
  const answer = ANSWERS[refusal.kind] as Failure | ((refusal: Refusal) => Failure);
  return typeof answer === 'function' ? answer(refusal) : answer;
}

/** Converts a domain result to a route's result: the value in wire format, or the refusal as a failure. */
export function answered<T, R>(
  result: Result<T, Refusal>,
  show: (value: T) => R,
  sayings?: Sayings,
): Result<R, Failure> {
  return result.ok ? ok(show(result.value)) : err(failureOf(result.error, sayings));
}

export const refused = (refusal: Refusal, sayings?: Sayings): Result<never, Failure> =>
  err(failureOf(refusal, sayings));
