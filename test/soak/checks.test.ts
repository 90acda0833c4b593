/** Tests the checks of the soak test, which itself runs for minutes. */
import { describe, expect, it } from 'vitest';
import type {
  AudioStreams,
  MediaLeg,
  StreamSocketEnd,
  StreamSocketEvents,
} from '../../src/domain/call/needs.ts';
import { SimClock } from '../sim/clock.ts';
import { SimRandom } from '../sim/random.ts';
import { CHARACTERS, type CharacterName, pickCharacter } from './bot-profiles.ts';
import { Continuity } from './continuity.ts';
import { faultsOfMemory, growthOf, type MemorySample } from './memory.ts';
import { codeOf, FRAME_MS, faultsOfPosition, NumberedAudio } from './numbered-audio.ts';
import { RandomStreams } from './random-streams.ts';

const MINUTE_FRAMES = 3000;
const DELAY_MS = 30;

/** Feeds ten minutes of audio by default. `at` returns the frame heard at each place, and its additional delay. */
function listen(
  at: (place: number) => { readonly frame?: number; readonly lateMs?: number },
  frames = 10 * MINUTE_FRAMES,
): string[] {
  const audio = new NumberedAudio(0);
  audio.begin();
  for (let place = 0; place < frames; place += 1) {
    const { frame, lateMs = 0 } = at(place);
    const code = frame === undefined ? undefined : codeOf(frame);
    audio.hear(code, place, place * FRAME_MS + DELAY_MS + lateMs);
  }
  return faultsOfPosition(audio.position(), frames * FRAME_MS);
}

describe('the check of an audio position', () => {
  it('accepts audio at a constant position, with and without jitter', () => {
    const random = new SimRandom(1);
    expect(listen((place) => ({ frame: place }))).toEqual([]);
    expect(listen((place) => ({ frame: place, lateMs: random.between(0, 60) }))).toEqual([]);
  });

  it('accepts a shift by one frame and rejects a shift by two', () => {
    const moved = (by: number) =>
      listen((place) => ({ frame: place > 5000 ? place - by : place, lateMs: 0 }));
    expect(moved(1).filter((fault) => fault.includes('moved'))).toEqual([]);
    expect(moved(2)).toContain('the audio moved by -2 frames');
    expect(moved(-2)).toContain('the audio moved by 2 frames');
  });

  it('follows a slow drift over more frames than there are codes', () => {
    const faults = listen((place) => ({ frame: place - Math.floor(place / 200) }));
    expect(faults).toContain('the audio moved by -149 frames');
  });

  it('detects a slow clock although every frame is in its place', () => {
    const faults = listen((place) => ({ frame: place, lateMs: place * 0.001 }));
    expect(faults.join()).toMatch(/the delay went from 30\.0 to 59\.\d ms/);
  });

  it('ignores frames that the speaker sent too late', () => {
    const position = { ...new NumberedAudio(0).position(), firstOffset: 0, lastOffset: 0 };
    const audio = { ...position, firstDelayMs: 1, lastDelayMs: 1, received: 2900, unreadable: 100 };
    expect(faultsOfPosition(audio, 60_000)).toEqual(['100 of 3000 frames held no number']);
    expect(faultsOfPosition(audio, 60_000, 60)).toEqual([]);
  });

  it('detects audio that ends early, and audio that was replaced', () => {
    expect(faultsOfPosition(new NumberedAudio(0).position(), 60_000).length).toBeGreaterThan(1);
    expect(listen((place) => (place % 50 === 0 ? {} : { frame: place })).join()).toContain(
      'held no number',
    );
  });
});

describe('the check of counters', () => {
  it('describes the first gaps and counts the rest', () => {
    const chunks = new Continuity('chunk', 1);
    for (const chunk of [1, 2, 3, 5, 5, 4, 9]) chunks.next(chunk, 1500);
    expect(chunks.faults()).toEqual([
      'chunk 5 after 3 at 1.5 s',
      'chunk 5 after 5 at 1.5 s',
      'chunk 4 after 5 at 1.5 s',
      'chunk: 1 more breaks',
    ]);
  });

  it('continues across a 16-bit wrap-around (RFC 3550 §5.1)', () => {
    const sequence = new Continuity('RTP sequence', 1, 2 ** 16);
    for (const number of [65_534, 65_535, 0, 1]) sequence.next(number, 0);
    expect(sequence.faults()).toEqual([]);
  });
});

