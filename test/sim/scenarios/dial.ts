/** Dial: from two connected phones to all possible interruptions. */
import { assert } from '../../../src/base/errors.ts';
import { SITE, xml } from '../customer.ts';
import { ANSWERS, type Called, type SimLeg } from '../leg.ts';
import type { Scenario } from '../scenario.ts';
import { PRICE } from '../service.ts';
import { HOLD_MUSIC_HZ, toneFile } from '../sounds.ts';
import type { World } from '../world.ts';

const A_HZ = 400;
const B_HZ = 900;
const C_HZ = 1500;
const FILE_HZ = 700;

/** Alice calls, and her document dials Bob. */
async function dialling(world: World, called: Called, attributes = '', inner = '') {
  const alice = await world.phone('alice');
  const bob = await world.phone('bob', { called });
  alice.says = A_HZ;
  bob.says = B_HZ;
  const users = `<User>sip:${bob.username}@registrar.test</User>${inner}`;
  world.customer.on(
    '/answer',
    xml(`<Dial ${attributes}>${users}</Dial><Play>${toneFile(FILE_HZ, 900)}</Play>`),
  );
  world.customer.on('/dialled', xml(`<Play>${toneFile(FILE_HZ, 900)}</Play>`));
  world.customer.on('/events', 200);
  return { alice, bob, leg: world.call(alice) };
}

const otherLeg = (world: World, leg: SimLeg): SimLeg => {
  const other = world.signalling.legs.find((candidate) => candidate !== leg);
  assert(other !== undefined, 'there is a second leg');
  return other;
};

const allOver = (world: World): Promise<void> =>
  world.until('all legs have ended', () => world.signalling.live.length === 0, 40_000);

