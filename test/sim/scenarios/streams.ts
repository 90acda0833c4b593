/** Audio streams with a bot. */
import { EchoBot, TalkingBot } from '../bots.ts';
import { SITE, xml } from '../customer.ts';
import type { SimLeg } from '../leg.ts';
import { ROUGH } from '../network.ts';
import type { Scenario } from '../scenario.ts';
import { PRICE } from '../service.ts';
import { VOICE_HZ } from '../sounds.ts';
import type { World } from '../world.ts';

const BOT = 'wss://bot.test/ws';
const PHONE_HZ = 400;
const BOT_HZ = 900;
const SECOND_HZ = 1300;

const streamDocument = (world: World, attributes = ''): string => {
  const contentType = world.random.pick([
    'audio/x-l16;rate=8000',
    'audio/x-l16;rate=16000',
    'audio/x-mulaw;rate=8000',
  ]);
  return xml(
    `<Stream bidirectional="true" keepCallAlive="true" contentType="${contentType}" ${attributes}>${BOT}</Stream>`,
  );
};

async function talk(world: World, bot: TalkingBot, attributes = ''): Promise<SimLeg> {
  world.customer.on('/answer', streamDocument(world, attributes));
  world.streams.serve(BOT, () => bot);
  const phone = await world.phone('alice', {
    codec: world.random.pick(['PCMU', 'PCMA']),
    keypadEvents: world.random.chance(0.7),
  });
  phone.says = PHONE_HZ;
  const leg = world.call(phone);
  await world.until('the bot hears the phone', () => bot.hears(PHONE_HZ));
  return leg;
}

