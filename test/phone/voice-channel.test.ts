import { createSocket } from 'node:dgram';
import { afterEach, expect, it } from 'vitest';
import type { Clock } from '../../src/base/clock.ts';
import { systemRandom as random } from '../../src/base/system-random.ts';
import { PCMU } from '../../src/phone/audio/g711.ts';
import { writeRtp } from '../../src/phone/rtp/packet.ts';
import { VoiceChannel } from '../../src/phone/rtp/voice-channel.ts';
import { until } from '../eventually.ts';

const HOST = '127.0.0.1';
const FRAME = 160;
const SOUND = PCMU.encode(new Int16Array(FRAME).fill(8000));

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A channel whose timers never fire, as in a process that is late, and a far end that sends packets of 20 ms to it. */
async function late() {
  const time = { nowMs: 0 };
  const clock = {
    monotonicMs: () => time.nowMs,
    at: () => () => undefined,
  } as unknown as Clock;
  const channel = await VoiceChannel.open(HOST, clock, random);
  const socket = createSocket('udp4');
  closers.push(
    () => channel.close(),
    () => socket.close(),
  );
  channel.talk({ address: HOST, port: 9, codec: PCMU, telephoneEvent: 101 }, new Int16Array(0));
  let sequence = 0;
  const send = async (timestamp: number): Promise<void> => {
    const packet = { payloadType: 0, marker: false, sequence, timestamp, ssrc: 1, payload: SOUND };
    sequence += 1;
    socket.send(writeRtp(packet), channel.port, HOST);
    await until(() => channel.reception.received === sequence, 'the packet');
  };
  return { time, channel, send };
}

it('returns all received audio, also if its own timer is late', async () => {
  const { time, channel, send } = await late();
  for (let i = 0; i < 10; i += 1) {
    time.nowMs = i * 20;
    await send(i * FRAME);
  }
  expect(channel.received()).toHaveLength(10 * FRAME);
  expect(channel.received().every((sample) => sample > 7000)).toBe(true);
});

it('ignores packets with a timestamp far in the future', async () => {
  const { channel, send } = await late();
  for (const timestamp of [0, 0, 0, 3_000_000_000]) await send(timestamp);
  expect(channel.received()).toHaveLength(FRAME);
});