describe('the check of memory', () => {
  const run = (heapOf: (atMs: number) => number, residentOf = heapOf): string[] => {
    const samples: MemorySample[] = [];
    for (let atMs = 5000; atMs <= 600_000; atMs += 5000) {
      samples.push({ atMs, heapMiB: heapOf(atMs), residentMiB: residentOf(atMs) });
    }
    return faultsOfMemory(growthOf(samples, 600_000), { heapMiB: 8, residentMiB: 64 });
  };

  it('ignores startup and peaks, and detects growth of the heap and the process', () => {
    expect(run((atMs) => (atMs < 100_000 ? atMs / 10_000 : 10))).toEqual([]);
    expect(run((atMs) => (atMs % 20_000 === 0 ? 500 : 10))).toEqual([]);
    expect(run((atMs) => atMs / 20_000).join()).toContain('the JavaScript heap grew by');
    const resident = run(
      () => 10,
      (atMs) => atMs / 2000,
    );
    expect(resident.join()).toContain('the process grew by');
  });

  it('fails a run that was too short to evaluate', () => {
    expect(faultsOfMemory(growthOf([], 1000), { heapMiB: 8, residentMiB: 64 })).toHaveLength(2);
  });
});

/** Streams of bots with one character, whose ends the test controls. */
function crowdOf(character: CharacterName) {
  const clock = new SimClock();
  const streams: Array<{ readonly reported: StreamSocketEvents; readonly closes: string[] }> = [];
  const edge: AudioStreams = {
    open(_options, _leg, reported) {
      const closes: string[] = [];
      streams.push({ reported, closes });
      return { close: (reason) => closes.push(reason) };
    },
  };
  const crowd = new RandomStreams({
    streams: edge,
    random: new SimRandom(1),
    clock,
    nextCharacter: () => character,
    urlOf: () => 'ws://127.0.0.1',
  });
  crowd.keepOpen({} as MediaLeg);
  const end = (end: StreamSocketEnd, index = 0): void => streams[index]?.reported.ended(end);
  return { clock, streams, crowd, end };
}

describe('the check of stream lifetimes', () => {
  const broken: StreamSocketEnd = { kind: 'dropped', detail: 'the connection broke' };

  it("opens another stream after each end that the bot's character permits", async () => {
    const { clock, streams, crowd, end } = crowdOf('closer');
    end(broken);
    await clock.advance(60);
    expect(streams).toHaveLength(2);
    expect(crowd.failures()).toEqual([]);
    expect([...crowd.ends]).toEqual([['closer dropped', 1]]);
  });

  it("detects an end that the bot's character does not permit", async () => {
    const { clock, crowd, end } = crowdOf('talker');
    await clock.advance(1500);
    end(broken);
    expect(crowd.failures()).toEqual([
      'a stream of a talker ended as dropped (the connection broke) 1.5 s old',
    ]);
  });

  it('detects a closed stream while the call continues', () => {
    const { crowd, end } = crowdOf('talker');
    end({ kind: 'closed' });
    expect(crowd.failures()).toHaveLength(1);
  });

  it('detects a second end', () => {
    const { crowd, end } = crowdOf('closer');
    end(broken);
    end({ kind: 'closed' });
    expect(crowd.failures().join()).toContain('a stream of a closer ended twice, then as closed');
  });

  it('detects a stream that survives its call', async () => {
    const { clock, streams, crowd } = crowdOf('talker');
    await clock.advance(70_000);
    crowd.judgeAges();
    expect(streams[0]?.closes).toEqual(['call_hangup']);
    await clock.advance(80_000);
    crowd.judgeAges();
    crowd.judgeAges();
    expect(crowd.failures()).toHaveLength(1);
    expect(crowd.failures().join()).toContain('after its call hung up');
  });

  it("detects a stream that survives its bot's fault", async () => {
    const { clock, crowd } = crowdOf('refuser');
    await clock.advance(4900);
    crowd.judgeAges();
    expect(crowd.failures()).toEqual([]);
    await clock.advance(100_000);
    crowd.judgeAges();
    expect(crowd.failures().join()).toContain('a stream of a refuser is still open');
  });

  it('detects a stream that never ends at shutdown', async () => {
    const { clock, crowd } = crowdOf('talker');
    const stopped = crowd.stop();
    await clock.advance(100_000);
    await stopped;
    expect(crowd.failures()).toEqual(['a stream of a talker never ended']);
  });

  it('selects every character', () => {
    const random = new SimRandom(1);
    const met = new Set(Array.from({ length: 2000 }, () => pickCharacter(random.share())));
    expect([...met].sort()).toEqual(Object.keys(CHARACTERS).sort());
  });
});
