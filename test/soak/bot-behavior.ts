/** Socket behavior of each bot character in the soak test. */
import type { CharacterName } from './bot-profiles.ts';
import type { RandomBot } from './random-bot.ts';

/** Number of checkpoints, slightly above the limit of pending checkpoints. */
const MANY_CHECKPOINTS = 950;
const MANY_CLEARS = 150;
const FLOOD = 100;
/** Message sizes just below (in base64) and just above the limit of 4 MiB. */
const BIG_BYTES = 3 * 1024 * 1024 - 1024;
const TOO_BIG_BYTES = 4 * 1024 * 1024 + 1024;
/** Incomplete frame: the header announces 1,000 bytes of text (RFC 6455 §5.2), and fewer follow. */
const HALF_FRAME = Buffer.concat([Buffer.from([0x81, 0x7e, 0x03, 0xe8]), Buffer.alloc(300, '{')]);
/** Invalid frames: reserved opcode, reserved bit, control frame above 125 bytes, and a masked frame from a server. */
const BAD_FRAMES = [
  Buffer.from([0x83, 0x00]),
  Buffer.from([0xc1, 0x02, 0x7b, 0x7d]),
  Buffer.concat([Buffer.from([0x89, 0x7e, 0x00, 0x80]), Buffer.alloc(128)]),
  Buffer.from([0x81, 0x82, 1, 2, 3, 4, 0x7a, 0x7f]),
];

type Behaviour = (bot: RandomBot) => void;

const BEHAVIOURS: Readonly<Record<CharacterName, Behaviour>> = {
  talker: chat,
  slowReader(bot) {
    chat(bot);
    bot.every(200, 1500, () => {
      bot.socket.pause();
      bot.after(200, 4000, () => bot.socket.resume());
    });
  },
  babbler(bot) {
    chat(bot);
    bot.every(200, 800, () => babble(bot));
  },
  clearStorm(bot) {
    bot.speaking = true;
    bot.every(400, 600, () => {
      for (let i = 0; i < MANY_CLEARS; i += 1) {
        if (i % 10 === 0) bot.playOdd();
        bot.clear();
      }
    });
  },
  checkpointStorm(bot) {
    bot.every(1800, 2500, () => {
      bot.playHalfSecond();
      for (let i = 0; i < MANY_CHECKPOINTS; i += 1) bot.checkpoint(`c${i}`);
    });
  },
  bigTalker(bot) {
    bot.every(3000, 5000, () => {
      // More audio than the queue holds, sometimes with an equally long name. The service refuses it, and the stream
      // continues.
      if (bot.random.chance(0.5)) bot.play(Buffer.alloc(BIG_BYTES, 7).toString('base64'));
      else bot.checkpoint('n'.repeat(BIG_BYTES));
      bot.clear();
    });
  },
  stopper(bot) {
    chat(bot);
    bot.after(100, 20_000, () => bot.say({ event: 'stop', streamId: bot.streamId }));
  },
  closer(bot) {
    chat(bot);
    bot.after(100, 20_000, () =>
      bot.socket.close(bot.random.pick([1000, 1001, 1011, 4000]), 'bye'),
    );
  },
  closerAtOnce(bot) {
    if (bot.random.chance(0.5)) bot.socket.close();
    else bot.socket.terminate();
  },
  resetter(bot) {
    chat(bot);
    bot.after(0, 20_000, () => bot.connection.resetAndDestroy());
  },
  badText(bot) {
    chat(bot);
    bot.after(100, 20_000, () =>
      bot.socket.send(Buffer.from([0x7b, 0xff, 0xfe]), { binary: false }),
    );
  },
  tooBig(bot) {
    chat(bot);
    bot.after(100, 15_000, () => bot.socket.send('x'.repeat(TOO_BIG_BYTES)));
  },
  badFramer(bot) {
    chat(bot);
    bot.after(100, 20_000, () => bot.connection.write(bot.random.pick(BAD_FRAMES)));
  },
  halfFramer(bot) {
    bot.answersPings = false;
    bot.after(0, 3000, () => bot.connection.write(HALF_FRAME));
  },
  deaf(bot) {
    bot.answersPings = false;
    chat(bot);
  },
  nonReader(bot) {
    bot.after(0, 2000, () => bot.socket.pause());
  },
  flooder(bot) {
    bot.every(15, 25, () => {
      for (let i = 0; i < FLOOD; i += 1) bot.playOdd();
    });
  },
  // The refuser and the mute bot never open a socket.
  refuser: () => undefined,
  mute: () => undefined,
};

export function behave(character: CharacterName, bot: RandomBot): void {
  BEHAVIOURS[character](bot);
}

function chat(bot: RandomBot): void {
  const { random } = bot;
  bot.speaking = random.chance(0.7);
  const habits: ReadonlyArray<readonly [weight: number, act: () => void]> = [
    [30, () => bot.playHalfSecond()],
    [10, () => bot.playOdd()],
    [15, () => bot.checkpoint(`c${random.integer(9)}`)],
    [10, () => bot.clear()],
    [5, () => bot.say({ event: 'sendDTMF', dtmf: random.pick([...'0123456789*#']) })],
    [
      3,
      () => {
        bot.speaking = !bot.speaking;
      },
    ],
  ];
  const total = habits.reduce((sum, [weight]) => sum + weight, 0);
  bot.every(300, 700, () => {
    let at = random.share() * total;
    const habit = habits.find(([weight]) => {
      at -= weight;
      return at < 0;
    });
    habit?.[1]();
  });
}

function babble(bot: RandomBot): void {
  const { random, socket } = bot;
  const nonsense: readonly Behaviour[] = [
    () => bot.say('{"event":"playAu'),
    () => bot.say(''),
    () => bot.say('[]'),
    () => bot.say({ event: 'dance' }),
    () => bot.say({ event: 'playAudio', media: { payload: '%%%' } }),
    () => bot.say({ event: 'playAudio', media: { contentType: 'audio/opus', payload: 'AAAA' } }),
    () => bot.say({ event: 'playAudio', streamId: 'another', media: { payload: 'AAAA' } }),
    () => bot.say({ event: 'checkpoint', name: 7 }),
    () => bot.say({ event: 'sendDTMF', dtmf: 'x' }),
    () => bot.say(`{"event":${'['.repeat(2000)}`),
    () => socket.send(Buffer.from(random.bytes(random.between(0, 500)))),
    // A fragmented message (RFC 6455 §5.4).
    () => {
      socket.send('{"event":"clear', { fin: false });
      socket.send('Audio"}', { fin: true });
    },
  ];
  random.pick(nonsense)(bot);
}
