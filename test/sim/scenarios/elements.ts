/** Audio, digits and recordings of a caller. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { purity, rms } from '../../edge/media/peer.ts';
import { SITE, xml } from '../customer.ts';
import type { Scenario } from '../scenario.ts';
import { PRICE } from '../service.ts';
import { toneFile, VOICE_HZ } from '../sounds.ts';
import type { World } from '../world.ts';

const FILE_HZ = 700;
const PHONE_HZ = 400;
const SECOND_HZ = 1100;
const WAV_HEAD = 44;

async function caller(world: World, document: string, keypadEvents = true) {
  world.customer.on('/answer', xml(document));
  const phone = await world.phone('alice', {
    codec: world.random.pick(['PCMU', 'PCMA']),
    keypadEvents,
  });
  return { phone, leg: world.call(phone) };
}

/** Samples of a recording, one array per channel. */
function wav(world: World, file: string): Int16Array[] {
  const bytes = readFileSync(join(world.folder, file));
  const channels = bytes.readUInt16LE(22);
  const samples = new Int16Array(
    bytes.buffer.slice(bytes.byteOffset + WAV_HEAD, bytes.byteOffset + bytes.length),
  );
  return Array.from({ length: channels }, (_, channel) =>
    samples.filter((_sample, i) => i % channels === channel),
  );
}

/** Returns whether the tone is in the middle of the recording. */
const holds = (samples: Int16Array, hz: number): boolean => {
  const middle = samples.subarray(samples.length / 2 - 800, samples.length / 2 + 800);
  return rms(middle) > 100 && purity(middle, hz) > 0.2;
};

async function recordings(world: World) {
  const { accountId } = world.service;
  const page = await world.store.recordings.page({ accountId }, { limit: 10, offset: 0 });
  return page.items;
}

