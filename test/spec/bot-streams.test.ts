/** Additions to the `Stream` element for bots: turns, interruptions, disclosure, and pausing recordings. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { settle } from '../sim/clock.ts';
import { calledFrom } from './calls/phone.ts';
import { type CallService, DID, FAR, NOTHING_LEFT, openCallService } from './calls/service.ts';
import { document } from './calls/site.ts';

const BOT = 'wss://bot.test/audio';
const AT = { playedMs: 800, message: 2, messagePlayedMs: 300, messageMs: 900, discardedMs: 600 };

let service: CallService;
beforeEach(async () => {
  service = await openCallService();
});
afterEach(() => service.close());

async function call(body: string) {
  service.site.on('/answer', document(body));
  return calledFrom(service);
}

describe('speech detection', () => {
  it('passes the attributes and the start of the call to the socket', async () => {
    await call(
      `<Stream bidirectional="true" keepCallAlive="true" bargeIn="duck" playPositions="true">${BOT}</Stream>`,
    );
    expect(service.bots.last.options).toMatchObject({
      speech: { events: false, bargeIn: 'duck', sensitivity: 50, minimumMs: 40, endMs: 500 },
      positions: true,
      callStartMs: Date.UTC(2026, 0, 1),
    });
  });

  it('reports turns and interruptions in the timeline and the CDR', async () => {
    const phone = await call(
      `<Stream bidirectional="true" keepCallAlive="true" bargeIn="clear">${BOT}</Stream>`,
    );
    const { events } = service.bots.last;
    events.started();
    events.turn?.(640);
    events.turn?.(820);
    events.interrupted?.(AT);
    await settle();
    const log = await service.log(phone.callUuid, 'stream');
    expect(log.filter((line) => line.startsWith('turn'))).toHaveLength(2);
    expect(log.some((line) => /interrupted the bot .*"playedMs":800/.test(line))).toBe(true);
    await phone.hangsUp();
    expect(await service.cdr()).toMatchObject({
      streams: [{ turns: { count: 2, interruptions: 1, p50Ms: 640, p95Ms: 820 } }],
    });
    await service.clock.advance(10_000);
    expect(await service.leftovers()).toEqual(NOTHING_LEFT);
  });
});

describe('disclosure', () => {
  it('is spoken before the stream opens, and recorded in timeline and CDR', async () => {
    const phone = await call(
      `<Stream bidirectional="true" keepCallAlive="true" disclosure="You are speaking with an automated assistant.">${BOT}</Stream>`,
    );
    expect(service.bots.sockets).toEqual([]);
    expect(service.spoken).toEqual(['You are speaking with an automated assistant.']);
    phone.media.sounding[0]?.complete();
    await settle();
    service.bots.last.events.started();
    await settle();
    const log = await service.log(phone.callUuid, 'stream');
    const said = log.findIndex((line) => line.startsWith('disclosure played'));
    const connecting = log.findIndex((line) => line.startsWith('connecting'));
    expect(said).toBeGreaterThanOrEqual(0);
    expect(said).toBeLessThan(connecting);
    await phone.hangsUp();
    expect(await service.cdr()).toMatchObject({ streams: [{ disclosedUs: expect.any(Number) }] });
  });
});

describe('disclosure to a colleague', () => {
  const TEXT = 'You are speaking with an automated assistant.';

  it.each([
    ['is spoken before a bot joins the colleague, if the caller has heard it', true, [TEXT, TEXT]],
    ['is not required without the setting', false, []],
  ])('%s', async (_, required, spoken) => {
    await service.close();
    service = await openCallService({
      CARILLON_STREAMS_REQUIRE_DISCLOSURE: required ? 'yes' : 'no',
    });
    const disclosure = required ? `disclosure="${TEXT}"` : '';
    const phone = await call(
      `<Stream bidirectional="true" keepCallAlive="true" transfers="true" ${disclosure}>${BOT}</Stream>`,
    );
    if (required) phone.media.sounding[0]?.complete();
    await settle();
    service.bots.last.events.started();
    service.bots.last.events.transfer?.({
      mode: 'attended',
      to: FAR,
      callerId: DID,
      music: undefined,
      introduction: undefined,
      stream: 'colleague',
      timeoutMs: 30_000,
      onFailure: 'next',
    });
    await settle();
    await service.signalling.last.answers();
    await settle();
    for (const leg of service.media.legs) leg.sounding.at(-1)?.complete();
    await settle();
    expect(service.spoken).toEqual(spoken);
    expect(service.bots.sockets.map(({ isOver }) => isOver)).toEqual([true, false]);
    await phone.hangsUp();
    expect(service.bots.sockets.map(({ isOver }) => isOver)).toEqual([true, true]);
  });
});

describe('pausing recordings', () => {
  it('is logged by the elements and by the message of a bot; without a recording it is a warning', async () => {
    const phone = await call(
      `<PauseRecording/><Stream bidirectional="true" keepCallAlive="true">${BOT}</Stream>`,
    );
    const { events } = service.bots.last;
    events.started();
    events.pauseRecording?.(true);
    await settle();
    const warnings = await service.log(phone.callUuid, 'warning');
    expect(warnings.filter((line) => line.includes('no recording is running'))).toHaveLength(2);
  });

  it('changes running recordings', async () => {
    const phone = await call(
      `<Record recordSession="true" maxLength="60"/><PauseRecording/><ResumeRecording/><Wait length="60"/>`,
    );
    await settle();
    const log = await service.log(phone.callUuid, 'media');
    expect(log.filter((line) => /recording (paused|resumed)/.test(line))).toHaveLength(2);
  });
});
