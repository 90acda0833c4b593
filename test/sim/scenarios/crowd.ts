/** Combined load: many calls with every element, random commands over REST, a bad network and a bad customer. */
import type { Call } from '../../../src/domain/call/call.ts';
import { EchoBot, TalkingBot } from '../bots.ts';
import { type Reply, SITE, xml } from '../customer.ts';
import { ANSWERS, type Called, type SimLeg } from '../leg.ts';
import { ROUGH } from '../network.ts';
import type { Scenario } from '../scenario.ts';
import { toneFile } from '../sounds.ts';
import type { World } from '../world.ts';
import { BOT, ELEMENTS, interrupt } from './calls.ts';

const CALLERS = 7;
const SECONDS = 25;
const TONE_HZ = 700;
const OWN_NUMBER = '14155550100';
const FAR = ['14155550111', '14155550112', '14155550113', '14155550114', '442079460999'];

type Command = (world: World, call: Call) => Promise<unknown>;

const target = (path: string) => ({ url: `${SITE}${path}`, method: 'POST' }) as const;

/** Commands that a customer may send for an active call. Refusals are allowed, but leftover state is not. */
const COMMANDS: readonly Command[] = [
  ({ service }, { uuid }) =>
    service.control.transfer(service.accountId, uuid, {
      legs: 'both',
      aleg: target('/answer'),
      bleg: target('/answer'),
    }),
  ({ service }, { uuid }) =>
    service.control.play(service.accountId, uuid, {
      urls: [toneFile(TONE_HZ, 1500)],
      lengthMs: 5000,
      legs: 'both',
      loop: true,
      mix: true,
    }),
  ({ service }, { uuid }) => service.control.stopPlay(service.accountId, uuid),
  ({ service }, { uuid }) =>
    service.control.speak(service.accountId, uuid, {
      text: 'an announcement',
      voice: 'WOMAN',
      language: 'en-US',
      legs: 'aleg',
      loop: false,
      mix: true,
    }),
  ({ service }, { uuid }) =>
    service.control.startRecording(service.accountId, uuid, {
      maxMs: 5000,
      format: 'wav',
      channels: 'stereo',
      callback: target('/status'),
    }),
  ({ service }, { uuid }) => service.control.stopRecording(service.accountId, uuid, undefined),
  ({ service }, { uuid }) =>
    service.control.sendDigits(service.accountId, uuid, { digits: '1w2', toneMs: 100 }, 'aleg'),
  ({ service }, { uuid }) =>
    service.control.startStream(service.accountId, uuid, {
      serviceUrl: BOT,
      bidirectional: false,
      audioTrack: 'both',
      timeoutMs: 600_000,
      encoding: 'audio/x-mulaw',
      rate: 8000,
      statusCallback: target('/status'),
      extraHeaders: [],
    }),
  ({ service }, { uuid }) => service.control.stopStream(service.accountId, uuid, undefined),
  ({ service, random }) =>
    service.control.conferenceMembers(service.accountId, 'room', 'all', {
      kind: random.pick(['mute', 'unmute', 'deaf', 'undeaf', 'kick', 'hangup', 'stopPlay']),
    }),
  ({ service }) =>
    service.control.conferenceMembers(service.accountId, 'room', 'all', {
      kind: 'play',
      url: toneFile(TONE_HZ, 3000),
    }),
  ({ service }) =>
    service.control.recordConference(service.accountId, 'room', {
      maxMs: 4000,
      format: 'wav',
      channels: 'mono',
      callback: target('/status'),
    }),
  (world) => placeSome(world),
  async ({ service, random }) => {
    const queued = await service.control.liveCalls(service.accountId, 'queued');
    if (queued.length === 0) return undefined;
    return service.control.hangup(service.accountId, random.pick(queued).callUuid);
  },
];

const LAST_COMMANDS: readonly Command[] = [
  ({ service }, { uuid }) => service.control.hangup(service.accountId, uuid),
  ({ service }) => service.control.endConference(service.accountId, 'room'),
];
const LAST_SHARE = 0.06;

/** Places calls with random options. */
function placeSome({ service, random }: World): Promise<unknown> {
  const numbers = Array.from({ length: random.between(1, 4) }, () => random.pick(FAR));
  return service.control.placeCalls({
    accountId: service.accountId,
    subAccount: undefined,
    from: OWN_NUMBER,
    destinations: numbers.map((number) => ({ kind: 'number', number })),
    answer: target('/answer'),
    ring: target('/status'),
    hangup: target('/hangup'),
    fallback: random.chance(0.5) ? target('/fallback') : undefined,
    machineDetection: random.chance(0.4)
      ? {
          mode: random.pick(['detect', 'hangup']),
          callback: random.chance(0.5) ? target('/status') : undefined,
          totalMs: 5000,
          maximumSpeechMs: 5000,
          initialSilenceMs: 4500,
          maximumWords: 3,
          initialGreetingMs: 1500,
        }
      : undefined,
    callerName: 'Sim',
    sendDigits: random.chance(0.3) ? { digits: 'w12', toneMs: 100 } : undefined,
    sendOnPreanswer: random.chance(0.5),
    timeLimitMs: random.between(1, 20) * 1000,
    hangupOnRingMs: random.chance(0.3) ? random.between(0, 3) * 1000 : undefined,
    ringTimeoutMs: random.chance(0.5) ? random.between(1, 10) * 1000 : undefined,
    sipHeaders: [['Test', 'yes']],
    idempotencyKey: random.chance(0.2) ? `key ${random.integer(3)}` : undefined,
  });
}

