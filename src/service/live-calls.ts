/** Operator's view of running calls. */
import type { CallUuid } from '../base/ids.ts';
import type { CallLogs } from '../domain/call/call.ts';
import { type CallBilling, liveCallOf } from '../domain/dispatch/dispatch.ts';
import type { LiveCalls, LiveQuality, MessageForms } from '../edge/rest/server.ts';
import type { SipTraces } from './sip-traces.ts';

/** Returns the view of this node's calls. */
export function liveCallsView(
  callBilling: CallBilling,
  logs: CallLogs,
  traces: SipTraces,
): LiveCalls {
  const qualityOf = (callUuid: CallUuid): LiveQuality | undefined => {
    const call = callBilling.get(callUuid);
    if (call === undefined || !call.isAnswered || call.isEnded) return undefined;
    return { call: liveCallOf(call), quality: call.media.quality() };
  };
  const formOf = {
    text: (callUuid) => traces.ladder(callUuid),
    pcap: (callUuid) => traces.capture(callUuid),
    json: (callUuid) => traces.conversation(callUuid),
  } satisfies { [Form in keyof MessageForms]: (callUuid: CallUuid) => MessageForms[Form] };
  return {
    list: async () => callBilling.live().map(liveCallOf),
    async get(callUuid) {
      const call = callBilling.get(callUuid);
      const log = logs.get(callUuid);
      if (call === undefined && log === undefined) return undefined;
      return { call: call && liveCallOf(call), log: log?.entries() ?? [] };
    },
    quality: async (callUuid) => qualityOf(callUuid),
    scores: async (callUuids) =>
      callUuids.flatMap((callUuid) => {
        const mos = qualityOf(callUuid)?.quality.mos;
        return mos === undefined ? [] : [[callUuid, mos] as const];
      }),
    async hangup(callUuid) {
      const call = callBilling.get(callUuid);
      call?.hangup('normal', 'API Request');
      return call !== undefined;
    },
    qualitySamples: async (callUuid) => logs.get(callUuid)?.quality.samples(),
    async messages(callUuid, form) {
      const isKnown = callBilling.get(callUuid) !== undefined || logs.get(callUuid) !== undefined;
      if (!isKnown && traces.conversation(callUuid).length === 0) return undefined;
      return formOf[form](callUuid) as MessageForms[typeof form];
    },
  };
}