export const streamScenarios: readonly Scenario[] = [
  {
    title:
      'a phone and a bot hear each other until one of them hangs up; the stream is billed separately',
    async play(world) {
      const bot = new TalkingBot(BOT_HZ, 1500);
      const leg = await talk(world, bot);
      const { phone } = leg;
      await world.until('the phone hears the bot', () => phone?.hears(BOT_HZ) === true);
      await world.until('all that was queued has been played', () => bot.played.length === 1);
      await world.advance(world.random.between(0, 3000));
      const who = world.random.pick(['phone', 'bot', 'service'] as const);
      world.notify(`${who} hangs up`);
      if (who === 'phone') leg.phoneHangsUp();
      else if (who === 'bot') bot.send('stop');
      else world.callOf(leg)?.hangup('normal', 'API Request');
      await world.until('the leg has ended', () => leg.serviceOver && leg.isOver);
      await world.advance(500);
      world.expect(bot.isClosed, 'the socket is closed');
      world.equal(bot.gaps, 0, 'gaps in the sequence numbers');
      const cdr = await world.cdrOf(leg);
      world.equal(
        cdr.hangupCauseName,
        who === 'bot' ? 'End Of XML Instructions' : 'Normal Hangup',
        'cause',
      );
      world.equal(cdr.cost, PRICE.sip, 'cost of the voice');
      world.equal(cdr.streamingCost, PRICE.stream, 'cost of the stream');
    },
  },
  {
    title: 'a network that loses, reorders and repeats packets does not interrupt a conversation',
    async play(world) {
      world.network.weather = ROUGH;
      world.customer.on('/answer', streamDocument(world));
      world.streams.serve(BOT, () => new EchoBot());
      const phone = await world.phone('alice');
      phone.says = PHONE_HZ;
      const leg = world.call(phone);
      await world.until('the phone hears itself', () => phone.hears(PHONE_HZ));
      await world.advance(5000);
      world.expect(phone.hears(PHONE_HZ), 'the phone still hears itself');
      leg.phoneHangsUp();
      await world.advance(300);
      const { quality } = await world.cdrOf(leg);
      world.expect((quality?.packetsReceived ?? 0) > 200, 'packets are counted');
      world.expect((quality?.lossFraction ?? 0) < 0.1, 'the loss is about that of the network');
    },
  },
  {
    title: 'audio of a bot can be cleared, and checkpoints of cleared audio are not reported',
    async play(world) {
      const bot = new TalkingBot(BOT_HZ, 8000);
      const leg = await talk(world, bot);
      await world.until('the phone hears the bot', () => leg.atPhone.hears(BOT_HZ));
      bot.send('clearAudio');
      await world.until('the bot is notified', () => bot.events.includes('clearedAudio'));
      await world.advance(350);
      world.expect(leg.atPhone.hearsNothing(), 'the phone hears nothing');
      bot.speak(SECOND_HZ, 500);
      await world.until('the phone hears the next audio', () => leg.atPhone.hears(SECOND_HZ));
      await world.until('its checkpoint is reported', () => bot.played.length > 0);
      world.equal(bot.played.join(), String(SECOND_HZ), 'checkpoints');
    },
  },
  {
    title: 'digits reach the bot, and digits of the bot reach the phone',
    async play(world) {
      const bot = new TalkingBot(undefined);
      const leg = await talk(world, bot);
      leg.atPhone.press('42#');
      await world.until('the bot has three keys', () => bot.keys.length === 3);
      world.equal(bot.keys.join(''), '42#', 'keys of the phone');
      bot.send('sendDTMF', { dtmf: '789' });
      await world.advance(1500);
      if (leg.atPhone.keypadEvents)
        world.equal(leg.atPhone.receivedKeys.join(''), '789', 'keys of the bot');
    },
  },
  {
    title:
      'a bot that is unreachable or drops its socket is reported to the customer, and the document continues',
    async play(world) {
      const refuses = world.random.chance(0.5);
      const bot = new TalkingBot(BOT_HZ);
      const retries = world.random.between(0, 2);
      world.customer.on('/status', 200);
      world.customer.on(
        '/answer',
        xml(
          `<Stream bidirectional="true" keepCallAlive="true" maxRetries="${retries}" statusCallbackUrl="${SITE}/status">${BOT}</Stream><Speak>the bot is gone</Speak>`,
        ),
      );
      let connections = 0;
      world.streams.serve(BOT, () => {
        connections += 1;
        return refuses ? undefined : bot;
      });
      const phone = await world.phone('alice');
      phone.says = PHONE_HZ;
      const leg = world.call(phone);
      while (!refuses && bot.drops <= retries && !leg.serviceOver) {
        const before = connections;
        await world.until('a connection is open', () => connections > before - 1 && bot.isOpen);
        await world.advance(world.random.between(50, 900));
        bot.drop();
        await world.advance(50);
      }
      await world.until('the document continues', () => phone.hears(VOICE_HZ), 20_000);
      await world.until('the leg has ended', () => leg.serviceOver);
      await world.advance(500);
      world.equal(connections, retries + 1, 'connections');
      const events = world.customer.at('/status').map(({ parameters }) => parameters['Event']);
      world.equal(events.filter((event) => event === 'DroppedStream').length, 1, 'DroppedStream');
      const { streams } = await world.cdrOf(leg);
      // A stream that reconnects counts as one stream, and so does one that never connected despite several attempts.
      world.equal(streams.length, 1, 'streams of the record');
      const connected = refuses ? 0 : 1;
      const billed = streams.filter(({ billedMs }) => billedMs > 0).length;
      world.equal(billed, connected, 'streams that cost something');
    },
  },
  {
    title: 'a bot that sends invalid data affects no call',
    async play(world) {
      const bot = new TalkingBot(BOT_HZ, 1000);
      const leg = await talk(world, bot);
      const rubbish = [
        '{',
        'null',
        '[]',
        '{"event":7}',
        '{"event":"dance"}',
        '{"event":"playAudio"}',
        'é'.repeat(5000),
      ];
      for (let i = 0; i < 200; i += 1) {
        bot.line?.send(world.random.pick(rubbish));
        if (world.random.chance(0.1)) await world.advance(world.random.between(1, 30));
      }
      bot.speak(SECOND_HZ, 800);
      await world.until('the phone hears the bot anyway', () => leg.atPhone.hears(SECOND_HZ));
    },
  },
];
