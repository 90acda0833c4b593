/** Agents of campaigns (dialect §3.11): answer documents, and call parameters. */
import { inMs, SECOND_MS, secondsOf } from '../../../base/duration.ts';
import { isoMicros } from '../../../base/time-format.ts';
import type { CallbackTarget } from '../../../domain/callback/types.ts';
import type { Agent, CustomHeaders, NewAgent } from '../../../domain/campaign/types.ts';
import {
  flag,
  hinted,
  httpMethod,
  httpUrl,
  nullableInteger,
  nullableText,
  oneOf,
  optionalHttpUrl,
  type Static,
  Type,
  timestamp,
} from '../http/schema.ts';
import {
  callbackTarget,
  machineDetection,
  machineDetectionFields,
  ringTimeoutField,
  timeLimitField,
  timeLimitOf,
} from './make-call.ts';
import { HEADERS_MAX, headerNameProblem, headerValueProblem } from './sip-headers.ts';

const NAME_MAX = 100;
const RECORD_SECONDS_MAX = 86_400;
const RECORD_SECONDS_DEFAULT = 3600;

const name = () =>
  hinted(
    Type.String({ minLength: 1, maxLength: NAME_MAX, pattern: '\\S' }),
    `must have 1 to ${NAME_MAX} characters`,
  );

const Header = Type.Object({ key: Type.String(), value: Type.String() });

const optionalFields = {
  answer_method: Type.Optional(httpMethod()),
  hangup_url: Type.Optional(optionalHttpUrl()),
  hangup_method: Type.Optional(httpMethod()),
  ring_url: Type.Optional(optionalHttpUrl()),
  ring_method: Type.Optional(httpMethod()),
  fallback_url: Type.Optional(optionalHttpUrl()),
  fallback_method: Type.Optional(httpMethod()),
  sip_headers: Type.Optional(
    Type.Unsafe<Readonly<Record<string, string>>>({
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'SIP headers of every call, names without the prefix',
    }),
  ),
  static_headers: Type.Optional(
    Type.Array(Header, { maxItems: HEADERS_MAX, description: 'same as sip_headers' }),
  ),
  ...machineDetectionFields,
  record: Type.Optional(flag()),
  record_max_length: Type.Optional(
    Type.Integer({ minimum: 1, maximum: RECORD_SECONDS_MAX, description: 'seconds' }),
  ),
  record_file_format: Type.Optional(oneOf(['mp3', 'wav'])),
  record_channel_type: Type.Optional(oneOf(['mono', 'stereo'])),
  record_callback_url: Type.Optional(optionalHttpUrl()),
  record_callback_method: Type.Optional(httpMethod()),
  time_limit: timeLimitField(),
  ring_timeout: ringTimeoutField(),
};

/** Removes defaults, because an update must not set fields that it does not name. */
const withoutDefaults = <F extends Readonly<Record<string, object>>>(fields: F): F =>
  Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => {
      // Copies non-enumerable properties too: one of them marks a field as optional.
      const { default: _, ...rest } = Object.getOwnPropertyDescriptors(
        schema as Readonly<Record<string, unknown>>,
      );
      return [name, Object.defineProperties({}, rest)];
    }),
  ) as F;

export const AgentCreateBody = Type.Object({
  name: name(),
  answer_url: httpUrl(),
  ...optionalFields,
});
export const AgentUpdateBody = Type.Object({
  name: Type.Optional(name()),
  answer_url: Type.Optional(httpUrl()),
  ...withoutDefaults(optionalFields),
});
type CreateBody = Static<typeof AgentCreateBody>;
type UpdateBody = Static<typeof AgentUpdateBody>;

/** Returns the field and problem of an invalid header in the body. */
export function agentHeaderProblem(body: UpdateBody): readonly [string, string] | undefined {
  const headers = headersOf(body);
  const field = body.sip_headers === undefined ? 'static_headers' : 'sip_headers';
  if (headers.length > HEADERS_MAX) return [field, `must have at most ${HEADERS_MAX} headers`];
  for (const [key, value] of headers) {
    const inName = headerNameProblem(key);
    if (inName !== undefined) return [field, `holds "${key.slice(0, 64)}", which ${inName}`];
    const inValue = headerValueProblem(value);
    if (inValue !== undefined) return [field, `holds ${key}, which ${inValue}`];
  }
  return undefined;
}

const headersOf = (body: UpdateBody): CustomHeaders =>
  body.sip_headers === undefined
    ? (body.static_headers ?? []).map(({ key, value }) => [key, value] as const)
    : Object.entries(body.sip_headers);

