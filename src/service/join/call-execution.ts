/** Composes what runs documents: the dependencies of dispatch and of the interpreter, and conferences. */
import { bracketed } from '../../base/host.ts';
import type { Settings } from '../../config/schema.ts';
import {
  BLegDialer,
  type DispatchNeeds,
  Referrals,
  Scripts,
} from '../../domain/dispatch/dispatch.ts';
import {
  Conferences,
  type InterpreterNeeds,
  type Recorder,
  SharedConferences,
} from '../../domain/interpreter/interpreter.ts';
import type { Derived } from '../settings.ts';
import type { CallSite, OtherNodes } from './call-lines.ts';
import type { CallSetup } from './call-setup.ts';

/** Dependencies of dispatch and interpreter. They need each other: documents dial, and dialed legs run documents. */
export function joinExecution(site: CallSite, setup: CallSetup, recorder: Recorder) {
  const dispatching = dispatchNeeds(site, setup, () => interpreter);
  const dialer = new BLegDialer(dispatching);
  const conferences = conferencesOf(site, dispatching, recorder);
  const interpreter = interpreterNeeds(site, dispatching, { dialer, recorder, conferences });
  return { dispatching, dialer, interpreter };
}

function dispatchNeeds(
  { basics, foundation, lines, derived }: CallSite,
  setup: CallSetup,
  interpreter: () => InterpreterNeeds,
): DispatchNeeds {
  const { settings, logger, clock, random } = basics;
  const { accounts, provisioning, ledger } = foundation;
  const { signalling, callbacks } = lines;
  return {
    ...setup,
    accounts,
    provisioning,
    ledger,
    scripts: new Scripts(),
    signalling,
    addresses: signalling.addresses,
    proofs: lines.proofs ?? {},
    callbacks,
    clock,
    random,
    logger,
    interpreter,
    settings: {
      callerIdPolicy: settings.callerId.policy,
      registrarHost: derived.registrarHost,
      srtp: settings.rtp.srtp,
      ringTimeoutMs: settings.calls.ringTimeoutMs,
      waitForSlotMs: settings.calls.waitForSlotMs,
      queuePerAccount: settings.calls.queuePerAccount,
      allowSpecial: settings.dialing.allowSpecial,
      passedHeaders: settings.sip.passHeaders.map((name) => name.toLowerCase()),
    },
  };
}

function interpreterNeeds(
  { basics, lines, derived }: CallSite,
  dispatching: DispatchNeeds,
  parts: Pick<InterpreterNeeds, 'dialer' | 'recorder' | 'conferences'>,
): InterpreterNeeds {
  const { settings, logger, clock, random } = basics;
  return {
    ...parts,
    callbacks: lines.callbacks,
    streams: lines.streams,
    media: lines.media,
    audio: lines.audio.library,
    speech: lines.speech,
    recognizer: lines.recognizer,
    transcriptions: lines.transcriptions,
    holdMusic: lines.holdMusic,
    referrer: new Referrals(dispatching),
    keeping: dispatching.callBilling,
    clock,
    random,
    logger,
    settings: interpreterSettings(settings, derived),
  };
}

const interpreterSettings = (
  settings: Settings,
  derived: Pick<Derived, 'allowInsecure'>,
): InterpreterNeeds['settings'] => ({
  allowInsecureStreams: derived.allowInsecure,
  redirectsPerMinute: settings.calls.redirectsPerMinute,
  ringTimeoutMs: settings.calls.ringTimeoutMs,
  answerBeforeDial: settings.calls.answerBeforeDial,
  referFrom: settings.calls.referFrom,
  streamQueueMs: settings.streams.queueMs,
  requireDisclosure: settings.streams.requireDisclosure,
  platformName: settings.platformName,
});

/** Conferences of this node, or of all nodes in a cluster. The members leave other nodes at a drain. */
function conferencesOf(
  { basics, lines }: CallSite,
  dispatching: DispatchNeeds,
  recorder: Recorder,
): InterpreterNeeds['conferences'] {
  const { clock, random, logger } = basics;
  const own = new Conferences({ media: lines.media, recorder, clock, random, logger });
  if (lines.otherNodes === undefined) return own;
  const shared = sharedConferences(own, dispatching, lines.otherNodes);
  dispatching.admission.onDrain(() => shared.leave());
  return shared;
}

function sharedConferences(
  own: Conferences,
  dispatching: DispatchNeeds,
  { peers, claims, tickets, host, port }: OtherNodes,
): SharedConferences {
  const { callBilling, factory } = dispatching;
  return new SharedConferences({
    ...dispatching,
    own,
    claims,
    tickets,
    host,
    calls: callBilling,
    legs: factory,
    bus: peers.bus,
    nodeId: peers.nodeId,
    living: () => peers.living(),
    uriOf: (username) => `sip:${username}@${bracketed(host)}:${port()};transport=udp`,
  });
}