export const elementScenarios: readonly Scenario[] = [
  {
    title: 'Play, Speak and Wait run in order, each to its end; then the document ends',
    async play(world) {
      const times = world.random.between(1, 3);
      const { phone, leg } = await caller(
        world,
        `<Play loop="${times}">${toneFile(FILE_HZ, 600)}</Play><Speak>hello there, caller</Speak><Wait length="1"/><Play>${toneFile(SECOND_HZ, 500)}</Play>`,
      );
      await world.until('the file is heard', () => phone.hears(FILE_HZ));
      const fromMs = world.clock.monotonicMs();
      await world.until('the voice is heard', () => phone.hears(VOICE_HZ));
      const tookMs = world.clock.monotonicMs() - fromMs;
      world.expect(Math.abs(tookMs - 600 * times) < 250, `${times} rounds took ${tookMs} ms`);
      await world.until('the pause is heard', () => phone.hearsNothing());
      await world.until('the second file is heard', () => phone.hears(SECOND_HZ));
      await world.until('the document has ended', () => leg.serviceOver);
      world.equal(leg.hungUpWith[0], 'endOfXml', 'cause');
    },
  },
  {
    title: 'digits reach the action once each, by RFC 4733, in-band tones or SIP INFO',
    async play(world) {
      const way = world.random.pick(['events', 'tones', 'info'] as const);
      const digits = Array.from({ length: world.random.between(1, 6) }, () =>
        world.random.pick([...'0123456789*']),
      ).join('');
      world.notify(`${digits} by ${way}`);
      const { phone, leg } = await caller(
        world,
        `<GetDigits action="${SITE}/digits" finishOnKey="#" timeout="5" numDigits="10"><Play>${toneFile(FILE_HZ, 9000)}</Play></GetDigits>`,
        way !== 'tones',
      );
      world.customer.on('/digits', xml(`<Play>${toneFile(SECOND_HZ, 800)}</Play>`));
      await world.until('the prompt is heard', () => phone.hears(FILE_HZ));
      for (const digit of `${digits}#`) {
        if (way === 'info') leg.pressByInfo(digit);
        else phone.press(digit);
        await world.advance(world.random.between(250, 600));
      }
      await world.until('the next document is heard', () => phone.hears(SECOND_HZ));
      world.equal(world.customer.at('/digits')[0]?.parameters['Digits'], digits, 'digits');
      world.equal(world.customer.at('/digits').length, 1, 'actions');
    },
  },
  {
    title:
      'without a digit in time the document continues after the element, without a request to the action',
    async play(world) {
      const { phone } = await caller(
        world,
        `<GetDigits action="${SITE}/digits" timeout="3" retries="1"/><Play>${toneFile(SECOND_HZ, 800)}</Play>`,
      );
      await world.until('the rest is played', () => phone.hears(SECOND_HZ), 12_000);
      world.equal(world.customer.at('/digits').length, 0, 'actions');
    },
  },
  {
    title:
      'a message is recorded until a silence, a key, the maximum length or the hangup; its file contains it',
    async play(world) {
      const way = world.random.pick(['silence', 'key', 'length', 'hangup'] as const);
      world.notify(`ends by ${way}`);
      const { phone, leg } = await caller(
        world,
        `<Record action="${SITE}/recorded" redirect="true" callbackUrl="${SITE}/file" fileFormat="wav" maxLength="${way === 'length' ? 4 : 20}" timeout="2" finishOnKey="#"/>`,
      );
      world.customer.on('/recorded', xml(`<Play>${toneFile(SECOND_HZ, 800)}</Play>`));
      world.customer.on('/file', 200);
      phone.says = PHONE_HZ;
      await world.until('the call is answered', () => leg.answered);
      await world.advance(2500);
      if (way === 'silence') phone.says = undefined;
      if (way === 'key') phone.press('#');
      if (way === 'hangup') leg.phoneHangsUp();
      await world.until('the file is reported', () => world.customer.at('/file').length === 1);
      const reported = world.customer.at('/file')[0]?.parameters ?? {};
      const reasons = {
        silence: 'RecordingTimeout',
        key: 'FinishedOnKey',
        length: 'maxLength',
        hangup: 'HungUp',
      };
      world.equal(reported['RecordingEndReason'], reasons[way], 'reason');
      world.equal(reported['Event'], 'RecordStop', 'event');
      const [recording] = await recordings(world);
      if (recording === undefined) throw new Error('there is no recording');
      world.equal(String(recording.durationMs), reported['RecordingDurationMs'], 'duration');
      const [left] = wav(world, recording.file);
      world.expect(left !== undefined && holds(left, PHONE_HZ), 'the file holds what was said');
      if (way === 'hangup') return;
      await world.until('the next document is heard', () => phone.hears(SECOND_HZ));
    },
  },
  {
    title:
      'a session recording keeps both parties synchronized, survives a transfer, and is billed per minute',
    async play(world) {
      const { phone, leg } = await caller(
        world,
        `<Record recordSession="true" fileFormat="wav" recordChannelType="stereo" callbackUrl="${SITE}/file"/><Play loop="0">${toneFile(FILE_HZ, 1000)}</Play>`,
      );
      world.customer.on('/file', 200);
      world.customer.on('/moved', xml(`<Play loop="0">${toneFile(FILE_HZ, 2000)}</Play>`));
      phone.says = PHONE_HZ;
      await world.until('the file is heard', () => phone.hears(FILE_HZ));
      const call = world.callOf(leg);
      if (call === undefined) throw new Error('no active call');
      const { accountId, control } = world.service;
      const target = { url: `${SITE}/moved`, method: 'POST' } as const;
      await control.transfer(accountId, call.uuid, { legs: 'aleg', aleg: target, bleg: undefined });
      await world.advance(world.random.between(1500, 6000));
      leg.phoneHangsUp();
      await world.until('the file is reported', () => world.customer.at('/file').length === 1);
      const [recording] = await recordings(world);
      if (recording === undefined) throw new Error('there is no recording');
      const [left, right] = wav(world, recording.file);
      if (left === undefined || right === undefined) throw new Error('the file is stereo');
      world.expect(holds(left, PHONE_HZ), 'left is what the caller said');
      world.expect(holds(right, FILE_HZ), 'right is what the caller heard');
      const listed = await world.service.ledger.list(
        { accountId, referenceType: 'recording' },
        1,
        10,
      );
      world.equal(listed.entries[0]?.amount, PRICE.recording, 'charge');
    },
  },
  {
    title: 'PreAnswer is played before the answer, and is free until then',
    async play(world) {
      const { phone, leg } = await caller(
        world,
        `<PreAnswer><Play>${toneFile(FILE_HZ, 1500)}</Play></PreAnswer><Play>${toneFile(SECOND_HZ, 800)}</Play>`,
      );
      await world.until('early media is heard', () => phone.hears(FILE_HZ));
      world.expect(!leg.answered, 'the call is not answered yet');
      if (world.random.chance(0.5)) {
        leg.phoneHangsUp();
        await world.until('the leg has ended', () => leg.serviceOver);
        await world.advance(200);
        world.equal((await world.cdrOf(leg)).cost, 0, 'cost');
        return;
      }
      await world.until('the rest is heard', () => phone.hears(SECOND_HZ));
      world.expect(leg.answered, 'the call is answered');
    },
  },
  {
    title: 'DTMF is sent in the format that the phone supports',
    async play(world) {
      const { phone } = await caller(world, '<DTMF>1w2W3#</DTMF><Wait length="4"/>');
      await world.until('all keys have arrived', () => phone.receivedKeys.length === 4);
      world.equal(phone.receivedKeys.join(''), '123#', 'keys');
    },
  },
];
