/** Conferences, and calls placed over REST. */
import { assert } from '../../../src/base/errors.ts';
import { SITE, xml } from '../customer.ts';
import { ANSWERS, type Called, type SimLeg } from '../leg.ts';
import type { Scenario } from '../scenario.ts';
import { OWN_NUMBER, PRICE, RING_TIMEOUT_MS } from '../service.ts';
import { toneFile } from '../sounds.ts';
import type { World } from '../world.ts';

const A_HZ = 400;
const B_HZ = 900;
const C_HZ = 1500;
const FILE_HZ = 700;

const allOver = (world: World): Promise<void> =>
  world.until('all legs have ended', () => world.signalling.live.length === 0, 40_000);

export const partyScenarios: readonly Scenario[] = [
  {
    title:
      'a conference of three: each hears the others but not itself; a member that leaves is no longer heard',
    async play(world) {
      world.customer.on(
        '/answer',
        xml(
          `<Conference callbackUrl="${SITE}/events" waitSound="" enterSound="" exitSound="">room</Conference>`,
        ),
      );
      world.customer.on('/events', 200);
      const tones = [A_HZ, B_HZ, C_HZ];
      const members = await Promise.all(
        tones.map((_, i) => world.phone(`member${i}`, { codec: i === 1 ? 'PCMA' : 'PCMU' })),
      );
      const legs: SimLeg[] = [];
      for (const [i, phone] of members.entries()) {
        phone.says = tones[i];
        legs.push(world.call(phone));
        await world.advance(world.random.between(0, 900));
      }
      const hearsOthers = (): boolean =>
        members.every((phone, i) => tones.every((hz, j) => i === j || phone.hears(hz)));
      await world.until('each hears the two others', hearsOthers);
      await world.advance(500);
      for (const [i, phone] of members.entries()) {
        world.expect(!phone.hears(tones[i] ?? 0), `member ${i} does not hear itself`);
      }
      const leaving = world.random.integer(3);
      legs[leaving]?.phoneHangsUp();
      await world.advance(900);
      for (const [i, phone] of members.entries()) {
        if (i === leaving) continue;
        world.expect(!phone.hears(tones[leaving] ?? 0), 'a member that left is no longer heard');
      }
      for (const leg of legs) leg.phoneHangsUp();
      await allOver(world);
      await world.advance(1000);
      const enters = world.customer
        .at('/events')
        .filter(({ parameters }) => parameters['Event'] === 'ConferenceEnter');
      world.equal(enters.length, 3, 'ConferenceEnter events');
    },
  },
  {
    title:
      'a call placed over REST goes through the carrier, is answered, runs its document and is billed',
    async play(world) {
      const far = world.farPhone('14155550123', {
        called: world.random.pick<Called>([
          ANSWERS,
          { kind: 'earlyMedia', ringMs: 50, answerMs: 900 },
        ]),
      });
      far.says = A_HZ;
      world.customer.on('/answer', xml(`<Play>${toneFile(FILE_HZ, 1500)}</Play>`));
      world.customer.on('/ring', 200);
      const placed = await place(world, ['14155550123']);
      assert(placed.ok, 'the request is accepted');
      await world.until('the far phone hears the document', () => far.hears(FILE_HZ));
      await allOver(world);
      await world.advance(500);
      const [leg] = world.signalling.legs;
      assert(leg !== undefined, 'there was a leg');
      const cdr = await world.cdrOf(leg);
      world.equal(cdr.callUuid, placed.value.callUuids[0], 'call UUID');
      world.equal(cdr.hangupCauseName, 'End Of XML Instructions', 'cause');
      world.equal(cdr.cost, PRICE.outbound, 'cost');
      world.equal(world.customer.at('/ring').length, 1, 'ring notifications');
    },
  },
  {
    title: 'calls placed in bulk respect concurrency and calls per second, and each gets a record',
    options: { concurrentCalls: 4, callsPerSecond: 3 },
    async play(world) {
      const numbers = Array.from({ length: 12 }, (_, i) => `141555501${10 + i}`);
      for (const number of numbers) {
        const called = world.random.pick<Called>([
          ANSWERS,
          { kind: 'refuses', afterMs: 300, status: 486 },
          { kind: 'refuses', afterMs: 30, status: 404 },
          { kind: 'rings' },
        ]);
        world.farPhone(number, { called });
      }
      world.customer.on('/answer', xml('<Wait length="2"/>'));
      world.customer.on('/ring', 200);
      const placed = await place(world, numbers);
      assert(placed.ok, 'the request is accepted');
      const { slots, accountId } = world.service;
      const everyLeg = (): boolean => {
        world.expect(slots.held(accountId) <= 4, 'more calls than allowed');
        return world.signalling.legs.length === 12 && world.signalling.live.length === 0;
      };
      await world.until('all have been dialled', everyLeg, 12 * (RING_TIMEOUT_MS + 1000));
      await world.advance(1000);
      const cdrs = await world.cdrs();
      world.equal(cdrs.length, 12, 'records');
      for (const callUuid of placed.value.callUuids) {
        world.equal(world.customer.reported('/hangup', callUuid).length, 1, 'hangup notifications');
      }
    },
  },
];

/** Places calls over REST as the owner of the number or endpoint `from`. */
export const place = (world: World, numbers: readonly string[]) =>
  world.service.control.placeCalls({
    accountId: world.service.accountId,
    subAccount: undefined,
    from: OWN_NUMBER,
    destinations: numbers.map((number) => ({ kind: 'number', number })),
    answer: { url: `${SITE}/answer`, method: 'POST' },
    ring: { url: `${SITE}/ring`, method: 'POST' },
    hangup: { url: `${SITE}/hangup`, method: 'POST' },
    fallback: undefined,
    machineDetection: undefined,
    callerName: undefined,
    sendDigits: undefined,
    sendOnPreanswer: false,
    timeLimitMs: 3_600_000,
    hangupOnRingMs: undefined,
    ringTimeoutMs: undefined,
    sipHeaders: [],
    idempotencyKey: undefined,
  });
