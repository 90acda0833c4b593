/** Composes the call components: setup, execution, routing and control. */
import type { Cdr } from '../../domain/cdr/types.ts';
import {
  type Admission,
  type BLegDialer,
  type CallBilling,
  type DispatchNeeds,
  EndpointRate,
  followRevocations,
  Inbound,
  Outbound,
  PacedCalls,
  TrunkConnector,
} from '../../domain/dispatch/dispatch.ts';
import type { CallControl } from '../../domain/dispatch/types.ts';
import {
  CallRecorder,
  type InterpreterNeeds,
  type Recorder,
} from '../../domain/interpreter/interpreter.ts';
import type { SignedLinks } from '../../edge/rest/links.ts';
import type { Derived } from '../settings.ts';
import { TracedControl } from '../traced-control.ts';
import { joinExecution } from './call-execution.ts';
import type { CallLines, CallSite } from './call-lines.ts';
import { joinCallSetup } from './call-setup.ts';
import type { Basics, Foundation } from './foundation.ts';

/** Components that create, run and end calls. */
export interface CallParts<R extends Recorder = Recorder> {
  readonly callBilling: CallBilling;
  readonly admission: Admission;
  readonly control: CallControl;
  readonly inbound: Inbound;
  readonly outbound: Outbound;
  readonly dialer: BLegDialer;
  readonly trunks: TrunkConnector;
  readonly recorder: R;
  /** Dependencies shared by the parts of dispatch. */
  readonly dispatching: DispatchNeeds;
  readonly paced: PacedCalls;
}

export type Calls = CallParts<CallRecorder>;

export function joinCalls(
  basics: Basics,
  foundation: Foundation,
  lines: CallLines,
  derived: Derived,
  links: SignedLinks,
  onSettled: (cdr: Cdr) => void,
): Calls {
  const { logger, clock } = basics;
  const recorderOf = (callBilling: CallBilling): CallRecorder =>
    new CallRecorder({
      recordings: foundation.recordings,
      ledger: foundation.ledger,
      callbacks: lines.callbacks,
      transcriptions: lines.transcriptions,
      clock,
      logger,
      encoder: lines.audio.encoder,
      folder: foundation.recordingFiles,
      linkTo: (recording) => links.toRecording(recording),
      hangupReported: (call) => callBilling.settled(call),
    });
  return joinParts({ basics, foundation, lines, derived }, { recorderOf, onSettled });
}

/** Like `joinCalls`, with a recorder supplied by the caller: dispatch tests have no files. */
export function joinParts<R extends Recorder>(
  site: CallSite,
  {
    recorderOf,
    onSettled,
  }: {
    readonly recorderOf: (callBilling: CallBilling) => R;
    readonly onSettled: (cdr: Cdr) => void;
  },
): CallParts<R> {
  const setup = joinCallSetup(site, onSettled);
  const { callBilling, admission } = setup;
  const recorder = recorderOf(callBilling);
  const { dispatching, dialer, interpreter } = joinExecution(site, setup, recorder);
  const trunks = new TrunkConnector(dispatching);
  const inbound = inboundOf(site, dispatching, interpreter, trunks);
  const outbound = new Outbound(dispatching);
  endRevoked(site, callBilling, outbound);
  const control = controlOf(site, dispatching, outbound);
  const paced = pacedOf(site, dispatching, outbound);
  const parts = { callBilling, admission, control, inbound, outbound, dialer, trunks };
  return { ...parts, paced, recorder, dispatching };
}

function inboundOf(
  { basics, foundation, lines, derived }: CallSite,
  dispatching: DispatchNeeds,
  interpreter: InterpreterNeeds,
  trunks: TrunkConnector,
): Inbound {
  const { settings, clock } = basics;
  const { store, provisioning } = foundation;
  return new Inbound({
    ...dispatching,
    takes: (leg) => lines.otherNodes?.tickets.redeem(leg.endpointUsername, leg) ?? false,
    slots: dispatching.capacity,
    interpreter,
    applications: store.applications,
    endpoints: store.endpoints,
    numbers: store.numbers,
    endpointRate: new EndpointRate(clock, settings.endpoints.callsPerMinute),
    toTrunk: (call, owner, number) => trunks.toTrunk(call, owner, number),
    registrarHost: derived.registrarHost,
    srtp: settings.rtp.srtp,
    carriers: provisioning.carriers,
    callerIds: provisioning.callerIds,
    proofPolicy: settings.stir.policy,
    mediaPolicies: provisioning.mediaPolicies,
  });
}

/** Ends calls and registrations whose account or endpoint is revoked. */
function endRevoked(
  { basics, foundation, lines }: CallSite,
  callBilling: CallBilling,
  outbound: Outbound,
): void {
  const { accounts, provisioning, phoneLogins } = foundation;
  followRevocations({
    accounts,
    endpoints: provisioning.endpoints,
    callBilling,
    outbound,
    forgetBindings: (username, login) => lines.signalling.forgetBindings(username, login),
    phoneLogins,
    endRunningCalls: basics.settings.calls.endOnRevocation,
  });
}

/** The calls of campaigns, which leave a part of the capacity free. */
const pacedOf = ({ basics, lines }: CallSite, dispatching: DispatchNeeds, outbound: Outbound) =>
  new PacedCalls({
    ...dispatching,
    outbound,
    reserve: basics.settings.campaigns.reservePercent / 100,
    hasPorts: () => lines.media.status().portsFree > 0,
  });

function controlOf(
  { foundation, lines }: CallSite,
  dispatching: DispatchNeeds,
  outbound: Outbound,
): CallControl {
  const needs = {
    ...dispatching,
    outbound,
    logs: lines.logs,
    storedLogs: foundation.store.callLogs,
  };
  return new TracedControl(needs, (callUuid) => lines.traces.of(callUuid));
}
