import { inMs, SECOND_MS } from '../../../base/duration.ts';
import type { AccountId } from '../../../base/ids.ts';
import { plainNumber } from '../../../base/phone-number.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import type { CallbackTarget, HttpMethod } from '../../../domain/callback/types.ts';
import type {
  Destination,
  DigitString,
  MachineDetectionRequest,
  PlaceCallsRequest,
} from '../../../domain/dispatch/types.ts';
import { type Failure, invalidField } from '../http/failure.ts';
import {
  flag,
  headerText,
  hinted,
  httpMethod,
  httpUrl,
  optionalHttpUrl,
  type Static,
  Type,
} from '../http/schema.ts';
import { sipUriProblem } from '../http/values.ts';
import { parseHeaders } from './sip-headers.ts';

/** Maximum number of destinations (spec Limits: Make call). */
const DESTINATIONS_MAX = 1000;
const CALLER_NAME_MAX = 50;
const TIME_LIMIT_DEFAULT_S = 14_400;
const TIME_LIMIT_MAX_S = 86_400;
const RING_TIMEOUT_MAX_S = 600;
/** Maximum length of `to`: 1000 destinations of the longest reasonable form. */
const TO_MAX = 128_000;
/** Duration of `send_digits` tones without `@ms`, milliseconds (dialect §6). */
const TONE_DEFAULT_MS = 160;
const TONE_MAX_MS = 10_000;
const TONE_MIN_MS = 40;
const DIGITS_MAX = 256;

const ranged = (initial: number, minimum: number, maximum: number) =>
  Type.Optional(
    hinted(
      Type.Integer({ minimum, maximum, default: initial }),
      `must be a whole number from ${minimum} to ${maximum}`,
    ),
  );

/** A limit that switches off the adaptive rules. No default in the schema, because the validator would fill it in. */
const fixedLimit = (initial: number, minimum: number, maximum: number) =>
  Type.Optional(
    hinted(
      Type.Integer({ minimum, maximum, description: `default ${initial}, with adaptive rules` }),
      `must be a whole number from ${minimum} to ${maximum}`,
    ),
  );

/** Fields for machine detection, of a call and of a campaign's agent. */
export const machineDetectionFields = {
  machine_detection: Type.Optional(
    hinted(
      Type.String({
        pattern: '^([tT][rR][uU][eE]|[hH][aA][nN][gG][uU][pP]|[fF][aA][lL][sS][eE]|)$',
      }),
      'must be true, false or hangup',
    ),
  ),
  machine_detection_time: ranged(5000, 2000, 10_000),
  machine_detection_url: Type.Optional(optionalHttpUrl()),
  machine_detection_method: Type.Optional(httpMethod()),
  machine_detection_maximum_speech_length: ranged(5000, 1000, 6000),
  machine_detection_initial_silence: ranged(4500, 2000, 10_000),
  machine_detection_maximum_words: fixedLimit(3, 2, 10),
  machine_detection_initial_greeting: fixedLimit(1500, 1000, 5000),
};

export const timeLimitField = () =>
  Type.Optional(
    hinted(
      Type.Integer({ minimum: 1, maximum: 1_000_000_000, default: TIME_LIMIT_DEFAULT_S }),
      'must be a whole number of seconds, 1 or more',
    ),
  );

export const ringTimeoutField = () =>
  Type.Optional(
    hinted(
      Type.Integer({ minimum: 1, maximum: RING_TIMEOUT_MAX_S }),
      `must be a whole number of seconds from 1 to ${RING_TIMEOUT_MAX_S}`,
    ),
  );

export const MakeCallBody = Type.Object({
  from: hinted(
    Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: '^([Tt][Ee][Ll]:)?\\+?[0-9][0-9 ().-]*(;[^<>"\\u0000-\\u001f\\u007f]*)?$',
    }),
    'must be E.164 digits',
  ),
  to: hinted(
    Type.String({ minLength: 1, maxLength: TO_MAX }),
    'must be numbers or SIP URIs separated by <',
  ),
  answer_url: httpUrl(),
  answer_method: Type.Optional(httpMethod()),
  ring_url: Type.Optional(optionalHttpUrl()),
  ring_method: Type.Optional(httpMethod()),
  hangup_url: Type.Optional(optionalHttpUrl()),
  hangup_method: Type.Optional(httpMethod()),
  fallback_url: Type.Optional(optionalHttpUrl()),
  fallback_method: Type.Optional(httpMethod()),
  ...machineDetectionFields,
  caller_name: Type.Optional(
    hinted(
      headerText({ maxLength: CALLER_NAME_MAX }),
      `must have at most ${CALLER_NAME_MAX} characters and no control characters`,
    ),
  ),
  send_digits: Type.Optional(Type.String()),
  send_on_preanswer: Type.Optional(flag(false)),
  time_limit: timeLimitField(),
  hangup_on_ring: Type.Optional(
    hinted(
      Type.Integer({ minimum: 0, maximum: TIME_LIMIT_MAX_S }),
      'must be a whole number of seconds, 0 or more',
    ),
  ),
  ring_timeout: ringTimeoutField(),
  sip_headers: Type.Optional(
    hinted(Type.String({ maxLength: 2000 }), 'must have the form key=value,key2=value2'),
  ),
});

type Body = Static<typeof MakeCallBody>;

/** E.164 has at most 15 digits; a single digit reaches no destination. */
const NUMBER = /^\d{2,15}$/;
const NUMBER_MAX = 15;