export const dialScenarios: readonly Scenario[] = [
  {
    title:
      'Dial: two phones are connected; a hangup by any party ends both legs once, each with a record',
    async play(world) {
      const goesOn = world.random.chance(0.5) ? ' redirect="false"' : '';
      const attributes = `action="${SITE}/dialled"${goesOn}`;
      const { alice, bob, leg } = await dialling(
        world,
        ANSWERS,
        `${attributes} callbackUrl="${SITE}/events"`,
      );
      await world.until('both hear each other', () => alice.hears(B_HZ) && bob.hears(A_HZ));
      await world.advance(world.random.between(0, 4000));
      const who = world.random.pick(['alice', 'bob', 'both', 'service'] as const);
      world.notify(`${who} hangs up`);
      const call = world.callOf(leg);
      if (who === 'alice' || who === 'both') leg.phoneHangsUp();
      if (who === 'bob' || who === 'both') otherLeg(world, leg).phoneHangsUp();
      if (who === 'service') call?.hangup('normal', 'API Request');
      if (who === 'bob') {
        alice.forget();
        await world.until('alice hears the next document', () => alice.hears(FILE_HZ));
      }
      await allOver(world);
      await world.advance(1500);
      const [a, b] = [await world.cdrOf(leg), await world.cdrOf(otherLeg(world, leg))];
      world.equal(b.parentCallUuid, a.callUuid, 'parent of the B leg');
      world.equal(a.bridgeUuid, b.callUuid, 'bridge of the A leg');
      world.equal(b.cost, PRICE.sip, 'cost of the B leg');
      if (who === 'bob') {
        world.equal(world.customer.at('/dialled').length, 1, 'actions');
      }
      const events = world.customer
        .at('/events')
        .map(({ parameters }) => parameters['DialAction'] ?? parameters['Event']);
      world.equal(new Set(events).size, events.length, `events of the Dial: ${events.join(' ')}`);
    },
  },
  {
    title:
      'Dial: a party that is busy, refuses, rings without end or does not respond is reported to the action',
    async play(world) {
      const called = world.random.pick<Called>([
        { kind: 'refuses', afterMs: 200, status: 486 },
        { kind: 'refuses', afterMs: 900, status: 603 },
        { kind: 'refuses', afterMs: 10, status: 503 },
        { kind: 'rings' },
        { kind: 'silent' },
        { kind: 'answersWithoutSdp', answerMs: 300 },
      ]);
      world.notify(JSON.stringify(called));
      const { alice, leg } = await dialling(world, called, `action="${SITE}/dialled" timeout="8"`);
      await world.until('alice hears the next document', () => alice.hears(FILE_HZ), 50_000);
      world.equal(world.customer.at('/dialled').length, 1, 'actions');
      const status = world.customer.at('/dialled')[0]?.parameters['DialStatus'];
      world.expect(status !== 'completed', `DialStatus is ${status}`);
      await allOver(world);
      await world.advance(200);
      const { answerUs, cost } = await world.cdrOf(otherLeg(world, leg));
      world.expect(answerUs !== undefined || cost === 0, 'a B leg that was not answered is free');
    },
  },
  {
    title: 'Dial: a hangup of the caller at any moment cancels ringing legs',
    async play(world) {
      const { leg } = await dialling(world, {
        kind: 'answers',
        ringMs: 300,
        answerMs: world.random.between(301, 1500),
      });
      await world.advance(world.random.between(0, 2000));
      leg.phoneHangsUp();
      await allOver(world);
    },
  },
  {
    title: 'Dial: the first of several parties to answer is connected, the others are cancelled',
    async play(world) {
      const carol = await world.phone('carol', {
        called: { kind: 'answers', ringMs: 40, answerMs: world.random.between(100, 700) },
      });
      carol.says = C_HZ;
      const inner = `<User>sip:${carol.username}@registrar.test</User>`;
      const called = {
        kind: 'answers',
        ringMs: 40,
        answerMs: world.random.between(100, 700),
      } as const;
      const { alice, bob } = await dialling(world, called, '', inner);
      await world.until('alice hears one of them', () => alice.hears(B_HZ) || alice.hears(C_HZ));
      await world.advance(1000);
      const received = [bob, carol].filter((phone) => phone.hears(A_HZ)).length;
      world.equal(received, 1, 'parties that hear alice');
      world.equal(world.signalling.live.length, 2, 'legs');
    },
  },
  {
    title: 'Dial: early media of the called party is played before the answer',
    async play(world) {
      const { alice, leg } = await dialling(
        world,
        {
          kind: 'earlyMedia',
          ringMs: 100,
          answerMs: 3000,
        },
        world.random.pick(['', 'dialMusic="real"']),
      );
      await world.until('alice hears early media', () => alice.hears(B_HZ), 3000);
      world.expect(otherLeg(world, leg).state === 'early', 'the call is not answered');
      await world.until('bob answers', () => otherLeg(world, leg).answered);
      await world.advance(500);
      world.expect(alice.hears(B_HZ), 'alice hears bob');
    },
  },
  {
    title: 'Dial: a party on hold hears music until the call is resumed',
    async play(world) {
      const { alice, bob, leg } = await dialling(world, ANSWERS);
      const hearEachOther = (): boolean => alice.hears(B_HZ) && bob.hears(A_HZ);
      await world.until('both hear each other', hearEachOther);
      const callerHolds = world.random.chance(0.5);
      const holding = callerHolds ? leg : otherLeg(world, leg);
      const [holder, held] = callerHolds ? [alice, bob] : [bob, alice];
      const brings = world.random.pick(['music', 'silence', 'nothing'] as const);
      const how = world.random.pick(['inactive', 'sendonly'] as const);
      if (brings === 'silence') holder.says = undefined;
      holding.reinvite(how);
      await world.advance(50);
      if (brings === 'nothing') holder.present = false;
      await world.advance(1500);
      for (const phone of [alice, bob]) phone.forget();
      await world.advance(world.random.between(500, 4000));
      world.expect(holder.hearsNothing(), 'the holding party hears nothing');
      const ownMusic = brings === 'music' && how === 'sendonly';
      const hz = ownMusic ? (callerHolds ? A_HZ : B_HZ) : HOLD_MUSIC_HZ;
      world.expect(held.hears(hz), `the held party hears ${hz} Hz`);
      holder.says = callerHolds ? A_HZ : B_HZ;
      holder.present = true;
      holding.reinvite('sendrecv');
      await world.until('both hear each other again', hearEachOther);
      await world.advance(100);
      held.forget();
      await world.advance(500);
      world.expect(!held.hears(HOLD_MUSIC_HZ), 'the music has ended');
    },
  },
  {
    title: 'Dial: a called phone that vanishes ends the Dial, and the caller continues',
    async play(world) {
      const { alice, bob, leg } = await dialling(world, ANSWERS, `action="${SITE}/dialled"`);
      await world.until('both hear each other', () => alice.hears(B_HZ) && bob.hears(A_HZ));
      bob.present = false;
      await world.until('alice hears the next document', () => alice.hears(FILE_HZ), 20_000);
      await allOver(world);
      await world.advance(300);
      const b = await world.cdrOf(otherLeg(world, leg));
      world.equal(b.hangupCauseName, 'Media Timeout', 'cause of the B leg');
    },
  },
  {
    title: 'Dial: both legs continue separately after a transfer, each with its own document',
    async play(world) {
      const { alice, bob, leg } = await dialling(world, ANSWERS);
      await world.until('both hear each other', () => alice.hears(B_HZ) && bob.hears(A_HZ));
      world.customer.on('/a', xml(`<Play loop="0">${toneFile(FILE_HZ, 2000)}</Play>`));
      world.customer.on('/b', xml(`<Play loop="0">${toneFile(C_HZ, 2000)}</Play>`));
      const call = world.callOf(leg);
      assert(call !== undefined, 'the call is active');
      const to = (path: string) => ({ url: `${SITE}${path}`, method: 'POST' }) as const;
      const { control, accountId } = world.service;
      const legs = { legs: 'both', aleg: to('/a'), bleg: to('/b') } as const;
      const done = await control.transfer(accountId, call.uuid, legs);
      world.expect(done.ok, 'the transfer is accepted');
      await world.until('each hears its own', () => alice.hears(FILE_HZ) && bob.hears(C_HZ));
      const isAliceFirst = world.random.chance(0.5);
      (isAliceFirst ? leg : otherLeg(world, leg)).phoneHangsUp();
      await world.advance(1000);
      world.expect(!(isAliceFirst ? bob : alice).hearsNothing(), 'the other continues');
    },
  },
  {
    title: 'Dial: the star, the time limit and matched digits have their documented effect',
    async play(world) {
      const way = world.random.pick(['star', 'limit'] as const);
      const attributes = `hangupOnStar="true" timeLimit="6" action="${SITE}/dialled" digitsMatch="12" callbackUrl="${SITE}/events"`;
      const { alice, bob } = await dialling(world, ANSWERS, attributes);
      await world.until('both hear each other', () => alice.hears(B_HZ) && bob.hears(A_HZ));
      alice.press('12');
      await world.until('the digits are reported', () =>
        world.customer
          .at('/events')
          .some(({ parameters }) => parameters['DialDigitsMatch'] === '12'),
      );
      await world.advance(300);
      if (way === 'star') alice.press('*');
      await world.until('alice hears the next document', () => alice.hears(FILE_HZ), 8000);
      world.equal(
        world.customer.at('/dialled')[0]?.parameters['DialStatus'],
        'completed',
        'status',
      );
    },
  },
];
