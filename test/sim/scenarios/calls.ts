/** Calls from their first message to their record: invalid documents, failing servers, ends of all kinds. */
import { TalkingBot } from '../bots.ts';
import { SITE, xml } from '../customer.ts';
import type { SimLeg } from '../leg.ts';
import type { Scenario } from '../scenario.ts';
import { MEDIA_TIMEOUT_MS, REDIRECTS_PER_MINUTE } from '../service.ts';
import { toneFile } from '../sounds.ts';
import type { World } from '../world.ts';

export const BOT = 'wss://bot.test/ws';
const FILE_HZ = 700;
const MOVED_HZ = 1300;
const LONG_MS = 4000;

/** One document for each element, each long enough to be interrupted. */
export const ELEMENTS: Readonly<Record<string, string>> = {
  speak: '<Speak>it takes quite a while to say all of this, and then it is said again</Speak>',
  play: `<Play loop="0">${toneFile(FILE_HZ, LONG_MS)}</Play>`,
  playMissing: '<Play>https://files.test/missing.wav</Play><Wait length="5"/>',
  wait: '<Wait length="5"/><Wait length="6"/>',
  waitForSilence: '<Wait length="8" silence="true" minSilence="3000"/>',
  digits: `<GetDigits action="${SITE}/digits" timeout="6"><Play>${toneFile(FILE_HZ, LONG_MS)}</Play></GetDigits>`,
  input: `<GetInput action="${SITE}/digits" inputType="dtmf" executionTimeout="8"><Speak>press a key, whichever you like</Speak></GetInput>`,
  record: `<Record action="${SITE}/recorded" callbackUrl="${SITE}/status" maxLength="6" fileFormat="wav"/>`,
  session: `<Record recordSession="true" redirect="false" fileFormat="mp3" callbackUrl="${SITE}/status"/><Wait length="9"/>`,
  stream: `<Stream bidirectional="true" keepCallAlive="true" statusCallbackUrl="${SITE}/status">${BOT}</Stream>`,
  background: `<Stream audioTrack="both">${BOT}</Stream><Play>${toneFile(FILE_HZ, LONG_MS)}</Play><Wait length="4"/>`,
  conference: `<Conference callbackUrl="${SITE}/status" waitSound="">room</Conference>`,
  dialEndpoint: '<Dial><User>sip:nobody@registrar.test</User></Dial>',
  preAnswer: `<PreAnswer><Play>${toneFile(FILE_HZ, LONG_MS)}</Play></PreAnswer><Speak>answered now</Speak><Wait length="4"/>`,
  dtmf: '<DTMF>12w34W56</DTMF><Wait length="6"/>',
  redirect: `<Wait length="2"/><Redirect>${SITE}/answer</Redirect>`,
  scheduled: '<Hangup schedule="4" reason="rejected"/><Wait length="10"/>',
};

export async function start(world: World, document: string): Promise<SimLeg> {
  world.customer.on('/answer', document);
  world.customer.on('/status', 200);
  world.customer.on('/digits', xml('<Speak>thank you</Speak>'));
  world.customer.on('/recorded', xml('<Speak>recorded</Speak>'));
  world.streams.serve(BOT, () => new TalkingBot(900));
  const phone = await world.phone('alice');
  phone.says = 400;
  return world.call(phone);
}

export async function over(world: World, ...legs: SimLeg[]): Promise<void> {
  await world.until('the legs have ended', () => legs.every((leg) => leg.serviceOver), 20_000);
  await world.advance(1000);
}

/** Ends a call in one of the possible ways, or in several at the same time. */
export function interrupt(world: World, leg: SimLeg): void {
  const call = world.callOf(leg);
  const { control, accountId } = world.service;
  const byRest = (): void => {
    if (call !== undefined) void control.hangup(accountId, call.uuid);
  };
  const ways: readonly (() => void)[] = [
    () => leg.phoneHangsUp(),
    byRest,
    () => {
      leg.phoneHangsUp();
      byRest();
      leg.phoneHangsUp();
    },
    () => {
      call?.hangup('normal', 'API Request');
      call?.hangup('internalError', 'Error');
    },
    () => {
      byRest();
      byRest();
      leg.phoneHangsUp();
    },
  ];
  // A call that the service does not know yet can only be ended by its phone.
  const way = call === undefined ? 0 : world.random.integer(ways.length);
  world.notify(`${leg.id} is interrupted, way ${way}`);
  ways[way]?.();
}

