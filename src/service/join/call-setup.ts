/** Composes the parts that admit, bill and create calls. */
import type { CallNeeds } from '../../domain/call/call.ts';
import { isCodecPreference } from '../../domain/call/needs.ts';
import { FairShare, OwnSlots, type Slots } from '../../domain/capacity/capacity.ts';
import { OpenRecords, Settler } from '../../domain/cdr/cdr.ts';
import type { Cdr } from '../../domain/cdr/types.ts';
import { Admission, CallBilling, CallFactory } from '../../domain/dispatch/dispatch.ts';
import { Edges } from '../../edge/sip/edges.ts';
import type { CallSite } from './call-lines.ts';

/** Parts that admit a call, bill it and create its leg. */
export interface CallSetup {
  readonly callBilling: CallBilling;
  readonly admission: Admission;
  readonly factory: CallFactory;
  readonly capacity: Slots;
  readonly shares: FairShare;
}

/** Builds the parts that every call passes. `onSettled` gets the CDR of each ended call. */
export function joinCallSetup(site: CallSite, onSettled: (cdr: Cdr) => void): CallSetup {
  const { clock } = site.basics;
  const callBilling = billingOf(site, onSettled);
  const capacity = site.lines.slots ?? new OwnSlots(clock);
  const shares = new FairShare(clock);
  const admission = admissionOf(site, { callBilling, capacity, shares });
  return { callBilling, admission, factory: factoryOf(site), capacity, shares };
}

function billingOf({ basics, foundation, lines }: CallSite, onSettled: (cdr: Cdr) => void) {
  const { settings, logger, clock, random } = basics;
  const { store } = foundation;
  const records = new OpenRecords(store.calls, logger);
  return new CallBilling({
    calls: records,
    logs: store.callLogs,
    settler: new Settler(records, clock, logger),
    callbacks: lines.callbacks,
    clock,
    random,
    logger,
    record: {
      platformName: settings.platformName,
      hangupCallStatus: settings.compat.hangupCallStatus,
    },
    heartbeatMs: settings.calls.heartbeatMs,
    directory: lines.directory,
    // Without other nodes, only this one settles its calls.
    inDatabase: lines.lease && store.inDatabase,
    onSettled,
  });
}

function admissionOf(
  { basics, foundation, lines }: CallSite,
  parts: Pick<CallSetup, 'callBilling' | 'capacity' | 'shares'>,
): Admission {
  const { maxConcurrent: nodeLimit, waitForSlotMs: waitMs } = basics.settings.calls;
  return new Admission({
    ...parts,
    accounts: foundation.accounts,
    endpoints: foundation.store.endpoints,
    newCalls: lines.newCalls,
    clock: basics.clock,
    nodeLimit,
    waitMs,
  });
}

function factoryOf(site: CallSite): CallFactory {
  const { settings, clock, random } = site.basics;
  const { rtp, sip } = settings;
  const edges = new Edges(sip.edges);
  return new CallFactory({
    media: site.lines.media,
    ledger: site.foundation.ledger,
    logs: site.lines.logs,
    clock,
    random,
    mediaTimeoutMs: rtp.mediaTimeoutMs,
    srtp: rtp.srtp,
    codecs: {
      phones: rtp.codecs.filter(isCodecPreference),
      carriers: rtp.carrierCodecs.filter(isCodecPreference),
    },
    rtpSources: {
      acceptOthers: rtp.acceptOtherSources,
      isEdge: (remoteAddress) => edges.has({ remoteAddress }),
    },
    resolveHost: site.lines.destinations.addressesOf,
    judgeRtp: rtpJudgeOf(site),
    lease: site.lines.lease,
  });
}

/** Judges the RTP address in a peer's SDP. A carrier's media comes from the same addresses as its calls. */
const rtpJudgeOf =
  ({ foundation, lines }: CallSite): CallNeeds['judgeRtp'] =>
  ({ address, port, rtcpPort, heardFrom, carrier: name }) => {
    const carrier = name === undefined ? undefined : foundation.provisioning.carriers.get(name);
    const receivedAt = heardFrom === undefined ? [] : [{ address: heardFrom, port }];
    const allow = carrier?.sourceAddresses ?? [];
    return lines.destinations.judgeRtp({ address, port, receivedAt, allow }, rtcpPort);
  };
