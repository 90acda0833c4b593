import { describe, expect, it } from 'vitest';
import { BotPlayback } from '../../src/rehearse/bot-playback.ts';

const MS = 24;
const say = (playback: BotPlayback, ms: number): boolean =>
  playback.enqueue(
    'audio/x-l16',
    24_000,
    new Uint8Array(Int16Array.from({ length: ms * MS }, () => 1000).buffer),
  );

describe('playback of a scripted call', () => {
  it('reports checkpoints with the time since the one before', () => {
    const playback = new BotPlayback(60_000);
    say(playback, 300);
    playback.checkpoint('a');
    say(playback, 100);
    say(playback, 60);
    playback.checkpoint('b');
    const { frame, reached } = playback.play(500 * MS);
    expect(frame.filter((sample) => sample !== 0)).toHaveLength(460 * MS);
    expect(reached.map(({ name, at }) => [name, at.playedMs, at.message])).toEqual([
      ['a', 300, 1],
      ['b', 160, 3],
    ]);
  });

  it('reports the position of a clear, and counts from it', () => {
    const playback = new BotPlayback(60_000);
    say(playback, 200);
    say(playback, 1000);
    playback.play(500 * MS);
    expect(playback.clear()).toEqual({
      playedMs: 500,
      message: 2,
      messagePlayedMs: 300,
      messageMs: 1000,
      discardedMs: 700,
    });
    say(playback, 100);
    playback.play(40 * MS);
    expect(playback.clear().playedMs).toBe(40);
  });

  it('counts only messages that it accepts', () => {
    const playback = new BotPlayback(1000);
    expect([say(playback, 900), say(playback, 200), say(playback, 50)]).toEqual([
      true,
      false,
      true,
    ]);
    playback.play(940 * MS);
    expect(playback.clear()).toMatchObject({ message: 2, messagePlayedMs: 40, messageMs: 50 });
  });

  it('drops audio after an interruption until the bot clears or the caller is silent', () => {
    const playback = new BotPlayback(60_000);
    expect(playback.interrupt()).toBeUndefined();
    for (const end of [() => playback.clear(), () => playback.unmute()]) {
      say(playback, 100);
      playback.checkpoint('late');
      expect(playback.interrupt()?.names).toEqual(['late']);
      say(playback, 100);
      expect(playback.isPlaying).toBe(false);
      end();
      say(playback, 100);
      expect(playback.isPlaying).toBe(true);
      playback.clear();
    }
  });

  it('refuses audio beyond its capacity', () => {
    const playback = new BotPlayback(1000);
    expect([say(playback, 900), say(playback, 200), say(playback, 100)]).toEqual([
      true,
      false,
      true,
    ]);
  });
});