export const callScenarios: readonly Scenario[] = [
  ...Object.entries(ELEMENTS).map(([name, document]) => ({
    title: `a hangup at any moment, from either side or both, ends the call cleanly: ${name}`,
    async play(world: World) {
      const leg = await start(world, xml(document));
      await world.advance(world.random.between(0, world.random.pick([60, 400, 8000])));
      interrupt(world, leg);
      await over(world, leg);
    },
  })),
  ...Object.entries(ELEMENTS).map(([name, document]) => ({
    title: `a transfer at any moment replaces the document, and the new one is played: ${name}`,
    async play(world: World) {
      const leg = await start(world, xml(document));
      world.customer.on('/moved', xml(`<Play loop="0">${toneFile(MOVED_HZ, LONG_MS)}</Play>`));
      await world.until(
        'the call is known or over',
        () => world.callOf(leg) !== undefined || leg.serviceOver,
      );
      await world.advance(world.random.between(30, world.random.pick([200, 3500])));
      const call = world.callOf(leg);
      if (call === undefined) return;
      const { control, accountId } = world.service;
      const aleg = { url: `${SITE}/moved`, method: 'POST' } as const;
      world.notify('transferred');
      const done = await control.transfer(accountId, call.uuid, {
        legs: 'aleg',
        aleg,
        bleg: undefined,
      });
      if (!done.ok) return;
      await world.until('the next document is played', () => leg.atPhone.hears(MOVED_HZ));
      interrupt(world, leg);
      await over(world, leg);
    },
  })),
  {
    title: 'an invalid answer document ends the call as Invalid Answer XML, source Error',
    async play(world) {
      const document = world.random.pick([
        '<Response><Dance/></Response>',
        '<Response><Play>https://files.test/a?b=1&c=2</Play></Response>',
        '<Response><Speak>not closed</Response>',
        'this is not a document',
        '<html><body>502 Bad Gateway</body></html>',
        '<Response><Wait length="many"/></Response>',
        '<!DOCTYPE r [<!ENTITY a "aaaa">]><Response><Speak>&a;</Speak></Response>',
        '',
      ]);
      const leg = await start(world, document);
      await over(world, leg);
      const cdr = await world.cdrOf(leg);
      world.equal(cdr.hangupCauseName, 'Invalid Answer XML', 'cause');
      world.equal(cdr.hangupSource, 'Error', 'source');
      world.equal(cdr.cost, 0, 'cost');
      world.equal(
        world.customer.reported('/hangup', cdr.callUuid).length,
        1,
        'hangup notifications',
      );
    },
  },
  {
    title: 'a failing answer URL is retried, then the fallback URL is used',
    async play(world) {
      const failure = world.random.pick([
        500,
        503,
        404,
        { failure: 'connect' },
        { failure: 'timeout' },
        'silence',
      ] as const);
      const leg = await start(world, '');
      world.customer.on('/answer', failure);
      world.customer.on('/fallback', xml('<Speak>sorry</Speak>'));
      await world.until('the call is answered', () => leg.answered, 61_000);
      await over(world, leg);
      const cdr = await world.cdrOf(leg);
      world.equal(cdr.hangupCauseName, 'End Of XML Instructions', 'cause');
      const tries = world.customer.at('/answer').length;
      world.expect(tries >= 2 && tries <= 4, `the answer URL was asked ${tries} times`);
    },
  },
  {
    title: 'without an answer from any URL the call ends with the answer URL error and is free',
    async play(world) {
      const leg = await start(world, '');
      world.customer.on('/answer', { failure: 'connect' });
      world.customer.on('/fallback', 500);
      await world.until('the leg has ended', () => leg.serviceOver, 125_000);
      await over(world, leg);
      const cdr = await world.cdrOf(leg);
      world.equal(cdr.hangupCauseCode, 7011, 'cause');
      world.equal(cdr.cost, 0, 'cost');
    },
  },
  {
    title: 'a caller who cancels while the answer URL is slow leaves no state',
    async play(world) {
      const leg = await start(world, '');
      world.customer.on('/answer', 'silence');
      await world.advance(world.random.between(0, 9000));
      leg.phoneHangsUp();
      await over(world, leg);
      const cdr = await world.cdrOf(leg);
      world.equal(cdr.hangupCauseName, 'Canceled', 'cause');
      world.equal(cdr.hangupSource, 'Caller', 'source');
    },
  },
  {
    title: 'a failing hangup URL is retried up to the limit',
    async play(world) {
      const leg = await start(world, xml('<Speak>hello</Speak>'));
      let failures = world.random.between(0, 6);
      const total = failures;
      world.customer.on('/hangup', () => {
        failures -= 1;
        return failures >= 0
          ? world.random.pick([500, 'silence', { failure: 'connect' }] as const)
          : 200;
      });
      await over(world, leg);
      await world.rest(60_000);
      const tries = world.customer.at('/hangup').length;
      world.equal(tries, Math.min(total, 3) + 1, 'attempts');
      world.customer.requested.length = 0;
    },
  },
  {
    title: 'a document that redirects to itself forever is stopped without affecting others',
    async play(world) {
      const leg = await start(world, xml(`<Redirect>${SITE}/answer</Redirect>`));
      await over(world, leg);
      const cdr = await world.cdrOf(leg);
      world.equal(cdr.hangupCauseName, 'Loop Detected', 'cause');
      world.equal(world.customer.at('/answer').length, REDIRECTS_PER_MINUTE, 'documents fetched');
    },
  },
  {
    title: 'a phone that vanishes is noticed: Media Timeout',
    async play(world) {
      const leg = await start(world, xml(`<Play loop="0">${toneFile(FILE_HZ, LONG_MS)}</Play>`));
      await world.until('the call is answered', () => leg.answered);
      await world.advance(world.random.between(200, 5000));
      leg.atPhone.present = false;
      const fromMs = world.clock.monotonicMs();
      await over(world, leg);
      const tookMs = world.clock.monotonicMs() - fromMs - 1000;
      world.expect(Math.abs(tookMs - MEDIA_TIMEOUT_MS) < 1000, `noticed after ${tookMs} ms`);
      world.equal((await world.cdrOf(leg)).hangupCauseName, 'Media Timeout', 'cause');
    },
  },
  {
    title: 'a phone that vanishes before its ACK is abandoned',
    async play(world) {
      const leg = await start(world, xml('<Wait length="1"/><Speak>hello</Speak>'));
      await world.advance(world.random.between(100, 900));
      leg.atPhone.present = false;
      await world.until('the leg has ended', () => leg.serviceOver, 40_000);
      await over(world, leg);
    },
  },
  {
    title: 'hold, resume and a new address keep the call; the media timeout is suspended on hold',
    async play(world) {
      const leg = await start(world, xml(`<Play loop="0">${toneFile(FILE_HZ, LONG_MS)}</Play>`));
      const phone = leg.atPhone;
      await world.until('the phone hears the file', () => phone.hears(FILE_HZ));
      leg.reinvite(world.random.pick(['sendonly', 'inactive'] as const));
      await world.advance(500);
      phone.forget();
      await world.advance(world.random.between(1000, 2 * MEDIA_TIMEOUT_MS));
      world.expect(phone.hearsNothing(), 'on hold nothing is heard');
      world.expect(!leg.serviceOver, 'a call on hold is active');
      leg.reinvite(
        'sendrecv',
        world.random.chance(0.5) ? { address: '203.0.113.9', port: 9000 } : undefined,
      );
      await world.until('the phone hears the file again', () => phone.hears(FILE_HZ));
      leg.phoneHangsUp();
      await over(world, leg);
      world.equal((await world.cdrOf(leg)).hangupCauseName, 'Normal Hangup', 'cause');
    },
  },
  {
    title: 'a phone behind NAT sends and receives audio; no packet is sent to its private address',
    async play(world) {
      world.customer.on('/answer', xml(`<Play loop="0">${toneFile(FILE_HZ, LONG_MS)}</Play>`));
      const phone = await world.phone('alice', { inside: '10.0.0.5' });
      let strays = 0;
      world.network.listen({ address: '10.0.0.5', port: phone.place.port }, () => {
        strays += 1;
      });
      phone.says = 400;
      const leg = world.signalling.call(phone, { username: phone.username });
      await world.until('the phone hears the file', () => phone.hears(FILE_HZ));
      leg.phoneHangsUp();
      await over(world, leg);
      world.equal(strays, 0, 'packets to the private address');
    },
  },
  {
    title:
      'an unusable offer gets 488 and the call continues; an INVITE without SDP gets our offer',
    async play(world) {
      world.customer.on('/answer', xml(`<Play loop="0">${toneFile(FILE_HZ, LONG_MS)}</Play>`));
      const phone = await world.phone('alice');
      phone.says = 400;
      const leg = world.signalling.call(phone, { username: phone.username, offers: false });
      await world.until('the phone hears the file', () => phone.hears(FILE_HZ));
      const refused = leg.reinviteWith(
        phone.sdp().replace(/^m=audio.*$/m, 'm=audio 4000 RTP/AVP 18'),
      );
      world.equal(refused, undefined, 'answer to the offer');
      await world.advance(300);
      world.expect(phone.hears(FILE_HZ), 'the old session continues');
      leg.phoneHangsUp();
      await over(world, leg);
    },
  },
];
