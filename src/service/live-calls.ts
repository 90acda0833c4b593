/** Running calls as the operator sees them. */
import type { CallLogs } from '../domain/call/call.ts';
import { type CallKeeper, liveCallOf } from '../domain/dispatch/dispatch.ts';
import type { LiveCalls } from '../edge/rest/server.ts';
import type { SipTraces } from './sip-traces.ts';

export function liveCallsView(keeper: CallKeeper, logs: CallLogs, traces: SipTraces): LiveCalls {
  return {
    list: () => keeper.live().map(liveCallOf),
    get(callUuid) {
      const call = keeper.get(callUuid);
      const log = logs.get(callUuid);
      if (call === undefined && log === undefined) return undefined;
      return { call: call && liveCallOf(call), log: log?.entries() ?? [] };
    },
    hangup(callUuid) {
      const call = keeper.get(callUuid);
      call?.hangup('normal', 'API Request');
      return call !== undefined;
    },
    messages(callUuid) {
      const sipCallId = keeper.sipCallIdOf(callUuid);
      return sipCallId === undefined ? undefined : traces.of(sipCallId);
    },
  };
}
