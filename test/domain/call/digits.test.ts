/** Delivery of keypad presses, and when in-band tone detection is enabled. */
import { beforeEach, describe, expect, it } from 'vitest';
import { DigitHub, matchDigits } from '../../../src/domain/call/call.ts';

let wanted: boolean[];
let hub: DigitHub;

beforeEach(() => {
  wanted = [];
  hub = new DigitHub((tones) => wanted.push(tones));
});

const nothing = (): void => undefined;

describe('in-band tone detection', () => {
  it('is enabled while a taker or observer exists, and reported once', () => {
    const release = hub.take(nothing);
    const stop = matchDigits(hub, ['12'], nothing);
    release();
    expect(wanted).toEqual([true]);
    stop();
    expect(wanted).toEqual([true, false]);
  });

  it('is not enabled by event observers or by an empty pattern list', () => {
    hub.observeEvents(nothing);
    matchDigits(hub, [], nothing);
    expect(wanted).toEqual([]);
  });

  it('is enabled while a document runs, except while type-ahead is disabled', () => {
    hub.documentRuns();
    const toConference = hub.forgetAhead();
    const toOther = hub.forgetAhead();
    toOther();
    toOther();
    expect(wanted).toEqual([true, false]);
    toConference();
    expect(wanted).toEqual([true, false, true]);
  });
});

describe('type-ahead', () => {
  it('keeps presses for a later reader, except those before or during forgetAhead', () => {
    hub.press('1');
    const release = hub.forgetAhead();
    hub.press('2');
    release();
    hub.press('3');
    expect(hub.takeAhead()).toBe('3');
  });
});
