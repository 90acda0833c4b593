/** External resources: numbers, trunks, carriers, and a full disk. */

import { wallUs } from '../../../src/base/clock.ts';
import { assert } from '../../../src/base/errors.ts';
import { asCallUuid, asTrunkId } from '../../../src/base/ids.ts';
import { EchoBot } from '../bots.ts';
import { xml } from '../customer.ts';
import { ANSWERS, type Called, type SimLeg } from '../leg.ts';
import type { Scenario } from '../scenario.ts';
import { CARRIER, PRICE } from '../service.ts';
import { toneFile } from '../sounds.ts';
import type { World } from '../world.ts';
import { BOT, ELEMENTS, interrupt } from './calls.ts';
import { place } from './parties.ts';

const FILE_HZ = 700;
const CALLER_HZ = 400;
const OFFICE_HZ = 900;
/** Default interval of heartbeats for open calls in microseconds, plus time for the write. */
const HEARTBEAT_US = 2_100_000;
const NUMBER = '14155550199';
const OFFICE = 'sip:office@pbx.test';
const SECOND_OFFICE = 'sip:office@second.test';

async function ownNumber(world: World, to: 'application' | { readonly trunk: string }) {
  const { provisioning, accountId, appId } = world.service;
  const added = await provisioning.numbers.add({
    e164: NUMBER,
    country: 'US',
    currency: 'USD',
    accountId,
    ...(to === 'application' ? { applicationId: appId } : { trunkGroupId: asTrunkId(to.trunk) }),
  });
  assert(added.ok, 'the number is added');
}

/** Calls the number through the carrier. */
function fromOutside(world: World): SimLeg {
  const caller = world.farPhone('14155550177');
  caller.says = CALLER_HZ;
  return world.signalling.call(caller, { dialled: `+${NUMBER}`, carrier: CARRIER });
}

/** Checks that each recording interrupted by the kill has a file, is charged and is reported like any other. */
async function recordingsAreFinished(world: World): Promise<void> {
  const store = world.disk.rescued;
  const { accountId } = world.service;
  world.equal((await store.recordings.unfinished()).length, 0, 'unfinished recordings');
  const { items } = await store.recordings.page({ accountId }, { limit: 100, offset: 0 });
  for (const { recordingId, durationMs } of items) {
    const filter = { accountId, reference: `recording:${recordingId}` };
    const { total } = await store.ledger.page(filter, 1, 10);
    world.equal(total, durationMs > 0 ? 1 : 0, 'charges of a recording');
    const reported = world.customer
      .at('/status')
      .filter(({ parameters }) => parameters['RecordingID'] === recordingId);
    world.expect(reported.length >= 1, `recording ${recordingId} is reported`);
  }
}

async function withTrunk(world: World, primary: Called, fallback?: Called) {
  const { provisioning, accountId } = world.service;
  const uri = async (sipUri: string): Promise<string> => {
    const name = sipUri.slice(4);
    return (await provisioning.trunks.createOriginationUri({ accountId, name, sipUri })).id;
  };
  const trunk = await provisioning.trunks.create({
    accountId,
    name: 'office',
    primaryUriUuid: await uri(OFFICE),
    ...(fallback === undefined ? {} : { fallbackUriUuid: await uri(SECOND_OFFICE) }),
  });
  assert(trunk.ok, 'the trunk is created');
  await ownNumber(world, { trunk: trunk.value.trunkId });
  const office = world.farPhone(OFFICE, { called: primary });
  const second = world.farPhone(SECOND_OFFICE, fallback === undefined ? {} : { called: fallback });
  office.says = OFFICE_HZ;
  second.says = OFFICE_HZ;
  return { office, second, leg: fromOutside(world) };
}

const overUs = (world: World, { overAtMs = Number.POSITIVE_INFINITY }: SimLeg): number =>
  1000 * (overAtMs + world.clock.wallMs() - world.clock.monotonicMs());

const allOver = (world: World, withinMs = 40_000): Promise<void> =>
  world.until('all legs have ended', () => world.signalling.live.length === 0, withinMs);