/** Parses `to`: destinations separated by `<`, not by commas. Duplicates are called twice (dialect §6). */
export function parseDestinations(to: string): Result<readonly Destination[], Failure> {
  const parts = to.split('<');
  if (parts.length > DESTINATIONS_MAX) {
    return err(invalidField('to', `must have at most ${DESTINATIONS_MAX} destinations`));
  }
  const destinations: Destination[] = [];
  for (const [index, part] of parts.entries()) {
    const destination = parseDestination(part.trim());
    if (!destination.ok) {
      return err(invalidField('to', `${destination.error} at position ${index + 1}`));
    }
    destinations.push(destination.value);
  }
  return ok(destinations);
}

/** Parses a destination. The error describes the problem, to follow the field's name. */
function parseDestination(text: string): Result<Destination, string> {
  if (/^sips?:/i.test(text)) {
    const wrong = sipUriProblem(text);
    return wrong === undefined ? ok({ kind: 'sip', uri: text }) : err(wrong);
  }
  const number = plainNumber(text);
  if (NUMBER.test(number)) return ok({ kind: 'number', number });
  if (/^\d+$/.test(number) && number.length > NUMBER_MAX) {
    return err(`holds a number of more than ${NUMBER_MAX} digits`);
  }
  return err('has no number or SIP URI');
}

/** `digits := (0-9 * # A-D w W)+ ['@' ms]` (spec: send_digits; dialect §6). */
export function parseDigits(text: string): Result<DigitString, string> {
  const match = /^([0-9*#A-DwW]+)(?:@(\d{1,5}))?$/i.exec(text.trim());
  const [, digits = '', tone] = match ?? [];
  if (match === null || digits.length > DIGITS_MAX) {
    return err(
      `must be up to ${DIGITS_MAX} of 0-9 * # A-D w W, then optionally @ and milliseconds`,
    );
  }
  const toneMs = tone === undefined ? TONE_DEFAULT_MS : Number(tone);
  if (toneMs < TONE_MIN_MS || toneMs > TONE_MAX_MS) {
    return err(`must have a tone duration from ${TONE_MIN_MS} to ${TONE_MAX_MS} ms`);
  }
  const tones = digits.replaceAll(/[a-d]/g, (tone) => tone.toUpperCase());
  return ok({ digits: tones, toneMs });
}

export const callbackTarget = (
  url: string | undefined,
  method: HttpMethod | undefined,
): CallbackTarget | undefined =>
  url === undefined || url === '' ? undefined : { url, method: method ?? 'POST' };

const MachineDetectionBody = Type.Object(machineDetectionFields);

export function machineDetection(
  body: Static<typeof MachineDetectionBody>,
): MachineDetectionRequest | undefined {
  const mode = (body.machine_detection ?? '').toLowerCase();
  if (mode !== 'true' && mode !== 'hangup') return undefined;
  return {
    mode: mode === 'hangup' ? 'hangup' : 'detect',
    callback: callbackTarget(body.machine_detection_url, body.machine_detection_method),
    totalMs: body.machine_detection_time ?? 5000,
    maximumSpeechMs: body.machine_detection_maximum_speech_length ?? 5000,
    initialSilenceMs: body.machine_detection_initial_silence ?? 4500,
    maximumWords: body.machine_detection_maximum_words ?? 3,
    initialGreetingMs: body.machine_detection_initial_greeting ?? 1500,
    adaptive:
      body.machine_detection_initial_greeting === undefined &&
      body.machine_detection_maximum_words === undefined,
  };
}

/** Converts to milliseconds, at most one day (spec Limits: `time_limit`). */
export const timeLimitOf = (seconds: number | undefined): number =>
  Math.min(seconds ?? TIME_LIMIT_DEFAULT_S, TIME_LIMIT_MAX_S) * SECOND_MS;

/** Converts all fields of the spec's table to domain values and checks rules that a schema cannot express. */
export function placeCallsRequest(
  body: Body,
  from: {
    readonly accountId: AccountId;
    readonly subAccount: AccountId | undefined;
    readonly idempotencyKey: string | undefined;
  },
): Result<PlaceCallsRequest, Failure> {
  const caller = plainNumber(body.from);
  if (caller.length > NUMBER_MAX) {
    return err(invalidField('from', `must be E.164 digits, at most ${NUMBER_MAX}`));
  }
  const destinations = parseDestinations(body.to);
  if (!destinations.ok) return destinations;
  const digits = body.send_digits ? parseDigits(body.send_digits) : undefined;
  if (digits !== undefined && !digits.ok) return err(invalidField('send_digits', digits.error));
  const headers = parseHeaders(body.sip_headers ?? '');
  if (!headers.ok) return err(invalidField('sip_headers', headers.error));
  return ok({
    ...from,
    from: caller,
    destinations: destinations.value,
    answer: { url: body.answer_url, method: body.answer_method ?? 'POST' },
    ring: callbackTarget(body.ring_url, body.ring_method),
    hangup: callbackTarget(body.hangup_url, body.hangup_method),
    fallback: callbackTarget(body.fallback_url, body.fallback_method),
    machineDetection: machineDetection(body),
    callerName: body.caller_name || undefined,
    sendDigits: digits?.value,
    sendOnPreanswer: body.send_on_preanswer ?? false,
    timeLimitMs: timeLimitOf(body.time_limit),
    hangupOnRingMs: inMs(body.hangup_on_ring || undefined),
    ringTimeoutMs: inMs(body.ring_timeout),
    sipHeaders: headers.value,
  });
}
