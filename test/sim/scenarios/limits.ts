/** Money, capacity and ports: limits hold, and used resources are released. */
import { xml } from '../customer.ts';
import type { SimLeg } from '../leg.ts';
import type { Scenario } from '../scenario.ts';
import { PRICE } from '../service.ts';
import { toneFile } from '../sounds.ts';
import { ELEMENTS, over, start } from './calls.ts';

const FILE_HZ = 700;
const LONG_MS = 4000;

export const limitScenarios: readonly Scenario[] = [
  {
    title:
      'a balance exhausted during a call: Canceled (Out Of Credits) at the end of the paid time',
    options: { credit: 2 * PRICE.sip + PRICE.sip / 2 },
    async play(world) {
      const leg = await start(world, xml(`<Play loop="0">${toneFile(FILE_HZ, LONG_MS)}</Play>`));
      await world.until('the call is answered', () => leg.answered);
      await world.until('the leg has ended', () => leg.serviceOver, 125_000);
      await over(world, leg);
      const cdr = await world.cdrOf(leg);
      world.equal(cdr.hangupCauseName, 'Canceled (Out Of Credits)', 'cause');
      world.equal(cdr.billedMs, 120_000, 'billed time');
      world.equal(cdr.cost, 2 * PRICE.sip, 'cost');
    },
  },
  {
    title: 'a stream that exceeds the balance ends the call with a debt of at most one pulse',
    options: { credit: PRICE.sip + PRICE.stream / 2 },
    async play(world) {
      const leg = await start(world, xml(ELEMENTS['stream'] ?? ''));
      await over(world, leg);
      const cdr = await world.cdrOf(leg);
      world.equal(cdr.hangupCauseName, 'Canceled (Out Of Credits)', 'cause');
      world.equal(cdr.cost, PRICE.sip, 'cost of the voice');
    },
  },
  {
    title: 'of two calls that compete for the last balance, one is served',
    options: { credit: PRICE.sip + PRICE.sip / 2 },
    async play(world) {
      world.customer.on('/answer', xml('<Speak>hello</Speak>'));
      const phones = await Promise.all(['a', 'b'].map((name) => world.phone(name)));
      const legs = phones.map((phone) => world.call(phone));
      await over(world, ...legs);
      const cdrs = await world.cdrs();
      const refused = cdrs.filter((cdr) => cdr.hangupCauseName === 'Canceled (Out Of Credits)');
      world.equal(refused.length, 1, 'calls refused');
    },
  },
  {
    title: 'a balance below the first pulse prevents a call',
    options: { credit: PRICE.sip - 1 },
    async play(world) {
      const leg = await start(world, xml('<Speak>hello</Speak>'));
      await over(world, leg);
      world.equal((await world.cdrOf(leg)).hangupCauseName, 'Canceled (Out Of Credits)', 'cause');
      world.equal(world.customer.at('/answer').length, 0, 'documents fetched');
    },
  },
  {
    title: 'refuses a call above the limit of concurrent calls and reuses the slot of an ended one',
    options: { concurrentCalls: 3 },
    async play(world) {
      world.customer.on('/answer', xml('<Wait length="60"/><Speak>hello</Speak>'));
      const legs: SimLeg[] = [];
      const more = async (): Promise<SimLeg> => {
        const leg = world.call(await world.phone(`phone${legs.length}`));
        legs.push(leg);
        // The delay prevents one INVITE from overtaking another.
        await world.advance(world.random.between(20, 300));
        return leg;
      };
      for (let i = 0; i < 3; i += 1) await more();
      const refused = await more();
      await over(world, refused);
      world.equal(
        (await world.cdrOf(refused)).hangupCauseName,
        'Concurrency Limit Breached',
        'cause',
      );
      legs[world.random.integer(3)]?.phoneHangsUp();
      await world.advance(200);
      const taken = await more();
      await world.advance(500);
      world.expect(!taken.serviceOver, 'the free slot is taken');
    },
  },
  {
    title: 'calls without a free RTP port are refused, and others continue',
    options: { ports: 4 },
    async play(world) {
      world.customer.on('/answer', xml(`<Play loop="0">${toneFile(FILE_HZ, LONG_MS)}</Play>`));
      const phones = await Promise.all(
        ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => world.phone(name)),
      );
      const legs: SimLeg[] = [];
      for (const phone of phones) {
        legs.push(world.call(phone));
        await world.advance(world.random.between(0, 400));
      }
      await world.advance(1000);
      world.equal(phones.filter((phone) => phone.hears(FILE_HZ)).length, 4, 'calls served');
      world.equal(legs.filter((leg) => leg.serviceOver).length, 2, 'calls refused');
    },
  },
  {
    title: 'calls above the limit per second are refused, and later ones are not',
    options: { callsPerSecond: 2 },
    async play(world) {
      world.customer.on('/answer', xml('<Wait length="60"/>'));
      const phones = await Promise.all(['a', 'b', 'c'].map((name) => world.phone(name)));
      const legs = phones.map((phone) => world.call(phone));
      await world.advance(100);
      world.equal(legs.filter((leg) => leg.serviceOver).length, 1, 'refused calls');
      await world.advance(1100);
      const later = world.call(await world.phone('d'));
      await world.advance(500);
      world.expect(!later.serviceOver, 'the next second has a free slot');
    },
  },
];
