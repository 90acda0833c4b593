/** Places calls of the bundled phone from within the test process. */
import { setImmediate as turn } from 'node:timers/promises';
import { systemRandom as random } from '../../src/base/system-random.ts';
import { systemClock as clock } from '../../src/edge/clock/system-clock.ts';
import { type CallReport, placeCall } from '../../src/phone/phone-call.ts';
import { VoiceChannel } from '../../src/phone/rtp/voice-channel.ts';
import { SipLine } from '../../src/phone/sip-line.ts';
import type { AccountKey, Service } from './service.ts';

const RATE_HZ = 8000;

export interface SipUser {
  readonly username: string;
  readonly password: string;
}

export interface RunningCall {
  readonly report: Promise<CallReport>;
  /** Resolves at the first 180 or 183. A caller cannot cancel before a provisional response (RFC 3261 §9.1). */
  readonly ringing: Promise<void>;
  /** Resolves at the 200. Rejects if the call ends before it. */
  readonly answered: Promise<void>;
  hangUp(): void;
}

/** Starts a call that lasts at most `seconds`, unless a side hangs up earlier. */
export async function startCall(
  service: Service,
  user: SipUser,
  options: { readonly to?: string; readonly seconds?: number; readonly voice?: Int16Array } = {},
): Promise<RunningCall> {
  const line = await SipLine.open({
    ...user,
    host: '127.0.0.1',
    port: service.sipPort,
    transport: 'udp',
    clock,
    random,
  });
  const channel = await VoiceChannel.open(line.localAddress, clock, random);
  const over = new AbortController();
  let sayAnswered: () => void = () => undefined;
  let sayFailed: (error: Error) => void = () => undefined;
  const answered = new Promise<void>((resolve, reject) => {
    sayAnswered = resolve;
    sayFailed = reject;
  });
  answered.catch(() => undefined);
  let sayRinging: () => void = () => undefined;
  const ringing = new Promise<void>((resolve) => {
    sayRinging = resolve;
  });
  const placed = placeCall(line, channel, {
    to: options.to ?? '1000',
    codec: 'PCMU',
    voice: options.voice ?? new Int16Array(0),
    durationMs: (options.seconds ?? 20) * 1000,
    digits: '',
    signal: over.signal,
    clock,
    random,
    progress: (text) => {
      if (text.startsWith('18')) sayRinging();
      if (text.startsWith('answered')) sayAnswered();
    },
  });
  const closed = async (): Promise<CallReport> => {
    try {
      return await placed;
    } finally {
      sayFailed(new Error('the call ended before it was answered'));
      channel.close();
      // A BYE that is queued in this event-loop turn is sent in the next one.
      await turn();
      await line.close();
    }
  };
  return { report: closed(), ringing, answered, hangUp: () => over.abort() };
}

/** Places a call. The phone hangs up `seconds` after the answer, unless the peer did so earlier. */
export async function callFor(
  service: Service,
  user: SipUser,
  seconds: number,
  voice = new Int16Array(0),
): Promise<CallReport> {
  return (await startCall(service, user, { seconds, voice })).report;
}

/** Noise with pauses, so that a test can locate its echo. */
export function babble(seconds: number): Int16Array<ArrayBuffer> {
  let state = 0x2545f491;
  return Int16Array.from({ length: seconds * RATE_HZ }, (_, i) => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    const loud = Math.floor(i / 1200) % 3 !== 2;
    return loud ? ((state >>> 16) % 16_000) - 8000 : 0;
  });
}

/** Creates an application with these addresses, and an endpoint whose calls the application answers. */
export async function makeUser(
  service: Service,
  name: string,
  urls: {
    readonly answer_url: string;
    readonly hangup_url?: string;
    readonly fallback_answer_url?: string;
    readonly answer_method?: string;
  },
  as: AccountKey = service.demo,
): Promise<SipUser & { readonly appId: string }> {
  const application = await service.api('POST', 'Application/', { app_name: name, ...urls }, as);
  if (application.status !== 201) throw new Error(`no application: ${application.text}`);
  const appId = String(application.body['app_id']);
  const password = 'correct-horse-9';
  const endpoint = await service.api(
    'POST',
    'Endpoint/',
    { username: name, alias: name, password, app_id: appId },
    as,
  );
  if (endpoint.status >= 300) throw new Error(`no endpoint: ${endpoint.text}`);
  return { username: String(endpoint.body['username']), password, appId };
}
