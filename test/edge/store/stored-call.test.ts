import { describe, expect, it } from 'vitest';
import { openCall, storedCall } from '../../../src/edge/store/sql/stored-call.ts';
import { aNotification, anOpenCall } from './records.ts';

describe('the JSON of an open record', () => {
  it('keeps the names that earlier versions have stored', () => {
    const { subject, ...rest } = aNotification();
    const stored: object = JSON.parse(
      JSON.stringify(storedCall(anOpenCall({ hangupNotification: aNotification() }))),
    );
    expect(stored).toMatchObject({ hangupNotification: { ...rest, callUuid: subject } });
  });

  it('is read as it was written', () => {
    for (const call of [anOpenCall(), anOpenCall({ hangupNotification: aNotification() })]) {
      expect(openCall(JSON.parse(JSON.stringify(storedCall(call))))).toEqual(call);
    }
  });
});
