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
    quality(callUuid) {
      const call = keeper.get(callUuid);
      if (call === undefined || !call.isAnswered || call.isEnded) return undefined;
      return { call: liveCallOf(call), quality: call.media.quality() };
    },
    hangup(callUuid) {
      const call = keeper.get(callUuid);
      call?.hangup('normal', 'API Request');
      return call !== undefined;
    },
    qualitySamples: (callUuid) => logs.get(callUuid)?.quality.samples(),
    messages(callUuid) {
      const list = traces.conversation(callUuid);
      const isKnown = keeper.get(callUuid) !== undefined || logs.get(callUuid) !== undefined;
      if (list.length === 0 && !isKnown) return undefined;
      return {
        list: () => list,
        ladder: () => traces.ladder(callUuid),
        capture: () => traces.capture(callUuid),
      };
    },
  };
}
