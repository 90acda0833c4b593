/** Parts of the browser phone that need no browser. */
import { afterEach, expect, it, vi } from 'vitest';

/** Not a literal: the phone is checked with the types of browsers, the tests with those of Node. */
const PHONE: string = new URL('../../web/phone/phone.ts', import.meta.url).href;

afterEach(() => vi.unstubAllGlobals());

it('an unused phone has no listener in the page, which would keep it in memory', async () => {
  const { Phone } = await import(PHONE);
  const listeners = new Set<unknown>();
  const add = (_name: string, listener: unknown) => listeners.add(listener);
  const remove = (_name: string, listener: unknown) => listeners.delete(listener);
  const mediaDevices = { addEventListener: add, removeEventListener: remove };
  vi.stubGlobal('addEventListener', add);
  vi.stubGlobal('removeEventListener', remove);
  vi.stubGlobal('navigator', { mediaDevices });
  const phone = new Phone({ audio: {}, server: 'wss://voice.test/sip' });
  expect(listeners.size).toBe(0);
  const off = phone.on('devices', () => undefined);
  expect(listeners.size).toBe(1);
  off();
  expect(listeners.size).toBe(0);
});

it.each(['ringing', 'ended'])(
  'a call in state %s gets the track of a new microphone only if it continues',
  async (state) => {
    const MICROPHONE: string = new URL('../../web/phone/microphone.ts', import.meta.url).href;
    const { replaceMicrophone } = await import(MICROPHONE);
    const trackOf = () => ({ kind: 'audio', stop: vi.fn() });
    const [before, next] = [trackOf(), trackOf()];
    const sender = {
      track: before,
      replaceTrack: async (track: typeof before) => {
        sender.track = track;
      },
    };
    const getUserMedia = async () => ({ getAudioTracks: () => [next] });
    vi.stubGlobal('navigator', { mediaDevices: { getUserMedia } });
    const call = { state, peer: { getSenders: () => [sender] } };
    await replaceMicrophone({ ...call, enableTracks: () => undefined }, true);
    const isOver = state === 'ended';
    expect(sender.track).toBe(isOver ? before : next);
    expect(next.stop).toHaveBeenCalledTimes(isOver ? 1 : 0);
  },
);
