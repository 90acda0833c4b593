/** Everything at once: many calls with every element, commands over REST at random, a bad network and a bad customer. */
import type { Call } from '../../../src/domain/call/call.ts';
import { EchoBot, TalkingBot } from '../bots.ts';
import { type Reply, SITE, xml } from '../customer.ts';
import { ROUGH } from '../network.ts';
import type { Scenario } from '../scenario.ts';
import type { SimLeg } from '../signalling.ts';
import { toneFile } from '../sounds.ts';
import type { World } from '../world.ts';
import { BOT, ELEMENTS, interrupt } from './calls.ts';

const CALLERS = 7;
const SECONDS = 20;
const TONE_HZ = 700;

type Command = (world: World, call: Call) => Promise<unknown>;

const target = (path: string) => ({ url: `${SITE}${path}`, method: 'POST' }) as const;

/** What a customer may ask of a call that lives. Refusals are fine; what is left behind is not. */
const COMMANDS: readonly Command[] = [
  ({ service }, { uuid }) => service.control.hangup(service.accountId, uuid),
  ({ service }, { uuid }) =>
    service.control.transfer(service.accountId, uuid, {
      legs: 'both',
      aleg: target('/answer'),
      bleg: target('/answer'),
    }),
  ({ service }, { uuid }) =>
    service.control.play(service.accountId, uuid, {
      urls: [toneFile(TONE_HZ, 1500)],
      lengthS: 5,
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
      maxSeconds: 5,
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
      timeoutS: 600,
      encoding: 'audio/x-mulaw',
      rate: 8000,
      statusCallback: target('/status'),
      extraHeaders: [],
    }),
];

/** A web server that is mostly well. */
const mostly = (world: World, well: () => Reply) => (): Reply =>
  world.random.chance(0.9) ? well() : world.random.pick([500, 'silence', { failure: 'connect' }]);

async function crowd(world: World): Promise<void> {
  const { customer, random, streams, network } = world;
  network.weather = ROUGH;
  const documents = Object.values(ELEMENTS);
  const document = (): Reply => xml(random.pick(documents));
  for (const path of ['/answer', '/fallback', '/digits', '/recorded', '/dialled']) {
    customer.on(path, mostly(world, document));
  }
  customer.on('/status', 200);
  streams.serve(BOT, () =>
    random.pick([() => new TalkingBot(900), () => new EchoBot(), () => undefined])(),
  );
  const legs: SimLeg[] = [];
  for (let i = 0; i < CALLERS; i += 1) {
    const phone = await world.phone(`phone${i}`, { codec: random.pick(['PCMU', 'PCMA']) });
    phone.says = 300 + 100 * i;
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
  if (what < 0.05) interrupt(world, random.pick(legs));
  else if (what < 0.15) leg.phone?.press(random.pick(['1', '5#', '*']));
  else if (what < 0.2) leg.reinvite(random.pick(['sendonly', 'sendrecv', 'inactive']));
  else if (what < 0.22) leg.atPhone.present = false;
  else {
    const live = service.keeper.live();
    if (live.length === 0) return;
    const call = random.pick(live);
    const number = random.integer(COMMANDS.length);
    world.tell(`command ${number} for ${call.uuid.slice(0, 8)}`);
    void COMMANDS[number]?.(world, call);
  }
}

export const crowdScenarios: readonly Scenario[] = [
  {
    title:
      'many calls at once, commands at any moment, a bad network and a bad customer leave nothing behind',
    play: crowd,
  },
];