export const outsideScenarios: readonly Scenario[] = [
  {
    title: 'a call to a number of the account runs the document of its application',
    async play(world) {
      await ownNumber(world, 'application');
      world.customer.on('/answer', xml(`<Play>${toneFile(FILE_HZ, 1500)}</Play>`));
      const leg = fromOutside(world);
      await world.until('the caller hears the file', () => leg.atPhone.hears(FILE_HZ));
      await allOver(world);
      await world.advance(300);
      const cdr = await world.cdrOf(leg);
      world.equal(cdr.cost, PRICE.inbound, 'cost');
      world.equal(cdr.to, NUMBER, 'number');
    },
  },
  {
    title: 'a trunk connects caller and office, and the end of one leg ends the other',
    async play(world) {
      const called = world.random.pick<Called>([
        { kind: 'answers', ringMs: 60, answerMs: 700 },
        { kind: 'earlyMedia', ringMs: 60, answerMs: 900 },
      ]);
      const { office, leg } = await withTrunk(world, called);
      await world.until('the office answers', () => leg.answered);
      await world.until('both hear each other', () => {
        return leg.atPhone.hears(OFFICE_HZ) && office.hears(CALLER_HZ);
      });
      await world.advance(world.random.between(0, 3000));
      const legs = world.signalling.legs;
      if (world.random.chance(0.5)) legs[1]?.phoneHangsUp();
      else interrupt(world, world.random.pick(legs));
      await allOver(world);
      await world.advance(300);
      world.equal((await world.cdrOf(leg)).cost, PRICE.inbound, 'cost');
      world.equal((await world.cdrs()).length, 2, 'records');
    },
  },
  {
    title: 'a trunk with a failed first address uses its second; a busy one stays busy',
    async play(world) {
      const isBusy = world.random.chance(0.5);
      const status = isBusy ? 486 : 503;
      const { second, leg } = await withTrunk(
        world,
        { kind: 'refuses', afterMs: 90, status },
        { kind: 'answers', ringMs: 30, answerMs: 200 },
      );
      if (isBusy) {
        await allOver(world);
        world.equal(world.signalling.legs.length, 2, 'legs');
        await world.advance(300);
        world.equal((await world.cdrOf(leg)).hangupCause, 'USER_BUSY', 'cause');
      } else await world.until('the second office hears the caller', () => second.hears(CALLER_HZ));
    },
  },
  {
    title: 'a trunk: a caller who hangs up at any moment before the answer leaves no state',
    async play(world) {
      const called = {
        kind: 'answers',
        ringMs: 100,
        answerMs: world.random.between(150, 900),
      } as const;
      const { leg } = await withTrunk(world, called);
      await world.advance(world.random.between(0, 1100));
      leg.phoneHangsUp();
      await allOver(world);
    },
  },
  {
    title:
      'a temporarily full disk: calls continue, and no record is lost after it has space again',
    async play(world) {
      for (const message of [
        'settlement not written; retrying',
        'heartbeat not written',
        'notification store failed',
        'stream not recorded',
        'top-up failed',
      ]) {
        world.listener.expect(message);
      }
      world.customer.on('/answer', xml(`<Play loop="0">${toneFile(FILE_HZ, 1500)}</Play>`));
      world.customer.on('/status', 200);
      const phones = await Promise.all(['a', 'b', 'c'].map((name) => world.phone(name)));
      const legs = phones.map((phone) => world.call(phone));
      await world.until('all hear the file', () => phones.every((phone) => phone.hears(FILE_HZ)));
      world.disk.isFull = true;
      world.notify('the disk is full');
      await world.advance(world.random.between(100, 4000));
      for (const leg of legs.slice(0, 2)) interrupt(world, leg);
      await world.advance(world.random.between(500, 9000));
      world.expect(phones[2]?.hears(FILE_HZ) === true, 'the third call continues');
      world.disk.isFull = false;
      world.notify('the disk has space');
      await world.advance(2000);
      for (const leg of legs.slice(0, 2))
        world.equal((await world.cdrOf(leg)).cost, PRICE.sip, 'cost');
      legs[2]?.phoneHangsUp();
      await allOver(world);
    },
  },
  {
    title: 'a full disk when a call arrives: the call is refused, and the next one is served',
    async play(world) {
      for (const message of [
        'settlement not written; retrying',
        'heartbeat not written',
        'inbound call failed',
      ]) {
        world.listener.expect(message);
      }
      world.customer.on('/answer', xml('<Speak>hello</Speak>'));
      world.customer.on('/fallback', xml('<Speak>hello</Speak>'));
      const phone = await world.phone('alice');
      world.disk.isFull = true;
      const refused = world.call(phone);
      await world.until('the call is refused', () => refused.serviceOver);
      world.disk.isFull = false;
      await world.advance(1500);
      const served = world.call(phone);
      await world.until('the call is answered', () => served.answered);
      await allOver(world);
    },
  },
  {
    title: 'kill -9 with queued destinations: each accepted one has one record and is reported',
    options: { concurrentCalls: 2, callsPerSecond: 2 },
    async play(world) {
      const numbers = Array.from({ length: 8 }, (_, i) => `141555501${10 + i}`);
      for (const number of numbers) world.farPhone(number, { called: ANSWERS });
      world.customer.on('/answer', xml('<Wait length="1"/>'));
      world.customer.on('/ring', 200);
      const placed = await place(world, numbers);
      assert(placed.ok, 'the request is accepted');
      await world.advance(world.random.between(0, 7000));
      await world.crash();
      const store = world.disk.rescued;
      world.equal((await store.calls.listOpen()).length, 0, 'open calls');
      for (const [index, callUuid] of placed.value.callUuids.entries()) {
        const cdr = (await store.cdrs.get(asCallUuid(callUuid)))?.cdr;
        const isDialled = world.signalling.legs.some(({ phone }) => phone?.name === numbers[index]);
        world.equal(cdr?.hangupCauseCode !== 1020, isDialled, `${callUuid} was dialled`);
        world.expect(cdr !== undefined, `${callUuid} has a record`);
        const reported = world.customer.reported('/hangup', callUuid).length;
        world.expect(reported >= 1, `the hangup of ${callUuid} is reported`);
      }
    },
  },
  {
    title:
      'kill -9 at any moment: every answered call is recorded, billed to its last heartbeat and reported',
    async play(world) {
      const documents = Object.values(ELEMENTS);
      world.customer.on('/answer', () => xml(world.random.pick(documents)));
      for (const path of ['/digits', '/recorded'])
        world.customer.on(path, xml('<Wait length="9"/>'));
      world.customer.on('/status', 200);
      world.streams.serve(BOT, () => new EchoBot());
      for (let i = 0; i < 5; i += 1) {
        const phone = await world.phone(`phone${i}`);
        phone.says = CALLER_HZ;
        world.call(phone);
        await world.advance(world.random.between(0, 900));
      }
      await world.advance(world.random.between(0, 9000));
      interrupt(world, world.random.pick(world.signalling.legs));
      await world.advance(world.random.between(0, 60));
      const killedUs = wallUs(world.clock);
      // The simulated phones continue: a leg may be answered after the kill, and is not billed.
      const answeredLegs = world.signalling.legs.filter(({ answered }) => answered);
      await world.crash();
      const store = world.disk.rescued;
      world.equal((await store.verify()).length, 0, 'faults of the ledger');
      world.equal((await store.calls.listOpen()).length, 0, 'open calls');
      const { accountId } = world.service;
      const balance = await store.ledger.balance(accountId, 'USD');
      world.equal(Number(balance?.reservedFunds), 0, 'reserved funds');
      await recordingsAreFinished(world);
      for (const leg of answeredLegs) {
        const cdr = await world.cdrOf(leg);
        world.expect(cdr.cost > 0, `${leg.id} is billed`);
        world.expect(
          cdr.endUs >= Math.min(killedUs, overUs(world, leg)) - HEARTBEAT_US,
          `${leg.id} is billed up to its last heartbeat`,
        );
        const reported = world.customer.reported('/hangup', cdr.callUuid).length;
        world.expect(reported >= 1, `the hangup of ${leg.id} is reported`);
      }
    },
  },
];
