/** Audio streams: a bot on the line. */
import { EchoBot, TalkingBot } from '../bots.ts';
import { xml } from '../customer.ts';
import { ROUGH } from '../network.ts';
import type { Scenario } from '../scenario.ts';
import { PRICE } from '../service.ts';
import type { SimLeg } from '../signalling.ts';
import type { World } from '../world.ts';

const BOT = 'wss://bot.test/ws';
const PHONE_HZ = 400;
const BOT_HZ = 900;

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
    title: 'a phone and a bot hear each other, whoever hangs up; the stream is billed on its own',
    async play(world) {
      const bot = new TalkingBot(BOT_HZ, 1500);
      const leg = await talk(world, bot);
      const { phone } = leg;
      await world.until('the phone hears the bot', () => phone?.hears(BOT_HZ) === true);
      await world.until('all that was queued has been played', () => bot.played.length === 1);
      await world.advance(world.random.between(0, 3000));
      const who = world.random.pick(['phone', 'bot', 'service'] as const);
      world.tell(`${who} hangs up`);
      if (who === 'phone') leg.phoneHangsUp();
      else if (who === 'bot') bot.send('stop');
      else world.callOf(leg)?.hangup('normal', 'API Request');
      await world.until('the leg is over', () => leg.serviceOver && leg.isOver);
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
    title: 'a network that loses, swaps and repeats packets does not silence a conversation',
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
];
