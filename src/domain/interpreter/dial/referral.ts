/** A party of a Dial asks with REFER that its other party talks to somebody else (RFC 3515, 5589). */
import { ofTel } from '../../../base/phone-number.ts';
import type { DialDestination, DialInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import type { Call } from '../../call/call.ts';
import type { Refer } from '../../call/needs.ts';
import type { HangupCauseKey } from '../../call/types.ts';
import type { VerbContext } from '../needs.ts';
import { dialOf } from './dial-of.ts';

/** Whom the other party talks to from now on, or why nobody. */
export type ReferralOutcome =
  | { readonly ok: true; readonly leg: Call; readonly destination: DialDestination }
  | { readonly ok: false; readonly cause: HangupCauseKey };

/** Whether `who` may ask for that at all. */
export function mayRefer(who: Call, { needs }: Pick<VerbContext, 'needs'>): boolean {
  const { referFrom } = needs.settings;
  if (referFrom === 'all') return true;
  return referFrom === 'endpoints' && who.identity.endpointId !== undefined;
}

/**
 * Brings the new party: a call that is answered, or the other party of a dialog that there is. Nobody is called any more once
 * `kept`, who would talk to it, is gone. Never rejects.
 */
export async function bringParty(
  refer: Refer,
  instruction: DialInstruction,
  { kept, context }: { readonly kept: Call; readonly context: VerbContext },
): Promise<ReferralOutcome> {
  const destination = destinationOf(refer, instruction);
  if (refer.replaces !== undefined) return takeOver(refer.replaces, destination, context);
  const { call: parent, needs } = context;
  let leg: Call | undefined;
  try {
    const made = await needs.dialer.dial({
      ...{ parent, destination, callerId: instruction.callerId },
      callerName: instruction.callerName,
      sipHeaders: [],
      isRepeated: false,
      referredBy: refer.referredBy,
      onLeg: (begun) => {
        leg = begun;
        void kept.ended.then(() => {
          if (!begun.isAnswered) begun.hangup('canceled', 'Caller');
        });
      },
    });
    if (!made.ok) return { ok: false, cause: made.error.cause };
    return await untilAnswered(made.value, destination, refer, instruction.timeoutMs, context);
  } catch (error) {
    needs.logger.error({ error, callUuid: parent.uuid }, 'a call for REFER failed');
    leg?.hangup('internalError', 'Error');
    return { ok: false, cause: 'internalError' };
  }
}

function untilAnswered(
  leg: Call,
  destination: DialDestination,
  refer: Refer,
  timeoutMs: number,
  { needs: { clock } }: VerbContext,
): Promise<ReferralOutcome> {
  return new Promise((resolve) => {
    const cancel = clock.at(clock.monotonicMs() + timeoutMs, () =>
      leg.hangup('ringTimeout', 'Platform'),
    );
    const decide = (outcome: ReferralOutcome): void => {
      cancel();
      forget();
      resolve(outcome);
    };
    const answered = (): void => decide({ ok: true, leg, destination });
    const forget = leg.observe({ ringing: () => refer.ringing(), answered });
    if (leg.isAnswered) answered();
    void leg.ended.then(({ cause }) => decide({ ok: false, cause }));
  });
}

/** The party that the referring phone talks to in its other call, out of the Dial of that call. */
function takeOver(
  legId: string,
  destination: DialDestination,
  { call, needs }: VerbContext,
): ReferralOutcome {
  const other = needs.keeping.live().find((live) => live.legId === legId && !live.isEnded);
  const isOfAccount = other?.identity.accountId === call.identity.accountId;
  const leg = isOfAccount && other !== call ? dialOf(other)?.release() : undefined;
  if (leg === undefined) return { ok: false, cause: 'forbidden' };
  other?.hangup('normal', 'Caller', 'its party was transferred');
  return { ok: true, leg, destination };
}

function destinationOf({ to }: Refer, { line }: DialInstruction): DialDestination {
  const common = {
    ...{ line, callerId: undefined, callerName: undefined, sipHeaders: [] },
    ...{ sendDigits: undefined, sendOnPreanswer: false, sendDigitsMode: undefined },
  };
  const number = ofTel(to);
  if (number !== to)
    return { ...common, kind: 'number', number: number.replaceAll(/[\s().-]/g, '') };
  return {
    ...{ ...common, kind: 'user', uri: to },
    ...{ sipAuthUsername: undefined, sipAuthPassword: undefined },
  };
}
