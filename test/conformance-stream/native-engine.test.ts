/** Runs the service conformance tests over the native media engine, with a caller that uses real RTP. */

import { afterAll } from 'vitest';
import { asAccountId, asCallUuid, asStreamId } from '../../src/base/ids.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { systemRandom as random } from '../../src/base/system-random.ts';
import { systemClock as clock } from '../../src/edge/clock/system-clock.ts';
import { createMedia, type MediaEngine } from '../../src/edge/media/engine.ts';
import { createAudioStreams } from '../../src/edge/stream/client.ts';
import { PCMU } from '../../src/phone/audio/g711.ts';
import { VoiceChannel } from '../../src/phone/rtp/voice-channel.ts';
import { guard } from '../edge/stream/fixture.ts';
import { describeServiceConformance, type ServiceUnderTest } from './service-suite.ts';

const HOST = '127.0.0.1';

let engine: MediaEngine | undefined;
afterAll(() => engine?.stop());

const media = (): MediaEngine => {
  engine ??= createMedia({
    rtpHost: HOST,
    publicHost: HOST,
    portMin: 41_000,
    portMax: 41_999,
    drive: 'thread',
    wallMs: () => Date.now(),
    logger: silentLogger,
  });
  return engine;
};

const streams = createAudioStreams({
  egress: guard(true),
  signUpgrade: () => Promise.resolve({}),
  userAgent: 'test',
  clock,
  logger: silentLogger,
});

const nothing = (): void => undefined;

const service: ServiceUnderTest = {
  async call(stream, voice) {
    const caller = await VoiceChannel.open(HOST, clock, random);
    const leg = await media().openLeg(
      { mediaTimeoutMs: 60_000 },
      { dtmf: nothing, silent: nothing },
    );
    leg.configure({
      address: HOST,
      port: caller.port,
      codec: { name: 'PCMU', clockRate: 8000, sampleRate: 8000, channels: 1 },
      payloadType: { send: 0, receive: 0 },
      telephoneEvent: { send: 101, receive: 101, clockRate: 8000 },
      ptimeMs: 20,
      direction: 'sendrecv',
      protection: 'none',
    });
    caller.talk({ address: HOST, port: leg.port, codec: PCMU, telephoneEvent: 101 }, voice);
    const socket = streams.open(
      {
        ...stream,
        streamId: asStreamId('5f0e6a52-6a0e-4a52-9a0b-0d6c2f3b7c22'),
        callUuid: asCallUuid('0b6c1c3e-8f0a-4f4e-9a53-2f6f2c9d1a11'),
        accountId: asAccountId('MA_0123456789ABCDEFG'),
        ownerId: 'MA_0123456789ABCDEFG',
        tracks: 'inbound',
        from: '14155550100',
        to: '14155550101',
        direction: 'inbound',
        callStartMs: 1_700_000_000_000,
      },
      leg,
      {
        started: nothing,
        played: nothing,
        cleared: nothing,
        degraded: nothing,
        ended: nothing,
        sendDigits: nothing,
        fault: nothing,
      },
    );
    let over = false;
    return {
      press: (digit) => caller.press(digit),
      received: () => caller.received(),
      hangup() {
        if (over) return;
        over = true;
        socket.close('call_hangup');
        leg.close();
        caller.close();
      },
    };
  },
  mulaw: (samples) => Buffer.from(PCMU.encode(samples)),
};

describeServiceConformance('native engine, PCMU', service);
