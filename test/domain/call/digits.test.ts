/** Who gets a keypad press, and when presses are wanted that come as tones. */
import { beforeEach, describe, expect, it } from 'vitest';
import { DigitHub, matchDigits } from '../../../src/domain/call/call.ts';

let wanted: boolean[];
let hub: DigitHub;

beforeEach(() => {
  wanted = [];
  hub = new DigitHub((tones) => wanted.push(tones));
});

const nothing = (): void => undefined;

describe('tones', () => {
  it('are wanted while somebody takes or watches presses, and nobody is told twice', () => {
    const release = hub.take(nothing);
    const stop = matchDigits(hub, ['12'], nothing);
    release();
    expect(wanted).toEqual([true]);
    stop();
    expect(wanted).toEqual([true, false]);
  });

  it('are not wanted by who passes events on, nor where no pattern is looked for', () => {
    hub.observeEvents(nothing);
    matchDigits(hub, [], nothing);
    expect(wanted).toEqual([]);
  });

  it('are wanted while a document runs, but not what is meant for somebody else', () => {
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

describe('presses ahead', () => {
  it('are kept for a later reader, but not those for somebody else, nor what was there before', () => {
    hub.press('1');
    const release = hub.forgetAhead();
    hub.press('2');
    release();
    hub.press('3');
    expect(hub.takeAhead()).toBe('3');
  });
});
