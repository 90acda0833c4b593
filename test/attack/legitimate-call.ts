/** One legitimate call: the bundled phone's signaling, and a receiver that records the arrival time of each RTP packet. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { PCMU } from '../../src/phone/audio/g711.ts';
import { writeRtp } from '../../src/phone/rtp/packet.ts';
import type { SipLine } from '../../src/phone/sip-line.ts';
import { buildOffer, readAnswer, staticCodec } from '../../src/protocol/sdp/sdp.ts';

const HOST = '127.0.0.1';
const FRAME_MS = 20;
const FRAME_SAMPLES = 160;
const SILENCE = PCMU.encode(new Int16Array(FRAME_SAMPLES));
/** Time limit for call setup, ms. The INVITE transaction times out earlier (RFC 3261 Timer B). */
const SETUP_LIMIT_MS = 33_000;
/** Minimum share of the expected packets for a call that counts as heard. */
const HEARD_SHARE = 0.9;

export interface CallOutcome {
  readonly setupMs: number | undefined;
  readonly received: boolean;
  /** Time between consecutive packets, ms. */
  readonly gapsMs: readonly number[];
}

/** Places a call, keeps it for `talkMs` or until `over` aborts, and hangs up. */
export async function legitimateCall(
  line: SipLine,
  to: string,
  talkMs: number,
  over: AbortSignal,
): Promise<CallOutcome> {
  const listener = createSocket('udp4');
  listener.bind({ address: HOST, port: 0 });
  await once(listener, 'listening');
  const arrivals: number[] = [];
  listener.on('message', () => arrivals.push(performance.now()));
  try {
    const requestedMs = performance.now();
    const call = await ask(line, to, listener.address().port);
    if (call === undefined) return { setupMs: undefined, received: false, gapsMs: [] };
    const setupMs = performance.now() - requestedMs;
    arrivals.length = 0;
    const stopTalking = talk(listener, call.peerPort);
    const fromMs = performance.now();
    await pause(talkMs, undefined, { signal: over }).catch(() => undefined);
    const talkedMs = performance.now() - fromMs;
    stopTalking();
    call.hangup();
    await call.ended;
    const gapsMs = arrivals.slice(1).map((at, i) => at - (arrivals[i] ?? at));
    const received = arrivals.length >= (talkedMs / FRAME_MS) * HEARD_SHARE - 10;
    return { setupMs, received, gapsMs };
  } finally {
    listener.close();
  }
}

interface Answered {
  readonly peerPort: number;
  readonly ended: Promise<void>;
  hangup(): void;
}

/** Sends an INVITE. Returns undefined if the call was not answered. */
export function ask(line: SipLine, to: string, port: number): Promise<Answered | undefined> {
  const codec = staticCodec('PCMU');
  const offer = buildOffer({
    address: HOST,
    port,
    sessionId: port,
    version: 1,
    ptimeMs: FRAME_MS,
    codecs: codec === undefined ? [] : [codec],
    telephoneEventPayloadType: 101,
    direction: 'sendrecv',
  });
  return new Promise((resolve) => {
    let sayEnded: () => void = () => undefined;
    const ended = new Promise<void>((done) => {
      sayEnded = done;
    });
    const late = setTimeout(() => {
      call.hangup();
      resolve(undefined);
    }, SETUP_LIMIT_MS);
    const call = line.call(to, offer, {
      ringing: () => undefined,
      connected(sdp) {
        clearTimeout(late);
        const answer = sdp === undefined ? undefined : readAnswer(offer, sdp);
        const peerPort = answer?.ok ? answer.value.port : 0;
        resolve({ peerPort, ended, hangup: () => call.hangup() });
      },
      offered: () => undefined,
      ended() {
        clearTimeout(late);
        sayEnded();
        resolve(undefined);
      },
    });
  });
}

function talk(listener: Socket, peerPort: number): () => void {
  const startMs = performance.now();
  let frame = 0;
  const timer = setInterval(() => {
    for (; startMs + frame * FRAME_MS <= performance.now(); frame += 1) {
      const place = {
        sequence: frame,
        timestamp: frame * FRAME_SAMPLES,
        ssrc: listener.address().port,
      };
      const packet = writeRtp({ payloadType: 0, marker: frame === 0, ...place, payload: SILENCE });
      if (peerPort > 0) listener.send(packet, peerPort, HOST);
    }
  }, FRAME_MS / 2);
  return () => clearInterval(timer);
}