/** Response of a web server that works most of the time. */
const mostly = (world: World, well: () => Reply) => (): Reply =>
  world.random.chance(0.9) ? well() : world.random.pick([500, 'silence', { failure: 'connect' }]);

const CALLED: readonly Called[] = [
  ANSWERS,
  { kind: 'earlyMedia', ringMs: 80, answerMs: 1200 },
  { kind: 'rings' },
  { kind: 'refuses', afterMs: 300, status: 486 },
  { kind: 'refuses', afterMs: 20, status: 503 },
  { kind: 'answersWithoutSdp', answerMs: 200 },
];

async function people(world: World): Promise<void> {
  const { provisioning, accountId } = world.service;
  const own = { e164: OWN_NUMBER, country: 'US', currency: 'USD', accountId };
  const added = await provisioning.numbers.add(own);
  world.expect(added.ok, 'the account has a number');
  for (const number of FAR) {
    world.farPhone(number, { called: world.random.pick(CALLED) }).says = 500;
  }
}

async function crowd(world: World): Promise<void> {
  const { customer, random, streams, network } = world;
  network.weather = ROUGH;
  await people(world);
  const documents = Object.values(ELEMENTS);
  const document = (): Reply => xml(random.pick(documents));
  for (const path of ['/answer', '/fallback', '/digits', '/recorded', '/dialled']) {
    customer.on(path, mostly(world, document));
  }
  customer.on('/status', 200);
  customer.on('/confirm', xml('<Speak>press five</Speak>'));
  streams.serve(BOT, () =>
    random.pick([() => new TalkingBot(900), () => new EchoBot(), () => undefined])(),
  );
  const legs: SimLeg[] = [];
  for (let i = 0; i < CALLERS; i += 1) {
    const phone = await world.phone(`phone${i}`, { codec: random.pick(['PCMU', 'PCMA']) });
    phone.says = 300 + 100 * i;
    documents.push(
      `<Dial callerId="${OWN_NUMBER}" timeout="6" timeLimit="5" hangupOnStar="true"><Number>${random.pick(FAR)}</Number><Number>${random.pick(FAR)}</Number></Dial>`,
      `<Dial callerId="${OWN_NUMBER}" confirmSound="${SITE}/confirm" confirmKey="5" action="${SITE}/dialled" callbackUrl="${SITE}/status"><Number>${random.pick(FAR)}</Number></Dial>`,
      `<Conference startConferenceOnEnter="${random.chance(0.5)}" endConferenceOnExit="${random.chance(0.3)}" maxMembers="3" record="true" recordFileFormat="wav" hangupOnStar="true" callbackUrl="${SITE}/status" action="${SITE}/dialled">room</Conference>`,
    );
    documents.push(
      `<Dial callerId="${phone.username}"><User>sip:${phone.username}@registrar.test</User></Dial>`,
    );
    legs.push(world.call(phone));
    await world.advance(random.between(0, 700));
  }
  for (let ms = 0; ms < SECONDS * 1000; ) {
    const pauseMs = random.between(5, 400);
    ms += pauseMs;
    await world.advance(pauseMs);
    disturb(world, legs);
  }
}

function disturb(world: World, legs: readonly SimLeg[]): void {
  const { random, service } = world;
  const leg = random.pick(world.signalling.legs);
  const what = random.share();
  if (what < 0.02) interrupt(world, random.pick(legs));
  else if (what < 0.15) leg.phone?.press(random.pick(['1', '5#', '*']));
  else if (what < 0.2) leg.reinvite(random.pick(['sendonly', 'sendrecv', 'inactive']));
  else if (what < 0.22 && leg.phone !== undefined) leg.phone.present = false;
  else {
    const live = service.callBilling.live();
    if (live.length === 0) return;
    const call = random.pick(live);
    const commands = random.chance(LAST_SHARE) ? LAST_COMMANDS : COMMANDS;
    const number = random.integer(commands.length);
    world.notify(`command ${number} of ${commands.length} for ${call.uuid.slice(0, 8)}`);
    void commands[number]?.(world, call);
  }
}

const LEAVES_NOTHING =
  'many simultaneous calls, commands at any moment, a bad network and a bad customer';

export const crowdScenarios: readonly Scenario[] = [
  { title: `${LEAVES_NOTHING} leave no state`, play: crowd },
  {
    title: `${LEAVES_NOTHING}: limits of calls and money hold`,
    options: { concurrentCalls: 5, callsPerSecond: 3, credit: 60_000 },
    play: crowd,
  },
];
