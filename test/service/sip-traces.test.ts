import { describe, expect, it } from 'vitest';
import { asCallUuid, asTrunkId } from '../../src/base/ids.ts';
import { SipTraces } from '../../src/service/sip-traces.ts';
import { message } from '../edge/sip/trace/messages.ts';

describe('SIP messages of calls', () => {
  it('are counted per trunk', () => {
    const traces = new SipTraces();
    const note = (callId: string, direction: 'in' | 'out', line: string): void =>
      traces.note(message(callId, `${line}\r\nContent-Length: 0\r\n\r\n`, { direction }));
    const [uuid, parent] = [asCallUuid('b'), asCallUuid('a')];
    traces.belongs('to-trunk', { uuid, parent, trunk: asTrunkId('pbx') });
    traces.belongs('other', { uuid: parent, parent: undefined });
    for (const callId of ['to-trunk', 'other']) {
      note(callId, 'out', 'INVITE sip:a SIP/2.0');
      note(callId, 'in', 'SIP/2.0 486 Busy Here');
      note(callId, 'in', 'SIP/2.0 486 Busy Here');
    }
    expect(traces.trunkMessages()).toEqual([
      { peer: 'pbx', direction: 'in', method: '', code: '486', count: 2 },
      { peer: 'pbx', direction: 'out', method: 'INVITE', code: '', count: 1 },
    ]);
  });
});