export const newAgent = (body: CreateBody): NewAgent => ({
  name: body.name.trim(),
  answer: { url: body.answer_url, method: body.answer_method ?? 'POST' },
  hangup: callbackTarget(body.hangup_url, body.hangup_method),
  fallback: callbackTarget(body.fallback_url, body.fallback_method),
  ring: callbackTarget(body.ring_url, body.ring_method),
  sipHeaders: headersOf(body),
  machineDetection: machineDetection(body),
  record: body.record
    ? {
        maxMs: (body.record_max_length ?? RECORD_SECONDS_DEFAULT) * SECOND_MS,
        format: body.record_file_format ?? 'mp3',
        channels: body.record_channel_type ?? 'stereo',
        callback: callbackTarget(body.record_callback_url, body.record_callback_method),
      }
    : undefined,
  timeLimitMs: timeLimitOf(body.time_limit),
  ringTimeoutMs: inMs(body.ring_timeout),
});

const target = <K extends string>(kind: K, of: CallbackTarget | undefined) =>
  ({ [`${kind}_url`]: of?.url ?? '', [`${kind}_method`]: of?.method ?? 'POST' }) as Record<
    `${K}_url`,
    string
  > &
    Record<`${K}_method`, 'GET' | 'POST'>;

/** Converts an agent to the body that would create it. */
function bodyOf(agent: Agent): CreateBody {
  const { record, machineDetection: machine } = agent;
  return {
    name: agent.name,
    answer_url: agent.answer.url,
    answer_method: agent.answer.method,
    ...target('hangup', agent.hangup),
    ...target('ring', agent.ring),
    ...target('fallback', agent.fallback),
    sip_headers: Object.fromEntries(agent.sipHeaders),
    machine_detection:
      machine === undefined ? 'false' : machine.mode === 'detect' ? 'true' : 'hangup',
    ...(machine && {
      machine_detection_time: machine.totalMs,
      machine_detection_url: machine.callback?.url ?? '',
      machine_detection_method: machine.callback?.method ?? 'POST',
      machine_detection_maximum_speech_length: machine.maximumSpeechMs,
      machine_detection_initial_silence: machine.initialSilenceMs,
    }),
    // As fields they would switch off adaptive limits.
    ...(machine &&
      !machine.adaptive && {
        machine_detection_maximum_words: machine.maximumWords,
        machine_detection_initial_greeting: machine.initialGreetingMs,
      }),
    record: record !== undefined,
    ...(record && {
      record_max_length: secondsOf(record.maxMs),
      record_file_format: record.format,
      record_channel_type: record.channels,
      ...target('record_callback', record.callback),
    }),
    time_limit: secondsOf(agent.timeLimitMs),
    ...(agent.ringTimeoutMs !== undefined && { ring_timeout: secondsOf(agent.ringTimeoutMs) }),
  };
}

/** Returns the agent with the changes of the body. Related fields are validated together. */
export function changedAgent(agent: Agent, body: UpdateBody): NewAgent {
  const { sip_headers: known, ...rest } = bodyOf(agent);
  const namesHeaders = body.sip_headers !== undefined || body.static_headers !== undefined;
  return newAgent({ ...rest, ...(!namesHeaders && known && { sip_headers: known }), ...body });
}

export const AgentSchema = Type.Object({
  id: Type.String(),
  account_id: Type.String(),
  sub_account: nullableText(),
  name: Type.String(),
  answer_url: Type.String(),
  answer_method: Type.String(),
  hangup_url: nullableText(),
  hangup_method: Type.String(),
  ring_url: nullableText(),
  ring_method: Type.String(),
  fallback_url: nullableText(),
  fallback_method: Type.String(),
  sip_headers: Type.Record(Type.String(), Type.String()),
  static_headers: Type.Array(Header),
  machine_detection: Type.String(),
  machine_detection_url: nullableText(),
  record: Type.Boolean(),
  time_limit: Type.Integer(),
  ring_timeout: nullableInteger(),
  created_at: timestamp(),
  updated_at: timestamp(),
});

export function showAgent(agent: Agent): Static<typeof AgentSchema> {
  const body = bodyOf(agent);
  return {
    id: agent.id,
    account_id: agent.accountId,
    sub_account: agent.subAccount ?? null,
    name: agent.name,
    answer_url: agent.answer.url,
    answer_method: agent.answer.method,
    hangup_url: agent.hangup?.url ?? null,
    hangup_method: agent.hangup?.method ?? 'POST',
    ring_url: agent.ring?.url ?? null,
    ring_method: agent.ring?.method ?? 'POST',
    fallback_url: agent.fallback?.url ?? null,
    fallback_method: agent.fallback?.method ?? 'POST',
    sip_headers: Object.fromEntries(agent.sipHeaders),
    static_headers: agent.sipHeaders.map(([key, value]) => ({ key, value })),
    machine_detection: body.machine_detection ?? 'false',
    machine_detection_url: agent.machineDetection?.callback?.url ?? null,
    record: agent.record !== undefined,
    time_limit: secondsOf(agent.timeLimitMs),
    ring_timeout: body.ring_timeout ?? null,
    created_at: isoMicros(agent.createdUs),
    updated_at: isoMicros(agent.updatedUs),
  };
}
